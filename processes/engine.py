"""What a transition does to a run. Pure: no clock, no database.

A `Now` is where a run stands. Each verb moves it and notes what must follow in `now.effects`, for
`runs.py` to save; after every verb the run's own state is settled, so that nothing automatic is left
undone. Source: the protocol's core §3 (running), check-1 §3.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from processes.document import Document, Step
from processes.states import STEP_LIVE, STEP_MOVES, RunState, StepState, move

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


@dataclass(slots=True)
class StepNow:
    name: str
    kind: str
    state: StepState = StepState.NONE
    ready_at: datetime | None = None
    due_at: datetime | None = None
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
    what: str
    step: str
    by: str
    note: str = ""


Effect = Opened | Closed | Happened


@dataclass(slots=True)
class Now:
    document: Document
    people: People
    at: datetime
    data: dict[str, Any]
    steps: dict[str, StepNow]
    state: RunState = RunState.ACTIVE
    outcome: str = ""
    ended_by: str = ""
    ended_note: str | None = None
    effects: list[Effect] = field(default_factory=list)

    def step(self, name: str) -> tuple[Step, StepNow]:
        return self.document.steps[name], self.steps[name]

    @property
    def live(self) -> bool:
        return self.state in (RunState.ACTIVE, RunState.WAITING)


def stamp(at: datetime) -> str:
    """A time as it stands in run data: UTC, milliseconds, `Z`."""
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"


# ---- verbs


def start(document: Document, people: People, inputs: Mapping[str, Any], *, by: str, at: datetime) -> Now:
    """A new run: inputs as run data, the first step entered."""
    now = Now(
        document=document,
        people=people,
        at=at,
        data={"inputs": dict(inputs), "steps": {}},
        steps={name: StepNow(name, step.kind) for name, step in document.steps.items()},
    )
    now.effects.append(Happened("started", "", by))
    _enter(now, next(iter(document.steps)))
    _settle(now)
    return now


def claim(now: Now, name: str, *, by: str) -> None:
    """An agent takes a ready step, or one whose lease has ended."""
    _move(now, name, StepState.CLAIMED)
    now.effects.append(Happened("claimed", name, by))
    _settle(now)


def complete(now: Now, name: str, done: Mapping[str, Any], *, by: str) -> None:
    """An agent or task step is done. `done`: output, evidence, summary?, next?, reason?, check?."""
    step, _ = now.step(name)
    _record(now, name, done, by)
    _move(now, name, StepState.DONE)
    now.steps[name].completed = 1 + max((s.completed or 0 for s in now.steps.values()), default=0)
    now.effects += [Closed(name), Happened("completed", name, by)]
    _enter(now, done.get("next") or step.next)
    _settle(now)


def approve(now: Now, name: str, *, by: str, note: str = "") -> None:
    step, _ = now.step(name)
    _record(now, name, {"decision": "approved", **({"note": note} if note else {})}, by)
    _move(now, name, StepState.DONE)
    now.steps[name].completed = 1 + max((s.completed or 0 for s in now.steps.values()), default=0)
    now.effects += [Closed(name), Happened("approved", name, by, note)]
    _enter(now, step.next)
    _settle(now)


def reject(now: Now, name: str, *, by: str, note: str) -> None:
    """Back to `on_reject` with the note kept current, or the end of the run."""
    step, _ = now.step(name)
    _record(now, name, {"decision": REJECTED, "note": note}, by)
    now.effects += [Closed(name), Happened(REJECTED, name, by, note)]
    if step.on_reject:
        _move(now, name, StepState.NONE)
        _rewind(now, step.on_reject, but=name)
        _enter(now, step.on_reject)
    else:
        _move(now, name, StepState.DONE)
        _end(now, RunState.ENDED, outcome=REJECTED, by=by, note=note)
    _settle(now)


def fail(now: Now, name: str, *, by: str, note: str) -> None:
    """A `failed` decision, or a step that the server can't enter: the run ends."""
    _record(now, name, {"decision": FAILED, "note": note}, by)
    _move(now, name, StepState.FAILED)
    now.effects += [Closed(name), Happened(FAILED, name, by, note)]
    _end(now, RunState.ENDED, outcome=FAILED, by=by, note=note)
    _settle(now)


def escalate(now: Now, name: str, *, by: str, note: str, check: Mapping[str, Any] | None = None) -> None:
    """The step waits on a person; an unsure check stands in run data while it does."""
    if check is not None:
        now.data["steps"].setdefault(name, {"history": []})["check"] = dict(check)
    _move(now, name, StepState.WAITING)
    now.effects.append(Happened("escalated", name, by, note))
    _settle(now)


def give_back(now: Now, name: str, *, by: str, note: str) -> Assignee | None:
    """An escalated step is returned: same attempt, same due time. Gives a task's assignee."""
    step, _ = now.step(name)
    entry = now.data["steps"].get(name)
    if entry is not None:
        entry.pop("check", None)
        if entry == {"history": []}:
            del now.data["steps"][name]
    assignee = None
    if step.kind == "agent":
        _move(now, name, StepState.READY)
    else:
        assignee = assignee_of(now, step)
        if assignee is None:
            fail(now, name, by=SERVER, note=f"{step.person} leads to nobody who can be asked")
            return None
        _move(now, name, StepState.WAITING)
    now.effects.append(Happened("returned", name, by, note))
    _settle(now)
    return assignee


def cancel(now: Now, *, by: str, reason: str) -> None:
    now.effects.append(Happened("cancelled", "", by, reason))
    _end(now, RunState.CANCELLED, outcome="", by=by, note=reason)


# ---- below the verbs


def assignee_of(now: Now, step: Step) -> Assignee | None:
    """Who `person` names right now; None = a path that leads to nobody."""
    if step.person == "initiator":
        return now.people.initiator()
    if "." not in step.person:
        return now.people.role(step.person)
    value: Any = now.data
    for part in step.person.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return now.people.person(value)


def _enter(now: Now, name: str) -> None:
    """Make a step live. Which kinds can run is this map, nothing else."""
    if now.steps[name].state is StepState.DONE:
        _take_back(now, name)
    ENTER[now.document.steps[name].kind](now, name)


def _open(now: Now, name: str, state: StepState) -> None:
    step, standing = now.step(name)
    _move(now, name, state)
    standing.ready_at = now.at
    standing.due_at = now.at + step.due if step.due else None


def _enter_agent(now: Now, name: str) -> None:
    _open(now, name, StepState.READY)
    now.effects.append(Opened(name, None))


def _enter_person(now: Now, name: str) -> None:
    step, _ = now.step(name)
    assignee = assignee_of(now, step)
    if assignee is None:
        fail(now, name, by=SERVER, note=f"{step.person} leads to nobody who can be asked")
        return
    _open(now, name, StepState.WAITING)
    now.effects.append(Opened(name, assignee))


def _enter_finish(now: Now, name: str) -> None:
    step, _ = now.step(name)
    _move(now, name, StepState.DONE)
    now.effects.append(Happened("finished", name, SERVER, step.text))
    _end(now, RunState.ENDED, outcome=step.text, by=SERVER, note=None)


ENTER: Mapping[str, Callable[[Now, str], None]] = {
    "agent": _enter_agent,
    "task": _enter_person,
    "approve": _enter_person,
    "finish": _enter_finish,
}


def _move(now: Now, name: str, state: StepState) -> None:
    standing = now.steps[name]
    standing.state = move(STEP_MOVES, standing.state, state)


def _record(now: Now, name: str, done: Mapping[str, Any], by: str) -> None:
    """Write a step's completion; what stood there before goes to its history, oldest first."""
    _to_history(now, name)
    history = now.data["steps"].get(name, {"history": []})["history"]
    now.data["steps"][name] = {**done, "by": by, "at": stamp(now.at), "history": history}


def _to_history(now: Now, name: str) -> None:
    entry = now.data["steps"].get(name)
    if entry is None:
        return
    current = {key: value for key, value in entry.items() if key != "history"}
    # a check alone is the mark of a waiting escalation, no completion
    completed = "by" in current
    now.data["steps"][name] = {"history": [*entry["history"], *([current] if completed else [])]}


def _rewind(now: Now, target: str, *, but: str) -> None:
    """Take back the returned-to step and all that was completed after it, but the rejecting approval.

    A target that was never completed has nothing after it in time; what lies behind it on the way
    forward will be done again, so that goes instead.
    """
    since = now.steps[target].completed
    ahead = _ahead(now.document, target) if since is None else frozenset()
    for name, standing in now.steps.items():
        if name == but or standing.completed is None:
            continue
        if name in ahead or (since is not None and standing.completed >= since):
            _take_back(now, name)


def _ahead(document: Document, start: str) -> frozenset[str]:
    found: set[str] = set()
    edge = [start]
    while edge:
        step = document.steps[edge.pop()]
        names = [step.next, step.on_timeout, *(route.to for route in step.routes)]
        new = [name for name in names if name in document.steps and name not in found]
        found.update(new)
        edge += new
    return frozenset(found)


def _take_back(now: Now, name: str) -> None:
    standing = now.steps[name]
    _to_history(now, name)
    _move(now, name, StepState.NONE)
    standing.completed = standing.ready_at = standing.due_at = None


def _end(now: Now, state: RunState, *, outcome: str, by: str, note: str | None) -> None:
    now.state = state
    now.outcome, now.ended_by, now.ended_note = outcome, by, note
    for name, standing in now.steps.items():
        if standing.state in STEP_LIVE:
            _move(now, name, StepState.CANCELLED)
            now.effects.append(Closed(name))


def _settle(now: Now) -> None:
    if now.live:
        busy = any(s.state in (StepState.READY, StepState.CLAIMED) for s in now.steps.values())
        now.state = RunState.ACTIVE if busy else RunState.WAITING
