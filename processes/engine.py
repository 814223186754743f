"""What a transition does to a run: one function per verb. Pure: no clock, no database.

A `Now` (see `now.py`) is where a run stands. Each verb moves it and notes what must follow in
`now.effects`, for `runs.py` to save; after every verb the run's own state is settled, so that nothing
automatic is left undone. Source: the protocol's core §3 (running), check-1 §3.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from processes.document import Document
from processes.entering import (
    ENTER,
    assignee_of,
    branch_of,
    consume,
    enter,
    leads_to,
    unreachable,
    wake_step,
)
from processes.now import (
    FAILED,
    REJECTED,
    SERVER,
    Assignee,
    Closed,
    Consumed,
    Effect,
    Event,
    Happened,
    Held,
    Now,
    Opened,
    People,
    StepNow,
    change,
    done,
    end,
    fail_step,
    record,
    settle,
    stamp,
    take_back,
)
from processes.states import HistoryEvent, RunState, StepState

__all__ = [
    "ENTER", "FAILED", "REJECTED", "SERVER", "Assignee", "Closed", "Consumed", "Effect", "Event", "Happened",
    "Held", "Now", "Opened", "People", "StepNow", "approve", "assignee_of", "cancel", "claim", "complete",
    "deliver", "escalate", "fail", "give_back", "reject", "stamp", "start", "wake",
]  # fmt: skip


def start(document: Document, people: People, inputs: Mapping[str, Any], *, by: str, at: datetime) -> Now:
    """A new run: inputs as run data, the first step entered."""
    now = Now(
        document=document,
        people=people,
        at=at,
        data={"inputs": dict(inputs), "steps": {}},
        steps={name: StepNow(name, step.kind) for name, step in document.steps.items()},
    )
    now.effects.append(Happened(HistoryEvent.STARTED, "", by))
    enter(now, next(iter(document.steps)))
    settle(now)
    return now


def claim(now: Now, name: str, *, by: str) -> None:
    """An agent takes a ready step, or one whose lease has ended."""
    change(now, name, StepState.CLAIMED)
    now.effects.append(Happened(HistoryEvent.CLAIMED, name, by))
    settle(now)


def complete(now: Now, name: str, entry: Mapping[str, Any], *, by: str) -> None:
    """An agent or task step is done. `entry`: output, evidence, summary?, next?, reason?, check?."""
    step, _ = now.step(name)
    done(now, name, entry, by)
    now.effects += [Closed(name), Happened(HistoryEvent.COMPLETED, name, by)]
    enter(now, entry.get("next") or step.next, source=name)
    settle(now)


def approve(now: Now, name: str, *, by: str, note: str = "") -> None:
    step, _ = now.step(name)
    done(now, name, {"decision": "approved", **({"note": note} if note else {})}, by)
    now.effects += [Closed(name), Happened(HistoryEvent.APPROVED, name, by, note)]
    enter(now, step.next, source=name)
    settle(now)


def reject(now: Now, name: str, *, by: str, note: str) -> None:
    """Back to `on_reject` with the note kept current, or the end of the run."""
    step, _ = now.step(name)
    record(now, name, {"decision": REJECTED, "note": note}, by)
    now.effects += [Closed(name), Happened(HistoryEvent.REJECTED, name, by, note)]
    if step.on_reject:
        change(now, name, StepState.NONE)
        _rewind(now, step.on_reject, but=name)
        enter(now, step.on_reject)
    else:
        change(now, name, StepState.DONE)
        end(now, RunState.ENDED, outcome=REJECTED, by=by, note=note)
    settle(now)


def fail(now: Now, name: str, *, by: str, note: str) -> None:
    """A `failed` decision: the run ends."""
    fail_step(now, name, by=by, note=note)


def escalate(now: Now, name: str, *, by: str, note: str, check: Mapping[str, Any] | None = None) -> None:
    """The step waits on a person; an unsure check stands in run data while it does."""
    if check is not None:
        now.data["steps"].setdefault(name, {"history": []})["check"] = dict(check)
    change(now, name, StepState.WAITING)
    now.effects.append(Happened(HistoryEvent.ESCALATED, name, by, note))
    settle(now)


def give_back(now: Now, name: str, *, by: str, note: str) -> Assignee | None:
    """An escalated step is returned: same attempt, same due time. Gives a task's assignee."""
    step, _ = now.step(name)
    entry = now.data["steps"].get(name)
    if entry is not None:
        entry.pop("check", None)
        if entry == {"history": []}:
            del now.data["steps"][name]
    now.effects.append(Happened(HistoryEvent.RETURNED, name, by, note))
    if step.kind == "agent":
        change(now, name, StepState.READY)
        settle(now)
        return None
    assignee = assignee_of(now, step)
    if assignee is None:
        fail_step(now, name, by=SERVER, note=unreachable(step))
        return None
    change(now, name, StepState.WAITING)
    settle(now)
    return assignee


def cancel(now: Now, *, by: str, reason: str) -> None:
    now.effects.append(Happened(HistoryEvent.CANCELLED, "", by, reason))
    end(now, RunState.CANCELLED, outcome="", by=by, note=reason)


def deliver(now: Now, event: Event) -> str | None:
    """An event arrives: the `wait_for` that takes it, or None when it is held for one to come (and dropped
    where the document has none of its name, since nothing could ever take it).
    """
    for name, standing in now.steps.items():
        step = now.document.steps[name]
        if step.kind == "wait_for" and step.text == event.name and standing.state is StepState.WAITING:
            consume(now, name, event)
            settle(now)
            return name
    if any(step.kind == "wait_for" and step.text == event.name for step in now.document.steps.values()):
        now.held.append(event)
        now.effects.append(Held(event))
    return None


def wake(now: Now) -> bool:
    """Go on from every wait whose time has come. Whether any had."""
    woken = False
    # a wait may lead to the next one, whose time may have come too
    while now.live and any(wake_step(now, name) for name in now.document.steps):
        woken = True
    settle(now)
    return woken


def _rewind(now: Now, target: str, *, but: str) -> None:
    """Take back the returned-to step and all that was completed after it, but the rejecting approval.

    Within a branch only that branch. A target that was never completed has nothing after it in time;
    what lies behind it on the way forward will be done again, so that goes instead.
    """
    branch = branch_of(now.document, but)
    since = now.steps[target].completed
    ahead = _ahead(now.document, target) if since is None else frozenset()
    for name, standing in now.steps.items():
        if name == but or standing.completed is None:
            continue
        if branch is not None and branch_of(now.document, name) != branch:
            continue
        if name in ahead or (since is not None and standing.completed >= since):
            take_back(now, name)


def _ahead(document: Document, start: str) -> frozenset[str]:
    """What a step leads to, branches included."""
    found: set[str] = set()
    edge = [start]
    while edge:
        step = document.steps[edge.pop()]
        new = [name for name in (*leads_to(step), *step.branches) if name not in found]
        found.update(new)
        edge += new
    return frozenset(found)
