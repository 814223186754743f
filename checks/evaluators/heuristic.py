"""The heuristic: word match in place of a model. Deterministic, no network; for demos and tests.

It knows nothing; it compares words, and says so (`is_model` False). Its formulae, with c a coverage (share of a
text's content words that the submission says), d detail, h hedging, k contradiction, all 0..1
(`heuristic_text.Reading`):

- yes/no: p = 0.40 + 0.57 s - 0.30 h - 0.75 k within [0.02, 0.97], where s = (2 min(1, c / 0.5) + d) / 3 and c is
  over the question's words but those about the form of an answer (verdict, match, summary, say, …). A question
  that holds a negation ("… names no price") uses 1 - min(1, c / 0.5) instead.
- choice: each name gets a weight by what its own words announce: hedging names (hedges, avoids, vague, partly) h;
  don't-know names (unclear, cannot tell) 1 - d; bad names (contradicts, wrong, missing) k; the rest
  (0.6 d + 0.4 c)(1 - h), and times 1 - k where a bad name is offered. Probabilities are exp(7 w), normalised.
- rubric: each level gets 0.8 u + 0.2 c, u being the coverage of the words that no other level has, times
  1 - h/2 from the second level on; a level that is worded as a lack (neither, no, nothing) gets 1 minus the best of the others
  where that is under a half. Probabilities are exp(7 w), normalised.

- yes/no about a text alone (a criterion of the judge): `criteria.shown`.

So a detailed, unhedged summary in the question's own words passes, a vague one lands between the thresholds,
and one that denies its own output fails.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

from checks import canary
from checks.evaluators import Answers, Config, criteria
from checks.evaluators.heuristic_text import Reading, content, negates, read, stem, words
from checks.evaluators.system_one_answers import (
    confidence_of_choice,
    confidence_of_rubric,
    leading,
    leading_name,
)
from checks.questions import Answer, Kind, Question

MODEL = "heuristic-1"
METHOD = "word-match"
SHARPNESS = 7.0


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in text.split())


# Words of a question that speak of the form of an answer; no submission repeats them.
_FORM = _stems(
    "verdict match say state summary output answer claim agree correct contain mention describe clearly given match"
)
_HEDGING = _stems("hedge avoid vague qualify qualified partly partial ambiguous noncommittal heavily")
_UNKNOWING = _stems("unclear unknown unsure cannot tell undecided other")
_BAD = _stems("contradict wrong missing incorrect incomplete inconsistent bad mismatch unrelated false")


class Heuristic:
    """Word match with the interface of a model."""

    name = "heuristic"
    is_model = False
    method = METHOD

    def __init__(self, config: Config) -> None:
        self.version = hashlib.sha256(f"{config.kind}:{MODEL}:{METHOD}".encode()).hexdigest()

    def ask(
        self, material_state: Mapping[str, Any], questions: Sequence[Question], *, deadline: float
    ) -> Answers:
        """Answer at once; never fails, whatever the deadline."""
        del deadline
        given = material_state.get("submission")
        submission = given if isinstance(given, Mapping) else {}
        reading = read(submission)
        text = _text_alone(material_state, submission)
        answers = (
            Answer(probability=canary.by_words(material_state))
            if question == canary.QUESTION
            else Answer(probability=criteria.shown(question.ask, text))
            if text is not None and question.kind is Kind.YES_NO
            else _answer(question, reading)
            for question in questions
        )
        return Answers(model=MODEL, answers=tuple(answers), method=METHOD)


def _text_alone(material_state: Mapping[str, Any], submission: Mapping[str, Any]) -> str | None:
    """The text, where the material is that and nothing else (no instructions, no output's fields): a yes/no question is then a
    criterion of that text.
    """
    if set(material_state) != {"submission"} or submission.get("output") or submission.get("evidence"):
        return None
    text = submission.get("summary")
    return text if isinstance(text, str) else None


def _answer(question: Question, reading: Reading) -> Answer:
    if question.kind is Kind.YES_NO:
        return Answer(probability=_yes(question.ask, reading))
    if question.kind is Kind.CHOICE:
        return _choice(question, reading)
    return _rubric(question.levels, reading)


def _yes(ask: str, reading: Reading) -> float:
    covered = min(1.0, _coverage(ask, reading, default=reading.detail) / 0.5)
    if any(map(negates, words(ask))):
        covered = 1 - covered
    support = (2 * covered + reading.detail) / 3
    p = 0.40 + 0.57 * support - 0.30 * reading.hedge - 0.75 * reading.contradiction
    return round(min(0.97, max(0.02, p)), 4)


def _choice(question: Question, reading: Reading) -> Answer:
    options = question.options or {}
    texts = [f"{name} {text}" for name, text in options.items()]
    doubt = reading.contradiction if any(_announces(text, _BAD) for text in texts) else 0.0
    probabilities = _probabilities([_weight(text, reading, doubt) for text in texts])
    return Answer(
        name=leading_name(question, probabilities),
        confidence=confidence_of_choice(probabilities),
        probabilities=dict(zip(options, probabilities, strict=True)),
    )


def _weight(text: str, reading: Reading, doubt: float) -> float:
    if _announces(text, _HEDGING):
        return reading.hedge
    if _announces(text, _UNKNOWING):
        return 1 - reading.detail
    if _announces(text, _BAD):
        return reading.contradiction
    told = 0.6 * reading.detail + 0.4 * _coverage(text, reading, default=reading.detail)
    return told * (1 - reading.hedge) * (1 - doubt)


def _announces(text: str, cues: frozenset[str]) -> bool:
    return any(stem(word) in cues for word in words(text))


def _rubric(levels: Sequence[str], reading: Reading) -> Answer:
    stems = [set(content(words(text))) - _FORM for text in levels]
    weights = []
    for level, text in enumerate(levels):
        others = set().union(*(stems[other] for other in range(len(levels)) if other != level))
        own = stems[level] - others
        unique = len(own & reading.said) / len(own) if own else 0.0
        told = 0.8 * unique + 0.2 * _coverage(text, reading, default=0.0)
        weights.append(told * (1 - reading.hedge / 2) if level else told)
    for level, text in enumerate(levels):
        if any(map(negates, words(text))):
            best = max(weight for other, weight in enumerate(weights) if other != level)
            weights[level] = 1 - best if best < 0.5 else 0.0  # noqa: PLR2004 - half of a level's words
    probabilities = _probabilities(weights)
    level = leading(probabilities)[0]
    return Answer(
        level=level,
        confidence=confidence_of_rubric(probabilities, level),
        probabilities={str(place): probability for place, probability in enumerate(probabilities)},
    )


def _coverage(text: str, reading: Reading, *, default: float) -> float:
    wanted = set(content(words(text))) - _FORM
    return len(wanted & reading.said) / len(wanted) if wanted else default


def _probabilities(weights: Sequence[float]) -> list[float]:
    shares = [math.exp(SHARPNESS * weight) for weight in weights]
    return [round(share / math.fsum(shares), 4) for share in shares]
