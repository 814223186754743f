"""What a submission cites: files with a preview and their hash looked at anew, and links as text.

Bytes may come over a network, so nothing here runs in a transaction. Whatever a file holds is shown as text.
"""

import csv
import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.core.files.base import File as Stored

from approvals.reading import words
from approvals.screens import store
from processes import files
from processes.models import Upload

PREVIEW = 20 * 1024
LINES = 200
HASHED = 8 * 1024 * 1024  # bytes that one page reads to look at hashes anew
COLUMNS, ROWS = 6, 30
READABLE = ("text/", "application/json", "application/csv", "application/x-ndjson")
WEB = ("http", "https")
_PLAINLY = {"plain": "text", "octet-stream": "binary"}
_FIGURE = re.compile(r"[-+]?\d+([.,]\d+)*", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """`state`: same (re-hashed just now), changed, gone, away (not to be opened now), or recorded (not looked at)."""

    ref: str
    name: str
    about: str
    fingerprint: str
    state: str
    lines: tuple[str, ...] = ()
    table: tuple[tuple[str, ...], ...] = ()
    rest: str = ""

    @property
    def cells(self) -> list[list[tuple[str, bool]]]:
        """The table's cells, each with whether its column is one of figures, which stand at the right with their head."""
        columns = zip(*self.table[1:], strict=True)
        figures = [all(_FIGURE.fullmatch(cell) for cell in column) for column in columns]
        return [list(zip(row, figures, strict=True)) for row in self.table]


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """`url` is empty where it is no web address: then there is nothing to click."""

    text: str
    url: str = ""
    host: str = ""


def gather(
    evidence: Iterable[Mapping[str, str]], uploads: Mapping[str, Upload]
) -> tuple[list[File], list[Link]]:
    """Files and links in the order they were cited. A store that is away is asked once: to wait for it takes long."""
    found: list[File] = []
    links: list[Link] = []
    left, away = HASHED, False
    for item in evidence:
        if item["kind"] != "file":
            links.append(link(item["ref"]))
            continue
        upload = uploads.get(item["ref"])
        if upload is None:
            found.append(File(ref=item["ref"], name=item["ref"], about="", fingerprint="", state="gone"))
            continue
        look = upload.size <= left and not away
        found.append(_file(upload, *_looked_at(upload) if look else (b"", "away" if away else "recorded")))
        left -= upload.size if look else 0
        away = found[-1].state == "away"
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


def _looked_at(upload: Upload) -> tuple[bytes, str]:
    """What there is to show of it, and the state of its bytes."""
    try:
        with store.asked(f"read {upload.pk}"):
            stored = files.read(upload)
            if stored is None:
                return b"", "gone"
            with stored:
                state = "same" if _digest(stored) == upload.sha256 else "changed"
                if upload.size > PREVIEW or not upload.content_type.startswith(READABLE):
                    return b"", state
                stored.seek(0)
                return stored.read(PREVIEW), state
    except store.AwayError:
        return b"", "away"


def _file(upload: Upload, content: bytes, state: str) -> File:
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
    return f"{_PLAINLY.get(kind, kind)}, {words.size(upload.size)}"


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
