"""What the tests send to the judge, and a model that answers as they say."""

from checks import canary
from checks.evaluators import Answers
from checks.questions import Answer, Kind

EVIDENCE = ["The ferry leaves at 07:40 from pier 3. It takes 55 minutes. Bicycles are not allowed on board."]
GOOD = "The ferry leaves from pier 3. It takes 55 minutes."
TASK = "Say from where the ferry leaves and how long it takes."


class Model:
    """Answers by kind, or with what a test says: `claims` in order, `yes` to criteria and task, `canary`."""

    name, version, is_model, method = "scripted", "7" * 64, True, "script"

    def __init__(self, claims=(), yes=0.97, canary=0.01, by=None, fail=None):
        self.claims, self.yes, self.canary, self.by, self.fail = claims, yes, canary, by, fail
        self.asked = []

    def ask(self, state, questions, *, deadline):
        self.asked.append((state, questions))
        if self.fail:
            raise self.fail
        names = iter(self.claims)
        return Answers(
            model="scripted-1",
            method="script",
            by=self.by,
            answers=tuple(self._answer(question, names) for question in questions),
        )

    def _answer(self, question, names):
        if question.kind is Kind.CHOICE:
            name = next(names, "supported")
            name, confidence = name if isinstance(name, tuple) else (name, 0.95)
            return Answer(name=name, confidence=confidence)
        return Answer(probability=self.canary if question == canary.QUESTION else self.yes)
