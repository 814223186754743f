"""A run in hand: its rows, where it stands, and what a tool adds beside the engine's moves."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from checks.models import FactResult
from checks.questions import Answered, Limits
from checks.verdicts import Made
from processes import engine
from processes.models import Attempt, Run, Step, Submission, WorkItem
from processes.people import Directory
from processes.states import ITEM_MOVES, ItemState, SubmissionState, move
from processes.versions import Compiled


@dataclass(slots=True, kw_only=True)
class Loaded:
    """A run with its steps, live attempts and open items. Fields end in what `save` writes."""

    row: Run
    compiled: Compiled
    now: engine.Now
    steps: dict[str, Step]
    attempts: dict[str, Attempt]  # live ones, by step
    numbers: dict[str, int]  # the latest attempt's number, by step
    items: dict[str, WorkItem]  # open ones, by step
    entries: int  # history entries so far
    handed_in: dict[str, int] = field(default_factory=dict)  # the live attempt's latest submission, by step
    unsettled: set[str] = field(default_factory=set)  # steps with a submission that has no verdict yet
    judged: dict[str, set[str]] = field(default_factory=dict)  # digests the live attempt has verdicts on
    limits: Limits = field(default_factory=Limits)  # the server's, when the run was loaded
    # what the tool adds beside the engine's moves
    changed_attempts: dict[int, Attempt] = field(default_factory=dict)
    over: dict[int, Attempt] = field(default_factory=dict)  # attempts that ended
    opened: list[WorkItem] = field(default_factory=list)
    closed: list[WorkItem] = field(default_factory=list)
    handed: Submission | None = None  # the submission that completed its step in this write
    about: dict[str, Submission] = field(default_factory=dict)  # what an opened item is about
    verdicts: dict[str, Any] = field(default_factory=dict)  # step → verdict, for its history entry
    answers: dict[str, Sequence[Answered]] = field(
        default_factory=dict
    )  # step → its verdict's, for the receipt
    made: list[Made] = field(default_factory=list)  # new verdicts
    submissions: dict[Any, Submission] = field(default_factory=dict)  # new or changed
    facts: list[FactResult] = field(default_factory=list)  # new results

    @property
    def at(self) -> datetime:
        return self.now.at

    @property
    def changed(self) -> bool:
        """Whether the run moved. That work is being checked is recorded, and moves nothing yet."""
        moved = self.now.effects or self.changed_attempts or self.opened or self.closed
        return bool(moved) or any(not _just_recorded(each) for each in self.submissions.values())

    @property
    def sleepers(self) -> bool:
        """Whether a step waits for a time that has come."""
        return any(s.wake_at is not None and s.wake_at <= self.at for s in self.now.steps.values())

    def attempt(self, step: str) -> Attempt:
        return self.attempts[step]

    def touch(self, attempt: Attempt) -> None:
        """Save this attempt's columns with the run."""
        self.changed_attempts[attempt.pk] = attempt

    def hand(self, submission: Submission) -> None:
        """Save this submission with the run."""
        self.submissions[submission.pk] = submission

    def saved(self) -> None:
        """Everything is in the database; what comes next starts from here."""
        for each in (
            self.now.effects, self.changed_attempts, self.over, self.opened, self.closed, self.about,
            self.verdicts, self.answers, self.made, self.submissions, self.facts,
        ):  # fmt: skip
            each.clear()
        self.handed = None

    def decide(self, item: WorkItem, decision: str, by: str) -> None:
        item.state = move(ITEM_MOVES, ItemState(item.state), ItemState.DECIDED)
        item.decision = decision
        item.decided_by, item.decided_at = by, self.at

    def open_item(self, step: str, assignee: engine.Assignee, **columns: Any) -> WorkItem:
        """Open a work item on a step; any that is open there is closed first."""
        if (old := self.items.pop(step, None)) is not None:
            if old.state == ItemState.OPEN:
                old.state = move(ITEM_MOVES, ItemState.OPEN, ItemState.REMOVED)
            self.closed.append(old)
        item = WorkItem(
            run=self.row,
            step=self.steps[step],
            attempt=self.attempts.get(step),
            kind=self.steps[step].kind,
            group_id=assignee.group,
            person_id=assignee.person,
            opened_at=self.at,
            **columns,
        )
        if isinstance(self.now.people, Directory) and assignee.person in self.now.people.known:
            item.person = self.now.people.known[assignee.person]  # spares the view a statement
        self.items[step] = item
        self.opened.append(item)
        return item

    def close_item(self, step: str) -> None:
        if (old := self.items.pop(step, None)) is not None:
            if old.state == ItemState.OPEN:
                old.state = move(ITEM_MOVES, ItemState.OPEN, ItemState.REMOVED)
            self.closed.append(old)


def _just_recorded(submission: Submission) -> bool:
    return submission._state.adding and submission.state == SubmissionState.CHECKING
