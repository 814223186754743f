"""Rates: who counts as whom, how many, and when to come back."""

from types import SimpleNamespace
from unittest import mock

import pytest
from django.test import RequestFactory

from checks import memory
from processes import throttles
from tests.processes.flows import cast
from tests.processes.http import Http


@pytest.fixture(autouse=True)
def _fresh():
    throttles._tallies.clear()
    yield
    throttles._tallies.clear()


def at(seconds):
    return mock.patch("processes.throttles.time.time", return_value=600.0 + seconds)


def calls(name: str, most: int, times: int) -> list[int]:
    return [throttles.wait(name, most) for _ in range(times)]


# ---- the window


def test_as_many_as_are_allowed_and_no_more():
    with at(10):
        assert calls("a", 3, 5) == [0, 0, 0, 50, 50]
        assert calls("b", 3, 1) == [0]


def test_the_window_before_fades():
    with at(10):
        calls("a", 4, 4)
    with at(60):
        assert calls("a", 4, 1) == [15]  # a quarter of the window frees one of four
    with at(75):
        assert calls("a", 4, 2) == [0, 15]
    with at(180):
        assert calls("a", 4, 4) == [0] * 4


def test_refused_calls_count_for_nothing():
    with at(0):
        calls("a", 4, 4)
        calls("a", 4, 1000)
    with at(90):
        assert throttles.wait("a", 4) == 0


def test_a_wide_bound_is_told_in_parts_and_kept():
    with at(10), mock.patch.object(memory, "count", wraps=memory.count) as count:
        assert calls("a", 1000, 1001) == [0] * 1000 + [50]
    assert count.call_count < 110


def test_processes_count_together():
    with at(10):
        assert calls("a", 3, 2) == [0, 0]
        throttles._tallies.clear()  # another process
        assert calls("a", 3, 2) == [0, 50]


def test_callers_known_are_bounded(monkeypatch):
    monkeypatch.setattr(throttles, "_MOST_KNOWN", 10)
    with at(10):
        for n in range(25):
            calls(f"caller {n}", 100, 1)
    assert len(throttles._tallies) <= 10


# ---- who it is


@pytest.mark.parametrize(
    ("meta", "proxies", "expected"),
    [
        ({"REMOTE_ADDR": "192.0.2.7"}, 0, "192.0.2.7"),
        ({"REMOTE_ADDR": "192.0.2.7", "HTTP_X_FORWARDED_FOR": "10.0.0.1"}, 0, "192.0.2.7"),
        ({"REMOTE_ADDR": "127.0.0.1", "HTTP_X_FORWARDED_FOR": "10.0.0.1, 192.0.2.9"}, 1, "192.0.2.9"),
        ({"REMOTE_ADDR": "127.0.0.1", "HTTP_X_FORWARDED_FOR": "nonsense"}, 1, "unknown"),
        ({"REMOTE_ADDR": ""}, 0, "unknown"),
        ({"REMOTE_ADDR": "2001:db8:1:2:3:4:5:6"}, 0, "2001:db8:1:2::/64"),
        ({"REMOTE_ADDR": "::ffff:192.0.2.7"}, 0, "192.0.2.7"),
    ],
)
def test_addresses(meta, proxies, expected, monkeypatch):
    fixed = SimpleNamespace(NUM_PROXIES=proxies)
    monkeypatch.setattr("rest_framework.throttling.api_settings", fixed)
    assert throttles.address_of(RequestFactory().get("/", **meta)) == expected


# ---- through the door


@pytest.fixture
def c(world):
    return cast(world)


def refused(http: Http, tool: str = "get_work") -> tuple[int, str]:
    status, envelope = http.post(tool, {})
    assert 1 <= int(http.response.headers["Retry-After"]) <= 60
    return status, envelope["error"]["code"]


@pytest.mark.django_db
def test_each_agent_has_its_own(world, c, settings):
    settings.CALLS_PER_MINUTE = 3
    agent, other = (Http(key=world.keys[who.id]) for who in (c.agent, c.other))
    with at(10):
        assert [agent.post("get_work", {})[0] for _ in range(3)] == [200] * 3
        assert refused(agent) == (429, "retry")
        assert refused(agent, "describe") == (429, "retry")
        assert other.post("get_work", {})[0] == 200
    with at(130):
        assert agent.post("get_work", {})[0] == 200


@pytest.mark.django_db
def test_a_person_counts_as_one_in_every_session(world, c, settings, django_user_model):
    settings.CALLS_PER_MINUTE = 2
    ada = django_user_model.objects.get(username="ada")
    with at(10):
        assert [Http(user=ada).post("get_work", {})[0] for _ in range(3)] == [200, 200, 429]


@pytest.mark.django_db
def test_keys_that_prove_nothing_count_for_their_address(world, c, settings):
    settings.CALLS_PER_MINUTE, settings.ANONYMOUS_CALLS_PER_MINUTE = 3, 2
    key = world.keys[c.agent.id]
    stranger = Http(key=key[:-1] + ("A" if key[-1] != "A" else "B"))
    with at(10):
        assert [stranger.post("get_work", {})[0] for _ in range(3)] == [401, 401, 429]
        assert Http().post("describe", {})[0] == 429
        assert Http(key=key).post("get_work", {})[0] == 200, "nobody uses up another's calls"


@pytest.mark.django_db
def test_a_refused_write_wrote_nothing(world, c, settings):
    settings.CALLS_PER_MINUTE = 1
    agent = Http(key=world.keys[c.agent.id])
    body = {"process": "no-such", "inputs": {}, "requestId": "one"}
    with at(10):
        assert agent.post("start_run", body)[0] == 404
        assert agent.post("start_run", body)[0] == 429


@pytest.mark.django_db
def test_nought_is_no_bound(world, c, settings):
    settings.CALLS_PER_MINUTE = 0
    agent = Http(key=world.keys[c.agent.id])
    assert {agent.post("get_work", {})[0] for _ in range(20)} == {200}
    assert throttles._tallies == {}
