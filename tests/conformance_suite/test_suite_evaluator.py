import httpx
import pytest

from conformance.evaluator import MODEL, Evaluator, Script, answer_to, choice_shares, level_shares
from conformance.failures import CannotRunError

QUESTIONS = {
    "q0": {"type": "noul", "instructions": "Is it?"},
    "q1": {"type": "choice", "instructions": "Which?", "criteria": {"a": "A", "b": "B", "c": "C"}},
    "q2": {"type": "score", "instructions": "How much?", "criteria": ["none", "some", "all"]},
}


def ask(evaluator, path="/v1/systemone"):
    body = {"model": "m", "state": {"x": 1}, "questions": QUESTIONS}
    return httpx.post(f"http://127.0.0.1:{evaluator.port}{path}", json=body, trust_env=False)


def test_it_says_what_it_is_told_and_remembers_what_it_was_asked():
    with Evaluator(0, own={"Is it?"}) as evaluator:
        evaluator.say(yes=0.7, choice=("b", 0.7), level=(0, 0.5))
        answer = ask(evaluator).json()
        assert answer["model"] == MODEL
        assert answer["answers"]["q0"]["noul"] == 0.7
        assert answer["answers"]["q1"]["choice"] == "b"
        assert [len(evaluator.asked), evaluator.asked[0].state] == [1, {"x": 1}]
        evaluator.break_down()
        assert ask(evaluator).status_code == 503
        evaluator.say()
        assert evaluator.asked == []
        assert ask(evaluator).json()["answers"]["q0"]["noul"] == 0.99
        assert ask(evaluator, "/v1/other").status_code == 404


def test_to_a_question_of_the_servers_own_it_says_no():
    with Evaluator(0, own={"Another?"}) as evaluator:
        assert ask(evaluator).json()["answers"]["q0"]["noul"] == 0.01


def test_a_port_that_is_taken():
    with Evaluator(0) as evaluator, pytest.raises(CannotRunError):
        Evaluator(evaluator.port)


@pytest.mark.parametrize("confidence", [0.5, 0.7, 0.95])
def test_probabilities_carry_the_confidence(confidence):
    shares = choice_shares(["a", "b", "c"], "b", confidence)
    assert sum(shares.values()) == pytest.approx(1)
    assert (max(shares.values()) - 1 / 3) / (1 - 1 / 3) == pytest.approx(confidence)
    for level in range(3):
        spread = level_shares(3, level, confidence)
        assert sum(spread.values()) == pytest.approx(1)
        assert max(spread, key=spread.get) == str(level)
        even = sum(abs(i - 1) for i in range(3)) / 3
        distance = sum(share * abs(int(key) - level) for key, share in spread.items())
        assert 1 - distance / even == pytest.approx(confidence)


def test_without_a_word_the_answer_is_the_best():
    assert answer_to(QUESTIONS["q1"], Script())["choice"] == "a"
    assert max(answer_to(QUESTIONS["q2"], Script())["probabilities"].items(), key=lambda e: e[1])[0] == "2"
