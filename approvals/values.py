"""A protocol value as a person types it, and back, exactly. Pure.

Numbers keep their characters (`0.10` stays `0.10`), text its line breaks. What can't be read raises
`UnreadableError`, whose message stands beside the field and says what to type instead.
"""

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from checks import codec
from processes.fields import Field, fits, parse_datetime_strict

LINE = 60  # characters that a one-line input shows whole
NONE_LISTED = "[]"  # how an empty list is typed, since an empty field means "left out"
_EMPTY_TEXT = '""'


class UnreadableError(ValueError):
    """What was typed is no value of the field's type."""


class Shape(StrEnum):
    """How a field is asked for."""

    OPTIONS = "options"
    STRING = "string"
    NUMBER = "number"
    DATE = "date"
    DATETIME = "datetime"
    PERSON = "person"
    LINES = "lines"  # a list, one entry per line
    JSON = "json"


def shape_of(field: Field, held: Any = None) -> Shape:
    """`held` is the candidate's value: a list whose entries don't fit on lines of their own is JSON."""
    if field.one_of is not None or field.type == "boolean":
        return Shape.OPTIONS
    if field.type == "list":
        return Shape.LINES if _fits_lines(field.items, held) else Shape.JSON
    return Shape.JSON if field.type == "object" else Shape(field.type)


def _fits_lines(items: Field | None, held: Any) -> bool:
    if items is not None and items.type in {"list", "object"}:
        return False
    kind = items.type if items is not None else "string"
    entries = held if isinstance(held, list | tuple) else ()
    return all(fits(kind, entry) and _one_line(entry) for entry in entries)


def _one_line(entry: Any) -> bool:
    """Whether a line holds it so that it is read back the same."""
    if not isinstance(entry, str):
        return True
    return entry not in {"", NONE_LISTED} and entry == entry.strip() and len(entry.splitlines()) == 1


def options(field: Field) -> dict[str, Any]:
    """What can be chosen, by the text that stands for it."""
    values = field.one_of if field.one_of is not None else (True, False)
    return {_scalar_text(value) or _EMPTY_TEXT: value for value in values}


def text_of(shape: Shape, value: Any) -> str:
    """A value as it would be typed."""
    if shape is Shape.JSON:
        return codec.pretty(value)
    if shape is Shape.LINES:
        return "\n".join(_scalar_text(entry) for entry in value) or NONE_LISTED
    return _scalar_text(value) or (_EMPTY_TEXT if shape is Shape.OPTIONS else "")


def value_of(shape: Shape, field: Field, text: str) -> Any:
    """What was typed as a value, text that is not blank. Raises UnreadableError."""
    try:
        codec.check(text)
    except codec.CodecError as error:
        raise UnreadableError(str(error)) from None
    if shape is Shape.OPTIONS:
        return _option(field, text)
    if shape is Shape.LINES:
        return _lines(field.items, text)
    if shape is Shape.JSON:
        return _json(field.type, text)
    return SCALARS[shape](text)


# ---- reading


def _option(field: Field, text: str) -> Any:
    found = options(field)
    if text not in found:
        raise UnreadableError(f"choose one of {', '.join(found)}")
    return found[text]


def _lines(items: Field | None, text: str) -> list[Any]:
    if text.strip() == NONE_LISTED:
        return []
    return [
        _entry(items, line.strip(), number)
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip()
    ]


def _entry(items: Field | None, line: str, number: int) -> Any:
    if items is None:
        return line
    shape = shape_of(items)
    try:
        return _option(items, line) if shape is Shape.OPTIONS else SCALARS[shape](line)
    except UnreadableError as error:
        raise UnreadableError(f"line {number}: {error}") from None


_JSON = {"list": "a list: [ … ]", "object": "an object: { … }"}


def _json(kind: str, text: str) -> Any:
    try:
        value = codec.loads(text)
    except codec.CodecError as error:
        raise UnreadableError(str(error)) from None
    if not fits(kind, value):
        raise UnreadableError(f"write {_JSON[kind]}")
    return value


def _number(text: str) -> Any:
    try:
        value = codec.loads(text.strip())
    except codec.CodecError as error:
        value = None
        if "out of range" in str(error) or "at most" in str(error):
            raise UnreadableError(str(error)) from None
    if not codec.is_number(value):
        raise UnreadableError(f"{_cut(text)} is no number; write it like 1250 or 12.50")
    return value


def _date(text: str) -> str:
    text = text.strip()
    if not fits("date", text):
        known = re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text)
        what = "is no day of the calendar" if known else "is no date; write it like 2026-11-30"
        raise UnreadableError(f"{_cut(text)} {what}")
    return text


def _datetime(text: str) -> str:
    text = text.strip()
    if parse_datetime_strict(text) is None:
        raise UnreadableError(
            f"{_cut(text)} is no time with its offset; write it like 2026-11-30T14:30:00+01:00"
        )
    return text


SCALARS: Mapping[Shape, Callable[[str], Any]] = {
    Shape.STRING: str.strip,
    Shape.NUMBER: _number,
    Shape.DATE: _date,
    Shape.DATETIME: _datetime,
    Shape.PERSON: str.strip,
}


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LINE else text[:LINE] + "…"


# ---- writing


def _scalar_text(value: Any) -> str:
    return value if isinstance(value, str) else codec.dumps(value)
