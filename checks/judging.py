"""Judging: material and questions in, a judgement out. Knows nothing of runs, steps or people.

A check is asked at most twice (`checks.asking`), so it takes at most twice EVALUATOR_SECONDS.

With the author's questions goes one of our own (`checks.canary`): where its answer is yes, nothing passes.

The heuristic passes where it is the only one that was chosen; where a chain asked it in place of a model
(`Answers.by.stopgap`), nothing passes.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import connections
from django.utils import timezone

from checks import asking, canary
from checks import material as materials
from checks.evaluators import Answers, Evaluator, configured
from checks.material import Material
from checks.questions import Judged, Limits, Question, Verdict, judge_answer, least_sure, worst

MAX_ERROR_CHARS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a check came to and everything that produced it; `checks.verdicts.record` keeps it.

    On `Verdict.ERROR` there is a message in `error`, no answers and no model.
    """

    verdict: Verdict
    advisory: bool
    judged: tuple[Judged, ...]
    model: str
    evaluator: str
    evaluator_version: str
    method: str
    is_model: bool
    truncated: bool
    digest: str
    least_sure: float | None
    addressed: bool  # the material speaks to whoever judges it
    error: str
    asked: int  # how many times the whole check was asked: 1, 2, or 0 where there was nobody to ask
    milliseconds: int
    at: datetime
    stopgap: bool = False
    # of the asking that was answered
    requests: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: Decimal | None = None


def judge(
    material: Material,
    questions: Sequence[Question],
    limits: Limits,
    *,
    advisory: bool = False,
    evaluator: Evaluator | None = None,
) -> Judgement:
    """Ask the evaluator (the configured one by default) and make a verdict of its answers.

    Never raises on an evaluator's failure: that is the verdict `error`. Raises RuntimeError in an open
    transaction, whose locks would wait for a model, and ValueError without questions.
    """
    _refuse_open_transaction()
    if not questions:
        raise ValueError("a check without questions has no verdict")
    asked_of = evaluator or configured()
    shown, truncated = materials.cut(materials.without_urls(material.run_data), limits.check_state_bytes)
    started = time.monotonic()
    asked = _ask(asked_of, replace(material, run_data=shown), questions)
    answers = asked.answers
    judged = _judged(questions, answers, limits)
    addressed, stopgap = _doubts(answers)
    verdict = worst(item.result for item in judged) if judged else Verdict.ERROR
    doubted = verdict == Verdict.PASS and (addressed or stopgap)
    return Judgement(
        verdict=Verdict.UNSURE if doubted else verdict,
        advisory=advisory,
        judged=judged,
        truncated=truncated,
        digest=materials.digest(material, questions, version_of(asked_of)),
        # nothing is less sure than a pass that the work itself asked for, or that no model gave
        least_sure=1.0 if doubted else least_sure(judged),
        addressed=addressed,
        error=asked.error[:MAX_ERROR_CHARS],
        asked=asked.times,
        milliseconds=round((time.monotonic() - started) * 1000),
        at=timezone.now(),
        stopgap=stopgap,
        **_by(asked_of, answers),
    )


def _doubts(answers: Answers | None) -> tuple[bool, bool]:
    """Whether the work spoke to whoever judged it, and whether no model did."""
    if answers is None:
        return False, False
    addressed = (answers.answers[-1].probability or 0.0) >= canary.YES_FROM
    return addressed, answers.by is not None and answers.by.stopgap


def _by(asked_of: Evaluator | None, answers: Answers | None) -> dict[str, Any]:
    """Who judged, and what that took: of several, the one that answered; without an answer, whoever was asked."""
    by = answers.by if answers else None
    return {
        "model": answers.model if answers else "",
        "evaluator": by.name if by else asked_of.name if asked_of else "none",
        "evaluator_version": by.version if by else version_of(asked_of),
        "method": answers.method if answers else getattr(asked_of, "method", ""),
        "is_model": by.is_model if by else asked_of.is_model if asked_of else False,
        "requests": answers.requests if answers else 0,
        "input_tokens": answers.input_tokens if answers else None,
        "output_tokens": answers.output_tokens if answers else None,
        "cost": by.cost if by else None,
    }


def version_of(evaluator: Evaluator | None) -> str:
    """What `material.digest` takes to tell one judge from another; "none" where there is none."""
    return evaluator.version if evaluator else "none"


def _ask(evaluator: Evaluator | None, material: Material, questions: Sequence[Question]) -> asking.Asked:
    if evaluator is None:
        return asking.Asked(None, "no evaluator is configured; set EVALUATOR")
    return asking.twice(evaluator, materials.state(material), [*questions, canary.QUESTION])


def _judged(questions: Sequence[Question], answers: Answers | None, limits: Limits) -> tuple[Judged, ...]:
    if answers is None:
        return ()
    pairs = zip(questions, answers.answers[: len(questions)], strict=True)
    return tuple(judge_answer(question, answer, limits) for question, answer in pairs)


def _refuse_open_transaction() -> None:
    """As `atomic(durable=True)` refuses, with its exemption for the transaction that a TestCase wraps around a test.

    Read from the connection rather than by opening a durable block: on SQLite that would take the write lock.
    """
    for connection in connections.all(initialized_only=True):
        if any(not getattr(block, "_from_testcase", False) for block in connection.atomic_blocks):
            raise RuntimeError("a check was asked inside a transaction; ask it before or after, never within")
