"""What processes count together, and alone while the cache does not answer."""

import pytest
from django.core.cache import caches
from redis.exceptions import ConnectionError as RedisConnectionError

from checks import memory


@pytest.fixture
def broken(monkeypatch):
    """A cache that does not answer; gives how often it was asked."""
    asked = []

    def fail(*args, **kwargs):
        asked.append(args)
        raise RedisConnectionError("redis://:secret@host")

    for name in ("get", "set", "add", "incr", "delete_many"):
        monkeypatch.setattr(caches["default"], name, fail)
    monkeypatch.setattr(memory, "_alone_until", 0.0)
    yield asked
    memory._alone_until = 0.0


def test_what_is_put_is_got_until_it_is_forgotten():
    assert memory.get("a") is None
    memory.put("a", 1, 60)
    assert memory.get("a") == 1
    memory.forget("a", "never")
    assert memory.get("a") is None


def test_only_the_first_takes():
    assert memory.take("a", 1, 60) is True
    assert memory.take("a", 2, 60) is False
    assert memory.get("a") == 1


def test_counting():
    assert [memory.count("a", 60), memory.count("a", 60, by=5), memory.count("a", 60, by=-1)] == [1, 6, 5]


def test_a_count_ends():
    assert [memory.count("a", -1), memory.count("a", 60)] == [1, 1]


def test_alone_while_the_cache_does_not_answer(broken, caplog):
    assert [memory.count("a", 60) for _ in range(3)] == [1, 2, 3]
    assert len(broken) == 1, "it waits before it asks again"
    assert "secret" not in caplog.text and caplog.text.count("alone") == 1
    memory._alone_until = 0.0
    memory.put("b", 1, 60)
    assert len(broken) == 2 and memory.get("b") == 1


def test_the_cache_is_asked_again(monkeypatch):
    """And what was counted alone meanwhile is not its."""
    monkeypatch.setattr(memory, "_alone_until", float("inf"))
    memory.count("a", 60)
    monkeypatch.setattr(memory, "_alone_until", 0.0)
    assert memory.get("a") is None
