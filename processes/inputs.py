"""Finding runs by their inputs, with numbers compared exactly: `1`, `1.0` and `1e0` are one value, and
`12345678901234567890` is not `12345678901234567891`.
"""

import hashlib
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from checks import codec
from processes.models import Run, RunInput


def digest(value: Any) -> str:
    """The same for equal values, whatever the order of keys or the way a number is written."""
    return hashlib.sha256(codec.canonical(_plain(value)).encode()).hexdigest()


def rows_of(run: Run, inputs: Mapping[str, Any]) -> list[RunInput]:
    return [RunInput(run=run, field=name, digest=digest(value)) for name, value in inputs.items()]


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if codec.is_number(value):
        # digits and exponent, tagged so that a number is never a text
        sign, digits, exponent = Decimal(value).as_tuple()
        text = "".join(map(str, digits)).rstrip("0")
        trimmed = len(digits) - len(text)
        text = text.lstrip("0")
        return {"number": f"{'-' if sign and text else ''}{text}e{int(exponent) + trimmed if text else 0}"}
    return {"value": value}
