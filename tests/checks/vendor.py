"""One small world for the tests of `checks`: a supplier screening, its questions, evaluators that obey."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from checks import canary
from checks.evaluators import Answers, EvaluatorError
from checks.material import Material
from checks.questions import Answer, Kind, Question

YES_NO = Question(
    ask="The cleared verdict matches what the attached report says.",
    kind=Kind.YES_NO,
    pass_at=0.9,
    fail_below=0.5,
)
CHOICE = Question(
    ask="What does the summary do?",
    kind=Kind.CHOICE,
    options={
        "states": "Says whether the vendor is clear, and by which lists.",
        "hedges": "Leaves the verdict open, or takes half of it back.",
        "unclear": "Cannot tell.",
    },
    pass_names=("states",),
    unsure_names=("unclear",),
)
RUBRIC = Question(
    ask="How far does the screening go?",
    kind=Kind.RUBRIC,
    levels=(
        "No list is covered.",
        "One list is covered.",
        "Both lists are covered, and the search terms are given.",
    ),
    pass_level=2,
    confidence=0.8,
)
QUESTIONS = (YES_NO, CHOICE, RUBRIC)

YES = Answer(probability=0.97)
STATES = Answer(
    name="states", confidence=0.91, probabilities={"states": 0.94, "hedges": 0.03, "unclear": 0.03}
)
BOTH = Answer(level=2, confidence=0.95, probabilities={"0": 0.0, "1": 0.03, "2": 0.97})
ALL_WELL = (YES, STATES, BOTH)


def material(**changes: Any) -> Material:
    values: dict[str, Any] = {
        "instructions": "Look the vendor up on the OFAC and EU lists.",
        "body": "# Vendor check\n",
        "run_data": {"inputs": {"vendorName": "Acme GmbH", "amount": 1200}, "steps": {}},
        "output": {"cleared": True, "summary": "Cleared: no match on either list."},
        "summary": "Cleared. Both lists were searched with the terms Acme GmbH and Acme Holding; no match.",
        "evidence": ({"kind": "file", "ref": "f_0"},),
    }
    return Material(**(values | changes))


class Scripted:
    """An evaluator that gives, in turn, answers or errors; the last one repeats."""

    name = "scripted"
    version = "5" * 64
    is_model = True
    method = "script"

    def __init__(self, *script: Sequence[Answer] | Exception | Callable[[], Sequence[Answer]]) -> None:
        self.script = script
        self.states: list[dict[str, Any]] = []
        self.seconds_given: list[float] = []
        self.addressed = 0.02  # what it says to the question of our own

    def ask(
        self, material_state: dict[str, Any], questions: Sequence[Question], *, deadline: float
    ) -> Answers:
        step = self.script[min(len(self.states), len(self.script) - 1)]
        self.states.append(material_state)
        self.seconds_given.append(deadline - time.monotonic())
        if isinstance(step, Exception):
            raise step
        answers = step() if callable(step) else step
        if questions[-1] == canary.QUESTION:
            answers = [*answers, Answer(probability=self.addressed)]
        return Answers(model="scripted-1", answers=tuple(answers), method=self.method)


def down(message: str = "the evaluator is down") -> EvaluatorError:
    return EvaluatorError(message)
