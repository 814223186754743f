import pytest

from checks.evaluators import EvaluatorError
from checks.evaluators.system_one_answers import confidence_of_choice, confidence_of_rubric, read_answer
from tests.checks.vendor import CHOICE, RUBRIC, YES_NO

NOUL = {"type": "noul", "noul": 0.98}
CHOSEN = {
    "type": "choice",
    "choice": "states",
    "confidence": 0.6,
    "probabilities": {"states": 0.94, "hedges": 0.04, "unclear": 0.02},
}
SCORED = {
    "type": "score",
    "score": 1.7,
    "confidence": 0.2,
    "legend": {"0": "worst"},
    "probabilities": {"0": 0.1, "1": 0.1, "2": 0.8},
}


class TestConfidence:
    @pytest.mark.parametrize(
        ("probabilities", "confidence"),
        [
            ((0.0237, 0.9679, 0.0084), 0.9518),
            ((0.8, 0.1, 0.1), 0.7),
            ((1.0, 0.0), 1.0),
            ((0.5, 0.5), 0.0),
            ((0.25, 0.25, 0.25, 0.25), 0.0),
        ],
    )
    def test_of_a_choice(self, probabilities, confidence):
        assert confidence_of_choice(probabilities) == pytest.approx(confidence, abs=0.0001)

    @pytest.mark.parametrize(
        ("probabilities", "level", "confidence"),
        [
            ((0.1, 0.1, 0.8), 2, 0.55),
            ((0.5, 0, 0, 0, 0.5), 0, 0.0),
            ((0, 0.5, 0.5, 0), 1, 0.5),
            ((0, 0, 1.0), 2, 1.0),
            ((0.9, 0.1), 0, 0.8),
        ],
    )
    def test_of_a_rubric(self, probabilities, level, confidence):
        assert confidence_of_rubric(probabilities, level) == confidence


class TestAnswers:
    def choice(self, question=CHOICE, **probabilities):
        return read_answer(question, {"type": "choice", "probabilities": probabilities}, "q0")

    def rubric(self, *probabilities, **more):
        shares = {str(level): share for level, share in enumerate(probabilities)}
        return read_answer(RUBRIC, {"type": "score", "probabilities": shares} | more, "q0")

    def test_rounded_probabilities_are_renormalised(self):
        assert self.rubric(0.33, 0.33, 0.33).probabilities == pytest.approx(
            {"0": 1 / 3, "1": 1 / 3, "2": 1 / 3}
        )
        assert self.choice(states=0.95, hedges=0.05, unclear=0.01).probabilities["states"] == pytest.approx(
            0.95 / 1.01
        )

    def test_of_levels_that_tie_the_lowest_counts(self):
        assert self.rubric(0.0, 0.49, 0.5).level == 1
        assert self.rubric(0.0, 0.48, 0.52).level == 2
        assert self.rubric(0.0, 0.5, 0.5, score=2).level == 1

    def test_the_level_is_the_likeliest_and_not_the_expected_score(self):
        assert self.rubric(0.45, 0.0, 0.55, score=1.1).level == 2

    def test_of_names_that_tie_the_one_with_the_worst_outcome_counts(self):
        assert self.choice(states=0.5, hedges=0.5, unclear=0.0).name == "hedges"
        assert self.choice(states=0.34, hedges=0.33, unclear=0.33).name == "unclear"
        assert self.choice(states=0.52, hedges=0.48, unclear=0.0).name == "states"

    @pytest.mark.parametrize(
        ("question", "answer", "words"),
        [
            (YES_NO, None, "no answer to q0"),
            (YES_NO, 0.98, "no object"),
            (YES_NO, [], "no object"),
            (YES_NO, {"type": "refusal"}, "refused"),
            (YES_NO, {}, "type"),
            (YES_NO, {"noul": 0.9}, "type"),
            (YES_NO, {"type": "choice", "noul": 0.9}, "type"),
            (YES_NO, {"type": "noul"}, "no probability"),
            (YES_NO, {"type": "noul", "noul": None}, "no probability"),
            (YES_NO, {"type": "noul", "noul": True}, "no probability"),
            (YES_NO, {"type": "noul", "noul": "0.9"}, "no probability"),
            (YES_NO, {"type": "noul", "noul": -0.01}, "no probability"),
            (YES_NO, {"type": "noul", "noul": 1.01}, "no probability"),
            (YES_NO, {"type": "noul", "noul": float("nan")}, "no probability"),
            (CHOICE, NOUL, "type"),
            (CHOICE, CHOSEN | {"choice": "approves"}, "not offered"),
            (CHOICE, CHOSEN | {"choice": None}, "not offered"),
            (CHOICE, CHOSEN | {"probabilities": None}, "no probabilities"),
            (CHOICE, {"type": "choice", "choice": "states"}, "no probabilities"),
            (CHOICE, CHOSEN | {"probabilities": {"states": 1.0}}, "not those of the names"),
            (
                CHOICE,
                CHOSEN | {"probabilities": CHOSEN["probabilities"] | {"other": 0.0}},
                "not those of the names",
            ),
            (
                CHOICE,
                CHOSEN | {"probabilities": {"states": 1.2, "hedges": -0.2, "unclear": 0}},
                "no probability",
            ),
            (CHOICE, CHOSEN | {"probabilities": {"states": 0, "hedges": 0, "unclear": 0}}, "add up to 0.00"),
            (
                CHOICE,
                CHOSEN | {"probabilities": {"states": 0.9, "hedges": 0.9, "unclear": 0}},
                "add up to 1.80",
            ),
            (
                CHOICE,
                CHOSEN | {"probabilities": {"states": True, "hedges": 0, "unclear": 0}},
                "no probability",
            ),
            (RUBRIC, CHOSEN, "type"),
            (RUBRIC, {"type": "score", "score": 2}, "no probabilities"),
            (RUBRIC, SCORED | {"probabilities": {"0": 0.1, "1": 0.9}}, "not those of the names"),
            (RUBRIC, SCORED | {"probabilities": {"0": 0, "1": 0, "2": 0, "3": 1}}, "not those of the names"),
            (RUBRIC, SCORED | {"probabilities": [0.1, 0.1, 0.8]}, "no probabilities"),
        ],
    )
    def test_anything_but_a_sane_answer_is_an_error(self, question, answer, words):
        with pytest.raises(EvaluatorError, match="q0") as error:
            read_answer(question, answer, "q0")
        assert words in error.value.message
        assert not error.value.permanent

    @pytest.mark.parametrize("vendor", [None, "high", True, 1.5, -1])
    def test_a_vendor_confidence_that_is_none_is_left_out(self, vendor):
        assert read_answer(CHOICE, CHOSEN | {"confidence": vendor}, "q0").vendor_confidence is None
