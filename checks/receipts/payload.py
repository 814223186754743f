"""What a receipt says: a draft made into the JSON that is signed, and that JSON read back strictly.

Version 1 has these members, in this order; those with a `?` are there only where the kind has them:

    version, iss, kind, subject, about?, chain, seq, prev, time, actor?, commitments, verdict?, score?, claims?, checks?,
    thresholds?, engine?, model?, root?, heads?

Another member, a missing one, or a value of another shape is no payload of version 1: a new member takes a new version.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from checks import codec
from checks.receipts.encoding import unb64
from checks.receipts.keyset import moment, told

VERSION = 1
CHECKPOINT, CHECKPOINTS, EXPORT = "checkpoint", "checkpoints", "export"
ACTORS = ("person", "agent", "server", "key")
THRESHOLDS = ("pass", "fail", "confidence")
MOST = 200  # checks or questions of one subject
_HASH_BYTES = 32
_KIND = re.compile(r"[a-z][a-z0-9_.]{0,39}")
_OPAQUE = re.compile(r"[\x21-\x7e]{1,100}")


class PayloadError(ValueError):
    """What was to be signed, or was signed, is no payload of this version. The message names the member."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What somebody wants a receipt of; where in its chain it stands comes with the head.

    `subject`, `about`: opaque ids. `commitments`: from `commitments.commit`. `claims`: how many are `{supported, contradicted,
    unsupported}`. `checks`: `[{type, passed, evidence_hash}]`. `thresholds`: one object per question in its order, with those of
    `pass`, `fail` and `confidence` that were in force. `root`, `heads`: of a checkpoint alone.
    """

    kind: str
    subject: str
    about: str | None = None
    actor: str | None = None
    commitments: Mapping[str, str] = field(default_factory=dict)
    verdict: str | None = None
    score: float | None = None
    claims: Mapping[str, int] | None = None
    checks: Sequence[Mapping[str, Any]] | None = None
    thresholds: Sequence[Mapping[str, float]] | None = None
    engine: str | None = None
    model: str | None = None
    root: str | None = None
    heads: int | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a receipt stands: `seq` counts from 1; `prev` is the hash of the one before, None for the first."""

    chain: str
    seq: int
    prev: str | None


def write(draft: Draft, place: Place, *, iss: str, at: datetime) -> bytes:
    """The bytes that are signed. Raises PayloadError where they would not be read back."""
    whole = {
        "version": VERSION,
        "iss": iss,
        "kind": draft.kind,
        "subject": draft.subject,
        "about": draft.about,
        "chain": place.chain,
        "seq": place.seq,
        "prev": place.prev,
        "time": told(at),
        "actor": draft.actor,
        "commitments": dict(draft.commitments),
        "verdict": draft.verdict,
        "score": draft.score,
        "claims": draft.claims,
        "checks": draft.checks,
        "thresholds": draft.thresholds,
        "engine": draft.engine,
        "model": draft.model,
        "root": draft.root,
        "heads": draft.heads,
    }
    kept = {name: value for name, value in whole.items() if value is not None or name == "prev"}
    try:
        data = codec.dumps(kept).encode("utf-8")
    except (TypeError, ValueError) as error:  # a score that is no number, a lone surrogate
        raise PayloadError(str(error)) from None
    read(data)
    return data


def read(data: bytes) -> dict[str, Any]:
    """A payload of this version. Raises PayloadError."""
    return _told_whole(_read(data, _SHAPES, _ALWAYS))


def write_export(said: Mapping[str, Any], *, iss: str, at: datetime) -> bytes:
    """What the last line of an export signs: see `_EXPORT`. Raises PayloadError."""
    data = codec.dumps({"version": VERSION, "iss": iss, "kind": EXPORT, "time": told(at), **said}).encode(
        "utf-8"
    )
    read_export(data)
    return data


def read_export(data: bytes) -> dict[str, Any]:
    """Raises PayloadError."""
    return _read(data, _EXPORT, set(_EXPORT))


def _read(data: bytes, shapes: Mapping[str, "Shape"], always: set[str]) -> dict[str, Any]:
    try:
        found = codec.loads(data)
    except codec.CodecError as error:
        raise PayloadError(f"it is no JSON that is taken here: {error}") from None
    if not isinstance(found, dict):
        raise PayloadError("it is no JSON object")
    version = found.get("version")
    if not _whole(version) or version != VERSION:
        raise PayloadError(f"its version is not {VERSION}, the only one known here")
    if unknown := sorted(set(found) - set(shapes)):
        raise PayloadError(f"it has a member {unknown[0][:40]!r}, which version {VERSION} does not know")
    if missing := sorted(always - set(found)):
        raise PayloadError(f"it has no {missing[0]}")
    for name, value in found.items():
        fits, shape = shapes[name]
        if not fits(value):
            raise PayloadError(f"{name} is not {shape}")
    return found


def _told_whole(found: dict[str, Any]) -> dict[str, Any]:
    if (found["seq"] == 1) is not (found["prev"] is None):
        raise PayloadError("prev is null for the first of a chain, and for no other")
    is_checkpoint = found["kind"] == CHECKPOINT
    if any((name in found) is not is_checkpoint for name in ("root", "heads")):
        raise PayloadError("root and heads belong to a checkpoint, and to nothing else")
    if is_checkpoint is not (found["chain"] == CHECKPOINTS):
        raise PayloadError(f"the chain {CHECKPOINTS} is that of checkpoints, and of nothing else")
    return found


def _whole(value: Any) -> bool:
    return codec.is_number(value) and str(value).isdigit()


def _number(value: Any) -> bool:
    return codec.is_number(value) and math.isfinite(value)


def _fraction(value: Any) -> bool:
    return _number(value) and 0 <= value <= 1


def _text(value: Any, most: int) -> bool:
    return isinstance(value, str) and len(value) <= most


def _matches(pattern: re.Pattern[str]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None


def _hash(value: Any) -> bool:
    try:
        return isinstance(value, str) and len(unb64(value)) == _HASH_BYTES
    except ValueError:
        return False


def _time(value: Any) -> bool:
    try:
        return isinstance(value, str) and moment(value) is not None
    except ValueError:
        return False


def _commitments(value: Any) -> bool:
    return isinstance(value, dict) and all(
        _KIND.fullmatch(name) and _hash(item) for name, item in value.items()
    )


def _claims(value: Any) -> bool:
    names = {"supported", "contradicted", "unsupported"}
    return isinstance(value, dict) and set(value) == names and all(map(_whole, value.values()))


def _checks(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= MOST and all(map(_check, value))


def _check(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and set(value) == {"type", "passed", "evidence_hash"}
        and _text(value["type"], 40)
        and isinstance(value["passed"], bool)
        and (value["evidence_hash"] is None or _text(value["evidence_hash"], 64))
    )


def _thresholds(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= MOST and all(map(_threshold, value))


def _threshold(value: Any) -> bool:
    return isinstance(value, dict) and set(value) <= set(THRESHOLDS) and all(map(_fraction, value.values()))


Shape = tuple[Callable[[Any], bool], str]
_ALWAYS = {"version", "iss", "kind", "subject", "chain", "seq", "prev", "time", "commitments"}
# each member: whether a value fits, and what would
_SHAPES: dict[str, Shape] = {
    "version": (_whole, "a whole number"),
    "iss": (lambda value: _text(value, 500), "a text of at most 500 characters"),
    "kind": (_matches(_KIND), "a word of small letters, digits, _ and ."),
    "subject": (_matches(_OPAQUE), "1 to 100 visible ASCII characters"),
    "about": (_matches(_OPAQUE), "1 to 100 visible ASCII characters"),
    "chain": (_matches(_OPAQUE), "1 to 100 visible ASCII characters"),
    "seq": (lambda value: _whole(value) and value >= 1, "a whole number from 1 on"),
    "prev": (lambda value: value is None or _hash(value), "null or a SHA-256 in base64url"),
    "time": (_time, "a time such as 2026-11-30T17:20:00.000000Z"),
    "actor": (lambda value: value in ACTORS, f"one of {', '.join(ACTORS)}"),
    "commitments": (_commitments, "an object of SHA-256 in base64url"),
    "verdict": (lambda value: _text(value, 40), "a text of at most 40 characters"),
    "score": (_fraction, "a number from 0 to 1"),
    "claims": (_claims, "{supported, contradicted, unsupported}, each a count"),
    "checks": (_checks, f"a list of at most {MOST} of {{type, passed, evidence_hash}}"),
    "thresholds": (
        _thresholds,
        f"a list of at most {MOST} of {{pass?, fail?, confidence?}}, each from 0 to 1",
    ),
    "engine": (lambda value: _text(value, 200), "a text of at most 200 characters"),
    "model": (lambda value: _text(value, 200), "a text of at most 200 characters"),
    "root": (_hash, "a SHA-256 in base64url"),
    "heads": (lambda value: _whole(value) and value >= 1, "a whole number from 1 on"),
}
_count: Shape = (_whole, "a whole number")
_sha256: Shape = (_hash, "a SHA-256 in base64url")
# of an export: its first line's hash and that of all lines before the last, how many those are, and the Merkle root over the last
# receipt of every chain in it (null where there is none)
_EXPORT: dict[str, Shape] = {
    **{name: _SHAPES[name] for name in ("version", "iss", "kind", "time")},
    "header": _sha256,
    "digest": _sha256,
    "lines": _count,
    "checkpoints": _count,
    "receipts": _count,
    "chains": _count,
    "root": (lambda value: value is None or _hash(value), "null or a SHA-256 in base64url"),
}
