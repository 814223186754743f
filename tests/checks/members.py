"""Members of a chain that do as they are told."""

from decimal import Decimal

from checks.evaluators import Answers, EvaluatorError
from checks.evaluators.chain import Chain, Member
from checks.questions import Answer
from tests.checks.vendor import ALL_WELL


class Told:
    """Gives the answers, raises the error, or calls what it was told; counts."""

    is_model = True
    method = "told"

    def __init__(self, name, step=ALL_WELL, *, is_model=True, pads=True):
        self.name, self.step, self.is_model, self.pads = name, step, is_model, pads
        self.version = name * 8
        self.asked = []

    def ask(self, state, questions, *, deadline):
        self.asked.append(deadline)
        step = self.step
        if isinstance(step, Exception):
            raise step
        answers = step() if callable(step) else step
        if self.pads:  # the question that goes with every check, answered as harmless work is
            answers = [*answers, *[Answer(probability=0.0)] * (len(questions) - len(answers))]
        return Answers(
            model=f"{self.name}-1",
            answers=tuple(answers),
            method=self.method,
            input_tokens=2000,
            output_tokens=50,
        )


def member(told, *, seconds=20.0, **prices):
    return Member(
        name=told.name,
        evaluator=told,
        seconds=seconds,
        **{name: Decimal(price) for name, price in prices.items()},
    )


def chain(*told):
    return Chain([member(one) for one in told])


def down(**more):
    return EvaluatorError("it is down", **{"down": True, **more})
