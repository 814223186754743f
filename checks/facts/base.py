"""Base, as any chain of Ethereum's kind, over its JSON-RPC."""

import re
from typing import Any

from checks.facts.rpc import Odd, Refused, Session

_TX = re.compile(r"0x[0-9a-fA-F]{64}")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_QUANTITY = re.compile(r"0x[0-9a-fA-F]{1,64}")
_WORD = re.compile(r"0x[0-9a-fA-F]{64}")
_BALANCE_OF = "0x70a08231" + 24 * "0"  # balanceOf(address)


FORMS = {"tx": "0x and 64 hexadecimal digits", "address": "0x and 40 hexadecimal digits"}
_REVERTED = 3  # the code of a contract that gave up; some nodes have another, with the same words


def decides(error: Refused) -> bool:
    """Whether an error says something of the fact: the contract itself would not answer."""
    reverted = error.code == _REVERTED or error.reason.lower().startswith("execution reverted")
    return error.method == "eth_call" and reverted


def is_tx(text: str) -> bool:
    return _TX.fullmatch(text) is not None


def is_address(text: str) -> bool:
    return _ADDRESS.fullmatch(text) is not None


def transaction(session: Session, tx: str, confirmations: int) -> tuple[bool, str]:
    """Whether it went well and lies so deep. A receipt alone may be of a block that is only being built."""
    receipt = session.call("eth_getTransactionReceipt", [tx])
    if receipt is None:
        return False, "The transaction is not known, or still pending."
    if not isinstance(receipt, dict) or str(receipt.get("transactionHash", tx)).lower() != tx.lower():
        raise Odd("The chain's endpoint answered something else than a receipt.")
    status, block = _quantity(receipt.get("status")), _quantity(receipt.get("blockNumber"))
    if status not in {0, 1}:
        raise Odd("The chain's endpoint answered something else than a receipt.")
    if status == 0:
        return False, "The transaction failed."
    deep = _quantity(session.call("eth_blockNumber", [])) - block + 1
    if deep < 1:
        return False, "The transaction's block is not confirmed yet."
    return (
        deep >= confirmations,
        f"The transaction went well and has {deep} confirmation{'s' * (deep != 1)}; asked is {confirmations}.",
    )


def balance(session: Session, address: str, token: str | None) -> int | None:
    """In the smallest unit; None where the token is no contract."""
    if token is None:
        return _quantity(session.call("eth_getBalance", [address, "latest"]))
    call = {"to": token, "data": _BALANCE_OF + address[2:].lower()}
    answer = session.call("eth_call", [call, "latest"])
    if answer == "0x":
        return None
    if not isinstance(answer, str) or not _WORD.fullmatch(answer):
        raise Odd("The chain's endpoint answered something else than a balance.")
    return int(answer, 16)


def _quantity(value: Any) -> int:
    if not isinstance(value, str) or not _QUANTITY.fullmatch(value):
        raise Odd("The chain's endpoint answered something else than a number.")
    return int(value, 16)
