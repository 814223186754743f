"""What changed from one submission to the next, word by word. Pure."""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from approvals.reading import content
from checks import codec

WORDS = 1500  # of each side; comparing takes their product
KEPT = 60  # characters of an unchanged stretch that stay beside a change
_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Piece:
    kind: str  # same | ins | del
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """`unchanged` names the field without repeating it."""

    name: str
    pieces: tuple[Piece, ...] = ()
    unchanged: bool = False


def between(
    before: Mapping[str, Any], after: Mapping[str, Any], file_names: Mapping[str, str]
) -> list[Change]:
    """Two submissions (`{output, evidence, summary?, next?, reason?}`), field by field."""
    old, new = _flat(before, file_names), _flat(after, file_names)
    names = [*new, *(name for name in old if name not in new)]
    return [_change(name, old.get(name), new.get(name)) for name in names]


def changed(changes: list[Change]) -> int:
    return sum(not change.unchanged for change in changes)


def _flat(held: Mapping[str, Any], file_names: Mapping[str, str]) -> dict[str, str]:
    found = {f"output.{name}": _shown(value) for name, value in held.get("output", {}).items()}
    found |= {key: held[key] for key in ("summary", "next", "reason") if key in held}
    evidence = [file_names.get(item["ref"], item["ref"]) for item in held.get("evidence", ())]
    if evidence:
        found["evidence"] = ", ".join(evidence)
    return found


def _shown(value: Any) -> str:
    return codec.dumps(value) if content.is_tree(value) else content.line(value)


def _change(name: str, old: str | None, new: str | None) -> Change:
    if old == new:
        return Change(name=name, unchanged=True)
    if old is None or new is None:
        kind, whole = ("ins", new) if old is None else ("del", old)
        return Change(name=name, pieces=(Piece(kind, _cut(whole or "")),))
    return Change(name=name, pieces=tuple(pieces(old, new)))


def pieces(old: str, new: str) -> list[Piece]:
    """Struck and inserted stretches between what stayed; texts too long to compare stand whole, one after the other."""
    a, b = _TOKEN.findall(old), _TOKEN.findall(new)
    if len(a) > WORDS or len(b) > WORDS:
        return [Piece("del", _cut(old)), Piece("ins", _cut(new))]
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
    if matcher.quick_ratio() < 0.3:  # noqa: PLR2004 - written anew: a patchwork of common words tells nothing
        return [Piece("del", _cut(old)), Piece("ins", _cut(new))]
    found: list[Piece] = []
    for tag, a_from, a_to, b_from, b_to in matcher.get_opcodes():
        if tag == "equal":
            found.append(Piece("same", "".join(a[a_from:a_to])))
            continue
        if a_to > a_from:
            found.append(Piece("del", "".join(a[a_from:a_to])))
        if b_to > b_from:
            found.append(Piece("ins", "".join(b[b_from:b_to])))
    return [_kept(piece, first=index == 0, last=index == len(found) - 1) for index, piece in enumerate(found)]


def _kept(piece: Piece, *, first: bool, last: bool) -> Piece:
    """A long unchanged stretch, down to what stands beside its changes."""
    if piece.kind != "same" or len(piece.text) <= 4 * KEPT:
        return piece
    head = "" if first else piece.text[:KEPT]
    tail = "" if last else piece.text[-KEPT:]
    return Piece("same", f"{head} … {tail}")


def _cut(text: str) -> str:
    return content.text(text).head
