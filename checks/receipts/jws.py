"""Compact JWS (RFC 7515) with EdDSA over Ed25519 (RFC 8037), by joserfc; read so strictly that no byte of it can change.

Signed are the exact bytes of the two first segments, so a receipt is kept and compared as the text it is.
"""

from dataclasses import dataclass
from typing import Any

from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import OKPKey

from checks import codec
from checks.receipts.encoding import unb64

ALGORITHM = "EdDSA"
RECEIPT, EXPORT = "countersign-receipt+jws", "countersign-export+jws"
MAX_CHARS = 60_000
SIGNATURE_BYTES = 64


class UnsoundError(ValueError):
    """It is no signed text of ours, or not that of this key. The message is a sentence for whoever sent it."""


class _EdDSA(jws.JWSRegistry):
    """EdDSA and nothing else. RFC 9864 would call it Ed25519, a name that few verifiers know yet; hence no warning."""

    def get_alg(self, name: str) -> Any:
        if name != ALGORITHM:
            raise UnsoundError(f"The algorithm is {name[:40]!r}; receipts are signed with {ALGORITHM}.")
        return self.algorithms[ALGORITHM]


_registry = _EdDSA(algorithms=[ALGORITHM])


@dataclass(frozen=True, slots=True)
class Signed:
    """What a text says before its signature is looked at."""

    text: str
    kid: str
    payload: bytes


def sign(payload: bytes, key: OKPKey, kid: str, typ: str = RECEIPT) -> str:
    return jws.serialize_compact({"alg": ALGORITHM, "typ": typ, "kid": kid}, payload, key, registry=_registry)


def read(text: str, typ: str = RECEIPT) -> Signed:
    """Raises UnsoundError. Says nothing of the signature."""
    if len(text) > MAX_CHARS:
        raise UnsoundError(f"It is longer than {MAX_CHARS} characters, which no receipt is.")
    segments = text.split(".")
    if len(segments) != 3:  # noqa: PLR2004 - header, payload, signature
        raise UnsoundError("It is no compact JWS: three parts of base64url with dots between them.")
    try:
        header, payload, signature = (unb64(segment) for segment in segments)
    except ValueError:
        raise UnsoundError("It is no compact JWS: a part of it is no base64url without padding.") from None
    if len(signature) != SIGNATURE_BYTES:
        raise UnsoundError(f"Its signature has {len(signature)} bytes; one of Ed25519 has {SIGNATURE_BYTES}.")
    return Signed(text, _kid(header, typ), payload)


def verify(signed: Signed, key: OKPKey) -> bool:
    """Whether the signature is this key's."""
    try:
        return jws.validate_compact(jws.extract_compact(signed.text.encode("ascii")), key, registry=_registry)
    except (JoseError, ValueError):
        return False


def _kid(header: bytes, typ: str) -> str:
    try:
        found = codec.loads(header)
    except codec.CodecError:
        found = None
    if not isinstance(found, dict):
        raise UnsoundError("Its header is no JSON object.")
    if found.get("alg") != ALGORITHM:
        raise UnsoundError(f"Its algorithm is not {ALGORITHM}, with which every receipt is signed.")
    if found.get("typ") != typ:
        raise UnsoundError(f"Its type is not {typ}; it was signed as something else.")
    kid = found.get("kid")
    if not isinstance(kid, str) or not kid:
        raise UnsoundError("Its header names no key (kid).")
    if more := sorted(set(found) - {"alg", "typ", "kid"}):
        raise UnsoundError(f"Its header holds {more[0][:40]!r}, which no receipt has.")
    return kid
