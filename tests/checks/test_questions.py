from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks import questions as q
from checks.questions import Answer, Kind, Limits, Question, Result, Thresholds, Verdict
from tests.checks.vendor import BOTH, CHOICE, RUBRIC, STATES, YES, YES_NO

FRACTION = st.floats(0, 1)


class TestThresholds:
    @pytest.mark.parametrize(
        ("own", "limits", "expected"),
        [
            ({}, {}, (0.9, None)),
            ({"pass_at": 0.7}, {}, (0.7, None)),
            ({"fail_below": 0.4}, {}, (0.9, 0.4)),
            ({}, {"check_fail": 0.3}, (0.9, 0.3)),
            ({"pass_at": 0.2}, {"check_fail": 0.3}, (0.2, 0.2)),
            ({"fail_below": 0.95}, {}, (0.9, 0.9)),
            ({"fail_below": 0.0}, {"check_fail": 0.3}, (0.9, 0.0)),
            ({"pass_at": 0.0}, {}, (0.0, None)),
        ],
    )
    def test_yes_no(self, own, limits, expected):
        found = q.thresholds(Question(ask="?", kind=Kind.YES_NO, **own), Limits(**limits))
        assert found == Thresholds(pass_at=expected[0], fail_below=expected[1])

    @pytest.mark.parametrize(("own", "expected"), [(None, 0.8), (0.5, 0.5), (0.0, 0.0)])
    def test_choice_and_rubric_have_a_confidence(self, own, expected):
        question = Question(ask="?", kind=Kind.RUBRIC, levels=("a", "b"), confidence=own)
        assert q.thresholds(question, Limits()) == Thresholds(confidence=expected)


class TestResults:
    @pytest.mark.parametrize(
        ("probability", "fail_below", "result"),
        [
            (1.0, None, "pass"), (0.9, None, "pass"), (0.8999, None, "fail"), (0.0, None, "fail"),
            (0.9, 0.5, "pass"), (0.8999, 0.5, "unsure"), (0.5, 0.5, "unsure"), (0.4999, 0.5, "fail"),
            (0.89, 0.9, "fail"), (0.0, 0.0, "unsure"),
        ],
    )  # fmt: skip
    def test_yes_no(self, probability, fail_below, result):
        found = q.result_of(
            YES_NO, Answer(probability=probability), Thresholds(pass_at=0.9, fail_below=fail_below)
        )
        assert found == result

    @pytest.mark.parametrize(
        ("name", "confidence", "result"),
        [
            ("states", 0.8, "pass"), ("states", 0.7999, "unsure"), ("hedges", 0.8, "fail"),
            ("hedges", 0.79, "unsure"), ("unclear", 0.99, "unsure"), ("states", None, "unsure"),
        ],
    )  # fmt: skip
    def test_choice(self, name, confidence, result):
        assert (
            q.result_of(CHOICE, Answer(name=name, confidence=confidence), Thresholds(confidence=0.8))
            == result
        )

    @pytest.mark.parametrize(
        ("level", "confidence", "result"),
        [(2, 0.8, "pass"), (1, 0.8, "fail"), (0, 1.0, "fail"), (2, 0.1, "unsure"), (0, 0.1, "unsure")],
    )
    def test_rubric(self, level, confidence, result):
        assert (
            q.result_of(RUBRIC, Answer(level=level, confidence=confidence), Thresholds(confidence=0.8))
            == result
        )

    @pytest.mark.parametrize(
        ("question", "answer"),
        [
            (YES_NO, Answer()),
            (YES_NO, Answer(name="states")),
            (YES_NO, Answer(probability=1.01)),
            (YES_NO, Answer(probability=-0.01)),
            (YES_NO, Answer(probability=float("nan"))),
            (YES_NO, Answer(probability=True)),
            (CHOICE, Answer(confidence=0.9)),
            (CHOICE, Answer(name="", confidence=0.9)),
            (CHOICE, Answer(name="States", confidence=0.9)),
            (CHOICE, Answer(name="states", confidence=float("nan"))),
            (CHOICE, Answer(name="states", confidence=1.2)),
            (RUBRIC, Answer(confidence=0.9)),
            (RUBRIC, Answer(level=3, confidence=0.9)),
            (RUBRIC, Answer(level=-1, confidence=0.9)),
            (RUBRIC, Answer(level=True, confidence=0.9)),
        ],
    )
    def test_an_answer_that_does_not_fit_is_an_error(self, question, answer):
        with pytest.raises(ValueError, match=r"answer|number"):
            q.judge_answer(question, answer, Limits())

    @pytest.mark.parametrize(
        ("results", "verdict"),
        [
            ("pass", "pass"),
            ("pass fail", "fail"),
            ("fail unsure pass", "unsure"),
            ("unsure", "unsure"),
            ("fail fail", "fail"),
        ],
    )
    def test_the_verdict_is_the_worst_question(self, results, verdict):
        assert q.worst(Result(word) for word in results.split()) is Verdict(verdict)

    def test_nothing_has_no_verdict(self):
        with pytest.raises(ValueError):
            q.worst([])

    @given(st.lists(FRACTION, min_size=1, max_size=5), FRACTION, st.none() | FRACTION)
    def test_less_probability_never_helps(self, probabilities, pass_at, fail_below):
        rank = {Result.FAIL: 0, Result.UNSURE: 1, Result.PASS: 2}
        question = Question(ask="?", kind=Kind.YES_NO, pass_at=pass_at, fail_below=fail_below)
        found = [
            q.judge_answer(question, Answer(probability=p), Limits()).result for p in sorted(probabilities)
        ]
        assert found == sorted(found, key=rank.__getitem__)
        if fail_below is None:
            assert Result.UNSURE not in found


class TestLeastSure:
    @pytest.mark.parametrize(
        ("question", "answer", "rank"),
        [
            (YES_NO, Answer(probability=0.7), 1.0),
            (YES_NO, Answer(probability=0.5), 0.0),
            (YES_NO, Answer(probability=0.8), 0.5),
            (YES_NO, Answer(probability=0.6), 0.5),
            (CHOICE, Answer(name="states", confidence=0.4), 0.5),
            (CHOICE, Answer(name="hedges", confidence=0.0), 1.0),
            (CHOICE, Answer(name="unclear", confidence=0.95), 0.95),
            (CHOICE, Answer(name="unclear", confidence=0.6), 0.25),
            (RUBRIC, Answer(level=2, confidence=0.6), 0.25),
            (YES_NO, YES, None),
            (YES_NO, Answer(probability=0.1), None),
            (CHOICE, STATES, None),
        ],
    )
    def test_rank_of_one_question(self, question, answer, rank):
        assert q.least_sure([q.judge_answer(question, answer, Limits())]) == pytest.approx(rank)

    def test_the_worst_question_counts(self):
        judged = [
            q.judge_answer(YES_NO, Answer(probability=0.88), Limits()),
            q.judge_answer(RUBRIC, Answer(level=2, confidence=0.4), Limits()),
            q.judge_answer(CHOICE, STATES, Limits()),
        ]
        assert q.least_sure(judged) == pytest.approx(0.5)

    @given(FRACTION, FRACTION, st.none() | FRACTION, FRACTION)
    def test_is_a_fraction_exactly_when_something_is_unsure(
        self, probability, pass_at, fail_below, confidence
    ):
        yes_no = Question(ask="?", kind=Kind.YES_NO, pass_at=pass_at, fail_below=fail_below)
        judged = [
            q.judge_answer(yes_no, Answer(probability=probability), Limits()),
            q.judge_answer(
                CHOICE, Answer(name="unclear", confidence=confidence), Limits(check_confidence=pass_at)
            ),
        ]
        for item in judged:
            rank = q.least_sure([item])
            assert (rank is not None) == (item.result is Result.UNSURE)
            assert rank is None or 0 <= rank <= 1


class TestWords:
    @pytest.mark.parametrize(
        ("question", "answer", "line"),
        [
            (YES_NO, Answer(probability=0.12), f"check: {YES_NO.ask} → no (0.12)"),
            (YES_NO, Answer(probability=0.1), f"check: {YES_NO.ask} → no (0.1)"),
            (YES_NO, Answer(probability=0.0), f"check: {YES_NO.ask} → no (0)"),
            (YES_NO, Answer(probability=1.0), f"check: {YES_NO.ask} → yes (1)"),
            (YES_NO, Answer(probability=0.9), f"check: {YES_NO.ask} → yes (0.9)"),
            (YES_NO, Answer(probability=0.8996), f"check: {YES_NO.ask} → no (0.8996)"),
            (YES_NO, Answer(probability=0.4999999), f"check: {YES_NO.ask} → no (0.4999999)"),
            (CHOICE, Answer(name="hedges", confidence=0.9), f"check: {CHOICE.ask} → hedges (0.9)"),
            (
                RUBRIC,
                Answer(level=1, confidence=0.85),
                f"check: {RUBRIC.ask} → level 1: One list is covered. (0.85)",
            ),
        ],
    )
    def test_issue_line(self, question, answer, line):
        assert q.issue_line(q.judge_answer(question, answer, Limits())) == line

    def test_an_issue_is_one_line_whatever_the_author_folded(self):
        question = Question(ask="Is it\n  really so?\n", kind=Kind.YES_NO)
        assert q.issue_line(q.judge_answer(question, Answer(probability=0.2), Limits())) == (
            "check: Is it really so? → no (0.2)"
        )

    def test_untrusted_text_is_no_format(self):
        question = Question(ask="Is {0} %s {answer.__class__}?", kind=Kind.YES_NO)
        line = q.issue_line(q.judge_answer(question, Answer(probability=0.2), Limits()))
        assert line == "check: Is {0} %s {answer.__class__}? → no (0.2)"

    def test_issue_lines_hold_the_failed_questions_and_on_request_the_unsure_ones(self):
        judged = [
            q.judge_answer(YES_NO, Answer(probability=0.62), Limits()),
            q.judge_answer(CHOICE, Answer(name="hedges", confidence=0.9), Limits()),
            q.judge_answer(RUBRIC, BOTH, Limits()),
        ]
        assert q.issue_lines(judged) == [f"check: {CHOICE.ask} → hedges (0.9)"]
        assert q.issue_lines(judged, unsure=True) == [
            f"check: {YES_NO.ask} → no (0.62)",
            f"check: {CHOICE.ask} → hedges (0.9)",
        ]

    @pytest.mark.parametrize(
        ("ask", "short"),
        [
            ("Is it so?", "Is it so?"),
            ("Is  it\nso?", "Is it so?"),
            (
                "The cleared verdict matches what the attached report says.",
                "The cleared verdict matches what the…",
            ),
            ("a" * 41, "a" * 39 + "…"),
            ("a" * 40, "a" * 40),
            ("a" * 39 + " b", "a" * 39 + "…"),
            ("a" * 40 + " b", "a" * 39 + "…"),
            ("One, two, three, four, five, six, seven, eight", "One, two, three, four, five, six…"),
        ],
    )
    def test_short_ask(self, ask, short):
        assert q.short_ask(ask) == short

    @given(st.text(max_size=100), st.integers(2, 60))
    def test_short_ask_keeps_its_width(self, ask, width):
        assert len(q.short_ask(ask, width)) <= width

    @pytest.mark.parametrize(
        ("question", "answer", "words"),
        [
            (YES_NO, Answer(probability=0.62), "Model says 62 % yes; 90 % skips you, under 50 % sends back."),
            (
                YES_NO,
                Answer(probability=0.8996),
                "Model says 89.96 % yes; 90 % skips you, under 50 % sends back.",
            ),
            (YES_NO, Answer(probability=0.07), "Model says 7 % yes; 90 % skips you, under 50 % sends back."),
            (
                Question(ask="?", kind=Kind.YES_NO),
                Answer(probability=0.62),
                "Model says 62 % yes; 90 % skips you, anything less sends back.",
            ),
            (CHOICE, STATES, "Model says states at 0.91; 0.80 is asked."),
            (CHOICE, Answer(name="hedges", confidence=0.3), "Model says hedges at 0.30; 0.80 is asked."),
            (
                CHOICE,
                Answer(name="hedges", confidence=0.9),
                "Model says hedges at 0.90; 0.80 is asked, and hedges sends back.",
            ),
            (
                CHOICE,
                Answer(name="unclear", confidence=0.9),
                "Model says unclear at 0.90; 0.80 is asked, and unclear comes to you.",
            ),
            (
                RUBRIC,
                Answer(level=1, confidence=0.799),
                "Model says level 1 of 2 at 0.799; 0.80 is asked.",
            ),
            (
                RUBRIC,
                Answer(level=1, confidence=0.85),
                "Model says level 1 of 2 at 0.85; 0.80 is asked, and under level 2 sends back.",
            ),
        ],
    )
    def test_sentence(self, question, answer, words):
        assert q.sentence(q.judge_answer(question, answer, Limits())) == words

    def test_no_model_said_anything_where_words_were_matched(self):
        judged = q.judge_answer(YES_NO, Answer(probability=0.62), Limits())
        assert q.sentence(judged, is_model=False).startswith("Word match says 62 % yes;")

    @given(FRACTION, FRACTION)
    def test_a_number_is_never_shown_on_the_other_side_of_its_line(self, value, line):
        assert (float(q.number(value, line)) >= line) == (value >= line)


class TestViews:
    AT = datetime(2026, 10, 6, 9, 4, 20, 999_999, tzinfo=UTC)

    def view(self, **changes):
        judged = [
            q.judge_answer(YES_NO, Answer(probability=0.62), Limits()),
            q.judge_answer(CHOICE, STATES, Limits()),
            q.judge_answer(RUBRIC, Answer(level=1, confidence=0.85), Limits()),
        ]
        values = {
            "verdict": Verdict.UNSURE, "advisory": False, "model": "m-1", "questions": judged,
            "truncated": False, "at": self.AT,
        }  # fmt: skip
        return q.verdict_view(**(values | changes))

    def test_golden(self):
        assert self.view() == {
            "verdict": "unsure",
            "advisory": False,
            "model": "m-1",
            "questions": [
                {"ask": YES_NO.ask, "kind": "yes_no", "answer": 0.62, "result": "unsure"},
                {
                    "ask": CHOICE.ask,
                    "kind": "choice",
                    "answer": "states",
                    "confidence": 0.91,
                    "result": "pass",
                },
                {"ask": RUBRIC.ask, "kind": "rubric", "answer": 1, "confidence": 0.85, "result": "fail"},
            ],
            "at": "2026-10-06T09:04:20Z",
        }

    def test_truncated_is_told_only_when_it_was(self):
        assert self.view(truncated=True)["truncated"] is True
        assert "truncated" not in self.view()

    def test_the_time_is_utc_wherever_it_came_from(self):
        at = self.AT.astimezone(timezone(timedelta(hours=-5)))
        assert self.view(at=at)["at"] == "2026-10-06T09:04:20Z"

    def test_question_source_is_what_its_author_wrote(self):
        assert q.question_source(YES_NO) == {"ask": YES_NO.ask, "pass": 0.9, "fail": 0.5}
        assert q.question_source(Question(ask="?", kind=Kind.YES_NO)) == {"ask": "?"}
        assert q.question_source(RUBRIC) == {
            "ask": RUBRIC.ask, "levels": list(RUBRIC.levels), "pass": 2, "confidence": 0.8,
        }  # fmt: skip

    def test_the_order_of_names_is_part_of_a_question(self):
        turned = Question(
            ask=CHOICE.ask,
            kind=Kind.CHOICE,
            options=dict(reversed(CHOICE.options.items())),
            pass_names=CHOICE.pass_names,
            unsure_names=CHOICE.unsure_names,
        )
        assert q.question_source(turned) != q.question_source(CHOICE)

    @given(FRACTION, FRACTION, st.sampled_from(list(CHOICE.options)), FRACTION, st.integers(0, 2))
    def test_the_lines_of_a_view_are_those_of_its_judgement(self, yes, sure, name, surer, level):
        judged = [
            q.judge_answer(YES_NO, Answer(probability=yes), Limits()),
            q.judge_answer(CHOICE, Answer(name=name, confidence=sure), Limits()),
            q.judge_answer(RUBRIC, Answer(level=level, confidence=surer), Limits()),
        ]
        told = self.view(questions=judged)["questions"]
        again = q.judged_again([YES_NO, CHOICE, RUBRIC], told, Limits())
        for unsure in (True, False):
            assert q.issue_lines(again, unsure=unsure) == q.issue_lines(judged, unsure=unsure)
