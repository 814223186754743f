"""A text to the statements that it makes, one by one. Pure; rules for prose, lists, tables and JSON.

What asserts nothing is left out: headings (but for one that is a sentence, or a label and what it says), questions, lines that
lead into a list. Nothing else is: what is long is parted, and where there are more statements than `most`, neighbours are
put together, and know what they were.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Self

from checks import json_claims, layout
from checks.sentence_ends import sentences

LONG_CHARS = 400  # a statement that is longer is several: what is added at its end must not drown in it

# two letters, with whatever their script puts on top of the first, or a digit
_WORD = re.compile(r"[^\W\d_][^\w\s!-/:-@\[-`{-~]*+[^\W\d_]|\d")
_CLOSERS = "\"'”’)]」』） "
_ASKS = "?？؟"
_LEADS = (*_ASKS, ":", "：")


class Statement(str):
    """A statement; of neighbours put together, `parts` are what they were. A JSON object has `fields`, which may be told one by
    one where it stands alone (it is not `listed` beside others).
    """

    __slots__ = ("fields", "listed", "parts")

    parts: "tuple[Statement, ...]"
    fields: tuple[str, ...]
    listed: bool

    def __new__(
        cls,
        text: str,
        *,
        parts: "tuple[Statement, ...]" = (),
        fields: tuple[str, ...] = (),
        listed: bool = False,
    ) -> Self:
        it = super().__new__(cls, text)
        it.parts, it.fields, it.listed = parts, fields, listed
        return it


def split(text: str, most: int) -> tuple[Statement, ...]:
    """At most `most` statements, in order."""
    records = json_claims.read(text)
    if records is None:
        found = list(_stated(text))
    else:
        found = [statement for record in records for statement in _record(record)]
    if not found and _says(text):
        found = [Statement(piece) for piece in _pieces(" ".join(text.split()))]
    return tuple(_gathered(found, most))


def _stated(text: str) -> Iterator[Statement]:
    for paragraph in layout.paragraphs(text):
        if paragraph.fields:
            yield from _record(json_claims.Record(paragraph.fields, paragraph.listed))
            continue
        for part in sentences(paragraph.text) if paragraph.prose else (paragraph.text,):
            if _asserts(part):
                yield from map(Statement, _pieces(part))


def _asserts(part: str) -> bool:
    """Whether it says anything: no question, no line that only leads to what follows, at least a word or a figure."""
    return bool(_WORD.search(part)) and not part.rstrip(_CLOSERS).endswith(_LEADS)


def _asks(field: str) -> bool:
    return not any(map(str.isalnum, field)) or field.rstrip(_CLOSERS).endswith(tuple(_ASKS))


def _says(text: str) -> bool:
    """Whether a text of which nothing was taken has words all the same that are no heading, no question, no line that leads on."""
    if not _WORD.search(text) or layout.names_only(text):
        return False
    told = [part for it in layout.paragraphs(text) for part in sentences(it.text) if _WORD.search(part)]
    return not all(part.rstrip(_CLOSERS).endswith(_LEADS) for part in told)


def _record(record: json_claims.Record) -> Iterator[Statement]:
    """One statement of its fields; where they are too long for one, several, each led by the first."""
    fields = [piece for field in record.fields if not _asks(field) for piece in _pieces(field)]
    if not fields:
        return
    first, now = fields[0], fields[:1]
    for field in fields[1:]:
        if len("; ".join([*now, field])) > LONG_CHARS:
            yield _of_fields(now, record)
            now = [first] if len(first) + len(field) < LONG_CHARS else []
        now.append(field)
    yield _of_fields(now, record)


def _of_fields(fields: Sequence[str], record: json_claims.Record) -> Statement:
    return Statement("; ".join(fields), fields=tuple(fields) if len(fields) > 1 else (), listed=record.listed)


def _gathered(found: Sequence[Statement], most: int) -> Iterator[Statement]:
    """Neighbours together, as evenly as can be."""
    if len(found) <= most:
        yield from found
        return
    for place in range(most):
        parts = tuple(found[place * len(found) // most : (place + 1) * len(found) // most])
        yield Statement(" ".join(parts), parts=parts) if len(parts) > 1 else parts[0]


def _pieces(part: str) -> Iterator[str]:
    """A long statement in parts, at a blank where there is one."""
    while len(part) > LONG_CHARS:
        end = part.rfind(" ", LONG_CHARS // 2, LONG_CHARS)
        end = end if end > 0 else LONG_CHARS
        yield part[:end].strip()
        part = part[end:].strip()
    if part:
        yield part
