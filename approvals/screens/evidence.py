"""What a submission cites: files with a preview and their hash looked at anew, and links as text.

Bytes may come over a network, so nothing here runs in a transaction. Whatever a file holds is shown as text.
"""

import csv
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.core.files.base import File as Stored

from approvals.reading import words
from processes import files
from processes.models import Upload

PREVIEW = 20 * 1024
LINES = 200
HASHED = 8 * 1024 * 1024  # bytes that one page reads to look at hashes anew
COLUMNS, ROWS = 6, 30
READABLE = ("text/", "application/json", "application/csv", "application/x-ndjson")
WEB = ("http", "https")


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """`state`: same (re-hashed just now), changed, gone, or recorded (not looked at)."""

    ref: str
    name: str
    about: str
    fingerprint: str
    state: str
    lines: tuple[str, ...] = ()
    table: tuple[tuple[str, ...], ...] = ()
    rest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """`url` is empty where it is no web address: then there is nothing to click."""

    text: str
    url: str = ""
    host: str = ""


def gather(
    evidence: Iterable[Mapping[str, str]], uploads: Mapping[str, Upload]
) -> tuple[list[File], list[Link]]:
    """Files and links in the order they were cited."""
    found: list[File] = []
    links: list[Link] = []
    left = HASHED
    for item in evidence:
        if item["kind"] != "file":
            links.append(link(item["ref"]))
            continue
        upload = uploads.get(item["ref"])
        if upload is None:
            found.append(File(ref=item["ref"], name=item["ref"], about="", fingerprint="", state="gone"))
            continue
        found.append(_file(upload, look=upload.size <= left))
        left -= upload.size if upload.size <= left else 0
    return found, links


def link(ref: str) -> Link:
    """Clickable only when it is a plain web address; the host stands beside it, because a text can lie."""
    try:
        parts = urlsplit(ref)
        host = parts.hostname or ""
    except ValueError:
        return Link(text=ref)
    if parts.scheme.lower() not in WEB or not host or not ref.isprintable() or " " in ref:
        return Link(text=ref)
    return Link(text=ref, url=ref, host=host)


def _file(upload: Upload, *, look: bool) -> File:
    content, state = b"", "recorded"
    if look and (stored := files.read(upload)) is not None:
        with stored:
            same = _digest(stored) == upload.sha256
            state = "same" if same else "changed"
            if upload.size <= PREVIEW and upload.content_type.startswith(READABLE):
                stored.seek(0)
                content = stored.read(PREVIEW)
    elif look:
        state = "gone"
    table = _table(upload, content)
    lines = () if table else tuple(content.decode("utf-8", "replace").splitlines())
    return File(
        ref=upload.pk,
        name=upload.file_name,
        about=_about(upload, lines, table),
        fingerprint=words.fingerprint(upload.sha256),
        state=state,
        lines=lines[:LINES],
        table=table,
        rest="\n".join(lines[LINES:]),
    )


def _digest(stored: "Stored[bytes]") -> str:
    digest = hashlib.sha256()
    for chunk in stored.chunks():
        digest.update(chunk)
    return digest.hexdigest()


def _about(upload: Upload, lines: tuple[str, ...], table: tuple[tuple[str, ...], ...]) -> str:
    if table:
        return f"table, {words.count(len(table) - 1, 'row')}"
    kind = upload.content_type.partition(";")[0]
    kind = "text" if lines and kind.startswith("text/") else kind.rpartition("/")[2]
    return f"{kind}, {words.size(upload.size)}"


def _table(upload: Upload, content: bytes) -> tuple[tuple[str, ...], ...]:
    """A small, regular CSV file as its rows, the head first; anything else is shown as lines."""
    if not content or "csv" not in upload.content_type:
        return ()
    try:
        rows = tuple(
            tuple(row) for row in csv.reader(content.decode("utf-8").splitlines(), strict=True) if row
        )
    except (UnicodeDecodeError, csv.Error):
        return ()
    regular = len({len(row) for row in rows}) == 1
    return rows if regular and 1 < len(rows) <= ROWS and len(rows[0]) <= COLUMNS else ()
