"""How large a request says that its body is. Pure."""

from collections.abc import Mapping
from typing import Any

_MOST_DIGITS = 12


def told(meta: Mapping[str, Any]) -> int | None:
    """Bytes by `META`'s Content-Length, 0 where there is none; None where it is no number, or absurdly large."""
    text = str(meta.get("CONTENT_LENGTH") or "0")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None
