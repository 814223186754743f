"""Public keys and their dates, as `/.well-known/jwks.json` publishes them. Ed25519 alone."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from joserfc.errors import JoseError
from joserfc.jwk import OKPKey

from checks.receipts.encoding import unb64

KEY_BYTES = 32
_DATES = ("created_at", "retired_at", "revoked_at")


class WrongKeyError(ValueError):
    """A key or a key set that can't be used; the message says why and holds nothing of the key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicKey:
    """`retired_at`: from when on it signs nothing any more; `revoked_at`: from when on it is not to be trusted."""

    kid: str
    key: OKPKey
    created_at: datetime | None = None
    retired_at: datetime | None = None
    revoked_at: datetime | None = None


def told(at: datetime) -> str:
    """RFC 3339 in UTC with microseconds: `2026-11-30T17:20:00.000000Z`."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def moment(text: Any) -> datetime:
    """Raises ValueError on anything that `told` would not have written."""
    found = datetime.strptime(str(text), "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
    if told(found) != text:
        raise ValueError("no moment as it is written here")
    return found


def private_key(seed: bytes) -> OKPKey:
    """Of the 32 bytes of an Ed25519 private key. Raises WrongKeyError."""
    if len(seed) != KEY_BYTES:
        raise WrongKeyError(f"an Ed25519 private key has {KEY_BYTES} bytes, not {len(seed)}")
    return OKPKey.import_key(Ed25519PrivateKey.from_private_bytes(seed))


def public_jwk(key: OKPKey) -> dict[str, str]:
    """The public part alone: `{kty, crv, x}`."""
    found = key.as_dict(private=False)
    return {name: str(found[name]) for name in ("kty", "crv", "x")}


def private_jwk(key: OKPKey) -> dict[str, str]:
    return public_jwk(key) | {"d": str(key.as_dict(private=True)["d"])}


def read_private(jwk: Any) -> OKPKey:
    """A private Ed25519 JWK. Raises WrongKeyError: its `x`, where it has one, must be that of its `d`."""
    if not isinstance(jwk, Mapping) or jwk.get("kty") != "OKP" or jwk.get("crv") != "Ed25519":
        raise WrongKeyError("it is no Ed25519 JWK: kty must be OKP and crv Ed25519")
    if "d" not in jwk:
        raise WrongKeyError("it has no private part d")
    try:
        key = private_key(unb64(str(jwk["d"])))
    except WrongKeyError:
        raise
    except ValueError:
        raise WrongKeyError("its private part d is no base64url") from None
    if "x" in jwk and jwk["x"] != public_jwk(key)["x"]:
        raise WrongKeyError("its public part x does not belong to its private part d")
    return key


def read_public(jwk: Any) -> OKPKey:
    """The public key of a JWK; a private part is not looked at. Raises WrongKeyError."""
    if not isinstance(jwk, Mapping) or jwk.get("kty") != "OKP" or jwk.get("crv") != "Ed25519":
        raise WrongKeyError("it is no Ed25519 JWK: kty must be OKP and crv Ed25519")
    try:
        unb64(str(jwk.get("x")))
        return OKPKey.import_key({"kty": "OKP", "crv": "Ed25519", "x": str(jwk["x"])})
    except (KeyError, ValueError, JoseError):
        raise WrongKeyError(f"its public part x is no base64url of {KEY_BYTES} bytes") from None


def write(keys: Iterable[PublicKey]) -> dict[str, Any]:
    """The key set as it is published: `{"keys": [{kty, crv, x, kid, use, alg, created_at, retired_at?, revoked_at?}]}`."""
    return {"keys": [_written(key) for key in keys]}


def read(jwks: Any) -> dict[str, PublicKey]:
    """Keys by their `kid`, which must be the RFC 7638 thumbprint. Raises WrongKeyError with the place of what is wrong.

    Keys of another kind are left out: a set may hold some for other purposes.
    """
    keys = jwks.get("keys") if isinstance(jwks, Mapping) else None
    if not isinstance(keys, list):
        raise WrongKeyError("it is no JWK set: an object with a list `keys`")
    found = {}
    for place, jwk in enumerate(keys):
        if isinstance(jwk, Mapping) and jwk.get("crv") != "Ed25519":
            continue
        try:
            key = _read(jwk)
        except WrongKeyError as error:
            raise WrongKeyError(f"keys[{place}]: {error}") from None
        found[key.kid] = key
    return found


def _read(jwk: Any) -> PublicKey:
    key = read_public(jwk)
    kid = key.thumbprint()
    if jwk.get("kid", kid) != kid:
        raise WrongKeyError(f"its kid is not its thumbprint {kid}")
    try:
        dates = {name: moment(jwk[name]) for name in _DATES if jwk.get(name) is not None}
    except ValueError:
        raise WrongKeyError(
            f"of {', '.join(_DATES)} one is no time such as 2026-11-30T17:20:00.000000Z"
        ) from None
    return PublicKey(kid=kid, key=key, **dates)


def _written(key: PublicKey) -> dict[str, Any]:
    dates = {name: getattr(key, name) for name in _DATES}
    return {
        **public_jwk(key.key),
        "kid": key.kid,
        "use": "sig",
        "alg": "EdDSA",
        **{name: told(at) for name, at in dates.items() if at is not None},
    }
