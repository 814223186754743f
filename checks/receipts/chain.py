"""Chains as an export holds them: each receipt names the hash of the one before it, so that none can be left out, changed or moved
without its being seen.
"""

from collections.abc import Callable, KeysView
from dataclasses import dataclass, field

from checks.receipts.payload import CHECKPOINTS

Wrong = Callable[[int, str], None]


@dataclass(slots=True)
class Entry:
    """A receipt as its line told it. `line`: where it stands; `prev`: what it says of the one before it; `sound`: whether it
    could be read at all, for else what it says is compared to nothing.
    """

    line: int
    seq: int
    hash: str
    prev: str | None
    sound: bool = True


@dataclass(slots=True)
class Chain:
    """A chain as far as it was read: how far it goes, and the piece of it that is being read."""

    name: str
    seq: int = 0
    hash: str | None = None
    piece: list[Entry] = field(default_factory=list)


class Chains:
    """Takes receipts line by line; `wrong` is told of each that is missing, altered or out of place.

    `part`: the beginnings of chains, but not of checkpoints, may have been left out on purpose.
    """

    def __init__(self, wrong: Wrong) -> None:
        self._wrong, self.part = wrong, False
        self._known: dict[str, Chain] = {}
        self._open: Chain | None = None

    def __len__(self) -> int:
        return len(self._known)

    def get(self, name: str) -> Chain | None:
        return self._known.get(name)

    def names(self) -> KeysView[str]:
        return self._known.keys()

    def add(self, name: str, entry: Entry) -> None:
        if self._open is None or self._open.name != name:
            self.close()
            if name in self._known:
                text = f"receipt {entry.seq} of {name[:100]} is out of place: its chain stands elsewhere"
                self._wrong(entry.line, text)
            self._open = self._known.setdefault(name, Chain(name))
        self._open.piece.append(entry)

    def close(self) -> None:
        """Look at the piece that ends here."""
        chain, self._open = self._open, None
        if chain is None:
            return
        highest = 0
        for entry in chain.piece:
            if entry.seq < highest:
                text = f"receipt {entry.seq} of {chain.name[:100]} is out of order: it stands after {highest}"
                self._wrong(entry.line, text)
            highest = max(highest, entry.seq)
        in_order = sorted(chain.piece, key=lambda entry: entry.seq)
        if self.part and not chain.seq and chain.name != CHECKPOINTS:
            chain.seq = in_order[0].seq - 1
        before_is_sound = True
        for entry in in_order:
            self._follow(chain, entry, comparable=before_is_sound and entry.sound)
            before_is_sound = entry.sound
        chain.piece = []

    def _follow(self, chain: Chain, entry: Entry, *, comparable: bool) -> None:
        name = chain.name[:100]
        if entry.seq <= chain.seq:
            self._wrong(
                entry.line, f"receipt {entry.seq} of {name} is out of place: it comes after {chain.seq}"
            )
            return
        if entry.seq > chain.seq + 1:
            first, last = chain.seq + 1, entry.seq - 1
            missing = f"receipt {first} is" if first == last else f"receipts {first} to {last} are"
            self._wrong(entry.line, f"of {name} {missing} missing before this one")
        elif chain.hash is not None and comparable and entry.prev != chain.hash:
            self._wrong(entry.line, f"receipt {entry.seq} of {name} does not follow the one before it")
        chain.seq, chain.hash = entry.seq, entry.hash
