"""Whether a receipt holds, and why not. Needs the text and the published keys, nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from checks.receipts import jws, payload
from checks.receipts.keyset import PublicKey, moment, told

# a clock may be ahead of the one that wrote down when a key was retired
CLOCKS_DIFFER = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Examined:
    """`reason`: a sentence, also where all is well. `payload`: what it says, where the signature is that of a key of ours
    (also when that key is revoked); else None, for then nobody said it. `revoked`: when its key was, where only that is wrong.
    """

    valid: bool
    reason: str
    payload: dict[str, Any] | None = None
    kid: str = ""
    revoked: datetime | None = None


def examine(text: str, keys: Mapping[str, PublicKey], typ: str = jws.RECEIPT) -> Examined:
    """Never raises."""
    try:
        signed = jws.read(text, typ)
    except jws.UnsoundError as error:
        return Examined(False, str(error))
    key = keys.get(signed.kid)
    if key is None:
        return Examined(False, f"It names the key {signed.kid[:60]}, which is not among the published keys.")
    if not jws.verify(signed, key.key):
        return Examined(
            False, "Its signature does not fit: it was altered, or was not signed by the key it names."
        )
    try:
        said = payload.read(signed.payload) if typ == jws.RECEIPT else payload.read_export(signed.payload)
    except payload.PayloadError as error:
        return Examined(False, f"It is signed, but no receipt: {error}.", None, signed.kid)
    return _dated(said, key)


def _dated(said: dict[str, Any], key: PublicKey) -> Examined:
    if key.revoked_at is not None:
        reason = (
            f"Its key was revoked at {told(key.revoked_at)}, so whoever has that key may have signed this. "
            "An export in which a checkpoint signed by another key covers it can still prove it."
        )
        return Examined(False, reason, said, key.kid, key.revoked_at)
    at = moment(said["time"])
    if key.retired_at is not None and at > key.retired_at + CLOCKS_DIFFER:
        reason = f"It says that it was signed at {said['time']}, but its key was retired at {told(key.retired_at)}."
        return Examined(False, reason, said, key.kid)
    return Examined(
        True, f"It was signed by the key {key.kid} and has not been altered since.", said, key.kid
    )
