"""How the evaluator last did, as its askings tell."""

from unittest import mock

import pytest

from checks import judging, outcomes
from checks.material import Material
from checks.questions import Kind, Limits, Question, Verdict
from tests.world import ScriptedEvaluator

MATERIAL = Material(instructions="i", body="", run_data={}, output={}, summary="", evidence=[])


def at(seconds):
    return mock.patch("checks.outcomes.time.time", return_value=seconds)


def test_nobody_asked_it():
    assert outcomes.last(ScriptedEvaluator()) is None


def test_since_when():
    evaluator = ScriptedEvaluator()
    told = []
    for seconds, well in ((100, True), (110, True), (200, True), (210, False), (300, False), (310, True)):
        with at(seconds):
            outcomes.note(evaluator, well=well)
            found = outcomes.last(evaluator)
        told.append((found.well, found.since, found.at))
    assert told == [
        (True, 100, 100),
        (True, 100, 100),  # nothing new within a minute
        (True, 100, 200),
        (False, 210, 210),
        (False, 210, 300),
        (True, 310, 310),
    ]


def test_another_evaluator_has_its_own():
    outcomes.note(ScriptedEvaluator(), well=False)
    assert outcomes.last(ScriptedEvaluator(version="2")) is None


@pytest.mark.django_db
@pytest.mark.parametrize(("script", "well"), [([0.95], True), ("down", False)])
def test_judging_notes_it(script, well):
    evaluator = ScriptedEvaluator(script=[script])
    question = Question(ask="Well?", kind=Kind.YES_NO)
    judgement = judging.judge(MATERIAL, [question], Limits(), evaluator=evaluator)
    assert (judgement.verdict is not Verdict.ERROR) is well
    assert outcomes.last(evaluator).well is well
