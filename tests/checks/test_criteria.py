"""Criteria held against a text by its words: shown, or not to be told; never denied."""

import pytest

from checks import material
from checks.evaluators import Config
from checks.evaluators.criteria import SHOWN, UNSURE, shown
from checks.evaluators.heuristic import Heuristic
from checks.questions import Kind, Question
from tests.checks.vendor import material as example

OUTPUT = "The ferry leaves from pier 3 on 4 May. It takes 55 minutes. The refund was rejected because the ticket was used."
HEURISTIC = Heuristic(Config(kind="heuristic"))


@pytest.mark.parametrize(
    "criterion",
    [
        "The ferry leaves from pier 3",
        "The ferry leaves from a pier.",
        "The ferry takes 55 minutes",
        "The refund was rejected",
        "The refund wasn't approved",
        "Names the pier",
        "Names pier 3 and the date of 4 May",
        "The output must mention the refund and the pier",
        "Does it state that the ferry leaves from pier 3?",
    ],
)
def test_is_shown(criterion):
    text = OUTPUT.replace("on 4 May", "on the date of 4 May")
    assert shown(criterion, text) == SHOWN


@pytest.mark.parametrize(
    "criterion",
    [
        "The refund was approved",
        "The ferry leaves from pier 9",
        "Names pier 9",
        "The ferry sinks",
        "The ferry does not leave from pier 3",
        "The ferry never sinks",
        "States that the ferry leaves from pier 3 and sinks",
        "Names the price of a ticket",
        "Names the arrival on 5 May",
        "Is short",
        "Is in English",
        "Names",
        "?",
        "",
    ],
)
def test_can_t_be_told(criterion):
    assert shown(criterion, OUTPUT) == UNSURE


def test_what_is_said_and_denied_can_t_be_told():
    assert shown("The refund was approved", "The refund was approved. The refund was not approved.") == UNSURE
    assert shown("The refund was approved", "") == UNSURE


def asked(state, ask):
    question = Question(ask=ask, kind=Kind.YES_NO)
    return HEURISTIC.ask(state, [question], deadline=0.0).answers[0].probability


def test_the_heuristic_asks_it_of_a_text_alone_and_of_nothing_else():
    alone = {"submission": {"summary": OUTPUT, "output": {}, "evidence": []}}
    assert asked(alone, "The refund was approved") == UNSURE
    assert asked(alone, "Names the pier") == SHOWN
    step = material.state(example(summary=OUTPUT))
    assert asked(step, "The refund was approved") != UNSURE
