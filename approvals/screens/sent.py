"""A sent form: its texts, its hidden fields, its files. What is stored goes through the `upload` tool."""

import base64
import hashlib
import logging
import uuid
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core import signing
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest

from approvals.forms import Stored, Typed
from approvals.reading import words
from approvals.screens import store
from approvals.screens.decision import Sent
from processes import files, pipeline
from processes.callers import Caller
from processes.errors import ToolError
from processes.models import WorkItem

log = logging.getLogger(__name__)

UNKNOWN_TYPE = "application/octet-stream"
BUSY = "Somebody wrote at the same moment; send it again."
_MOST_DIGITS = 9
_HASH = 64
_NO_SNAPSHOT = "-"  # of no run: a form without one is stale


def sent_of(request: HttpRequest, caller: Caller, item: WorkItem) -> Sent:
    """Everything may be missing or made up: it is only ever compared, never trusted."""
    stored = tuple(
        found
        for token in request.POST.getlist("stored")
        if (found := _opened(token, caller, item)) is not None
    )
    seen, snapshot = request.POST.get("seen", ""), request.POST.get("snapshot", "")
    return Sent(
        typed=Typed.of(request.POST.lists(), stored),
        snapshot=snapshot if snapshot.isalnum() and len(snapshot) <= _HASH else _NO_SNAPSHOT,
        seen=int(seen) if seen.isascii() and seen.isdigit() and len(seen) <= _MOST_DIGITS else 0,
        request_id=_request_id(request.POST.get("requestId", "")),
    )


def _request_id(text: str) -> str:
    try:
        return str(uuid.UUID(text))
    except ValueError:
        return str(uuid.uuid4())


@dataclass(frozen=True, slots=True, kw_only=True)
class Attached:
    """The attached files: those that are stored now, what is wrong with the others, and the refusal of those for which it
    helps to send again.
    """

    stored: tuple[Stored, ...] = ()
    said: tuple[str, ...] = ()
    later: ToolError | None = None


def stored_now(request: HttpRequest, caller: Caller, item: WorkItem, sent: Sent) -> Attached:
    stored: list[Stored] = []
    said: list[str] = []
    later: ToolError | None = None
    known = {one.ref for one in sent.typed.stored}
    for file in request.FILES.getlist("files"):
        name = file.name or "file"
        try:
            ref = _store(file, name, caller, sent)
        except ToolError as error:
            wrong = [issue.partition(": ")[2] for issue in error.issues or ()] or [error.message]
            if error.code == "retry":
                later = later or error
                wrong = wrong if error.issues else ["not stored; attach it again"]
            said += [f"{name}: {line}" for line in wrong]
            continue
        if ref not in known:
            known.add(ref)
            stored.append(Stored(ref=ref, name=name, token=_token(ref, name, caller, item)))
    return Attached(stored=tuple(stored), said=tuple(said), later=later)


def _store(file: "UploadedFile[Any]", name: str, caller: Caller, sent: Sent) -> str:
    """The same file of the same form is the same request: a double click stores it once."""
    if file.size is None or file.size > settings.MAX_UPLOAD_BYTES:
        raise ToolError("invalid", f"larger than {words.size(settings.MAX_UPLOAD_BYTES)}")
    content = file.read()
    if not content:
        raise ToolError("invalid", "is empty")
    mark = f"{sent.request_id} {name} {hashlib.sha256(content).hexdigest()}"
    kind = file.content_type or ""
    arguments = {
        "fileName": name,
        "contentType": kind if files.CONTENT_TYPE.fullmatch(kind) else UNKNOWN_TYPE,
        "contentBase64": base64.b64encode(content).decode(),
        "requestId": str(uuid.uuid5(uuid.NAMESPACE_OID, mark)),
    }
    try:
        with store.asked("store what a form brings"):
            return str(pipeline.call("upload", caller, arguments)["id"])
    except store.AwayError as away:
        raise away.told() from None
    except pipeline.FAULTS:
        log.exception("a file of a form ran into another write")
        raise ToolError("retry", BUSY, retry_after=1) from None


def _salt(caller: Caller, item: WorkItem) -> str:
    return f"approvals.sent {caller.id} {item.pk}"


def _token(ref: str, name: str, caller: Caller, item: WorkItem) -> str:
    return signing.dumps([ref, name], salt=_salt(caller, item))


def _opened(token: str, caller: Caller, item: WorkItem) -> Stored | None:
    try:
        ref, name = signing.loads(token, salt=_salt(caller, item))
    except (signing.BadSignature, ValueError):
        return None
    return Stored(ref=ref, name=name, token=token)
