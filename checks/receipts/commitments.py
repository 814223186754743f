"""Salted commitments: a receipt promises a text without telling it, and each part can be opened without the others.

One random salt per subject; `part_salt = HMAC-SHA256(salt, name of the part)`; the commitment is the base64url of
`SHA-256(part_salt || bytes)`. Whoever has the salt opens every part, whoever has a part's salt that part; once the salt is
deleted nobody opens any, and the receipt verifies as before.
"""

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from typing import Any

from checks import codec
from checks.receipts.encoding import b64

SALT_BYTES = 32


def new_salt() -> bytes:
    return secrets.token_bytes(SALT_BYTES)


def as_bytes(value: Any) -> bytes:
    """A text's UTF-8; of any other JSON value the UTF-8 of its canonical JSON (`codec.canonical`)."""
    text = value if isinstance(value, str) else codec.canonical(value)
    return text.encode("utf-8")


def part_salt(salt: bytes, part: str) -> bytes:
    """What opens this part alone. Raises ValueError on a salt that is none."""
    if len(salt) != SALT_BYTES:
        raise ValueError(f"a salt has {SALT_BYTES} bytes, not {len(salt)}")
    return hmac.digest(salt, part.encode("utf-8"), "sha256")


def commit(salt: bytes, parts: Mapping[str, Any]) -> dict[str, str]:
    """`{part: commitment}` of texts and JSON values."""
    return {part: _commitment(part_salt(salt, part), as_bytes(value)) for part, value in parts.items()}


def opens(commitment: str, part_salt: bytes, data: bytes) -> bool:
    """Whether these bytes are what was promised."""
    return hmac.compare_digest(commitment.encode("utf-8"), _commitment(part_salt, data).encode("ascii"))


def _commitment(salt: bytes, data: bytes) -> str:
    return b64(hashlib.sha256(salt + data).digest())
