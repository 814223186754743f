"""One lossless JSON codec for REST, storage and snapshots.

Numbers are kept exactly as they were sent: `1e400`, `0.1000000000000000055` and
`12345678901234567890` come back as the same characters. A parsed number is a `Number`: a Decimal
(so that it compares and hashes by value) that remembers its text.

What can't be stored everywhere is refused while parsing, with a `CodecError` that names it: NUL
characters and lone surrogates (PostgreSQL and UTF-8 can't carry them), NaN and Infinity, duplicate
keys, nesting deeper than `MAX_DEPTH`.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from json.encoder import encode_basestring
from typing import Any, Self

MAX_DEPTH = 64
MAX_NUMBER_CHARS = 1000
# What Decimal itself can hold exactly everywhere; beyond it arithmetic (not storage) would fail.
MAX_EXPONENT = 100_000
LARGEST_FLOAT_EXPONENT = 300

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class CodecError(ValueError):
    """The text is no JSON that this server can carry; the message says where and why."""


class Number(Decimal):
    """A JSON number: its exact value and the characters that it was sent as."""

    text: str

    def __new__(cls, text: str) -> Self:
        if len(text) > MAX_NUMBER_CHARS:
            raise CodecError(f"a number of {len(text)} characters; at most {MAX_NUMBER_CHARS} are taken")
        try:
            self = super().__new__(cls, text)
        except InvalidOperation:
            raise CodecError(f"{text[:40]} is no number that can be carried") from None
        if not self.is_finite() or abs(self.adjusted()) > MAX_EXPONENT:
            raise CodecError(f"{text[:40]} is out of range; exponents go to {MAX_EXPONENT}")
        self.text = text
        return self

    def __repr__(self) -> str:
        return f"Number({self.text!r})"

    def __reduce__(self) -> tuple[type["Number"], tuple[str]]:
        return (Number, (self.text,))

    def __deepcopy__(self, memo: object) -> "Number":
        return self  # immutable

    def __copy__(self) -> "Number":
        return self


def is_number(value: object) -> bool:
    """A JSON number in any of the forms that our code meets; a boolean is none."""
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def loads(text: str | bytes) -> Any:
    """JSON text to Python; every number a `Number`. Raises CodecError."""
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise CodecError(f"not UTF-8 at byte {error.start}") from None
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise CodecError(f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise CodecError(f"nested deeper than {MAX_DEPTH}") from None
    check(value)
    return value


def check(value: Any, depth: int = 0) -> None:
    """Refuse what can't be carried: depth and characters. Raises CodecError."""
    if depth > MAX_DEPTH:
        raise CodecError(f"nested deeper than {MAX_DEPTH}")
    if isinstance(value, str):
        if found := _UNSTORABLE.search(value):
            raise CodecError(f"character U+{ord(found.group()):04X} can't be stored; leave it out")
    elif isinstance(value, dict):
        for key, item in value.items():
            check(key, depth)
            check(item, depth + 1)
    elif isinstance(value, list | tuple):
        for item in value:
            check(item, depth + 1)


def dumps(value: Any) -> str:
    """Python to compact JSON text, insertion order kept, numbers as they came."""
    parts: list[str] = []
    _write(value, parts.append)
    return "".join(parts)


def canonical(value: Any) -> str:
    """Like `dumps` with sorted keys: equal values (as sent) give equal text. For digests."""
    parts: list[str] = []
    _write(value, parts.append, ordered=True)
    return "".join(parts)


def pretty(value: Any, indent: str = "") -> str:
    """JSON to read, a line for each entry; numbers as they came."""
    deeper = indent + "  "
    if isinstance(value, Mapping) and value:
        items = [f"{deeper}{dumps(key)}: {pretty(item, deeper)}" for key, item in value.items()]
        return "{\n" + ",\n".join(items) + f"\n{indent}}}"
    if isinstance(value, list | tuple) and value:
        return "[\n" + ",\n".join(deeper + pretty(item, deeper) for item in value) + f"\n{indent}]"
    return dumps(value)


def plain(value: Any) -> Any:
    """A view for validators that don't know `Number`: whole numbers as int, the rest as Decimal, huge ones
    as a float near them. Lossy and therefore never stored.
    """
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Decimal):
        if not value:  # of 0e400 the exponent is large and the number is not
            return 0
        if value.adjusted() > LARGEST_FLOAT_EXPONENT:
            return 1.7e308 if value > 0 else -1.7e308
        return int(value) if value == value.to_integral_value() else Decimal(value)
    return value


def _write(value: Any, put: Callable[[str], object], *, ordered: bool = False) -> None:
    if isinstance(value, dict):
        put("{")
        for index, key in enumerate(sorted(value) if ordered else value):
            put(("," if index else "") + encode_basestring(key) + ":")
            _write(value[key], put, ordered=ordered)
        put("}")
    elif isinstance(value, list | tuple):
        put("[")
        for index, item in enumerate(value):
            if index:
                put(",")
            _write(item, put, ordered=ordered)
        put("]")
    else:
        put(_scalar(value))


_WORDS = {None: "null", True: "true", False: "false"}


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return encode_basestring(value)
    if value is None or isinstance(value, bool):
        return _WORDS[value]
    if isinstance(value, Number):
        return value.text
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, Decimal | float):
        if not (value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)):
            raise CodecError(f"{value} is no JSON number")
        return str(value) if isinstance(value, Decimal) else float.__repr__(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _constant(name: str) -> Any:
    raise CodecError(f"{name} is no JSON number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise CodecError(f"key {key[:80]!r} stands twice in one object")
            seen.add(key)
    return found


_DECODER = json.JSONDecoder(
    parse_float=Number, parse_int=Number, parse_constant=_constant, object_pairs_hook=_object
)
