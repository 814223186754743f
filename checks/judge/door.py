"""What the judge API's doors have in common: for machines, plain JSON in and out, bodies bounded before they are read.

Errors are `{error: {code, message, issues}}`.
"""

import logging
from collections.abc import Callable
from typing import Any

from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from checks import codec, sizes
from checks.judge.callers import RefusedError
from checks.judge.requests import MAX_BODY_BYTES
from checks.receipts.keys import NoKeyError

NO_KEY_SECONDS = 60
View = Callable[[HttpRequest], HttpResponse]
_log = logging.getLogger(__name__)


def door(view: View) -> View:
    """For machines: a bearer key is sent by nobody's browser on its own, and bodies are bounded here."""
    view = csrf_exempt(view)
    vars(view)["bounds_its_body"] = True
    return view


def answered(request: HttpRequest, work: Callable[[HttpRequest], Any], method: str) -> HttpResponse:
    """What `work` makes of a request by that method, as JSON; what it refuses, and whatever breaks, as an error."""
    try:
        _refuse_method(request, method)
        view = work(request)
    except RefusedError as refused:
        sizes.drain(request)
        return refusal(refused, method)
    except NoKeyError as error:
        _log.error("the judge API can't sign: %s", error)
        message = "The server has no key to sign with at this moment. Send the same call again later."
        return refusal(RefusedError("busy", 503, message, retry_after=NO_KEY_SECONDS), method)
    except SuspiciousOperation:  # more fields than anybody has a use for
        return refusal(
            RefusedError("invalid", 400, "The request can't be read; send less beside what is asked for."),
            method,
        )
    except Exception:  # noqa: BLE001 - logged; the caller is told no more than that
        _log.exception("the judge API failed")
        message = "Something broke on our side; it is logged. Send the same call again."
        return refusal(RefusedError("error", 500, message), method)
    return json_response(view, 200)


def _refuse_method(request: HttpRequest, method: str) -> None:
    if request.method != method:
        raise RefusedError("invalid", 405, f"Only {method} is taken here.")


def body_of(request: HttpRequest, most: int = MAX_BODY_BYTES) -> Any:
    """The JSON that was sent. What is not worth reading is refused before it is read."""
    if request.content_type not in {"application/json", ""}:
        raise RefusedError("invalid", 415, "Send JSON, with `Content-Type: application/json`.")
    if "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "").lower():
        raise RefusedError("invalid", 411, "A body of unknown size is not read; send a Content-Length.")
    size = sizes.told(request.META)
    if size is None or size > most:
        issues = [f"body: at most {most} bytes are taken"]
        raise RefusedError("too_large", 413, "The body is too large.", issues)
    try:
        return codec.loads(request.read(most + 1))
    except codec.CodecError as error:
        raise RefusedError(
            "invalid", 400, "The body is no JSON that is taken here.", [f"body: {error}"]
        ) from None


def refusal(refused: RefusedError, method: str) -> HttpResponse:
    error = {"code": refused.code, "message": refused.message, "issues": refused.issues}
    response = json_response({"error": error}, refused.status)
    if refused.retry_after is not None:
        response["Retry-After"] = str(refused.retry_after)
    if refused.status == 401:  # noqa: PLR2004 - unauthorized
        response["WWW-Authenticate"] = 'Bearer realm="countersign"'
    if refused.status == 405:  # noqa: PLR2004 - method not allowed
        response["Allow"] = method
    return response


def json_response(value: Any, status: int) -> HttpResponse:
    headers = {"Cache-Control": "no-store"}
    return HttpResponse(codec.dumps(value), content_type="application/json", status=status, headers=headers)
