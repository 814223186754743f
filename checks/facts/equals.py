"""`equals {expected}`: the trimmed output is the expected text; or, where a number is expected, comes to it. Pure.

`evidence_hash`: of the output's UTF-8 bytes, as it was given.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from checks import codec
from checks.facts.numeric import compare, read_number
from checks.facts.shapes import Entry, OfText, Outcome, hash_of, shown

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
        return cls(expected=value if isinstance(value, str) else "")

    def check(self, text: str) -> Outcome:
        if isinstance(self.expected, Fraction):
            return compare(text, self.expected, Fraction(0))
        passed = text.strip() == self.expected
        detail = (
            "The output is the expected text."
            if passed
            else f"The output is “{shown(text)}”; expected is “{shown(self.expected)}”."
        )
        return Outcome(passed=passed, detail=detail, evidence_hash=hash_of(text))
