"""`POST /v1/judge` and `POST /v1/consensus`: plain JSON in and out, no envelope, a bearer key with the judge scope.

Errors are `{error: {code, message, issues}}`. A call that waits for a model holds a thread, so at most half of a server
process's threads do at once; who comes on top is told to come again.
"""

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from checks import consensus as agreeing
from checks.judge import asking, storing
from checks.judge.callers import RefusedError, caller, count
from checks.judge.door import answered, body_of, door
from checks.judge.requests import read_consensus, read_judge
from checks.models import Key
from checks.receipts import signing

BUSY_SECONDS = 5
MAX_ISSUES = 100
_slots = threading.BoundedSemaphore(max(1, settings.SERVER_THREADS // 2))

Answer = tuple[storing.Made, dict[str, Any], bool]
Work = Callable[[uuid.UUID, Key, Any], Answer]


@door
def judge(request: HttpRequest) -> HttpResponse:
    return _answered(request, _judge)


@door
def consensus(request: HttpRequest) -> HttpResponse:
    return _answered(request, _consensus)


def _judge(number: uuid.UUID, key: Key, body: Any) -> Answer:
    asked, problems = read_judge(body)
    if asked is None:
        raise _invalid(problems)
    with _slot():
        count(key)
        started = time.monotonic()
        it = asking.judge(asked)
    view = {"request_id": str(number), **it.view(asked.criteria)}
    return storing.of_judgement(number, key, body, it, _milliseconds(started)), view, asked.retain


def _consensus(number: uuid.UUID, key: Key, body: Any) -> Answer:
    asked, problems = read_consensus(body)
    if asked is None:
        raise _invalid(problems)
    with _slot():
        count(key)
        started = time.monotonic()
        it = agreeing.consensus(asked.task, asked.answers, asked.evidence)
    view = {"request_id": str(number), **it.view(), "engine": asking.DETERMINISTIC}
    return storing.of_consensus(number, key, body, it, _milliseconds(started)), view, asked.retain


def _answered(request: HttpRequest, work: Work) -> HttpResponse:
    def called(request: HttpRequest) -> Any:
        key = caller(request)
        body = body_of(request)
        signing.ready()
        made, view, retain = work(uuid.uuid4(), key, body)
        return view | storing.keep(made, body, view, retain=retain)

    return answered(request, called, "POST")


@contextmanager
def _slot() -> Iterator[None]:
    """One of the calls that are worked on at once. It is had before a call is counted: who is turned away here pays nothing."""
    if not _slots.acquire(blocking=False):
        message = "The server is judging as much as it can at once. Send the same call again in a moment."
        raise RefusedError("busy", 503, message, retry_after=BUSY_SECONDS)
    try:
        yield
    finally:
        _slots.release()


def _invalid(problems: list[str]) -> RefusedError:
    told = problems[:MAX_ISSUES]
    if len(problems) > MAX_ISSUES:
        told.append(f"and {len(problems) - MAX_ISSUES} more")
    return RefusedError("invalid", 400, "The request is not as docs/judge.md tells.", told)


def _milliseconds(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
