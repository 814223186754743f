"""What checkpoints prove: that a receipt was there when they were signed, also where its own key is no longer to be trusted.

A checkpoint names the one before it. So one that was signed by a sound key before another key was revoked proves every checkpoint before
it, every head that those cover, and every receipt before such a head, whoever had the revoked key later.
"""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime

from checks.receipts.chain import Chains, Entry, Wrong
from checks.receipts.keyset import moment
from checks.receipts.merkle import Leaf
from checks.receipts.verifying import Examined


@dataclass(frozen=True, slots=True)
class _Head:
    seq: int
    hash: str
    checkpoint: int
    line: int


class Anchors:
    """Takes every checkpoint first and every receipt then; `wrong` is told of what does not fit, or is not proved."""

    def __init__(self, wrong: Wrong) -> None:
        self._wrong = wrong
        self._sound: list[
            tuple[int, datetime]
        ] = []  # (seq, when) of checkpoints signed by keys that are trusted
        self._doubted: list[tuple[Entry, Examined]] = []
        self._heads: dict[str, dict[int, _Head]] = defaultdict(dict)
        self._reaches: dict[tuple[str, datetime], int] = {}

    def checkpoint(self, entry: Entry, examined: Examined, covered: list[Leaf]) -> None:
        if examined.valid and examined.payload is not None:
            self._sound.append((entry.seq, moment(examined.payload["time"])))
        elif examined.revoked is not None:
            self._doubted.append((entry, examined))
        for chain, seq, hash_ in covered:
            self._heads[chain][seq] = _Head(seq, hash_, entry.seq, entry.line)

    def settle(self) -> None:
        """All checkpoints were read: whether those of revoked keys are proved by later ones."""
        doubted, self._doubted = self._doubted, []
        for entry, examined in doubted:
            if examined.revoked is not None and entry.seq > self._anchor(examined.revoked):
                self._wrong(entry.line, f"checkpoint {entry.seq} does not hold. {examined.reason}")

    def receipt(self, chain: str, entry: Entry, examined: Examined) -> None:
        head = self._heads.get(chain, {}).get(entry.seq)
        if head is not None and head.hash != entry.hash:
            text = f"receipt {entry.seq} of {chain[:100]} is not the one that the checkpoint in line {head.line} covers"
            self._wrong(entry.line, text)
        if examined.revoked is not None and entry.seq > self._reach(chain, examined.revoked):
            self._wrong(entry.line, f"receipt {entry.seq} of {chain[:100]} does not hold. {examined.reason}")

    def finish(self, chains: Chains) -> None:
        """Whether every head that is covered was there."""
        self.settle()
        for name, heads in self._heads.items():
            chain = chains.get(name)
            for head in heads.values():
                if (chain is None and not chains.part) or (chain is not None and head.seq > chain.seq):
                    text = f"it covers receipt {head.seq} of {name[:100]}, which is missing"
                    self._wrong(head.line, text)

    def _reach(self, chain: str, revoked: datetime) -> int:
        """Up to which receipt a chain is proved without a key that was revoked then."""
        if (chain, revoked) not in self._reaches:
            anchor, heads = self._anchor(revoked), self._heads.get(chain, {}).values()
            reach = max((head.seq for head in heads if head.checkpoint <= anchor), default=0)
            self._reaches[chain, revoked] = reach
        return self._reaches[chain, revoked]

    def _anchor(self, revoked: datetime) -> int:
        """The last checkpoint that a sound key signed before then; 0 where there is none."""
        return max((seq for seq, at in self._sound if at < revoked), default=0)
