"""A System One answer to ours: probabilities checked and renormalised, confidence recomputed, ties kept cautious."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from checks import codec
from checks.evaluators import EvaluatorError
from checks.questions import Answer, Kind, Question, Result, outcome_of_name

TIE = 0.01  # probabilities come rounded to two decimals
_ROUNDING = 0.005
_FLOAT_NOISE = 1e-9
_TYPES = {Kind.YES_NO: "noul", Kind.CHOICE: "choice", Kind.RUBRIC: "score"}
_WORST_FIRST = tuple(Result)


def read_answer(question: Question, given: object, key: str) -> Answer:
    """The wire's answer to one question. Raises EvaluatorError on anything but a complete, sane one.

    Nothing is ever filled in: an absent answer, a refusal, another type, a name or level that was not
    offered, or numbers that are no probabilities are errors, since each could otherwise read as a pass.
    """
    if given is None:
        raise EvaluatorError(f"no answer to {key}")
    if not isinstance(given, Mapping):
        raise EvaluatorError(f"the answer to {key} is no object")
    if given.get("type") == "refusal":
        raise EvaluatorError(f"{key} was refused by the model")
    if given.get("type") != _TYPES[question.kind]:
        raise EvaluatorError(f"the answer to {key} is not of the type that was asked for")
    if question.kind is Kind.YES_NO:
        return Answer(probability=_fraction(given.get("noul"), key))
    vendor_confidence = float(given["confidence"]) if _is_fraction(given.get("confidence")) else None
    if question.kind is Kind.CHOICE:
        return _choice(question, given, key, vendor_confidence)
    return _rubric(question, given, key, vendor_confidence)


def confidence_of_choice(probabilities: Sequence[float]) -> float:
    """(p_max - 1/n) / (1 - 1/n): 0 when all are alike, 1 when one has everything. Six decimals."""
    even = 1 / len(probabilities)
    return _six((max(probabilities) - even) / (1 - even))


def confidence_of_rubric(probabilities: Sequence[float], level: int) -> float:
    """max(0, 1 - sum p_i |i - level| / MAD_u): how far the mass lies from the level, against an even spread."""
    count = len(probabilities)
    even_spread = sum(abs(i - (count - 1) / 2) for i in range(count)) / count
    spread = sum(p * abs(i - level) for i, p in enumerate(probabilities))
    return _six(1 - spread / even_spread)


def leading(probabilities: Sequence[float]) -> list[int]:
    """The places of the largest probability, as it came, and of those that rounding can't tell from it."""
    top = max(probabilities) - TIE - _FLOAT_NOISE
    return [place for place, probability in enumerate(probabilities) if probability >= top]


def leading_name(question: Question, probabilities: Sequence[float]) -> str:
    """The leading name of a choice; of names that tie the one with the worst outcome: unsure, fail, pass."""
    names = list(question.options or {})
    tied = [names[place] for place in leading(probabilities)]
    return min(tied, key=lambda name: _WORST_FIRST.index(outcome_of_name(question, name)))


def _choice(question: Question, given: Mapping[str, Any], key: str, vendor: float | None) -> Answer:
    names = list(question.options or {})
    if "choice" in given and given["choice"] not in names:
        raise EvaluatorError(f"the answer to {key} is a name that was not offered")
    values = _values(given, names, key)
    probabilities = _normalised(values)
    return Answer(
        name=leading_name(question, values),
        confidence=confidence_of_choice(probabilities),
        probabilities=dict(zip(names, probabilities, strict=True)),
        vendor_confidence=vendor,
    )


def _rubric(question: Question, given: Mapping[str, Any], key: str, vendor: float | None) -> Answer:
    names = [str(level) for level in range(len(question.levels))]
    values = _values(given, names, key)
    probabilities = _normalised(values)
    level = leading(values)[0]  # the lowest, on a tie
    return Answer(
        level=level,
        confidence=confidence_of_rubric(probabilities, level),
        probabilities=dict(zip(names, probabilities, strict=True)),
        vendor_confidence=vendor,
    )


def _values(given: Mapping[str, Any], names: Sequence[str], key: str) -> list[float]:
    """One probability per name, in their order, adding up to one but for the wire's rounding."""
    found = given.get("probabilities")
    if not isinstance(found, Mapping):
        raise EvaluatorError(f"the answer to {key} has no probabilities")
    if set(found) != set(names):
        raise EvaluatorError(f"the probabilities of {key} are not those of the names offered")
    values = [_fraction(found[name], key) for name in names]
    total = math.fsum(values)
    if abs(total - 1) > max(TIE, _ROUNDING * len(values)) + _FLOAT_NOISE:
        raise EvaluatorError(f"the probabilities of {key} add up to {total:.2f}")
    return values


def _normalised(values: Sequence[float]) -> list[float]:
    total = math.fsum(values)
    return [value / total for value in values]


def _fraction(value: Any, key: str) -> float:
    if not _is_fraction(value):
        raise EvaluatorError(f"the answer to {key} holds no probability from 0 to 1")
    return float(value)


def _is_fraction(value: Any) -> bool:
    return codec.is_number(value) and 0 <= value <= 1


def _six(value: float) -> float:
    """Without the noise of float arithmetic, which would decide at a threshold."""
    return round(min(1.0, max(0.0, value)), 6)
