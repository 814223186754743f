"""Where a run stands, and the small moves that every transition is made of. Pure: no clock, no database.

The verbs are in `engine.py`, what it means to reach a step of each kind in `entering.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from processes.document import Document, Step
from processes.states import (
    RUN_LIVE,
    RUN_MOVES,
    STEP_LIVE,
    STEP_MOVES,
    HistoryEvent,
    RunState,
    StepState,
    move,
)

SERVER = "server"
REJECTED = "rejected"
FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Assignee:
    """Whose work a person step is: a group's, a person's, or (neither) the operators'."""

    group: int | None = None
    person: int | None = None


class People(Protocol):
    """Who stands behind a step's `person`. None = nobody."""

    def role(self, name: str) -> Assignee | None: ...
    def initiator(self) -> Assignee | None: ...
    def person(self, value: object) -> Assignee | None: ...


@dataclass(frozen=True, slots=True)
class Event:
    """A delivery that a `wait_for` may consume; `key` tells a held one from the rest."""

    name: str
    by: str
    data: Mapping[str, Any]
    key: int | None = None


@dataclass(slots=True)
class StepNow:
    name: str
    kind: str
    state: StepState = StepState.NONE
    ready_at: datetime | None = None
    due_at: datetime | None = None
    wake_at: datetime | None = None  # when the server goes on by itself
    completed: int | None = None  # its place in the order of completions


@dataclass(frozen=True, slots=True)
class Opened:
    """A step was entered: a fresh attempt (agent, task), a work item for `assignee` (task, approve)."""

    step: str
    assignee: Assignee | None


@dataclass(frozen=True, slots=True)
class Closed:
    """A step was left: its attempt is over, its open item is decided or removed."""

    step: str


@dataclass(frozen=True, slots=True)
class Happened:
    what: HistoryEvent
    step: str
    by: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Consumed:
    """A held event was used up."""

    key: int


@dataclass(frozen=True, slots=True)
class Held:
    """An event that no step waits for yet; kept until the run ends."""

    event: Event


Effect = Opened | Closed | Happened | Consumed | Held


@dataclass(slots=True)
class Now:
    document: Document
    people: People
    at: datetime
    data: dict[str, Any]
    steps: dict[str, StepNow]
    held: list[Event] = field(default_factory=list)  # oldest first
    state: RunState = RunState.ACTIVE
    outcome: str = ""
    ended_by: str = ""
    ended_note: str | None = None
    effects: list[Effect] = field(default_factory=list)

    def step(self, name: str) -> tuple[Step, StepNow]:
        return self.document.steps[name], self.steps[name]

    @property
    def live(self) -> bool:
        return self.state in RUN_LIVE


def stamp(at: datetime) -> str:
    """A time as it stands in run data: UTC, milliseconds, `Z`."""
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"


def change(now: Now, name: str, state: StepState) -> None:
    """One legal move of one step."""
    standing = now.steps[name]
    standing.state = move(STEP_MOVES, standing.state, state)


def open_step(now: Now, name: str, state: StepState) -> StepNow:
    """A step becomes live, and its clock starts."""
    step, standing = now.step(name)
    change(now, name, state)
    standing.ready_at = now.at
    standing.due_at = now.at + step.due if step.due is not None else None
    standing.wake_at = None
    return standing


def done(now: Now, name: str, entry: Mapping[str, Any], by: str) -> None:
    """A step is complete: its record, its state, its place in the order of completions."""
    record(now, name, entry, by)
    change(now, name, StepState.DONE)
    now.steps[name].wake_at = None
    mark(now, name)


def mark(now: Now, name: str) -> None:
    """Give a step the next place in the order of completions."""
    now.steps[name].completed = 1 + max((s.completed or 0 for s in now.steps.values()), default=0)


def record(now: Now, name: str, entry: Mapping[str, Any], by: str) -> None:
    """Write a step's completion; what stood there before goes to its history, oldest first."""
    to_history(now, name)
    history = now.data["steps"].get(name, {"history": []})["history"]
    now.data["steps"][name] = {**entry, "by": by, "at": stamp(now.at), "history": history}


def to_history(now: Now, name: str) -> None:
    entry = now.data["steps"].get(name)
    if entry is None:
        return
    current = {key: value for key, value in entry.items() if key != "history"}
    # a check alone is the mark of a waiting escalation, no completion
    completed = "by" in current
    now.data["steps"][name] = {"history": [*entry["history"], *([current] if completed else [])]}


def take_back(now: Now, name: str) -> None:
    """Rework: a completed step has no current value any more."""
    standing = now.steps[name]
    to_history(now, name)
    change(now, name, StepState.NONE)
    standing.completed = standing.ready_at = standing.due_at = standing.wake_at = None


def end(now: Now, state: RunState, *, outcome: str, by: str, note: str | None) -> None:
    """The run is over: what was unfinished is cancelled."""
    now.state = move(RUN_MOVES, now.state, state)
    now.outcome, now.ended_by, now.ended_note = outcome, by, note
    for name, standing in now.steps.items():
        if standing.state in STEP_LIVE:
            change(now, name, StepState.CANCELLED)
            standing.wake_at = None
            now.effects.append(Closed(name))


def settle(now: Now) -> None:
    """The run's own state follows from its steps'."""
    if now.live:
        busy = any(s.state in (StepState.READY, StepState.CLAIMED) for s in now.steps.values())
        now.state = move(RUN_MOVES, now.state, RunState.ACTIVE if busy else RunState.WAITING)


def fail_step(now: Now, name: str, *, by: str, note: str) -> None:
    """The step fails, and so the run."""
    record(now, name, {"decision": FAILED, "note": note}, by)
    change(now, name, StepState.FAILED)
    now.effects += [Closed(name), Happened(HistoryEvent.FAILED, name, by, note)]
    end(now, RunState.ENDED, outcome=FAILED, by=by, note=note)


def value_at(now: Now, path: str) -> object:
    """What stands at a path of run data (`inputs.x`, `steps.id.output.x`); None where nothing does."""
    root, _, rest = path.partition(".")
    if root == "inputs":
        return now.data["inputs"].get(rest)
    step, _, name = rest.partition(".output.")  # a field's name may hold dots itself
    return now.data["steps"].get(step, {}).get("output", {}).get(name)
