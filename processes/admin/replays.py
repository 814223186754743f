"""How the last verdicts on a process's steps would have come out under other numbers of its questions."""

from collections.abc import Mapping

from django.db.models import F

from checks import verdicts
from checks.questions import Kind, Limits, Question, Result, Thresholds
from checks.replay import LAST, Judge, Kept, Replayed, replay, result
from processes.document import Document
from processes.models import Process, Submission
from processes.thresholds import Number, Wanted


def of_process(
    process: Process, document: Document, wanted: Wanted, server: Limits
) -> list[tuple[str, Replayed]]:
    """By step, those with verdicts on the very questions that the document asks. Three statements."""
    asked = {step.id: step.check for step in document.steps.values() if step.check}
    found: dict[str, list[Kept]] = {step: [] for step in asked}
    for step, kept in _last(process, list(asked)):
        if _asks(kept) == [(question.ask, str(question.kind)) for question in asked[step]]:
            found[step].append(kept)
    return [
        (
            step,
            replay(kept, _under([wanted[step, at] for at in range(len(asked[step]))], asked[step], server)),
        )
        for step, kept in found.items()
    ]


def _last(process: Process, steps: list[str]) -> list[tuple[str, Kept]]:
    """A verdict that several submissions share comes once."""
    rows = (
        Submission.objects.filter(
            attempt__step__run__version__process=process,
            attempt__step__name__in=steps,
            verdict__isnull=False,
        )
        .annotate(step_name=F("attempt__step__name"))
        .select_related("verdict")
        .prefetch_related("verdict__answers")
        .order_by("-at", "-pk")[:LAST]
    )
    by_verdict = {row.verdict_id: (row.step_name, row.verdict) for row in rows if row.verdict is not None}
    return [(step, verdicts.kept(verdict)) for step, verdict in by_verdict.values()]


def _asks(kept: Kept) -> list[tuple[str, str]]:
    return [(answer.ask, str(answer.kind)) for answer in kept.answers]


def _under(
    numbers: list[Mapping[str, Number | None]], questions: tuple[Question, ...], server: Limits
) -> Judge:
    def judge(kept: Kept, at: int) -> Result:
        question, given = questions[at], numbers[at]
        level = given.get("pass") if question.kind is Kind.RUBRIC else None
        confidence = _first(given.get("confidence"), server.check_confidence)
        pass_at = _first(given.get("pass"), server.check_pass) or 0.0
        fail = _first(given.get("fail"), server.check_fail)
        if question.kind is Kind.YES_NO:
            thresholds = Thresholds(pass_at=pass_at, fail_below=None if fail is None else min(fail, pass_at))
        else:
            thresholds = Thresholds(confidence=confidence)
        return result(kept.answers[at], thresholds, pass_level=None if level is None else int(level))

    return judge


def _first(own: Number | None, server: float | None) -> float | None:
    return server if own is None else float(own)
