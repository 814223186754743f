from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.questions import Kind, Problem, Question, read_check
from tests.checks.vendor import CHOICE, QUESTIONS, RUBRIC, YES_NO

FULL = [
    {"ask": YES_NO.ask, "pass": Decimal("0.9"), "fail": Decimal("0.5")},
    {"ask": CHOICE.ask, "one_of": dict(CHOICE.options), "pass": ["states"], "unsure": ["unclear"]},
    {"ask": RUBRIC.ask, "levels": list(RUBRIC.levels), "pass": 2, "confidence": Decimal("0.8")},
]


def one(**changes):
    """A choice question with changes; a key with the value None is left out."""
    source = {"ask": "Which?", "one_of": {"a": "First.", "b": "Second."}, "pass": ["a"]} | changes
    return [{key: value for key, value in source.items() if value is not None}]


def levels(**changes):
    return [{"ask": "How far?", "levels": ["Bad.", "Good."], "pass": 1} | changes]


class TestReading:
    def test_the_short_form_is_one_yes_no_question_with_default_thresholds(self):
        assert read_check("Is it so?") == ((Question(ask="Is it so?", kind=Kind.YES_NO),), [])

    def test_the_full_form_has_three_kinds(self):
        assert read_check(FULL) == (QUESTIONS, [])

    @pytest.mark.parametrize("number", [0, 1, Decimal("0.5"), Decimal(1)])
    def test_thresholds_go_from_0_to_1(self, number):
        (question,), problems = read_check([{"ask": "Is it?", "pass": number, "fail": 0}])
        assert (question.pass_at, problems) == (float(number), [])

    def test_64_questions_are_taken(self):
        read, problems = read_check([{"ask": f"Is it {n}?"} for n in range(64)])
        assert (len(read), problems) == (64, [])

    def test_names_keep_their_order(self):
        (question,), _ = read_check(one(one_of={"z": "Z.", "a": "A."}))
        assert list(question.options) == ["z", "a"]

    @pytest.mark.parametrize(
        ("value", "path", "words"),
        [
            ("", (), "blank"),
            (" \n", (), "blank"),
            ("a\x00", (), "can't be kept"),
            (None, (), "one question as text, or a list"),
            (True, (), "one question as text, or a list"),
            (3, (), "one question as text, or a list"),
            ({"ask": "Is it?"}, (), "one question as text, or a list"),
            ([], (), "no question"),
            ([{"ask": "Is it?"}] * 65, (), "65 questions; at most 64"),
            (["Is it?"], (0,), "map with at least the key ask"),
            ([None], (0,), "map with at least the key ask"),
            ([{}], (0, "ask"), "missing"),
            ([{"ask": None}], (0, "ask"), "must be text"),
            ([{"ask": True}], (0, "ask"), "must be text"),
            ([{"ask": " "}], (0, "ask"), "blank"),
            ([{"ask": "a\ud800"}], (0, "ask"), "can't be kept"),
            ([{"ask": "Is it?", "levles": []}], (0, "levles"), "did you mean levels?"),
            ([{"ask": "Is it?", "passes": 1}], (0, "passes"), "did you mean pass?"),
            ([{"ask": "Is it?", "weight": 1}], (0, "weight"), "a question takes ask, pass, fail"),
            ([{"ask": "Is it?", 7: 1}], (0, "int"), "unknown key"),
            # yes/no
            ([{"ask": "Is it?", "pass": ["a"]}], (0, "pass"), "a list of names needs one_of"),
            ([{"ask": "Is it?", "pass": True}], (0, "pass"), "number from 0 to 1"),
            ([{"ask": "Is it?", "pass": "0.9"}], (0, "pass"), "number from 0 to 1"),
            ([{"ask": "Is it?", "pass": None}], (0, "pass"), "number from 0 to 1"),
            ([{"ask": "Is it?", "pass": 90}], (0, "pass"), "number from 0 to 1"),
            ([{"ask": "Is it?", "pass": Decimal("1.0001")}], (0, "pass"), "number from 0 to 1"),
            ([{"ask": "Is it?", "pass": Decimal("NaN")}], (0, "pass"), "number from 0 to 1"),
            ([{"ask": "Is it?", "pass": float("nan")}], (0, "pass"), "number from 0 to 1"),
            ([{"ask": "Is it?", "pass": Decimal("1e90000")}], (0, "pass"), "number from 0 to 1"),
            ([{"ask": "Is it?", "fail": Decimal("-0.1")}], (0, "fail"), "number from 0 to 1"),
            ([{"ask": "Is it?", "fail": False}], (0, "fail"), "number from 0 to 1"),
            (
                [{"ask": "Is it?", "pass": Decimal("0.5"), "fail": Decimal("0.6")}],
                (0, "fail"),
                "above pass (0.5)",
            ),
            (
                [{"ask": "Is it?", "confidence": Decimal("0.8")}],
                (0, "confidence"),
                "belongs to a choice or a rubric",
            ),
            ([{"ask": "Is it?", "unsure": ["a"]}], (0, "unsure"), "belongs to a choice"),
            # choice
            (one(one_of=["a", "b"]), (0, "one_of"), "must be a map"),
            (one(one_of={"a": "First."}), (0, "one_of"), "at least 2"),
            (one(one_of={"a": "First.", "b": " "}), (0, "one_of", "b"), "the description is blank"),
            (one(one_of={"a": "First.", "b": 2}), (0, "one_of", "b"), "the description must be text"),
            (one(one_of={"a": "First.", " ": "B."}), (0, "one_of", " "), "the name is blank"),
            (one(one_of={"a": "First.", True: "B."}), (0, "one_of", "bool"), "the name must be text"),
            (one(one_of={"a": "First.", "b\n": "B."}), (0, "one_of", "b\\n"), "control character"),
            (one(one_of={"a": "First.", "b\u2028": "B."}), (0, "one_of", "b\\u2028"), "control character"),
            (one(one_of={"a": "First.", "b" * 65: "B."}), (0, "one_of", "b" * 63 + "…"), "longer than 64"),
            (one(**{"pass": None}), (0, "pass"), "missing; list the names"),
            (one(**{"pass": []}), (0, "pass"), "is empty"),
            (one(**{"pass": "a"}), (0, "pass"), "must be a list"),
            (one(**{"pass": Decimal("0.9")}), (0, "pass"), "must be a list"),
            (one(**{"pass": ["c"]}), (0, "pass"), "c is not declared in one_of (a, b)"),
            (one(**{"pass": ["a", "a"]}), (0, "pass"), "a is listed twice"),
            (one(**{"pass": ["a", 1]}), (0, "pass"), "no name"),
            (one(unsure="b"), (0, "unsure"), "must be a list"),
            (one(unsure=["c"]), (0, "unsure"), "c is not declared in one_of (a, b)"),
            (one(unsure=["a"]), (0, "unsure"), "a is in pass too"),
            (one(unsure=["b", "b"]), (0, "unsure"), "b is listed twice"),
            (one(fail=Decimal("0.5")), (0, "fail"), "fails on every name not in pass or unsure"),
            (one(confidence=2), (0, "confidence"), "number from 0 to 1"),
            (one(confidence=True), (0, "confidence"), "number from 0 to 1"),
            (one(levels=["Bad.", "Good."]), (0,), "both one_of and levels"),
            # rubric
            (levels(levels={"0": "Bad."}), (0, "levels"), "list of descriptions"),
            (levels(levels=["Bad."], **{"pass": 0}), (0, "levels"), "1 levels; write 2 to 10"),
            (levels(levels=[str(n) for n in range(11)]), (0, "levels"), "11 levels; write 2 to 10"),
            (levels(levels=["Bad.", " "]), (0, "levels", 1), "blank"),
            (levels(levels=["Bad.", 1]), (0, "levels", 1), "must be text"),
            (levels(levels=["Bad.", "Bad."]), (0, "levels", 1), "same text as level 0"),
            (levels(**{"pass": 2}), (0, "pass"), "levels go from 0 to 1"),
            (levels(**{"pass": -1}), (0, "pass"), "levels go from 0 to 1"),
            (levels(**{"pass": Decimal("0.5")}), (0, "pass"), "whole number"),
            (levels(**{"pass": True}), (0, "pass"), "whole number"),
            (levels(**{"pass": "1"}), (0, "pass"), "whole number"),
            (levels(**{"pass": ["Good."]}), (0, "pass"), "whole number"),
            (levels(**{"pass": Decimal("Infinity")}), (0, "pass"), "whole number"),
            ([{"ask": "How far?", "levels": ["Bad.", "Good."]}], (0, "pass"), "missing; write the level"),
            (levels(fail=0), (0, "fail"), "fails on every level under pass"),
            (levels(unsure=["Bad."]), (0, "unsure"), "belongs to a choice"),
            (levels(confidence="0.8"), (0, "confidence"), "number from 0 to 1"),
        ],
    )
    def test_refused(self, value, path, words):
        read, problems = read_check(value)
        assert read == ()
        assert path in [problem.path for problem in problems]
        assert any(words in problem.message for problem in problems if problem.path == path)

    def test_every_problem_is_told_at_once_and_in_order(self):
        _, problems = read_check([{"ask": " ", "pass": 2, "fail": -1}, 3, one(**{"pass": ["c"]}, fail=1)[0]])
        assert [problem.path for problem in problems] == [
            (0, "ask"), (0, "pass"), (0, "fail"), (1,), (2, "fail"), (2, "pass"),
        ]  # fmt: skip

    def test_the_message_of_an_undeclared_name(self):
        source = FULL[1] | {"one_of": dict(CHOICE.options) | {}, "pass": ["clear"]}
        assert read_check([FULL[0], source])[1] == [
            Problem(path=(1, "pass"), message="clear is not declared in one_of (states, hedges, unclear)")
        ]

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.decimals() | st.text(max_size=8),
            lambda inner: (
                st.lists(inner, max_size=4)
                | st.dictionaries(
                    st.sampled_from(["ask", "pass", "fail", "one_of", "unsure", "levels", "x"]), inner
                )
            ),
            max_leaves=12,
        )
    )
    def test_never_raises_and_gives_questions_or_problems(self, value):
        read, problems = read_check(value)
        assert bool(read) != bool(problems)
