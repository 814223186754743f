"""`onchain {chain, kind, …}`: what Base or Solana says of a transaction or a balance.

- `tx_confirmed {tx, confirmations?}`: the transaction is in a block, went well, and (Base) has that many confirmations.
- `token_balance_at_least {address, amount, token?}`: the address holds at least so much, in the token's smallest unit
  (whole numbers, given as text or number; no floats anywhere). Without `token`: of the chain's own coin.

A call that the chain refuses for what it is about (a contract that reverts, a mint that there is not) does not hold; any
other error says nothing of the fact.

`evidence_hash`: of the canonical JSON (sorted keys, no blanks, numbers as they came) of the list of
[method, params, result] of the calls answered, in order; {"error": …} in the result's place where that was the answer.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from django.conf import settings

from checks import codec
from checks.facts import base, solana
from checks.facts.rpc import Refused, RpcError, Session
from checks.facts.shapes import Entry, Outcome, exact, hash_of, shown

CHAINS = {"base": base, "solana": solana}
TX_CONFIRMED, BALANCE = "tx_confirmed", "token_balance_at_least"
_FILLS = {TX_CONFIRMED: ("tx",), BALANCE: ("address", "amount")}
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
            entry.pass_over("tx", "confirmations", "address", "token", "amount")
            return cls(chain=chain, kind=TX_CONFIRMED)
        tx = entry.text("tx", most=_MAX_CHARS) or ""
        if chain == "solana":  # it has words for that, and no count that stays
            return cls(chain=chain, kind=kind, tx=tx)
        wanted = entry.whole("confirmations", default=1, least=1, most=MAX_CONFIRMATIONS)
        return cls(chain=chain, kind=kind, tx=tx, confirmations=wanted)

    @classmethod
    def fills(cls, raw: Mapping[str, Any]) -> tuple[str, ...]:
        return _FILLS.get(str(raw.get("kind")), ())

    def takes(self, filled: str) -> frozenset[str]:
        return frozenset({"string", "number"} if filled == "amount" else {"string"})

    def never(self, filled: str) -> tuple[str, str] | None:
        return next(((name, why) for name, why in self._wrong_forms() if name != filled), None)

    def wanted(self, filled: str) -> str:
        if self.kind == TX_CONFIRMED:
            deep = f" and has {self.confirmations} confirmations" if self.confirmations > 1 else ""
            return f"must be a transaction on {self.chain} that went well{deep}"
        unit = f"of the token {exact(self.token)}" if self.token else f"of {self.chain}'s own coin"
        if filled == "amount":
            return f"must be at most what {exact(self.address)} holds {unit}, in its smallest unit"
        return f"must be an address that holds at least {self.amount} {unit}, in its smallest unit"

    def check(self, text: str) -> Outcome:
        module = CHAINS[self.chain]
        if wrong := next(self._wrong_forms(), None):  # nobody is asked of what can't exist
            return Outcome(passed=False, detail=f"{' '.join(wrong)}.", evidence_hash=None)
        session = self.session(self.chain)
        try:
            if self.kind == TX_CONFIRMED:
                passed, detail = module.transaction(session, self.tx, self.confirmations)
            else:
                held = module.balance(session, self.address, self.token)
                passed = held is not None and held >= self.amount
                detail = _held(held, self.amount)
        except RpcError as error:
            decided = isinstance(error, Refused) and module.decides(error)
            detail = _refusal(error) if isinstance(error, Refused) and decided else str(error)
            return Outcome(passed=False, detail=detail, evidence_hash=_hash(session), unreachable=not decided)
        return Outcome(passed=passed, detail=detail, evidence_hash=_hash(session))

    def _wrong_forms(self) -> Iterator[tuple[str, str]]:
        """Keys with what can't exist on the chain, and why."""
        module = CHAINS[self.chain]
        if self.kind == TX_CONFIRMED:
            asked = [("tx", self.tx, module.is_tx, "a transaction")]
        else:
            asked = [("address", self.address, module.is_address, "an address")]
            if self.token is not None:
                asked.append(("token", self.token, module.is_address, "an address"))
        for name, text, fits, what in asked:
            if not fits(text):
                form = module.FORMS["tx" if name == "tx" else "address"]
                yield name, f"has not the form of {what} on {self.chain}: {form}"


def _amount(entry: Entry) -> int:
    raw = entry.any("amount")
    if raw is None:
        return 0
    text = raw if isinstance(raw, str) else codec.dumps(raw) if codec.is_number(raw) else ""
    if not _AMOUNT.fullmatch(text):
        entry.refuse("amount", "expected a whole number in the token's smallest unit, as text or as digits")
        return 0
    return int(text)


def _refusal(error: Refused) -> str:
    return f"The chain refused {error.method}: {shown(error.reason) or error.code}."


def _held(held: int | None, amount: int) -> str:
    if held is None:
        return "The token is no contract that answers for balances."
    return f"The address holds {held}; at least {amount} is asked."


def _hash(session: Session) -> str | None:
    return hash_of(codec.canonical(session.transcript)) if session.transcript else None
