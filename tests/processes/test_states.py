"""Legal moves: one table per state machine, closed by default."""

from itertools import product

import pytest

from processes.states import (
    DECISIONS,
    NOTE_NEEDED,
    RUN_LIVE,
    RUN_MOVES,
    STEP_LIVE,
    STEP_MOVES,
    SUBMISSION_MOVES,
    Decision,
    IllegalMoveError,
    RunState,
    StepState,
    SubmissionState,
    move,
)

LEGAL = {
    ("", "ready"), ("", "waiting"), ("", "done"), ("", "failed"),
    ("ready", "claimed"), ("ready", "cancelled"),
    ("claimed", "claimed"), ("claimed", "done"), ("claimed", "waiting"), ("claimed", "cancelled"),
    ("waiting", "done"), ("waiting", "ready"), ("waiting", "waiting"), ("waiting", ""),
    ("waiting", "failed"), ("waiting", "cancelled"),
    ("done", ""),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new"), list(product(StepState, StepState)))
def test_a_step_moves_only_as_the_table_says(old, new):
    if (str(old), str(new)) in LEGAL:
        assert move(STEP_MOVES, old, new) is new
    else:
        with pytest.raises(IllegalMoveError, match="step may not go"):
            move(STEP_MOVES, old, new)


@pytest.mark.parametrize(
    ("moves", "states"),
    [(RUN_MOVES, RunState), (STEP_MOVES, StepState), (SUBMISSION_MOVES, SubmissionState)],
)
def test_each_table_knows_every_state(moves, states):
    assert set(moves) == set(states)
    assert {state for ends in moves.values() for state in ends} <= set(states)


def test_what_is_over_stays_over():
    assert {state for state, ends in RUN_MOVES.items() if not ends} == set(RunState) - RUN_LIVE
    assert not STEP_MOVES[StepState.FAILED] and not STEP_MOVES[StepState.CANCELLED]
    assert all(StepState.CANCELLED in STEP_MOVES[state] for state in STEP_LIVE)


def test_decisions_of_each_kind_of_item():
    assert DECISIONS["task"] == ("completed", "failed")
    assert DECISIONS["approve"] == ("approved", "rejected", "failed")
    assert DECISIONS["escalated"] == ("returned", "completed", "failed")
    assert {Decision.REJECTED, Decision.RETURNED, Decision.FAILED} == NOTE_NEEDED
    assert {one for kinds in DECISIONS.values() for one in kinds} == set(Decision)
