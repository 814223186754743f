"""One canned question of each kind, asked of one evaluator: whether it answers, how, how fast, and what that cost."""

import time
from dataclasses import dataclass, field

from checks import asking
from checks import material as materials
from checks.evaluators import Answers, EvaluatorError
from checks.evaluators.chain import Member
from checks.material import Material
from checks.questions import Answer, Kind, Question

MOST_SECONDS = 30.0

QUESTIONS = (
    Question(ask="The summary says which lists were searched.", kind=Kind.YES_NO),
    Question(
        ask="What does the summary do?",
        kind=Kind.CHOICE,
        options={
            "states": "States a verdict and the lists searched.",
            "hedges": "Avoids a verdict or takes half of it back.",
            "unclear": "Cannot tell.",
        },
        pass_names=("states",),
        unsure_names=("unclear",),
    ),
    Question(
        ask="How complete is the search?",
        kind=Kind.RUBRIC,
        levels=(
            "No list was searched.",
            "One list was searched.",
            "Both lists were searched, with the terms told.",
        ),
        pass_level=2,
    ),
)
MATERIAL = Material(
    instructions="Search both sanctions lists for the supplier and say whether it is cleared.",
    body="# Trial\n\nA canned example; nothing of anybody's.\n",
    run_data={"inputs": {"supplier": "Example Paper Ltd"}, "steps": {}},
    output={"cleared": True},
    summary="Cleared. The OFAC list and the EU list were both searched with the term Example Paper; no match.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """`error` says why there are no answers. `cost` is for people: empty where no price is set."""

    name: str
    host: str
    milliseconds: int
    error: str = ""
    model: str = ""
    method: str = ""
    requests: int = 0
    tokens: str = ""
    cost: str = ""
    said: list[tuple[Question, str]] = field(default_factory=list)


def trial(member: Member) -> Trial:
    """Never raises where the evaluator fails: that is what it is for."""
    started = time.monotonic()
    try:
        answers = asking.once(
            member.evaluator,
            materials.state(MATERIAL),
            QUESTIONS,
            deadline=started + min(member.seconds, MOST_SECONDS),
        )
    except EvaluatorError as error:
        return Trial(name=member.name, host=member.host, milliseconds=_since(started), error=error.message)
    cost = member.cost(answers)
    return Trial(
        name=member.name,
        host=member.host,
        milliseconds=_since(started),
        model=answers.model,
        method=answers.method,
        requests=answers.requests,
        tokens=_tokens(answers),
        cost="" if cost is None else f"{cost:f}",
        said=[
            (question, _told(question, answer))
            for question, answer in zip(QUESTIONS, answers.answers, strict=True)
        ],
    )


def _told(question: Question, answer: Answer) -> str:
    if question.kind is Kind.YES_NO:
        return f"{answer.probability:.0%} yes"
    what = answer.name if question.kind is Kind.CHOICE else f"level {answer.level}"
    return f"{what}, confidence {answer.confidence or 0:.0%}"


def _tokens(answers: Answers) -> str:
    known = (answers.input_tokens, answers.output_tokens)
    return "not told" if None in known else "{} in, {} out".format(*known)


def _since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
