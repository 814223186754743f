"""Solana over its JSON-RPC."""

from typing import Any

from checks import codec
from checks.facts.rpc import Odd, Refused, Session

_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_SIGNATURE_BYTES, _KEY_BYTES = 64, 32
_DONE = ("confirmed", "finalized")
_U64 = 2**64


FORMS = {"tx": "the base58 of 64 bytes", "address": "the base58 of 32 bytes"}
_INVALID_PARAMS = -32602  # "could not find mint", "not a Token mint", …


def decides(error: Refused) -> bool:
    """Whether an error says something of the fact: our calls are well-formed, so it is what they are about that can't be."""
    return error.code == _INVALID_PARAMS


def is_tx(text: str) -> bool:
    return _base58_bytes(text) == _SIGNATURE_BYTES


def is_address(text: str) -> bool:
    return _base58_bytes(text) == _KEY_BYTES


def transaction(session: Session, tx: str, confirmations: int) -> tuple[bool, str]:
    del confirmations  # the chain has words for how sure it is
    result = session.call("getSignatureStatuses", [[tx], {"searchTransactionHistory": True}])
    statuses = result.get("value") if isinstance(result, dict) else None
    if not isinstance(statuses, list) or len(statuses) != 1:
        raise Odd("The chain's endpoint answered something else than a status.")
    status = statuses[0]
    if status is None:
        return False, "The transaction is not known."
    if not isinstance(status, dict) or "err" not in status:
        raise Odd("The chain's endpoint answered something else than a status.")
    if status["err"] is not None:
        return False, "The transaction failed."
    word = status.get("confirmationStatus")
    if word not in _DONE:
        return False, "The transaction is not confirmed yet."
    return True, f"The transaction went well and is {word}."


def balance(session: Session, address: str, token: str | None) -> int | None:
    """In the smallest unit, over all of the owner's accounts of the token."""
    if token is None:
        result = session.call("getBalance", [address, {"commitment": "finalized"}])
        return _whole(result.get("value") if isinstance(result, dict) else None)
    result = session.call(
        "getTokenAccountsByOwner",
        [address, {"mint": token}, {"encoding": "jsonParsed", "commitment": "finalized"}],
    )
    accounts = result.get("value") if isinstance(result, dict) else None
    if not isinstance(accounts, list):
        raise Odd("The chain's endpoint answered something else than accounts.")
    return sum(_held(account, token) for account in accounts)


def _held(account: Any, mint: str) -> int:
    found = account
    for key in ("account", "data", "parsed", "info"):
        found = found.get(key) if isinstance(found, dict) else None
    if not isinstance(found, dict) or found.get("mint", mint) != mint:
        raise Odd("The chain's endpoint answered something else than accounts of the token.")
    amount = found.get("tokenAmount")
    text = amount.get("amount") if isinstance(amount, dict) else None
    if not isinstance(text, str) or not text.isascii() or not text.isdigit() or len(text) > len(str(_U64)):
        raise Odd("The chain's endpoint answered something else than an amount.")
    return int(text)


def _whole(value: Any) -> int:
    if not codec.is_number(value) or not 0 <= value < _U64 or value != int(value):
        raise Odd("The chain's endpoint answered something else than an amount.")
    return int(value)


def _base58_bytes(text: str) -> int:
    """How many bytes a text stands for; 0 where it is none."""
    if not text or any(char not in _ALPHABET for char in text):
        return 0
    value = 0
    for char in text:
        value = value * 58 + _ALPHABET.index(char)
    zeros = len(text) - len(text.lstrip("1"))
    return zeros + (value.bit_length() + 7) // 8
