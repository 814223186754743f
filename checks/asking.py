"""Asking an evaluator: what comes back fits its questions, and whatever goes wrong is an EvaluatorError.

An evaluator repeats single requests where transport or load is to blame, inside the deadline of one asking. `twice` asks
everything exactly once more, after anything but a permanent error; no answers of two askings are ever mixed.
"""

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from checks import outcomes
from checks.evaluators import Answers, Evaluator, EvaluatorError
from checks.questions import Question, misfit

ASKS = 2
_LEAST_SECONDS = 1.0  # that are worth another asking
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Asked:
    """`answers` None: `error` says why, `lasting` that asking again can't help. `times`: how often everything was asked."""

    answers: Answers | None
    error: str = ""
    times: int = 0
    lasting: bool = False


def once(
    evaluator: Evaluator, state: Mapping[str, Any], questions: Sequence[Question], *, deadline: float
) -> Answers:
    """Raises EvaluatorError, also on answers that don't fit their questions and where the evaluator itself is broken:
    its traceback goes to whoever runs the server.
    """
    try:
        answers = evaluator.ask(dict(state), questions, deadline=deadline)
    except EvaluatorError:
        raise
    except Exception as error:
        _log.exception("evaluator %s failed", evaluator.name)
        raise EvaluatorError(f"the evaluator failed ({type(error).__name__})") from error
    if len(answers.answers) != len(questions):
        raise EvaluatorError(f"{len(answers.answers)} answers came to {len(questions)} questions")
    for number, (question, answer) in enumerate(zip(questions, answers.answers, strict=True), start=1):
        if message := misfit(question, answer):
            raise EvaluatorError(f"question {number}: {message}")
    return answers


def twice(
    evaluator: Evaluator,
    state: Mapping[str, Any],
    questions: Sequence[Question],
    *,
    within: float | None = None,
) -> Asked:
    """Never raises. `within`: seconds for both askings together; None = EVALUATOR_SECONDS for each of them."""
    began, error, times = time.monotonic(), EvaluatorError(""), 0
    for times in range(1, ASKS + 1):
        now = time.monotonic()
        deadline = now + settings.EVALUATOR_SECONDS if within is None else began + within
        try:
            answers = once(evaluator, state, questions, deadline=deadline)
        except EvaluatorError as failed:
            error = failed
        else:
            outcomes.note(evaluator, well=True)
            return Asked(answers, times=times)
        if error.permanent or (within is not None and deadline - time.monotonic() < _LEAST_SECONDS):
            break
    outcomes.note(evaluator, well=False)
    return Asked(None, error.message or "the evaluator did not answer", times, error.permanent)
