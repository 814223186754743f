"""`equals {expected}`: the output is the expected text, blanks at the ends of either apart; or, where a number is expected,
comes to it. Pure.

`evidence_hash`: of the output's UTF-8 bytes, as it was given.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from checks import codec
from checks.facts.numeric import READABLE, compare, read_number, worded
from checks.facts.shapes import Entry, OfText, Outcome, exact, hash_of

MAX_CHARS = 16_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Equals(OfText):
    type: ClassVar[str] = "equals"
    network: ClassVar[bool] = False
    expected: str | Fraction

    @classmethod
    def read(cls, entry: Entry) -> Self:
        value = entry.any("expected")
        if codec.is_number(value):
            return cls(expected=read_number(entry, "expected"))
        if value is not None and not isinstance(value, str):
            entry.refuse("expected", "expected a string or a number")
        elif value is not None and len(value) > MAX_CHARS:
            entry.refuse("expected", f"{len(value)} characters; at most {MAX_CHARS} are taken")
        return cls(expected=value.strip() if isinstance(value, str) else "")

    def takes(self, filled: str) -> frozenset[str] | None:
        return READABLE if isinstance(self.expected, Fraction) else None

    def wanted(self, filled: str) -> str:
        if isinstance(self.expected, Fraction):
            return f"must come to {worded(self.expected)}"
        return f"must be “{exact(self.expected)}”"

    def check(self, text: str) -> Outcome:
        if isinstance(self.expected, Fraction):
            return compare(text, self.expected, Fraction(0))
        given = text.strip()
        passed = given == self.expected
        detail = (
            "The output is the expected text."
            if passed
            else f"The output is “{exact(given)}”; expected is “{exact(self.expected)}”."
        )
        return Outcome(passed=passed, detail=detail, evidence_hash=hash_of(text))
