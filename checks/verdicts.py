"""Verdicts in the database: written once by `record`, read by digest, shown in the protocol's JSON."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from checks.judging import Judgement
from checks.models import Answer, Verdict
from checks.questions import Answered, Flat, flat, issue_lines, verdict_view
from checks.questions import Verdict as Word
from checks.replay import LAST, Kept

_COLUMNS = [field.name for field in fields(Flat)]


@dataclass(frozen=True, slots=True)
class Made:
    """A verdict and its answers, not yet saved."""

    verdict: Verdict
    answers: list[Answer]


def made(judgement: Judgement) -> Made:
    verdict = Verdict(
        verdict=judgement.verdict,
        advisory=judgement.advisory,
        model=judgement.model,
        evaluator=judgement.evaluator,
        evaluator_version=judgement.evaluator_version,
        method=judgement.method,
        is_model=judgement.is_model,
        digest=judgement.digest,
        truncated=judgement.truncated,
        addressed=judgement.addressed,
        least_sure=judgement.least_sure,
        error=judgement.error,
        asked=judgement.asked,
        milliseconds=judgement.milliseconds,
        stopgap=judgement.stopgap,
        requests=judgement.requests,
        input_tokens=judgement.input_tokens,
        output_tokens=judgement.output_tokens,
        cost=judgement.cost,
        at=judgement.at,
    )
    rows = [_row(verdict, position, flat(judged)) for position, judged in enumerate(judgement.judged)]
    return Made(verdict, rows)


def save(new: Made) -> Verdict:
    """Keep a verdict within the caller's transaction: one INSERT for it, one for all its answers."""
    new.verdict.save(force_insert=True)
    if new.answers:
        Answer.objects.bulk_create(new.answers)
    return new.verdict


def record(judgement: Judgement) -> Verdict:
    """`made` and `save` in one."""
    return save(made(judgement))


def kept(verdict: Verdict) -> Kept:
    """For `checks.replay`; its answers should be prefetched."""
    answers = list(verdict.answers.all())
    return Kept(verdict.verdict, answers, [answer.own for answer in answers])


def last(count: int = LAST) -> list[Kept]:
    """The newest verdicts that are no errors. Two statements."""
    found = Verdict.objects.exclude(verdict=Word.ERROR).order_by("-at", "-pk").prefetch_related("answers")
    return [kept(verdict) for verdict in found[:count]]


def view(verdict: Verdict, answers: Iterable[Answered]) -> dict[str, Any]:
    """The protocol's JSON of a check. Of an error: no questions, the evaluator's name as the model."""
    return verdict_view(
        verdict=verdict.verdict,
        advisory=verdict.advisory,
        model=verdict.model or verdict.evaluator,
        questions=answers,
        truncated=verdict.truncated,
        at=verdict.at,
    )


def issue_lines_of(verdict: Verdict, answers: Iterable[Answered], *, unsure: bool = False) -> list[str]:
    """A verdict's issue lines for the agent; `unsure` adds those of the unsure questions. None where it passed."""
    return [] if verdict.verdict == Word.PASS else issue_lines(answers, unsure=unsure)


def _row(verdict: Verdict, position: int, answered: Flat) -> Answer:
    columns = {name: getattr(answered, name) for name in _COLUMNS}
    return Answer(verdict=verdict, position=position, **columns)
