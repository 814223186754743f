"""Base64url without padding, in its one canonical spelling: two texts never stand for the same bytes."""

import base64
import binascii
import hashlib


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def unb64(text: str) -> bytes:
    """Raises ValueError on anything that `b64` would not have written."""
    try:
        data = base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error):
        raise ValueError("no base64url") from None
    if b64(data) != text:
        raise ValueError("no canonical base64url")
    return data


def digest(text: str) -> str:
    """Base64url SHA-256 of the UTF-8 of a text: how a receipt names the one before it."""
    return b64(hashlib.sha256(text.encode("utf-8")).digest())
