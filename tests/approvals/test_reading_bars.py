"""Bars, gaps and sentences of answers, without a database."""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals.reading import bars
from checks.questions import Answer, Kind, Limits, Question, flat, judge_answer, least_sure


def yes_no(probability, pass_at=0.9, fail_below=0.5):
    question = Question(ask="Is it so?", kind=Kind.YES_NO, pass_at=pass_at, fail_below=fail_below)
    return flat(judge_answer(question, Answer(probability=probability), Limits()))


def choice(name, confidence, asked=0.8):
    question = Question(
        ask="Which?", kind=Kind.CHOICE, options={"a": "A.", "b": "B.", "c": "C."}, pass_names=("a",),
        unsure_names=("c",), confidence=asked,
    )  # fmt: skip
    return flat(judge_answer(question, Answer(name=name, confidence=confidence, probabilities={}), Limits()))


def rubric(level, confidence, asked=0.8):
    question = Question(
        ask="How?", kind=Kind.RUBRIC, levels=("bad", "fair", "good"), pass_level=2, confidence=asked
    )
    return flat(
        judge_answer(question, Answer(level=level, confidence=confidence, probabilities={}), Limits())
    )


@dataclass
class WithoutOptions:
    """An answer as a list loads it: asking for its options is a fault."""

    of: Any
    touched: list[str] = field(default_factory=list)

    def __getattr__(self, name):
        assert name != "options", "a list does not load options"
        return getattr(self.of, name)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (yes_no(0.89), "0.01 short of pass"),
        (yes_no(0.52), "0.02 above fail"),
        (yes_no(0.93), "0.03 above pass"),
        (yes_no(0.12), "0.38 below fail"),
        (yes_no(0.75), "0.15 short of pass"),
        (yes_no(0.9), "just at pass"),
        (yes_no(0.5), "just at fail"),
        (yes_no(0.8999), "0.0001 short of pass"),
        (yes_no(0.62, fail_below=None), "0.28 short of pass"),
        (choice("a", 0.91), "0.11 above 0.80"),
        (choice("a", 0.77), "0.03 short of 0.80"),
        (rubric(1, 0.66), "0.14 short of 0.80"),
        (rubric(2, 0.8), "just at 0.80"),
    ],
)
def test_gaps_in_words(answer, words):
    assert bars.gap(answer) == words


def test_a_gap_in_full():
    assert bars.gap_asked(rubric(1, 0.66)) == "0.14 short of the 0.80 asked"


def test_values_never_cross_a_line_by_rounding():
    assert bars.shown(yes_no(0.8996)) == "0.8996"
    assert bars.shown(yes_no(0.62)) == "0.62"
    assert bars.shown(choice("a", 0.7)) == "0.70"


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (yes_no(0.62), "Model says 62 % yes; 90 % skips you, under 50 % sends back."),
        (yes_no(0.62, fail_below=None), "Model says 62 % yes; 90 % skips you, anything less sends back."),
        (choice("a", 0.77), "Model says a at 0.77; 0.80 is asked."),
        (choice("c", 0.85), "Model says c at 0.85; 0.80 is asked, and c comes to you."),
        (rubric(1, 0.66), "Model says level 1 at 0.66; 0.80 is asked."),
        (rubric(1, 0.88), "Model says level 1 at 0.88; 0.80 is asked, and that level sends back."),
    ],
)
def test_one_sentence_without_options(answer, says):
    assert bars.say(WithoutOptions(answer), is_model=True) == says
    assert bars.say(WithoutOptions(answer), is_model=False) == says.replace("Model", "Word match")


def test_a_yes_no_bar():
    bar = bars.draw(yes_no(0.89), spoken="all of it")
    assert [(zone.kind, zone.x, zone.width) for zone in bar.zones] == [
        ("fail", "0.0%", "50.0%"),
        ("pass", "90.0%", "10.0%"),
    ]
    assert (bar.ticks, bar.at, bar.result, bar.anchor) == (("50.0%", "90.0%"), "89.0%", "unsure", "middle")
    assert [label.text for label in bar.labels] == ["0 no", "fail below 0.50", "pass from 0.90"]


def test_without_a_fail_line_all_below_pass_fails():
    bar = bars.draw(yes_no(0.4, fail_below=None), spoken="")
    assert [(zone.kind, zone.x) for zone in bar.zones] == [("fail", "0.0%"), ("pass", "90.0%")]
    assert bar.ticks == ("90.0%",)


def test_beyond_its_line_a_choice_shows_what_it_leads_to():
    assert bars.draw(choice("b", 0.66), spoken="", leads="fail").zones[0].kind == "fail"
    # the list does not know what an option under its line leads to, so the zone stays empty
    assert bars.draw(WithoutOptions(choice("b", 0.66)), spoken="").zones[0].kind == "unsure"
    assert bars.draw(WithoutOptions(choice("b", 0.95)), spoken="").zones[0].kind == "fail"


def span(label):
    """From where to where it stands, as a share of the narrowest bar that is drawn."""
    x, wide = float(label.x.rstrip("%")) / 100, len(label.text) * 5.8 / 270
    start = {"start": x, "middle": x - wide / 2, "end": x - wide}[label.anchor]
    return start, start + wide


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_labels_never_touch_and_stay_inside(probability, one, other):
    bar = bars.draw(yes_no(probability, pass_at=max(one, other), fail_below=min(one, other)), spoken="")
    spans = sorted(span(label) for label in bar.labels)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    for share in (bar.at, *bar.ticks, *(label.x for label in bar.labels)):
        assert 0 <= float(share.rstrip("%")) <= 100


def test_the_worst_is_the_least_sure():
    answers = [yes_no(0.89), choice("a", 0.91), rubric(1, 0.66)]
    assert bars.worst(answers) is answers[2]
    assert bars.worst([yes_no(0.2), yes_no(0.49), yes_no(0.95)]).probability == 0.49
    assert bars.worst([yes_no(0.99), yes_no(0.91)]).probability == 0.91
    assert bars.worst([]) is None


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=4))
def test_its_rank_is_the_queues(triples):
    """The row's worst question is the one that the verdict's `least_sure` came from."""
    judged = [
        judge_answer(
            Question(ask="x", kind=Kind.YES_NO, pass_at=max(a, b), fail_below=min(a, b)),
            Answer(probability=p), Limits(),
        )
        for p, a, b in triples
    ]  # fmt: skip
    rank = least_sure(judged)
    if rank is not None:
        assert bars.rank(bars.worst([flat(one) for one in judged])) == pytest.approx(rank)
