"""What a chat model answered: the mass that its first token puts on each letter, or its own numbers. Pure."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from checks import codec
from checks.evaluators import EvaluatorError
from checks.evaluators.chat_prompt import NO, YES
from checks.evaluators.system_one_answers import (
    confidence_of_choice,
    confidence_of_rubric,
    leading,
    leading_name,
)
from checks.questions import Answer, Kind, Question

LEAST_COVERED = 0.5  # of the first token's mass: below it the model did not answer with a letter
_AROUND = " \t\n\r\"'`*_.,:;!?()[]{}<>“”‘’#-▁Ġ"


class NoLogprobsError(Exception):
    """The server answered without log-probabilities, though they were asked for."""


def masses(answer: Mapping[str, Any], letters: Sequence[str]) -> list[float]:
    """The share of each letter, adding up to one, from the first token's log-probabilities.

    Raises NoLogprobsError, and EvaluatorError where less than half of the mass is on letters.
    """
    choice = _choice(answer)
    content = (
        (choice.get("logprobs") or {}).get("content") if isinstance(choice.get("logprobs"), dict) else None
    )
    first = content[0] if isinstance(content, list) and content else None
    top = first.get("top_logprobs") if isinstance(first, dict) else None
    if not isinstance(top, list) or not top:
        raise NoLogprobsError
    found = dict.fromkeys(letters, 0.0)
    for entry in top:
        token, logprob = _entry(entry)
        letter = token.strip(_AROUND).upper()
        if letter in found:  # " A", "a" and "A." are the same answer
            found[letter] += math.exp(logprob)
    covered = math.fsum(found.values())
    if covered < LEAST_COVERED:
        raise EvaluatorError(
            f"the model did not answer with a letter (only {covered:.0%} of its answer is one)"
        )
    return [found[letter] / covered for letter in letters]


def numbers(answer: Mapping[str, Any], letters: Sequence[str]) -> list[float]:
    """The same from the model's own numbers. Raises EvaluatorError on anything but one number for each letter."""
    content = (_choice(answer).get("message") or {}).get("content")
    try:
        given = codec.loads(content) if isinstance(content, str) else None
    except codec.CodecError:
        given = None
    if not isinstance(given, dict) or set(given) != set(letters):
        raise EvaluatorError("the model did not answer in the form that was asked for")
    values = [given[letter] for letter in letters]
    if not all(codec.is_number(value) and 0 <= value <= 1 for value in values):
        raise EvaluatorError("the model's numbers are no probabilities")
    whole = math.fsum(float(value) for value in values)
    if whole <= 0:
        raise EvaluatorError("the model's numbers are all zero")
    return [float(value) / whole for value in values]


def answer_of(question: Question, shares: Mapping[str, float]) -> Answer:
    """An answer from the share of each of the question's names; ties on the cautious side."""
    if question.kind is Kind.YES_NO:
        return Answer(probability=shares[YES] / (shares[YES] + shares[NO]))
    probabilities = list(shares.values())
    if question.kind is Kind.CHOICE:
        return Answer(
            name=leading_name(question, probabilities),
            confidence=confidence_of_choice(probabilities),
            probabilities=dict(shares),
        )
    level = leading(probabilities)[0]
    return Answer(
        level=level, confidence=confidence_of_rubric(probabilities, level), probabilities=dict(shares)
    )


def averaged(names: Sequence[str], orders: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: math.fsum(order[name] for order in orders) / len(orders) for name in names}


def _choice(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = answer.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise EvaluatorError("the model's answer has no choices")
    return choices[0]


def _entry(entry: object) -> tuple[str, float]:
    if (
        not isinstance(entry, dict)
        or not isinstance(entry.get("token"), str)
        or not codec.is_number(entry.get("logprob"))
        or entry["logprob"] > 1e-6  # noqa: PLR2004 - a probability of one, and float noise
    ):
        raise EvaluatorError("the model's log-probabilities can't be read")
    return entry["token"], min(0.0, float(entry["logprob"]))
