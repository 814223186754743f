"""`POST /v1/judge` and `POST /v1/consensus`: plain JSON in and out, no envelope, a bearer key with the judge scope.

Errors are `{error: {code, message, issues}}`. A call that waits for a model holds a thread, so at most half of a server
process's threads do at once; who comes on top is told to come again.
"""

import logging
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from checks import codec
from checks import consensus as agreeing
from checks.judge import asking, storing
from checks.judge.callers import RefusedError, caller, count
from checks.judge.requests import MAX_BODY_BYTES, read_consensus, read_judge
from checks.judge.rules import criteria_view
from checks.models import JudgeCall, Key

BUSY_SECONDS = 5
_slots = threading.BoundedSemaphore(max(1, settings.SERVER_THREADS // 2))
_log = logging.getLogger(__name__)

Answer = tuple[JudgeCall, dict[str, Any], bool]
View = Callable[[HttpRequest], HttpResponse]
Work = Callable[[uuid.UUID, Key, Any], Answer]


def _door(view: View) -> View:
    """For machines: a bearer key is sent by nobody's browser on its own, and bodies are bounded here."""
    view = csrf_exempt(view)
    vars(view)["bounds_its_body"] = True
    return view


@_door
def judge(request: HttpRequest) -> HttpResponse:
    return _answered(request, _judge)


@_door
def consensus(request: HttpRequest) -> HttpResponse:
    return _answered(request, _consensus)


def _judge(number: uuid.UUID, key: Key, body: Any) -> Answer:
    asked, problems = read_judge(body)
    if asked is None:
        raise _invalid(problems)
    count(key)
    if not _slots.acquire(blocking=False):
        message = "The server is judging as much as it can at once. Send the same call again in a moment."
        raise RefusedError("busy", 503, message, retry_after=BUSY_SECONDS)
    started = time.monotonic()
    try:
        it = asking.judge(asked)
    finally:
        _slots.release()
    found = it.found
    view = {
        "request_id": str(number),
        "verdict": it.decided.verdict,
        "score": round(found.score, 4),
        "reasons": list(it.decided.reasons),
        "next_step": it.decided.next_step,
        "claims": [claim.view() for claim in found.claims],
        "checks": [
            {"type": kind, "passed": out.passed, "detail": out.detail, "evidence_hash": out.evidence_hash}
            for kind, out in found.checks
        ],
        "criteria": criteria_view(found.criteria, asked.criteria),
        "verification": found.verification,
        "engine": it.engine,
        "model": it.model,
    }
    return storing.of_judgement(number, key, body, it, _milliseconds(started)), view, asked.retain


def _consensus(number: uuid.UUID, key: Key, body: Any) -> Answer:
    asked, problems = read_consensus(body)
    if asked is None:
        raise _invalid(problems)
    count(key)
    started = time.monotonic()
    it = agreeing.consensus(asked.task, asked.answers, asked.evidence)
    view = {"request_id": str(number), **it.view(), "engine": asking.DETERMINISTIC}
    return storing.of_consensus(number, key, body, it, _milliseconds(started)), view, asked.retain


def _answered(request: HttpRequest, work: Work) -> HttpResponse:
    try:
        _refuse_method(request)
        key = caller(request.META.get("HTTP_AUTHORIZATION", ""))
        body = _body(request)
        call, view, retain = work(uuid.uuid4(), key, body)
        storing.keep(call, body, view, retain=retain)
    except RefusedError as refused:
        return _refusal(refused)
    except Exception:  # noqa: BLE001 - logged; the caller is told no more than that
        _log.exception("the judge API failed")
        return _refusal(
            RefusedError("error", 500, "Something broke on our side; it is logged. Send the same call again.")
        )
    return _json(view, 200)


def _refuse_method(request: HttpRequest) -> None:
    if request.method != "POST":
        raise RefusedError("invalid", 405, "Only POST is taken here.")


def _body(request: HttpRequest) -> Any:
    """The JSON that was sent. What is not worth reading is refused before it is read."""
    if request.content_type not in {"application/json", ""}:
        raise RefusedError("invalid", 415, "Send JSON, with `Content-Type: application/json`.")
    if "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "").lower():
        raise RefusedError("invalid", 411, "A body of unknown size is not read; send a Content-Length.")
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdigit() or int(length) > MAX_BODY_BYTES:
        issues = [f"body: {length[:20]} bytes; at most {MAX_BODY_BYTES} are taken"]
        raise RefusedError("too_large", 413, "The body is too large.", issues)
    try:
        return codec.loads(request.read(MAX_BODY_BYTES + 1))
    except codec.CodecError as error:
        raise RefusedError(
            "invalid", 400, "The body is no JSON that is taken here.", [f"body: {error}"]
        ) from None


def _invalid(problems: list[str]) -> RefusedError:
    return RefusedError("invalid", 400, "The request is not as docs/judge.md tells.", problems)


def _refusal(refused: RefusedError) -> HttpResponse:
    error = {"code": refused.code, "message": refused.message, "issues": refused.issues}
    response = _json({"error": error}, refused.status)
    if refused.retry_after is not None:
        response["Retry-After"] = str(refused.retry_after)
    if refused.status == 401:  # noqa: PLR2004 - unauthorized
        response["WWW-Authenticate"] = 'Bearer realm="countersign"'
    if refused.status == 405:  # noqa: PLR2004 - method not allowed
        response["Allow"] = "POST"
    return response


def _json(value: Any, status: int) -> HttpResponse:
    headers = {"Cache-Control": "no-store"}
    return HttpResponse(codec.dumps(value), content_type="application/json", status=status, headers=headers)


def _milliseconds(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
