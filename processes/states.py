"""Legal moves, one table per state machine, and the words of a run's history. Pure. What is not listed can't happen:
whoever writes a state goes through `move`.
"""

from collections.abc import Mapping
from enum import StrEnum


class RunState(StrEnum):
    ACTIVE = "active"
    WAITING = "waiting"
    ENDED = "ended"
    CANCELLED = "cancelled"


class StepState(StrEnum):
    NONE = ""  # not currently reached; `null` on the wire
    READY = "ready"
    CLAIMED = "claimed"
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class ItemState(StrEnum):
    OPEN = "open"
    DECIDED = "decided"
    REMOVED = "removed"


class SubmissionState(StrEnum):
    CHECKING = "checking"  # the evaluator is being asked
    ERROR = "error"  # it did not answer; the same request may be sent again
    ACCEPTED = "accepted"
    NOT_ACCEPTED = "not_accepted"  # bounced by the check
    HELD = "held"  # unsure: the candidate of an escalation
    RETURNED = "returned"  # a held one that a person sent back or replaced
    VOID = "void"  # the run or the attempt ended first


class HistoryEvent(StrEnum):
    """What a run's history may tell of."""

    STARTED = "started"
    CLAIMED = "claimed"
    SUBMITTED = "submitted"
    CHECKED = "checked"
    FACTS_HOLD = "facts_hold"
    FACTS_FAIL = "facts_fail"
    ESCALATED = "escalated"
    RETURNED = "returned"
    COMPLETED = "completed"
    APPROVED = "approved"
    REJECTED = "rejected"
    FAILED = "failed"
    WAITED = "waited"
    TIMED_OUT = "timed_out"
    DELIVERED = "delivered"
    FORKED = "forked"
    JOINED = "joined"
    FINISHED = "finished"
    CANCELLED = "cancelled"


class Decision(StrEnum):
    COMPLETED = "completed"
    APPROVED = "approved"
    REJECTED = "rejected"
    RETURNED = "returned"
    FAILED = "failed"


RUN_LIVE = frozenset({RunState.ACTIVE, RunState.WAITING})
RUN_MOVES: Mapping[RunState, frozenset[RunState]] = {
    RunState.ACTIVE: frozenset(RunState),
    RunState.WAITING: frozenset(RunState),
    RunState.ENDED: frozenset(),
    RunState.CANCELLED: frozenset(),
}

STEP_LIVE = frozenset({StepState.READY, StepState.CLAIMED, StepState.WAITING})
STEP_MOVES: Mapping[StepState, frozenset[StepState]] = {
    # reached; a finish is done at once, an unresolvable person fails at once
    StepState.NONE: frozenset({StepState.READY, StepState.WAITING, StepState.DONE, StepState.FAILED}),
    StepState.READY: frozenset({StepState.CLAIMED, StepState.CANCELLED}),
    # claimed again after a lease ended; completed; escalated
    StepState.CLAIMED: frozenset({StepState.CLAIMED, StepState.DONE, StepState.WAITING, StepState.CANCELLED}),
    # decided, returned to the agent, escalated by its check (a task), rejected (the approval is left)
    StepState.WAITING: frozenset(
        {
            StepState.DONE,
            StepState.READY,
            StepState.WAITING,
            StepState.NONE,
            StepState.FAILED,
            StepState.CANCELLED,
        }
    ),
    StepState.DONE: frozenset({StepState.NONE}),  # rework
    StepState.FAILED: frozenset(),
    StepState.CANCELLED: frozenset(),
}

ITEM_MOVES: Mapping[ItemState, frozenset[ItemState]] = {
    ItemState.OPEN: frozenset({ItemState.DECIDED, ItemState.REMOVED}),
    ItemState.DECIDED: frozenset(),
    ItemState.REMOVED: frozenset(),
}

# being checked, or waiting to be sent again
UNSETTLED = frozenset({SubmissionState.CHECKING, SubmissionState.ERROR})
SUBMISSION_MOVES: Mapping[SubmissionState, frozenset[SubmissionState]] = {
    SubmissionState.CHECKING: frozenset(SubmissionState) - {SubmissionState.RETURNED},
    SubmissionState.ERROR: frozenset({SubmissionState.CHECKING, SubmissionState.HELD, SubmissionState.VOID}),
    SubmissionState.HELD: frozenset(
        {SubmissionState.ACCEPTED, SubmissionState.RETURNED, SubmissionState.VOID}
    ),
    SubmissionState.ACCEPTED: frozenset(),
    SubmissionState.NOT_ACCEPTED: frozenset(),
    SubmissionState.RETURNED: frozenset(),
    SubmissionState.VOID: frozenset({SubmissionState.VOID}),  # a late verdict is kept on it
}

# What a work item of each kind of step accepts; escalated ones have their own row.
DECISIONS: Mapping[str, tuple[Decision, ...]] = {
    "task": (Decision.COMPLETED, Decision.FAILED),
    "approve": (Decision.APPROVED, Decision.REJECTED, Decision.FAILED),
    "escalated": (Decision.RETURNED, Decision.COMPLETED, Decision.FAILED),
}
NOTE_NEEDED = frozenset({Decision.REJECTED, Decision.RETURNED, Decision.FAILED})


class IllegalMoveError(RuntimeError):
    """A move that is not in its table: a fault of ours, never of the caller."""


def move[S: StrEnum](table: Mapping[S, frozenset[S]], old: S, new: S) -> S:
    """The new state, where the old one may go there. Raises IllegalMoveError."""
    if new not in table[old]:
        what = type(new).__name__.removesuffix("State").lower()
        raise IllegalMoveError(f"{what} may not go from {old or 'none'} to {new or 'none'}")
    return new


def before[S: StrEnum](table: Mapping[S, frozenset[S]], new: S) -> frozenset[S]:
    """Whence a state is reached, for a statement that moves many rows."""
    return frozenset(old for old, ends in table.items() if new in ends and old is not new)
