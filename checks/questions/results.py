"""What answers mean: thresholds, the result of one answer, the worst-of verdict, how unsure it is.

Source: check-1 §2, §3, §5; the rank is the house's own (design: "Least sure").
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from checks.questions.shapes import Answer, Judged, Kind, Limits, Question, Result, Thresholds, Verdict

_WORST_FIRST = tuple(Result)


def thresholds(question: Question, limits: Limits) -> Thresholds:
    """The numbers in force: the question's own, else the server's.

    Where a default crosses the other number, the effective fail is the smaller of the two: nothing fails
    that passes.
    """
    if question.kind is not Kind.YES_NO:
        return Thresholds(confidence=_first(question.confidence, limits.check_confidence))
    pass_at = limits.check_pass if question.pass_at is None else question.pass_at
    fail_below = _first(question.fail_below, limits.check_fail)
    return Thresholds(pass_at=pass_at, fail_below=None if fail_below is None else min(fail_below, pass_at))


def result_of(question: Question, answer: Answer, thresholds: Thresholds) -> Result:
    """What one answer leads to. Raises ValueError when the answer does not fit the question's kind."""
    if message := misfit(question, answer):
        raise ValueError(message)
    if question.kind is Kind.YES_NO:
        return _yes_no(answer.probability or 0.0, thresholds)
    # Confidence comes before anything else; an answer without one is no confident answer.
    if (answer.confidence or 0.0) < (thresholds.confidence or 0.0):
        return Result.UNSURE
    if question.kind is Kind.CHOICE:
        return outcome_of_name(question, answer.name or "")
    return outcome_of_level(question, answer.level or 0)


def judge_answer(question: Question, answer: Answer, limits: Limits) -> Judged:
    """One answer with the thresholds in force and its result. Raises ValueError on a misfit."""
    inforce = thresholds(question, limits)
    result = result_of(question, answer, inforce)
    return Judged(question=question, answer=answer, thresholds=inforce, result=result)


def judged_again(
    questions: Sequence[Question], told: Sequence[Mapping[str, Any]], limits: Limits
) -> list[Judged]:
    """The judged questions behind a check's JSON (`verdict_view`), for wording them once more.

    Results are those that were told; thresholds are of now, and serve for rounding only.
    """
    return [
        Judged(
            question=question,
            answer=_answer_told(question, view),
            thresholds=thresholds(question, limits),
            result=Result(view["result"]),
        )
        for question, view in zip(questions, told, strict=True)
    ]


def worst(results: Iterable[Result]) -> Verdict:
    """The verdict of a whole check: unsure outranks fail, fail outranks pass. Raises ValueError on none."""
    return Verdict(min(results, key=_WORST_FIRST.index))


def least_sure(judged: Sequence[Judged]) -> float | None:
    """How unsure the worst unsure question is: 0 = at a threshold, 1 = as unsure as can be; None = none is.

    yes/no: 2 min(p - fail, pass - p) / (pass - fail). Choice and rubric under their confidence threshold:
    (threshold - confidence) / threshold. A choice that answered one of its `unsure` names with enough
    confidence counts with that confidence: the surer it is that it can't tell, the less it has told.
    """
    ranks = [_rank(item) for item in judged if item.result is Result.UNSURE]
    return max(ranks, default=None)


def outcome_of_name(question: Question, name: str) -> Result:
    """What a choice's name leads to, given enough confidence."""
    if name in question.pass_names:
        return Result.PASS
    return Result.UNSURE if name in question.unsure_names else Result.FAIL


def outcome_of_level(question: Question, level: int) -> Result:
    """What a rubric's level leads to, given enough confidence."""
    return Result.PASS if level >= question.pass_level else Result.FAIL


def misfit(question: Question, answer: Answer) -> str | None:
    """Why this can't be an answer to the question, or None. A guard against evaluators, not against people."""
    if answer.confidence is not None and not _is_fraction(answer.confidence):
        return "the confidence is no number from 0 to 1"
    if question.kind is Kind.YES_NO:
        return None if _is_fraction(answer.probability) else "the probability is no number from 0 to 1"
    if question.kind is Kind.CHOICE:
        return None if answer.name in (question.options or {}) else "the answer is none of the names offered"
    level = answer.level
    if isinstance(level, bool) or not isinstance(level, int) or not 0 <= level < len(question.levels):
        return "the answer is none of the levels offered"
    return None


def question_source(question: Question) -> dict[str, Any]:
    """The question as plain JSON for digests: the author's keys and only those written.

    `one_of` is a list of [name, description], because the order shown is part of the question and the
    canonical form of a map has none.
    """
    source: dict[str, Any] = {"ask": question.ask}
    if question.kind is Kind.YES_NO:
        own = {"pass": question.pass_at, "fail": question.fail_below}
    elif question.kind is Kind.CHOICE:
        source["one_of"] = [[name, text] for name, text in (question.options or {}).items()]
        source["pass"] = list(question.pass_names)
        source["unsure"] = list(question.unsure_names)
        own = {"confidence": question.confidence}
    else:
        source["levels"] = list(question.levels)
        source["pass"] = question.pass_level
        own = {"confidence": question.confidence}
    return source | {key: value for key, value in own.items() if value is not None}


def _answer_told(question: Question, view: Mapping[str, Any]) -> Answer:
    if question.kind is Kind.YES_NO:
        return Answer(probability=float(view["answer"]))
    confidence = float(view["confidence"])
    if question.kind is Kind.CHOICE:
        return Answer(name=view["answer"], confidence=confidence)
    return Answer(level=int(view["answer"]), confidence=confidence)


def _yes_no(probability: float, thresholds: Thresholds) -> Result:
    pass_at = 1.0 if thresholds.pass_at is None else thresholds.pass_at
    if probability >= pass_at:
        return Result.PASS
    if thresholds.fail_below is None or probability < thresholds.fail_below:
        return Result.FAIL
    return Result.UNSURE


def _rank(judged: Judged) -> float:
    inforce, answer = judged.thresholds, judged.answer
    if judged.question.kind is Kind.YES_NO:
        low, high = inforce.fail_below or 0.0, inforce.pass_at or 0.0
        probability = answer.probability or 0.0
        return _clamp(2 * min(probability - low, high - probability) / (high - low))
    confidence, asked = answer.confidence or 0.0, inforce.confidence or 0.0
    return _clamp((asked - confidence) / asked if confidence < asked else confidence)


def _first(*values: float | None) -> float | None:
    return next((value for value in values if value is not None), None)


def _is_fraction(value: float | None) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and math.isfinite(value)
        and 0 <= value <= 1
    )


def _clamp(value: float) -> float:
    return min(1.0, max(0.0, value))
