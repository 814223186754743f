"""Rates: who counts as whom, how many, and when to come back."""

from types import SimpleNamespace
from unittest import mock

import pytest
from django.test import RequestFactory

from checks import memory, rates


@pytest.fixture(autouse=True)
def _fresh():
    rates._tallies.clear()
    yield
    rates._tallies.clear()


def at(seconds):
    return mock.patch("checks.rates.time.time", return_value=600.0 + seconds)


def calls(name: str, most: int, times: int) -> list[int]:
    return [rates.wait(name, most) for _ in range(times)]


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
        assert rates.wait("a", 4) == 0


def test_a_wide_bound_is_told_in_parts_and_kept():
    with at(10), mock.patch.object(memory, "count", wraps=memory.count) as count:
        assert calls("a", 1000, 1001) == [0] * 1000 + [50]
    assert count.call_count < 110


def test_processes_count_together():
    with at(10):
        assert calls("a", 3, 2) == [0, 0]
        rates._tallies.clear()  # another process
        assert calls("a", 3, 2) == [0, 50]


def test_callers_known_are_bounded(monkeypatch):
    monkeypatch.setattr(rates, "_MOST_KNOWN", 10)
    with at(10):
        for n in range(25):
            calls(f"caller {n}", 100, 1)
    assert len(rates._tallies) <= 10


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
    assert rates.address_of(RequestFactory().get("/", **meta)) == expected
