"""Cloudflare's envelope: `{"result": …, "success": …, "errors": [{"code": …, "message": …}]}`. Pure.

A 200 may stand around a failure, and a 429 may mean that nothing will come before tomorrow.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Any

from checks import codec

_SPENT = frozenset({3036, 4006})  # the day's quota is used up
_BUSY = frozenset({3040})  # no capacity just now


class Told(Enum):
    """What an error in an envelope means for asking again."""

    SPENT = "spent"
    BUSY = "busy"
    OTHER = "other"


def opened(answer: Mapping[str, Any]) -> Any:
    """What stands in the envelope; what came without one as it is, for its reader to judge."""
    return answer.get("result") if "success" in answer else answer


def trouble(answer: object) -> Told | None:
    """What a body says went wrong, or None. Whatever is not plainly a success is no success."""
    if not isinstance(answer, Mapping) or ("success" not in answer and not _codes(answer)):
        return None
    if answer.get("success") is True:
        return None
    codes = _codes(answer)
    if codes & _SPENT:
        return Told.SPENT
    return Told.BUSY if codes & _BUSY else Told.OTHER


def trouble_in(body: bytes) -> Told | None:
    """The same of a body as it came; None where that is no JSON."""
    try:
        return trouble(codec.loads(body))
    except codec.CodecError:
        return None


def _codes(answer: Mapping[str, Any]) -> frozenset[Any]:
    errors = answer.get("errors")
    if not isinstance(errors, list):
        return frozenset()
    codes = [error.get("code") for error in errors if isinstance(error, dict)]
    return frozenset(code for code in codes if codec.is_number(code))
