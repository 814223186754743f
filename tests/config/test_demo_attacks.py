"""`make demo ATTACK=1`: what the agent hides in its work is noticed, and only that."""

import pytest

from checks import canary
from config.demo import CASES
from config.demo_attacks import ATTACKS


def shown(work):
    return {"submission": {"output": work.output, "summary": work.summary}}


@pytest.mark.parametrize("case", ATTACKS, ids=lambda case: case.key)
def test_each_attempt_is_noticed(case):
    assert all(canary.by_words(shown(work)) >= canary.YES_FROM for work in case.goes)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.key)
def test_honest_work_is_not_suspected(case):
    assert all(canary.by_words(shown(work)) < canary.YES_FROM for work in case.goes)
