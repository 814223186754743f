"""Judging: material and questions in, a judgement out. Knows nothing of runs, steps or people.

Who retries what: an evaluator repeats single requests where transport or load is to blame, inside the
deadline of one `ask` (EVALUATOR_SECONDS). `judge` asks the whole check exactly once more, with a deadline of
its own, after anything but a permanent error. So a check takes at most twice EVALUATOR_SECONDS, and never
mixes answers of two askings.

The heuristic passes here, because it answers only where the settings name it and nobody else; a chain that
falls back to it must not let it pass.
"""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.conf import settings
from django.db import connections
from django.utils import timezone

from checks import material as materials
from checks.evaluators import Answers, Evaluator, EvaluatorError, configured
from checks.material import Material
from checks.questions import Judged, Limits, Question, Verdict, judge_answer, least_sure, misfit, worst

ASKS = 2
MAX_ERROR_CHARS = 500
_log = logging.getLogger(__name__)


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
    error: str
    asked: int  # how many times the whole check was asked: 1, 2, or 0 where there was nobody to ask
    milliseconds: int
    at: datetime


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
    answers, error, asked = _ask(asked_of, replace(material, run_data=shown), questions)
    judged = _judged(questions, answers, limits)
    return Judgement(
        verdict=worst(item.result for item in judged) if judged else Verdict.ERROR,
        advisory=advisory,
        judged=judged,
        model=answers.model if answers else "",
        evaluator=asked_of.name if asked_of else "none",
        evaluator_version=version_of(asked_of),
        method=answers.method if answers else getattr(asked_of, "method", ""),
        is_model=asked_of.is_model if asked_of else False,
        truncated=truncated,
        digest=materials.digest(material, questions, version_of(asked_of)),
        least_sure=least_sure(judged),
        error=error[:MAX_ERROR_CHARS],
        asked=asked,
        milliseconds=round((time.monotonic() - started) * 1000),
        at=timezone.now(),
    )


def version_of(evaluator: Evaluator | None) -> str:
    """What `material.digest` takes to tell one judge from another; "none" where there is none."""
    return evaluator.version if evaluator else "none"


def _ask(
    evaluator: Evaluator | None, material: Material, questions: Sequence[Question]
) -> tuple[Answers | None, str, int]:
    """(answers, "", times asked) or (None, message, times asked)."""
    if evaluator is None:
        return None, "no evaluator is configured; set EVALUATOR", 0
    error = EvaluatorError("")
    for asked in range(1, ASKS + 1):
        try:
            return _answers(evaluator, material, questions), "", asked
        except EvaluatorError as failed:
            error = failed
        except Exception as failed:  # noqa: BLE001 - logged, and told as an error verdict
            # A broken evaluator must not break a submission; its traceback goes to whoever runs the server.
            _log.exception("evaluator %s failed", evaluator.name)
            error = EvaluatorError(f"the evaluator failed ({type(failed).__name__})")
        if error.permanent:
            break
    return None, error.message or "the evaluator did not answer", asked


def _answers(evaluator: Evaluator, material: Material, questions: Sequence[Question]) -> Answers:
    """One asking. Raises EvaluatorError, also on answers that don't fit their questions."""
    deadline = time.monotonic() + settings.EVALUATOR_SECONDS
    answers = evaluator.ask(materials.state(material), questions, deadline=deadline)
    if len(answers.answers) != len(questions):
        raise EvaluatorError(f"{len(answers.answers)} answers came to {len(questions)} questions")
    for number, (question, answer) in enumerate(zip(questions, answers.answers, strict=True), start=1):
        if message := misfit(question, answer):
            raise EvaluatorError(f"question {number}: {message}")
    return answers


def _judged(questions: Sequence[Question], answers: Answers | None, limits: Limits) -> tuple[Judged, ...]:
    if answers is None:
        return ()
    pairs = zip(questions, answers.answers, strict=True)
    return tuple(judge_answer(question, answer, limits) for question, answer in pairs)


def _refuse_open_transaction() -> None:
    """As `atomic(durable=True)` refuses, with its exemption for the transaction that a TestCase wraps around a test.

    Read from the connection rather than by opening a durable block: on SQLite that would take the write lock.
    """
    for connection in connections.all(initialized_only=True):
        if any(not getattr(block, "_from_testcase", False) for block in connection.atomic_blocks):
            raise RuntimeError("a check was asked inside a transaction; ask it before or after, never within")
