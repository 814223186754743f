"""`onchain {chain, kind, …}`: what Base or Solana says of a transaction or a balance.

- `tx_confirmed {tx, confirmations?}`: the transaction is in a block, went well, and (Base) has that many confirmations.
- `token_balance_at_least {address, amount, token?}`: the address holds at least so much, in the token's smallest unit
  (whole numbers, given as text or number; no floats anywhere). Without `token`: of the chain's own coin.

`evidence_hash`: of the canonical JSON (sorted keys, no blanks, numbers as they came) of the list of
[method, params, result] of the calls made, in order.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from django.conf import settings

from checks import codec
from checks.facts import base, solana
from checks.facts.rpc import Odd, RpcError, Session
from checks.facts.shapes import Entry, Outcome, hash_of

CHAINS = {"base": base, "solana": solana}
TX_CONFIRMED, BALANCE = "tx_confirmed", "token_balance_at_least"
MAX_CONFIRMATIONS = 10_000
_MAX_CHARS = 128
_AMOUNT = re.compile(r"[0-9]{1,78}")  # what 256 bits hold


def _session(chain: str) -> Session:
    return Session(endpoint={"base": settings.BASE_RPC_URL, "solana": settings.SOLANA_RPC_URL}[chain])


@dataclass(frozen=True, slots=True, kw_only=True)
class OnChain:
    type: ClassVar[str] = "onchain"
    network: ClassVar[bool] = True
    chain: str
    kind: str
    tx: str = ""
    confirmations: int = 1
    address: str = ""
    token: str | None = None
    amount: int = 0
    session: Callable[[str], Session] = field(default=_session)

    @classmethod
    def read(cls, entry: Entry) -> Self:
        chain = entry.one_of("chain", list(CHAINS)) or "base"
        kind = entry.one_of("kind", [TX_CONFIRMED, BALANCE])
        if kind == BALANCE:
            return cls(
                chain=chain,
                kind=kind,
                address=entry.text("address", most=_MAX_CHARS) or "",
                token=entry.text("token", most=_MAX_CHARS, needed=False),
                amount=_amount(entry),
            )
        if kind is None:  # told already; the other keys can't be judged without it
            return cls(chain=chain, kind=TX_CONFIRMED)
        tx = entry.text("tx", most=_MAX_CHARS) or ""
        if chain == "solana":  # it has words for that, and no count that stays
            return cls(chain=chain, kind=kind, tx=tx)
        wanted = entry.whole("confirmations", default=1, least=1, most=MAX_CONFIRMATIONS)
        return cls(chain=chain, kind=kind, tx=tx, confirmations=wanted)

    @classmethod
    def fills(cls, raw: Mapping[str, Any]) -> tuple[str, ...]:
        return ("address", "amount") if raw.get("kind") == BALANCE else ("tx",)

    def check(self, text: str) -> Outcome:
        module = CHAINS[self.chain]
        if wrong := self._wrong_form():
            return Outcome(passed=False, detail=wrong, evidence_hash=None)
        session = self.session(self.chain)
        try:
            if self.kind == TX_CONFIRMED:
                passed, detail = module.transaction(session, self.tx, self.confirmations)
            else:
                held = module.balance(session, self.address, self.token)
                passed = held is not None and held >= self.amount
                detail = _held(held, self.amount)
        except Odd as error:
            return Outcome(passed=False, detail=str(error), evidence_hash=_hash(session), unreachable=True)
        except RpcError as error:
            return Outcome(passed=False, detail=str(error), evidence_hash=None, unreachable=True)
        return Outcome(passed=passed, detail=detail, evidence_hash=_hash(session))

    def _wrong_form(self) -> str | None:
        """Nobody is asked of what can't exist."""
        module = CHAINS[self.chain]
        if self.kind == TX_CONFIRMED:
            return None if module.is_tx(self.tx) else f"tx has not the form of a transaction on {self.chain}."
        for name, value in (("address", self.address), ("token", self.token)):
            if value is not None and not module.is_address(value):
                return f"{name} has not the form of an address on {self.chain}."
        return None


def _amount(entry: Entry) -> int:
    raw = entry.any("amount")
    if raw is None:
        return 0
    text = raw if isinstance(raw, str) else codec.dumps(raw) if codec.is_number(raw) else ""
    if not _AMOUNT.fullmatch(text):
        entry.refuse("amount", "expected a whole number in the token's smallest unit, as text or as digits")
        return 0
    return int(text)


def _held(held: int | None, amount: int) -> str:
    if held is None:
        return "The token is no contract that answers for balances."
    return f"The address holds {held}; at least {amount} is asked."


def _hash(session: Session) -> str | None:
    return hash_of(codec.canonical(session.transcript)) if session.transcript else None
