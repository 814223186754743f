"""`numeric {expected, tolerance?}`: the output, as an arithmetic expression, is the expected number. Pure.

An expression holds digits, decimal points, parentheses, blanks and + - * /, and nothing else: no names, no powers, no
exponents. It is worked out exactly, with fractions, so that 0.1 + 0.2 is 0.3 and 1/3 * 3 is 1.

`evidence_hash`: of the output's UTF-8 bytes, as it was given.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar, Self

from checks.facts.shapes import Entry, OfText, Outcome, hash_of, shown

MAX_CHARS = 1000
MAX_DEPTH = 50
MAX_EXPONENT = 1000  # of an expected number: beyond it no expression of this length gets near
_TOKEN = re.compile(r"[ \t\r\n]*(?:([0-9]+(?:\.[0-9]+)?|\.[0-9]+)|([-+*/()])|(\Z))")


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

    def check(self, text: str) -> Outcome:
        return compare(text, self.expected, self.tolerance)


def read_number(entry: Entry, name: str, *, needed: bool = True) -> Fraction:
    """A number of an entry, exactly."""
    value = entry.number(name, needed=needed)
    if value is None:
        return Fraction(0)
    if abs(value.adjusted()) > MAX_EXPONENT:
        entry.refuse(name, f"exponents go to {MAX_EXPONENT}")
        return Fraction(0)
    return Fraction(Decimal(value))


def compare(text: str, expected: Fraction, tolerance: Fraction) -> Outcome:
    try:
        value = evaluate(text)
    except ExpressionError as error:
        return Outcome(passed=False, detail=f"The output is no number: {error}.", evidence_hash=hash_of(text))
    passed = abs(value - expected) <= tolerance
    within = f", give or take {worded(tolerance)}" if tolerance else ""
    detail = f"The output comes to {worded(value)}; expected is {worded(expected)}{within}."
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


def worded(value: Fraction) -> str:
    """A fraction for people: whole, as a decimal where that is exact, else as a fraction; long ones are cut."""
    if value.denominator == 1:
        return shown(str(value.numerator), 40)
    twos_and_fives = value.denominator
    for prime in (2, 5):
        while twos_and_fives % prime == 0:
            twos_and_fives //= prime
    if twos_and_fives == 1 and value.denominator < 10**12:
        return shown(f"{Decimal(value.numerator) / Decimal(value.denominator):f}", 40)
    return shown(f"{value.numerator}/{value.denominator}", 40)


def _tokens(text: str) -> list[str]:
    found: list[str] = []
    at = 0
    while True:
        match = _TOKEN.match(text, at)
        if match is None:
            rest = text[at:].lstrip()
            raise ExpressionError(f"{shown(rest[:12])!r} is no digit, parenthesis or operator")
        if match[3] is not None:
            return found
        found.append(match[1] or match[2])
        at = match.end()


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
