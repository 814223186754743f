"""Legal moves: one table per state machine, closed by default."""

import re
from itertools import product

import pytest

from config.settings import BASE_DIR
from processes.applying import set_state
from processes.loaded import Loaded
from processes.models import Submission, WorkItem
from processes.now import Now, end
from processes.states import (
    DECISIONS,
    ITEM_MOVES,
    NOTE_NEEDED,
    RUN_LIVE,
    RUN_MOVES,
    STEP_LIVE,
    STEP_MOVES,
    SUBMISSION_MOVES,
    Decision,
    IllegalMoveError,
    ItemState,
    RunState,
    StepState,
    SubmissionState,
    before,
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
    [
        (RUN_MOVES, RunState),
        (STEP_MOVES, StepState),
        (ITEM_MOVES, ItemState),
        (SUBMISSION_MOVES, SubmissionState),
    ],
)
def test_each_table_knows_every_state(moves, states):
    assert set(moves) == set(states)
    assert {state for ends in moves.values() for state in ends} <= set(states)


def test_what_is_over_stays_over():
    assert {state for state, ends in RUN_MOVES.items() if not ends} == set(RunState) - RUN_LIVE
    assert not STEP_MOVES[StepState.FAILED] and not STEP_MOVES[StepState.CANCELLED]
    assert all(StepState.CANCELLED in STEP_MOVES[state] for state in STEP_LIVE)


@pytest.mark.parametrize(
    ("moves", "old", "new", "message"),
    [
        (RUN_MOVES, RunState.ENDED, RunState.ACTIVE, "run may not go from ended to active"),
        (RUN_MOVES, RunState.CANCELLED, RunState.ENDED, "run may not go from cancelled to ended"),
        (ITEM_MOVES, ItemState.DECIDED, ItemState.DECIDED, "item may not go from decided to decided"),
        (
            SUBMISSION_MOVES, SubmissionState.VOID, SubmissionState.ACCEPTED,
            "submission may not go from void to accepted",
        ),
        (
            SUBMISSION_MOVES, SubmissionState.CHECKING, SubmissionState.RETURNED,
            "submission may not go from checking to returned",
        ),
    ],
)  # fmt: skip
def test_what_no_table_lists_is_a_fault_of_ours(moves, old, new, message):
    with pytest.raises(IllegalMoveError, match=message):
        move(moves, old, new)


def test_whence_a_state_is_reached():
    assert before(SUBMISSION_MOVES, SubmissionState.VOID) == {"checking", "error", "held"}
    assert before(RUN_MOVES, RunState.ENDED) == {"active", "waiting"}


def test_a_run_that_is_over_is_not_ended_again():
    now = Now(document=None, people=None, at=None, data={}, steps={}, state=RunState.CANCELLED)
    with pytest.raises(IllegalMoveError):
        end(now, RunState.ENDED, outcome="done", by="server", note=None)


def test_what_is_void_or_taken_stays_so():
    for over in ("void", "accepted", "not_accepted", "returned"):
        submission = Submission(state=over)
        with pytest.raises(IllegalMoveError):
            set_state(None, submission, SubmissionState.HELD)
        assert submission.state == over


def test_an_item_that_is_decided_stays_so():
    item = WorkItem(state="decided", decision="approved", decided_by="person:ada")
    with pytest.raises(IllegalMoveError):
        Loaded.decide(None, item, "rejected", "person:ben")
    assert item.decision == "approved"


def test_nobody_writes_a_state_past_the_tables():
    """A state is assigned from `move` alone (or is a row's copy of one that was)."""
    written = re.compile(r"\.state = (?!move\()")
    found = [
        f"{path.relative_to(BASE_DIR)}: {line.strip()}"
        for app in ("processes", "approvals")
        for path in sorted((BASE_DIR / app).rglob("*.py"))
        for line in path.read_text().splitlines()
        if written.search(line)
    ]
    assert found == []


def test_decisions_of_each_kind_of_item():
    assert DECISIONS["task"] == ("completed", "failed")
    assert DECISIONS["approve"] == ("approved", "rejected", "failed")
    assert DECISIONS["escalated"] == ("returned", "completed", "failed")
    assert {Decision.REJECTED, Decision.RETURNED, Decision.FAILED} == NOTE_NEEDED
    assert {one for kinds in DECISIONS.values() for one in kinds} == set(Decision)
