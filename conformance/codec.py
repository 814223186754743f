"""JSON without loss: a number is kept as the characters it was written in.

`loads` turns every number into a `Number`; `dumps` writes a `Number` back as it came. Duplicate keys, NaN
and Infinity are a `CodecError`, because a conforming server sends none.
"""

import json
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from typing import Any

_LARGEST = 1.7e308  # what a validator that counts in doubles is shown instead of more
_EXACT = 15  # digits that such a validator carries for sure


class CodecError(ValueError):
    """The text is no JSON that a server may send."""


class Number:
    """A JSON number as it was written. Equal to any number of the same exact value; a boolean is none."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        try:
            if not Decimal(text).is_finite():
                raise CodecError(f"{text[:40]} is no JSON number")
        except InvalidOperation:
            raise CodecError(f"{text[:40]} is no JSON number") from None
        self.text = text

    @property
    def value(self) -> Decimal:
        return Decimal(self.text)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Number):
            return self.value == other.value
        if isinstance(other, bool) or not isinstance(other, int | float | Decimal):
            return NotImplemented
        return self.value == (Decimal(repr(other)) if isinstance(other, float) else Decimal(other))

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return self.text

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)


def loads(text: str | bytes) -> Any:
    """JSON text to Python, numbers as `Number`. Raises CodecError."""
    try:
        return _DECODER.decode(text.decode("utf-8") if isinstance(text, bytes) else text)
    except UnicodeDecodeError as error:
        raise CodecError(f"not UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise CodecError(f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise CodecError("nested too deeply to be read") from None


def dumps(value: Any) -> str:
    """Python to compact JSON text; a `Number` in its own characters. Raises CodecError for a non-number."""
    return "".join(_pieces(value))


def plain(value: Any) -> Any:
    """The value as a JSON Schema validator takes it: numbers near enough for its bounds and types."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, Number):
        exact = value.value
        if exact == 0:
            return 0
        if exact.adjusted() < _EXACT and exact == exact.to_integral_value():
            return int(exact)
        return max(-_LARGEST, min(_LARGEST, float(exact)))
    return value


def _pieces(value: Any) -> Iterable[str]:
    if isinstance(value, dict):
        yield "{"
        for index, (key, item) in enumerate(value.items()):
            yield ("," if index else "") + json.dumps(str(key), ensure_ascii=False) + ":"
            yield from _pieces(item)
        yield "}"
    elif isinstance(value, list | tuple):
        yield "["
        for index, item in enumerate(value):
            yield "," if index else ""
            yield from _pieces(item)
        yield "]"
    elif isinstance(value, Number):
        yield value.text
    elif isinstance(value, Decimal):
        yield str(value)
    else:
        try:
            yield json.dumps(value, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise CodecError(str(error)) from None


def _constant(name: str) -> Any:
    raise CodecError(f"{name} is no JSON number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [key for key, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise CodecError(f"the key {twice[:60]!r} stands twice in one object")
    return found


_DECODER = json.JSONDecoder(
    parse_float=Number, parse_int=Number, parse_constant=_constant, object_pairs_hook=_object
)
