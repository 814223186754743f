"""How large a request says that its body is, and what to do with one that nobody reads."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest

_MOST_DIGITS = 12
_DRAINED_BYTES = 1_000_000
_CHUNK = 65_536


def told(meta: Mapping[str, Any]) -> int | None:
    """Bytes by `META`'s Content-Length, 0 where there is none; None where it is no number, or absurdly large."""
    text = str(meta.get("CONTENT_LENGTH") or "0")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None


def drain(request: HttpRequest) -> None:
    """Read what is left of a body that is refused, where that is cheap: a server can't take the next call over a connection
    with an unread body in it, and closes it under a client that was told it stays.
    """
    if not 0 < (told(request.META) or 0) <= _DRAINED_BYTES:
        return
    with suppress(OSError, SuspiciousOperation):
        while request.read(_CHUNK):
            pass
