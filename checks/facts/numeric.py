"""`numeric {expected, tolerance?}`: the output, as an arithmetic expression, is the expected number. Pure.

An expression holds digits, decimal points, parentheses, blanks and + - * /, and nothing else: no names, no powers, no
exponents. It is worked out exactly, with fractions, so that 0.1 + 0.2 is 0.3 and 1/3 * 3 is 1.

`evidence_hash`: of the output's UTF-8 bytes, as it was given.
"""

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar, Self

from checks.facts.shapes import Entry, OfText, Outcome, hash_of, shown

MAX_CHARS = 1000
MAX_DEPTH = 50
MAX_SHOWN = 40  # characters of a number in a sentence
READABLE = frozenset({"string", "number"})  # types of a step's fields that can be read as an expression
MAX_EXPONENT = 1000  # of an expected number: beyond it no expression of this length gets near
_BLANKS = " \t\r\n"
_TOKEN = re.compile(rf"[{_BLANKS}]*(?:([0-9]+(?:\.[0-9]+)?|\.[0-9]+)|([-+*/()])|(\Z))")


class ExpressionError(ValueError):
    """No expression, or one without a value; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Numeric(OfText):
    type: ClassVar[str] = "numeric"
    network: ClassVar[bool] = False
    expected: Fraction
    tolerance: Fraction

    @classmethod
    def read(cls, entry: Entry) -> Self:
        expected = read_number(entry, "expected")
        tolerance = read_number(entry, "tolerance", needed=False)
        if tolerance < 0:
            entry.refuse("tolerance", "expected a number from 0 on")
        return cls(expected=expected, tolerance=tolerance)

    def takes(self, filled: str) -> frozenset[str]:
        return READABLE

    def wanted(self, filled: str) -> str:
        return f"must come to {worded(self.expected)}{_within(self.tolerance)}"

    def check(self, text: str) -> Outcome:
        return compare(text, self.expected, self.tolerance)


def read_number(entry: Entry, name: str, *, needed: bool = True) -> Fraction:
    """A number of an entry, exactly."""
    value = entry.number(name, needed=needed)
    if value is None:
        return Fraction(0)
    if value and abs(value.adjusted()) > MAX_EXPONENT:
        entry.refuse(name, f"exponents go to {MAX_EXPONENT}")
        return Fraction(0)
    return Fraction(Decimal(value))


def compare(text: str, expected: Fraction, tolerance: Fraction) -> Outcome:
    try:
        value = evaluate(text)
    except ExpressionError as error:
        return Outcome(passed=False, detail=f"The output is no number: {error}.", evidence_hash=hash_of(text))
    passed = abs(value - expected) <= tolerance
    detail = f"The output comes to {worded(value)}; expected is {worded(expected)}{_within(tolerance)}."
    return Outcome(passed=passed, detail=detail, evidence_hash=hash_of(text))


def evaluate(text: str) -> Fraction:
    """The exact value of an expression. Raises ExpressionError."""
    if len(text) > MAX_CHARS:
        raise ExpressionError(f"{len(text)} characters, and an expression has at most {MAX_CHARS}")
    parser = _Parser(_tokens(text))
    value = parser.sum(0)
    if parser.ahead:
        raise ExpressionError(f"{parser.ahead!r} stands where an operator should")
    return value


def written(value: Decimal) -> str | None:
    """A JSON number as an expression, without an exponent; None where none of an expression's length would do."""
    if value and abs(value.adjusted()) > MAX_EXPONENT:
        return None
    # `format` of a Decimal is exact; a zero may have any exponent, and none of it matters
    text = f"{Decimal(value):f}" if value else "0"
    return text if len(text) <= MAX_CHARS else None


def worded(value: Fraction) -> str:
    """A fraction for people: whole or as a decimal where that is exact, else as a fraction. Of a long one the first digits, and
    how many there are.
    """
    places = _places(value.denominator)
    if places is None and len(short := f"{value.numerator}/{value.denominator}") <= MAX_SHOWN:
        return short
    kept = MAX_SHOWN if places is None else places
    digits = str(abs(value.numerator) * 10**kept // value.denominator).zfill(kept + 1)
    point = len(digits) - kept
    text = "-" * (value < 0) + digits[:point] + ("." + digits[point:] if kept else "")
    if places is None:
        return text[:MAX_SHOWN] + "…"
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}… ({len(digits)} digits)"


def _places(denominator: int) -> int | None:
    """How many decimal places a fraction in lowest terms has; None where they never end."""
    powers = []
    for prime in (2, 5):
        power = 0
        while denominator % prime == 0:
            denominator //= prime
            power += 1
        powers.append(power)
    return max(powers) if denominator == 1 else None


def _within(tolerance: Fraction) -> str:
    return f", give or take {worded(tolerance)}" if tolerance else ""


def _tokens(text: str) -> list[str]:
    found: list[str] = []
    at = 0
    while True:
        match = _TOKEN.match(text, at)
        if match is None:
            rest = text[at:].lstrip(_BLANKS)
            raise ExpressionError(f"{_named(rest)} is no digit, parenthesis or operator")
        if match[3] is not None:
            return found
        found.append(match[1] or match[2])
        at = match.end()


def _named(rest: str) -> str:
    """What stands where it should not: ASCII as it is; else the one character by its name, for it may look like another."""
    char = rest[0]
    if char.isascii() and char.isprintable():
        return repr(shown(rest[:12]))
    name = unicodedata.name(char, "")
    return f"the character U+{ord(char):04X}{f' ({name})' if name else ''}"


class _Parser:
    """Recursive descent, its depth counted."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens, self._at = tokens, 0

    @property
    def ahead(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def sum(self, depth: int) -> Fraction:
        value = self._product(depth)
        while (operator := self.ahead) in ("+", "-") and operator:
            self._at += 1
            other = self._product(depth)
            value = value + other if operator == "+" else value - other
        return value

    def _product(self, depth: int) -> Fraction:
        value = self._signed(depth)
        while (operator := self.ahead) in ("*", "/") and operator:
            self._at += 1
            other = self._signed(depth)
            if operator == "/" and not other:
                raise ExpressionError("it divides by zero")
            value = value * other if operator == "*" else value / other
        return value

    def _signed(self, depth: int) -> Fraction:
        if depth > MAX_DEPTH:
            raise ExpressionError(f"it is nested deeper than {MAX_DEPTH}")
        ahead = self.ahead
        self._at += 1
        if ahead in ("+", "-") and ahead:
            value = self._signed(depth + 1)
            return -value if ahead == "-" else value
        if ahead == "(":
            value = self.sum(depth + 1)
            if self.ahead != ")":
                raise ExpressionError("a parenthesis is not closed")
            self._at += 1
            return value
        if not ahead:
            raise ExpressionError("it ends where a number should stand" if self._tokens else "it is empty")
        if ahead in ("*", "/", ")"):
            raise ExpressionError(f"{ahead!r} stands where a number should")
        return Fraction(ahead)
