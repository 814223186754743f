"""Beats of whoever works without being asked: the clock (Celery beat, or the server's own thread) and the workers.

Rows in the database and not in the broker or the cache, so that these can be told apart when they are gone.
"""

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from celery import signals
from django.db import IntegrityError, connections
from django.db.models import Case, F, Value, When
from django.utils import timezone

from processes.models import Heartbeat

log = logging.getLogger(__name__)

CLOCK, WORKER = "clock", "worker"
EVERY_SECONDS = 10.0
# three beats may be late before anybody is called dead
STALE = timedelta(seconds=35)
_last: dict[str, float] = {}


@dataclass(frozen=True, slots=True)
class Beat:
    """`at`: the last one. `since`: the first of those that came without a stop."""

    since: datetime
    at: datetime

    def alive(self, now: datetime) -> bool:
        return self.at + STALE >= now


def beat(name: str) -> None:
    """Say that it is alive: one statement, and a second one the first time."""
    now = timezone.now()
    since = Case(When(at__lt=now - STALE, then=Value(now)), default=F("since"))
    if not Heartbeat.objects.filter(name=name).update(since=since, at=now):
        try:
            Heartbeat.objects.create(name=name, since=now, at=now)
        except IntegrityError:
            log.debug("another %s was the first to say so", name)


def all_beats() -> Mapping[str, Beat]:
    return {row.name: Beat(row.since, row.at) for row in Heartbeat.objects.all()}


def _sometimes(name: str) -> None:
    """From a signal of Celery's, in a process that keeps no connection and must not end over a missed beat."""
    now = time.monotonic()
    if now - _last.get(name, -EVERY_SECONDS) < EVERY_SECONDS:
        return
    _last[name] = now
    try:
        beat(name)
    except Exception:  # noqa: BLE001 - the database may be gone for a moment; the next beat says so
        log.warning("the %s could not say that it is alive", name)
    finally:
        connections.close_all()


@signals.heartbeat_sent.connect
def worker_beats(**_: Any) -> None:
    """The worker's own process says so, every other second, whether or not there is work."""
    _sometimes(WORKER)


@signals.before_task_publish.connect(sender="processes.wake")
def clock_beats(**_: Any) -> None:
    """Celery beat alone sends this task, and says so before it asks the broker."""
    _sometimes(CLOCK)
