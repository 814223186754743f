"""Cursors: opaque, stable under inserts. A cursor names the last row that was given, by its sort key."""

import base64
import binascii
import json
from datetime import datetime
from typing import Any

from django.core import signing

from processes.errors import ToolError

_SALT = "processes.paging.1"


def encode(*key: Any) -> str:
    values = [value.isoformat() if isinstance(value, datetime) else value for value in key]
    return base64.urlsafe_b64encode(signing.Signer(salt=_SALT).sign(json.dumps(values)).encode()).decode()


def decode(cursor: str, *kinds: type) -> list[Any]:
    """The sort key in a cursor. Raises `invalid` for one that this server did not give."""
    try:
        text = signing.Signer(salt=_SALT).unsign(base64.urlsafe_b64decode(cursor.encode()).decode())
        values = json.loads(text)
        return [
            datetime.fromisoformat(value) if kind is datetime else kind(value)
            for kind, value in zip(kinds, values, strict=True)
        ]
    except (signing.BadSignature, binascii.Error, UnicodeError, ValueError, TypeError):
        raise ToolError(
            "invalid", "The cursor is not one of this list. Start again without it.", ["cursor: unknown"]
        ) from None
