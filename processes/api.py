"""REST: `POST /v1/<tool>` with the protocol's envelope. A door to the tools, nothing more."""

import logging
import math
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe
from rest_framework.authentication import CSRFCheck
from rest_framework.exceptions import APIException, Throttled, UnsupportedMediaType
from rest_framework.parsers import BaseParser
from rest_framework.permissions import AllowAny
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.mediatypes import media_type_matches
from rest_framework.views import APIView

from checks import codec, sizes
from processes import facts, files, logs, pipeline, proofs
from processes.callers import NOBODY, Caller, CallerKind, of_agent, of_user
from processes.errors import ToolError
from processes.throttles import PerCaller

log = logging.getLogger(__name__)

STATUS = {
    "invalid": 400,
    "forbidden": 403,
    "not_found": 404,
    "conflict": 409,
    "stale": 409,
    "not_accepted": 422,
    "retry": 503,
}
TOO_MANY = 429
# what a call without a file may weigh: the run data's bound with room for JSON's own characters
CALL_BYTES = 2 * settings.RUN_DATA_BYTES + 65_536


class LosslessParser(BaseParser):
    media_type = "application/json"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        raw: bytes = stream.read()
        try:
            return codec.loads(raw) if raw else {}
        except codec.CodecError as error:
            raise ToolError(
                "invalid", "The body is no JSON that this server takes.", [f"body: {error}"]
            ) from None


class LosslessRenderer(BaseRenderer):
    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None
    ) -> bytes:
        return codec.dumps(data).encode()


class UnauthenticatedError(Exception):
    """A key that proves nothing, or a session without its CSRF token."""

    def __init__(self, message: str, status: int = 401) -> None:
        super().__init__(message)
        self.status = status


def caller_of(request: Request) -> Caller:
    """A bearer key is an agent's; else the browser session's person, with CSRF; else nobody."""
    scheme, _, key = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme:
        caller = of_agent(key.strip()) if scheme.lower() == "bearer" else None
        if caller is None:
            raise UnauthenticatedError(
                "The key is unknown, revoked, or no agent's (one of the judge API opens no tool). "
                "Send `Authorization: Bearer <key>`."
            )
        return caller
    django_request = request._request
    user = getattr(django_request, "user", None)
    if user is None or not user.is_authenticated:
        return NOBODY
    if reason := _csrf_refusal(django_request):
        raise UnauthenticatedError(f"A decision needs a browser's presence: {reason}", 403)
    return of_user(user)


def _csrf_refusal(request: HttpRequest) -> str | None:
    """Why this request does not come from the person's own page; None when it does."""
    check = CSRFCheck(lambda _: HttpResponse())
    check.process_request(request)
    refused: Any = check.process_view(request, lambda _: HttpResponse(), (), {})  # DRF's gives the reason
    return str(refused) if refused is not None else None


class Door(APIView):
    """What every address of this door has in common: who calls, how often, and how a refusal is worded."""

    authentication_classes = ()
    permission_classes = (AllowAny,)  # each tool's table of callers decides, in the pipeline
    parser_classes = (LosslessParser,)
    renderer_classes = (LosslessRenderer,)
    throttle_classes = (PerCaller,)
    caller = NOBODY

    def perform_authentication(self, request: Request) -> None:
        """Nothing: `caller_of` looks for itself, and DRF would put its own nobody over the session's person."""

    def check_throttles(self, request: Request) -> None:
        """Nothing yet: DRF asks before anybody knows who calls."""

    def learn(self, request: Request, *, nobody: bool = False) -> None:
        """Who calls. `nobody`: also callers without a key or a session."""
        try:
            self.caller = caller_of(request)
        finally:  # a key that proves nothing counts for its address
            super().check_throttles(request)
        if self.caller.kind is CallerKind.NOBODY and not nobody:
            raise UnauthenticatedError("A key is needed: send `Authorization: Bearer <key>`.")

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, ToolError):
            return _refusal(exc, TOO_MANY if exc.bound else STATUS[exc.code])
        if isinstance(exc, UnauthenticatedError):
            return _refusal(ToolError("forbidden", str(exc)), exc.status)
        if isinstance(exc, Throttled):
            seconds = math.ceil(getattr(exc, "wait", None) or 1)
            message = f"Too many calls within a minute. Send the same call again in {seconds} s."
            return _refusal(ToolError("retry", message, retry_after=seconds), TOO_MANY)
        if isinstance(exc, APIException):  # a wrong method or media type
            detail = exc.detail if isinstance(exc.detail, str) else "The request can't be read."
            return _refusal(ToolError("invalid", str(detail)), exc.status_code)
        log.error("%s failed", self.request.path[:100], exc_info=exc)
        return _refusal(
            ToolError(
                "retry", "Something broke on our side; it is logged. Send the same call again.", retry_after=5
            ),
            STATUS["retry"],
        )


class ToolView(Door):
    """One view for every tool; the pipeline knows the rest."""

    http_method_names = ["post", "options"]

    def post(self, request: Request, tool: str) -> Response:
        self._bound(request, tool)
        self.learn(request, nobody=tool == "describe")
        return Response({"ok": True, "data": pipeline.call(tool, self.caller, request.data)})

    def _bound(self, request: Request, tool: str) -> None:
        """Refuse what is not worth reading, before anything reads it: the CSRF check would parse a form."""
        kind = request.META.get("CONTENT_TYPE", "")
        if kind and not media_type_matches(LosslessParser.media_type, kind):
            raise UnsupportedMediaType(kind)
        most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE if tool == "upload" else CALL_BYTES
        if "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "").lower():
            issue = "body: send it with a Content-Length"
            raise ToolError("invalid", "A body of unknown size is not read.", [issue])
        size = sizes.told(request.META)
        if size is None or size > most:
            raise ToolError(
                "invalid", f"The body is too large for {tool[:40]}.", [f"body: at most {most} bytes"]
            )


class OfRun(Door):
    """`GET /v1/runs/<id>/<what>`: what is kept of a run beside its data, for whoever may read the run."""

    http_method_names = ["get", "options"]
    what = ""

    def get(self, request: Request, run: str) -> Response:
        self.learn(request)
        if not run.isprintable():  # a NUL is nothing to ask PostgreSQL for
            raise ToolError("not_found", "There is no such run.")
        pipeline.call("get_run", self.caller, {"runId": run})
        return Response({"ok": True, "data": {"runId": run, self.what: OF_RUN[self.what](run)}})


# facts: of our profile facts-1; receipts: compact JWS in the order of the run's chain
OF_RUN: dict[str, Callable[[str], list[dict[str, Any]]]] = {
    "facts": facts.of_run,
    "receipts": proofs.receipts_of,
}


def _refusal(error: ToolError, status: int) -> Response:
    logs.note(code=error.code)
    headers = {}
    if status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = 'Bearer realm="countersign"'
    if error.retry_after is not None:
        headers["Retry-After"] = str(error.retry_after)
    response = Response({"ok": False, "error": error.view()}, status=status, headers=headers)
    # an answer of the protocol; what broke is logged where it broke
    response._has_been_logged = True  # type: ignore[attr-defined]  # noqa: SLF001 - as Django's own handlers tell
    return response


def _plain_refusal(error: ToolError) -> JsonResponse:
    headers = {} if error.retry_after is None else {"Retry-After": str(error.retry_after)}
    response = JsonResponse({"ok": False, "error": error.view()}, status=STATUS[error.code], headers=headers)
    response._has_been_logged = True  # type: ignore[attr-defined]  # noqa: SLF001 - as in `_refusal`
    return response


@csrf_exempt
def nowhere(request: HttpRequest, rest: str) -> JsonResponse:
    """Machines are told as machines that there is nothing at an address, whatever they sent there."""
    hint = " Leave out the slash at its end." if rest.endswith("/") else ""
    return _plain_refusal(
        ToolError("not_found", f"There is nothing at this address.{hint} /v1/docs names what there is.")
    )


@require_safe
def file(request: HttpRequest, signed: str) -> HttpResponseBase:
    """A stored file behind a signed short-lived address: always an attachment, never sniffed."""
    try:
        upload = files.opened(signed)
    except ToolError as refused:
        return _plain_refusal(refused)
    try:
        stored = files.read(upload)
    except Exception:  # whatever a store says when it is away
        log.exception("a stored file could not be read")
        return _plain_refusal(
            ToolError("retry", "The file can't be read now; ask again in a moment.", retry_after=5)
        )
    if stored is None:
        return _plain_refusal(files.gone())
    response = FileResponse(
        stored, as_attachment=True, filename=upload.file_name, content_type=upload.content_type
    )
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "private, no-store"
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    return response
