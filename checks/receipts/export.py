"""An export read line by line: what is missing, altered or out of place is named with the line it is at.

An export is JSON lines, each exactly as `codec.dumps` writes it:

    {"export": 1, "iss", "exported_at", "chain": null | name, "since": null | time, "jwks"}
    {"chain": "checkpoints", "seq", "receipt", "covers": [[chain, seq, hash], …]}        every checkpoint, in order;
      where one chain was asked for, instead of `covers`: "place": null | {"head": [chain, seq, hash], "index", "path": […]}
    {"chain", "seq", "receipt"}                                                    every receipt, by chain and in order
    {"heads": [[chain, seq, hash], …]}                                            the last receipt of every chain, some a line
    {"end": JWS}                                                                  signs all of it: `payload.read_export`

The reader trusts the keys that it is given, not those of the first line.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from checks import codec
from checks.receipts import jws, merkle
from checks.receipts.anchors import Anchors
from checks.receipts.chain import Chains, Entry
from checks.receipts.encoding import b64, digest, unb64
from checks.receipts.keyset import PublicKey
from checks.receipts.merkle import Leaf
from checks.receipts.payload import CHECKPOINTS
from checks.receipts.verifying import Examined, examine

HEADER = ("export", "iss", "exported_at", "chain", "since", "jwks")
RECEIPT = ("chain", "seq", "receipt")
COVERS, PLACE = (*RECEIPT, "covers"), (*RECEIPT, "place")
MAX_LINE = 4_000_000
MOST_PROBLEMS = 100
_NOT_COVERED = "was altered: what the checkpoint covers is not what it was signed over"


@dataclass(frozen=True, slots=True)
class Problem:
    """`line` counts from 1."""

    line: int
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}"


@dataclass(slots=True)
class Found:
    """What came of reading an export."""

    receipts: int = 0
    chains: int = 0
    checkpoints: int = 0
    signed_at: str = ""
    # what it is of, where that is not everything
    chain: str | None = None
    since: str | None = None
    problems: list[Problem] = field(default_factory=list)


def is_line(value: Any) -> bool:
    """Whether a JSON value is a line of an export, or was one: it has some of the members that only those have."""
    own = {*HEADER, *COVERS, *PLACE, "heads", "end"} - {"iss"}
    return isinstance(value, dict) and bool(own & value.keys())


def check(lines: Iterable[bytes], keys: Mapping[str, PublicKey]) -> Found:
    """Read an export to its end, or until so much is wrong that it is none. Never raises on what a line holds."""
    reading = _Reading(keys)
    for number, line in enumerate(lines, 1):
        reading.line(number, line)
        if len(reading.found.problems) > MOST_PROBLEMS:
            break
    else:
        reading.finish()
    reading.found.problems.sort(key=lambda problem: problem.line)
    return reading.found


class _Reading:
    def __init__(self, keys: Mapping[str, PublicKey]) -> None:
        self.keys, self.found = keys, Found()
        self._chains, self._anchors = Chains(self._wrong), Anchors(self._wrong)
        self._whole = hashlib.sha256()
        self._header = ""
        self._heads: list[Leaf] = []
        self._last, self._ended = 0, False

    def line(self, number: int, line: bytes) -> None:
        self._last = number
        if self._ended:
            self._wrong(number, "stands after the end of the export")
            return
        if number == 1:
            self._header = b64(hashlib.sha256(line).digest())
        value = self._read(number, line)
        if value is not None:
            self._sort(number, value)
        self._whole.update(line)

    def finish(self) -> None:
        self._chains.close()
        if not self._ended:
            self._wrong(self._last, "is the last, but not the end of an export: it was cut short")
        self._anchors.finish(self._chains)

    def _wrong(self, line: int, text: str) -> None:
        self.found.problems.append(Problem(line, text))

    def _read(self, number: int, line: bytes) -> dict[str, Any] | None:
        """A line's object, if it is written as an export writes it: no other blank, order or number."""
        if len(line) > MAX_LINE:
            self._wrong(number, f"was altered: it is longer than {MAX_LINE} bytes")
            return None
        try:
            value = codec.loads(line)
        except codec.CodecError as error:
            self._wrong(number, f"was altered: it is no JSON that is taken here ({error})")
            return None
        if not isinstance(value, dict):
            self._wrong(number, "was altered: it is no object")
            return None
        if codec.dumps(value).encode("utf-8") + b"\n" != line:
            self._wrong(number, "was altered: it is not written as an export writes it")
        return value

    def _sort(self, number: int, value: dict[str, Any]) -> None:
        names = tuple(value)
        if (number == 1) is not (names == HEADER):
            self._wrong(
                number, "is not the first line of an export" if number == 1 else "is a second first line"
            )
        if names == HEADER:
            self._chains.part = value["since"] is not None
            self.found.chain, self.found.since = value["chain"], value["since"]
        elif names == RECEIPT:
            self._anchors.settle()
            self._receipt(number, value)
        elif names in (COVERS, PLACE):
            self._checkpoint(number, value)
        elif names == ("heads",):
            self._told_heads(number, value["heads"])
        elif names == ("end",):
            self._end(number, value["end"])
        elif number > 1:
            self._wrong(number, "was altered: it is none of the lines that an export has")

    def _receipt(self, number: int, value: dict[str, Any]) -> None:
        self.found.receipts += 1
        found = self._signed(number, value)
        if found is not None:
            entry, examined = found
            self._anchors.receipt(value["chain"], entry, examined)

    def _checkpoint(self, number: int, value: dict[str, Any]) -> None:
        self.found.checkpoints += 1
        found = self._signed(number, value)
        if found is None or found[1].payload is None:
            return
        (entry, examined), said = found, found[1].payload
        if said["chain"] != CHECKPOINTS:
            self._wrong(number, "says what a checkpoint covers, but its receipt is of none")
            return
        covered = _covered(value["covers"], said) if "covers" in value else _placed(value["place"], said)
        if covered is None:
            self._wrong(number, _NOT_COVERED)
        self._anchors.checkpoint(entry, examined, covered or [])

    def _signed(self, number: int, value: dict[str, Any]) -> tuple[Entry, Examined] | None:
        """A line's receipt, entered into its chain; what it says only where that is what the line says."""
        chain, seq, text = value["chain"], _whole(value["seq"]), value["receipt"]
        if not isinstance(chain, str) or seq is None or not isinstance(text, str):
            self._wrong(number, "was altered: chain, seq and receipt are not a name, a number and a text")
            return None
        examined = examine(text, self.keys)
        said = examined.payload
        if not examined.valid and examined.revoked is None:
            self._wrong(number, f"receipt {seq} of {chain[:100]} does not hold. {examined.reason}")
        if said is not None and (said["chain"], said["seq"]) != (chain, seq):
            told = f"says receipt {seq} of {chain[:100]}, but holds {said['seq']} of {said['chain']}"
            self._wrong(number, told)
            said, examined = None, Examined(False, told)
        entry = Entry(number, seq, digest(text), said["prev"] if said else None, said is not None)
        self._chains.add(chain, entry)
        return entry, examined

    def _told_heads(self, number: int, value: Any) -> None:
        self._chains.close()
        leaves = _leaves(value)
        if leaves is None:
            self._wrong(number, "was altered: heads are no list of [chain, seq, hash]")
            return
        self._heads += leaves
        for name, seq, hash_ in leaves:
            known = self._chains.get(name)
            if known is None:
                self._wrong(number, f"all receipts of {name[:100]} are missing, up to {seq}")
            elif known.seq < seq:
                self._wrong(number, f"of {name[:100]} the last are missing: {known.seq + 1} to {seq}")
            elif (known.seq, known.hash) != (seq, hash_):
                self._wrong(
                    number, f"{name[:100]} was exported up to {seq}, and what stands here is something else"
                )

    def _end(self, number: int, text: Any) -> None:
        self._chains.close()
        self._ended = True
        examined = examine(text if isinstance(text, str) else "", self.keys, jws.EXPORT)
        said = examined.payload
        if not examined.valid:
            self._wrong(number, f"the end of the export does not hold. {examined.reason}")
        if said is None:
            return
        self.found.signed_at, self.found.chains = said["time"], len(set(self._chains.names()) - {CHECKPOINTS})
        for name in self._chains.names() - {name for name, _, _ in self._heads}:
            self._wrong(number, f"no heads before it name {name[:100]}: a line of them is missing")
        if said["header"] != self._header:
            self._wrong(1, "was altered: it is not the first line that was signed")
        if said["root"] != (b64(merkle.root(self._heads)) if self._heads else None):
            self._wrong(number, "the heads before it are not those that were signed")
        counts = {
            "lines": number - 1,
            "receipts": self.found.receipts,
            "checkpoints": self.found.checkpoints,
            "chains": self.found.chains,
        }
        for name, count in counts.items():
            if said[name] != count:
                self._wrong(number, f"the export was signed with {said[name]} {name}, and there are {count}")
        if said["digest"] != b64(self._whole.digest()) and not self.found.problems:
            self._wrong(number, "the lines before it are not those that were signed")


def _whole(value: Any) -> int | None:
    """A number of ours as it is written: digits alone."""
    text = str(value)
    return int(text) if codec.is_number(value) and text.isdigit() and len(text) <= 10 else None  # noqa: PLR2004


def _leaves(value: Any) -> list[Leaf] | None:
    """`[[chain, seq, hash], …]`, at least one; None where it is something else."""
    if not isinstance(value, list) or not value:
        return None
    leaves = []
    for item in value:
        if not isinstance(item, list) or len(item) != 3:  # noqa: PLR2004 - chain, seq, hash
            return None
        name, seq, hash_ = item[0], _whole(item[1]), item[2]
        if not isinstance(name, str) or seq is None or not isinstance(hash_, str):
            return None
        leaves.append((name, seq, hash_))
    return leaves


def _covered(value: Any, said: Mapping[str, Any]) -> list[Leaf] | None:
    """All heads that a checkpoint covers; None where they are not those of its root."""
    leaves = _leaves(value)
    if leaves is None or len(leaves) != said["heads"] or merkle.ordered(leaves) != leaves:
        return None
    return leaves if b64(merkle.root(leaves)) == said["root"] else None


def _placed(place: Any, said: Mapping[str, Any]) -> list[Leaf] | None:
    """The one head that its path proves to be covered; none where the checkpoint covers nothing of the chain."""
    if place is None:
        return []
    if (
        not isinstance(place, dict)
        or tuple(place) != ("head", "index", "path")
        or not isinstance(place["path"], list)
    ):
        return None
    leaves, index = _leaves([place["head"]]), _whole(place["index"])
    if leaves is None or index is None:
        return None
    try:
        path = [unb64(str(node)) for node in place["path"]]
    except ValueError:
        return None
    root = merkle.climb(leaves[0], index, int(said["heads"]), path)
    return leaves if root is not None and b64(root) == said["root"] else None
