"""Rates at the protocol's door: who has which bound. The window itself is shown in tests/checks/test_rates.py."""

from unittest import mock

import pytest

from checks import rates
from tests.processes.flows import cast
from tests.processes.http import Http


@pytest.fixture(autouse=True)
def _fresh():
    rates._tallies.clear()
    yield
    rates._tallies.clear()


def at(seconds):
    return mock.patch("checks.rates.time.time", return_value=600.0 + seconds)


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
    assert rates._tallies == {}
