"""`GET /v1/health`: which parts of the server work, and for how long.

For anybody, so it says nothing but that: no address, no version, no error's words. Database and broker are tried
(a second at the most, and no more often than every other second, however many ask); clock and workers say by
themselves that they are alive; how the evaluator does is known from its last asking, which nobody repeats for this;
the key of receipts is looked at as whoever signs would.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.db import connections
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe
from kombu import Connection

from checks import evaluators, outcomes
from checks.receipts import signing
from checks.receipts.keys import NoKeyError
from processes import heartbeats
from processes.heartbeats import Beat

log = logging.getLogger(__name__)

OK, DOWN, NOT_USED = "ok", "down", "not_used"
IMPAIRED = "impaired"
PARTS = ("database", "broker", "worker", "beat", "evaluator", "receipts")
TRY_SECONDS = 1.0
KEPT_SECONDS = 2.0
CANNOT_SERVE = 503


@dataclass(frozen=True, slots=True)
class Part:
    """`since` is None where nobody knows."""

    state: str
    since: datetime | None = None

    def view(self, now: datetime) -> dict[str, Any]:
        seconds = None if self.since is None else max(0, int((now - self.since).total_seconds()))
        return {"state": self.state, "seconds": seconds}


class Probe:
    """Tries something in a thread of its own, and remembers since when the outcome has been what it is."""

    def __init__(self, name: str, attempt: Callable[[], Any]) -> None:
        self._name, self._attempt = name, attempt
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=f"health-{name}")
        self._under_way: Future[Any] | None = None
        self._part: Part | None = None

    def start(self) -> None:
        """One that hangs is waited for, not joined by another."""
        if self._under_way is None or self._under_way.done():
            self._under_way = self._pool.submit(self._attempt)

    def end(self, deadline: float) -> tuple[Part, Any]:
        """The part and what the attempt gave: None where it failed, or did not come to an end by the deadline."""
        found = None
        try:
            if self._under_way is not None:
                found = self._under_way.result(timeout=max(0.0, deadline - time.monotonic()))
        except Exception as error:  # noqa: BLE001 - whatever it is, the part is down
            # the words may hold an address; they are for whoever runs the server
            log.warning("%s is down (%s)", self._name, type(error).__name__)
        state = DOWN if found is None else OK
        if self._part is None or self._part.state != state:
            self._part = Part(state, timezone.now())
        return self._part, found


def _read_beats() -> Mapping[str, Beat]:
    try:
        return heartbeats.all_beats()
    finally:
        connections.close_all()  # this thread's own


def _read_evaluator() -> Part:
    """As its last asking came out; `not_used` too where nobody asked it for a day."""
    try:
        configured = evaluators.configured()
    finally:
        connections.close_all()
    last = outcomes.last(configured) if configured is not None else None
    if last is None:
        return Part(NOT_USED)
    return Part(OK if last.well else DOWN, datetime.fromtimestamp(last.since, UTC))


def _can_sign() -> str:
    """Whether there is a key to sign receipts with, without which no verdict and no decision is taken."""
    try:
        signing.ready()
    except NoKeyError as error:
        log.warning("receipts can't be signed: %s", error)
        return DOWN
    finally:
        connections.close_all()
    return OK


def _reach_broker() -> bool:
    options = {"socket_connect_timeout": TRY_SECONDS, "socket_timeout": TRY_SECONDS}
    redis = settings.CELERY_BROKER_URL.startswith("redis")
    with Connection(
        settings.CELERY_BROKER_URL,
        connect_timeout=TRY_SECONDS,
        transport_options=options if redis else {"read_timeout": TRY_SECONDS},
    ) as connection:
        connection.channel()  # a Redis is only spoken to here
    return True


class Health:
    """One per process. What it found is kept for a moment, so that asking often costs nothing."""

    def __init__(self) -> None:
        self._database = Probe("the database", _read_beats)
        self._broker = Probe("the broker", _reach_broker)
        self._record = Probe("the evaluator's record", _read_evaluator)
        self._signer = Probe("the key of receipts", _can_sign)
        self._beats: Mapping[str, Beat] = {}
        self._evaluator = self._receipts = Part(NOT_USED)
        self._lock = threading.Lock()
        self._found: dict[str, Part] = {}
        self._found_at = float("-inf")

    def report(self) -> tuple[int, dict[str, Any]]:
        """The HTTP status and the body."""
        with self._lock:
            if time.monotonic() - self._found_at >= KEPT_SECONDS:
                self._found = self._look()
                self._found_at = time.monotonic()
            parts = self._found
        now = timezone.now()
        states = {part.state for part in parts.values()}
        serves = parts["database"].state == OK
        status = DOWN if not serves else IMPAIRED if DOWN in states else OK
        view = {"status": status, **{name: part.view(now) for name, part in parts.items()}}
        return (200 if serves else CANNOT_SERVE), view

    def _look(self) -> dict[str, Part]:
        scaled = bool(settings.CELERY_BROKER_URL)
        deadline = time.monotonic() + TRY_SECONDS
        for probe in (self._database, self._record, self._signer, *([self._broker] if scaled else [])):
            probe.start()
        database, beats = self._database.end(deadline)
        broker = self._broker.end(deadline)[0] if scaled else Part(NOT_USED)
        # with the database or the cache gone, what is known of the others is what was said last
        self._beats = self._beats if beats is None else beats
        self._evaluator = self._record.end(deadline)[1] or self._evaluator
        signs = self._signer.end(deadline)[1]
        if signs not in {None, self._receipts.state}:
            self._receipts = Part(signs, timezone.now())
        return {
            "database": database,
            "broker": broker,
            "worker": _alive(self._beats.get(heartbeats.WORKER)) if scaled else Part(NOT_USED),
            "beat": _alive(self._beats.get(heartbeats.CLOCK)),
            "evaluator": self._evaluator,
            "receipts": self._receipts,
        }


def _alive(beat: Beat | None) -> Part:
    if beat is None:
        return Part(DOWN)
    return Part(OK, beat.since) if beat.alive(timezone.now()) else Part(DOWN, beat.at)


_health = Health()


@csrf_exempt  # whoever sends a POST is told that it is not taken here
@require_safe
def health(request: HttpRequest) -> JsonResponse:
    status, view = _health.report()
    return JsonResponse(view, status=status, headers={"Cache-Control": "no-store"})
