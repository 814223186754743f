"""Wrong about checks."""

import uuid
from contextlib import contextmanager
from dataclasses import replace
from unittest import mock

from checks import judging, material
from checks.questions import Result, results
from tests.conformance_suite.mutants.movement import steps_with
from tests.conformance_suite.mutants.registry import after, mutant


@mutant("unsure-passes", "A doubtful submission passes.", "unsure.held")
def unsure_passes():
    def settle(judged, *_):
        return replace(judged, result=Result.PASS) if judged.result is Result.UNSURE else judged

    return after(judging, "judge_answer", settle)


@mutant("fail-outranks", "A failed question outranks a doubtful one.", "check.worst")
@contextmanager
def fail_outranks():
    order = (Result.FAIL, Result.UNSURE, Result.PASS)
    with (
        mock.patch.object(results, "_WORST_FIRST", order),
        mock.patch.object(judging, "least_sure", return_value=None),  # no rank but of a doubtful verdict
    ):
        yield


@mutant("confidence-ignored", "A choice or a level counts, however doubtful.", "check.confidence")
def confidence_ignored():
    real = judging.judge_answer

    def judge(question, answer, limits):
        unasked = replace(question, confidence=None)
        return real(unasked, answer, replace(limits, check_confidence=0.0))

    return mock.patch.object(judging, "judge_answer", judge)


@mutant("threshold-fails", "A probability of exactly pass does not pass.", "check.thresholds")
def threshold_fails():
    real = judging.judge_answer

    def judge(question, answer, limits):
        own = limits.check_pass if question.pass_at is None else question.pass_at
        return real(replace(question, pass_at=own + 1e-9), answer, limits)

    return mock.patch.object(judging, "judge_answer", judge)


@mutant("asks-again", "Unchanged material is judged anew.", "check.unchanged")
def asks_again():
    return after(material, "question_source", lambda source, _: {**source, "salt": str(uuid.uuid4())})


@mutant("advisory-blocks", "An advisory check refuses.", "check.advisory")
def advisory_blocks():
    return steps_with(advisory=lambda _: False)


@mutant("blind-evaluator", "The evaluator is not shown the run data.", "check.sees")
def blind_evaluator():
    return after(material, "state", lambda shown, _: {**shown, "run_data": {}})
