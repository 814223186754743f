"""Beats: rows that say who is alive, and since when without a stop."""

from datetime import timedelta
from unittest import mock

import pytest
from celery import signals
from django.db import IntegrityError, OperationalError
from django.utils import timezone

from processes import heartbeats, tasks, timers
from processes.models import Heartbeat
from tests.processes.flows import later

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch):
    """The connection is the test's."""
    heartbeats._last.clear()
    monkeypatch.setattr(heartbeats.connections, "close_all", lambda: None)
    yield
    heartbeats._last.clear()


def test_the_first_and_those_that_follow(django_assert_num_queries):
    with django_assert_num_queries(2):
        heartbeats.beat("worker")
    with later(seconds=20), django_assert_num_queries(1):
        heartbeats.beat("worker")
    found = heartbeats.all_beats()["worker"]
    assert found.at - found.since == pytest.approx(timedelta(seconds=20), abs=timedelta(seconds=2))
    assert found.alive(timezone.now())


def test_after_a_stop_it_starts_anew():
    heartbeats.beat("worker")
    with later(seconds=60):
        assert not heartbeats.all_beats()["worker"].alive(timezone.now())
        heartbeats.beat("worker")
        found = heartbeats.all_beats()["worker"]
        assert found.since == found.at


def test_two_that_are_the_first_at_once():
    with mock.patch.object(Heartbeat.objects, "create", side_effect=IntegrityError):
        heartbeats.beat("worker")


def test_celery_says_it_for_them():
    signals.heartbeat_sent.send(sender=None)
    signals.before_task_publish.send(sender="processes.wake", body=(), headers={})
    assert set(heartbeats.all_beats()) == {heartbeats.WORKER, heartbeats.CLOCK}


def test_another_task_is_no_clock():
    signals.before_task_publish.send(sender="processes.evaluate", body=(), headers={})
    assert heartbeats.all_beats() == {}
    assert tasks.wake.name == "processes.wake"


def test_not_at_every_signal(django_assert_num_queries):
    heartbeats.worker_beats()
    with django_assert_num_queries(0):
        for _ in range(10):
            heartbeats.worker_beats()


def test_a_database_that_is_gone_ends_nobody(caplog):
    with mock.patch.object(heartbeats, "beat", side_effect=OperationalError("db.internal")):
        heartbeats.worker_beats()
    assert "could not say" in caplog.text and "internal" not in caplog.text


def test_the_servers_own_clock_says_it():
    assert timers.tick("one") == 0
    assert heartbeats.CLOCK in heartbeats.all_beats()
    Heartbeat.objects.all().delete()
    timers.tick("two")  # whoever has no lease is not the clock
    assert heartbeats.all_beats() == {}
