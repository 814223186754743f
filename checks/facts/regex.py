r"""`regex {expected}`: a pattern is found somewhere in the output. Pure.

The engine is RE2: linear in the text whatever the pattern, so it has no look-around and no back-references. Linear still is
the text's length times the pattern's own size, and a few characters make a large one; so a pattern reaches only so
far into a text that the work stays bounded, and the detail says so where that is not the whole. Where it stops is no end
of the text: the engine sees what follows, so `$`, `\z` and `\b` are there what they are in the whole text. What is
found in part of a text is thereby found in all of it, and no pattern passes because of where we stopped.

`evidence_hash`: of the output's UTF-8 bytes, as it was given.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import re2

from checks.facts.shapes import Entry, OfText, Outcome, exact, hash_of, shown

MAX_CHARS = 500
MAX_MEMORY = 1 << 20  # of a compiled pattern: a few characters can stand for millions
# characters times the pattern's instructions; at worst some ten millions take a second
MAX_WORK = 5_000_000


class PatternError(ValueError):
    """A pattern that the engine does not take; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Regex(OfText):
    type: ClassVar[str] = "regex"
    network: ClassVar[bool] = False
    pattern: Any
    source: str

    @classmethod
    def read(cls, entry: Entry) -> Self:
        pattern, source = read_pattern(entry, "expected", needed=True)
        return cls(pattern=pattern, source=source)

    def wanted(self, filled: str) -> str:
        return f"must match the pattern “{exact(self.source)}”"

    def check(self, text: str) -> Outcome:
        at, reach = search(self.pattern, text, MAX_WORK)
        where = "not found in the output" if at is None else f"found at character {at + 1}"
        return Outcome(
            passed=at is not None,
            detail=f"The pattern “{exact(self.source)}” is {where}{told(at, reach, text)}.",
            evidence_hash=hash_of(text),
        )


def search(pattern: Any, text: str, work: int, *, cut: bool = False) -> tuple[int | None, int]:
    """Where a pattern is found first, and how many characters it reaches to.

    `cut`: the text goes on, nobody knows how. Its last character is then only looked at as what follows: a match that
    touches the end would depend on the cut, and so does not count.
    """
    reach = min(len(text), work // max(1, pattern.programsize))
    end = min(reach, len(text) - cut)
    # never of a slice: there the pattern would take the slice's end for the text's
    found = pattern.search(text, 0, end) if end >= 0 else None
    return (None if found is None else found.start()), reach


def told(at: int | None, reach: int, text: str) -> str:
    """That not all was searched, where it matters."""
    if at is not None or reach == len(text):
        return ""
    return f" (only the first {reach:,} characters were searched: the pattern is too large for more)"


def read_pattern(entry: Entry, name: str, *, needed: bool) -> tuple[Any, str]:
    """A compiled pattern of an entry and its source; (None, "") where there is none or it is wrong."""
    source = entry.text(name, most=MAX_CHARS, needed=needed)
    if source is None:
        return None, ""
    try:
        return compiled(source), source
    except PatternError as error:
        entry.refuse(name, f"no pattern that is taken here: {error}")
        return None, source


def compiled(source: str) -> Any:
    """Raises PatternError."""
    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_MEMORY
    try:
        return re2.compile(source, options)
    except re2.error as error:
        reason = error.args[0] if error.args else ""
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise PatternError(shown(text) + _hint(source)) from None


def _hint(source: str) -> str:
    looks = any(sign in source for sign in ("(?=", "(?!", "(?<=", "(?<!"))
    return " (look-around and back-references don't exist in linear time)" if looks or "\\1" in source else ""
