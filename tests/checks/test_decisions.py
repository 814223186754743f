"""The decisions wire against a real socket."""

import time

import pytest

from checks import codec, material
from checks.evaluators import Config, EvaluatorError
from checks.evaluators.decisions import Decisions
from tests.checks.vendor import CHOICE, QUESTIONS, RUBRIC
from tests.checks.vendor import material as example
from tests.servers.system_one import Reply, SystemOneServer

NAMES = list(CHOICE.options)
YES = {"name": "q0", "type": "predicate", "probability": 0.98}
CHOSEN = {
    "name": "q1", "type": "choice", "choice": NAMES[0],
    "probabilities": [
        {"value": name, "probability": 0.9 if name == NAMES[0] else 0.1 / (len(NAMES) - 1)} for name in NAMES
    ],
}  # fmt: skip
SCORED = {
    "name": "q2", "type": "score", "score": 1.9,
    "probabilities": [
        {"label": str(n), "probability": float(n == len(RUBRIC.levels) - 1)} for n in range(len(RUBRIC.levels))
    ],
}  # fmt: skip


def well(*decisions):
    return Reply(body={"model": "d-1", "decisions": list(decisions), "usage": {"input_tokens": 7}})


def ask(server, questions=QUESTIONS):
    evaluator = Decisions(Config(kind="decisions", base=server.base_url, model="d", key="sk-0123456789"))
    return evaluator.ask(material.state(example()), questions, deadline=time.monotonic() + 20)


def test_what_is_sent_and_what_is_made_of_it():
    with SystemOneServer(well(SCORED, YES, CHOSEN)) as server:
        answers = ask(server)
    (request,) = server.requests
    assert request.path == "/v1/decisions"
    assert set(request.json) == {"model", "input", "decisions"}
    assert codec.loads(request.json["input"]) == codec.loads(codec.dumps(material.state(example())))
    assert [asked["type"] for asked in request.json["decisions"]] == ["predicate", "choice", "score"]
    assert [option["value"] for option in request.json["decisions"][1]["choices"]] == NAMES
    yes, chosen, scored = answers.answers
    assert (yes.probability, chosen.name, scored.level) == (0.98, NAMES[0], len(RUBRIC.levels) - 1)
    assert (answers.model, answers.method, answers.input_tokens) == ("d-1", "decisions", 7)


@pytest.mark.parametrize(
    "decisions",
    [
        [], [YES, CHOSEN], [YES, YES, CHOSEN, SCORED], [{**YES, "name": 1}, CHOSEN, SCORED], ["q0"],
        [{**YES, "type": "choice"}, CHOSEN, SCORED], [{**YES, "type": "refusal"}, CHOSEN, SCORED],
        [{**YES, "probability": None}, CHOSEN, SCORED], [{**YES, "probability": 1.2}, CHOSEN, SCORED],
        [YES, {**CHOSEN, "choice": "another"}, SCORED], [YES, {**CHOSEN, "probabilities": {}}, SCORED],
        [YES, {**CHOSEN, "probabilities": CHOSEN["probabilities"][1:]}, SCORED],
        [YES, {**CHOSEN, "probabilities": [*CHOSEN["probabilities"], CHOSEN["probabilities"][0]]}, SCORED],
        [YES, CHOSEN, {**SCORED, "probabilities": [{"label": "0", "probability": 0.5}]}],
    ],
)  # fmt: skip
def test_anything_but_a_complete_answer_is_an_error(decisions):
    with SystemOneServer(well(*decisions)) as server, pytest.raises(EvaluatorError):
        ask(server)


@pytest.mark.parametrize("body", [{}, {"decisions": None}, {"decisions": {}}, []])
def test_a_body_without_decisions(body):
    with SystemOneServer(Reply(body=body)) as server, pytest.raises(EvaluatorError):
        ask(server)
