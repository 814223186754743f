"""Uploaded files: stored under unguessable ids, verified by hash, served by signed short-lived addresses.

Storage may be a network service, so nothing here that reads or writes bytes runs in a transaction.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from django.conf import settings
from django.core import signing
from django.core.files.base import ContentFile, File
from django.core.files.storage import default_storage

from processes.acceptance import FileState
from processes.errors import ToolError
from processes.models import Upload, upload_id

_SALT = "processes.files.1"
CONTENT_TYPE = re.compile(
    r"[A-Za-z0-9][\w.+-]{0,79}/[A-Za-z0-9][\w.+-]{0,79}(;[ \t]*[\w.+-]+=[\w.+-]+)*", re.ASCII
)
FILE_NAME = re.compile(r"[^\x00-\x1f\x7f/\\]{1,255}")


def store(content: bytes, *, file_name: str, content_type: str, by: str) -> Upload:
    """Write the bytes; the row is the caller's to save, in its own transaction."""
    name = upload_id()
    path = default_storage.save(f"{name[2:4]}/{name}", ContentFile(content))
    return Upload(
        id=name,
        file_name=file_name,
        content_type=content_type,
        path=path,
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        by=by,
    )


def discard(upload: Upload) -> None:
    """Take back the bytes of a row that was never saved."""
    default_storage.delete(upload.path)


def refs(evidence: Iterable[Mapping[str, str]]) -> set[str]:
    return {item["ref"] for item in evidence if item["kind"] == "file"}


def verify(wanted: set[str]) -> dict[str, tuple[Upload, str | None]]:
    """Re-hash the stored bytes of each cited file. One statement, and one read per file.

    Gives for each upload that exists its row and what is wrong with its bytes (None = nothing).
    """
    found: dict[str, tuple[Upload, str | None]] = {}
    if not wanted:
        return found
    for upload in Upload.objects.filter(pk__in=wanted):
        found[upload.pk] = (upload, _wrong(upload))
    return found


def verify_again(
    verified: Mapping[str, tuple[Upload, str | None]],
) -> dict[str, tuple[Upload, str | None]]:
    """The same files' bytes once more. No statement: an upload's row never changes."""
    return {ref: (upload, _wrong(upload)) for ref, (upload, _) in verified.items()}


def _wrong(upload: Upload) -> str | None:
    """What is wrong with its bytes; None = nothing."""
    try:
        with default_storage.open(upload.path) as stored:
            same = _digest(stored) == upload.sha256
    except FileNotFoundError:
        return "its bytes are gone"
    return None if same else "changed since it was uploaded"


def citable(
    verified: Mapping[str, tuple[Upload, str | None]], *, by: str, cited: AbstractSet[str]
) -> dict[str, FileState]:
    """Who may cite what: the uploader, or anybody within a run that already cites it (`cited`).

    To anyone else the file does not exist.
    """
    return {
        ref: FileState(sha256=upload.sha256, refusal=wrong)
        for ref, (upload, wrong) in verified.items()
        if upload.by == by or ref in cited
    }


def _digest(stored: Any) -> str:
    return hashlib.file_digest(stored, "sha256").hexdigest()


def url(ref: str) -> str:
    """An absolute address that opens the file for `FILE_URL_SECONDS`."""
    return f"{settings.SITE_URL}/v1/files/{signing.TimestampSigner(salt=_SALT).sign(ref)}"


def opened(signed: str) -> Upload:
    """The upload behind an address. Raises `not_found` when the address is too old or none of ours, or the file is gone."""
    try:
        ref = signing.TimestampSigner(salt=_SALT).unsign(signed, max_age=settings.FILE_URL_SECONDS)
    except signing.SignatureExpired:
        raise ToolError(
            "not_found", "This address is no longer valid. Read the run again for a new one."
        ) from None
    except signing.BadSignature:
        raise ToolError(
            "not_found",
            "No file was ever given out by this address. Read the run, and take the address that stands beside the file.",
        ) from None
    upload: Upload | None = Upload.objects.filter(pk=ref).first()
    if upload is None:
        raise gone()
    return upload


def read(upload: Upload) -> "File[bytes] | None":
    """The stored bytes, opened; None when they are gone."""
    try:
        return default_storage.open(upload.path)
    except FileNotFoundError:
        return None


def gone() -> ToolError:
    return ToolError(
        "not_found",
        "The file is gone from this server's store. Whoever has it may upload it again and cite it anew.",
    )
