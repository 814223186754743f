"""Reaching a step: what the server does at once, by kind, and what it waits for. Pure.

Which kinds can run is the map `ENTER`, nothing else. Source: the protocol's core §2.2, §3.6 and parallel-1 §3.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache

from processes.document import JOIN, Document, Step
from processes.fields import parse_datetime_strict
from processes.now import (
    SERVER,
    Assignee,
    Consumed,
    Event,
    Happened,
    Now,
    Opened,
    change,
    done,
    end,
    fail_step,
    mark,
    open_step,
    take_back,
    value_at,
)
from processes.states import STEP_LIVE, HistoryEvent, RunState, StepState
from processes.steps import duration


def enter(now: Now, name: str, *, source: str = "") -> None:
    """Make a step live. `join` ends the branch of `source`, the step that led there."""
    if name == JOIN:
        _join(now, source)
        return
    if now.steps[name].state is StepState.DONE:
        take_back(now, name)
    ENTER[now.document.steps[name].kind](now, name)


def assignee_of(now: Now, step: Step) -> Assignee | None:
    """Who `person` names right now; None = a path that leads to nobody."""
    if step.person == "initiator":
        return now.people.initiator()
    if "." not in step.person:
        return now.people.role(step.person)
    return now.people.person(value_at(now, step.person))


def unreachable(step: Step) -> str:
    return f"{step.person} leads to nobody who can be asked"


def _agent(now: Now, name: str) -> None:
    open_step(now, name, StepState.READY)
    now.effects.append(Opened(name, None))


def _person(now: Now, name: str) -> None:
    step, _ = now.step(name)
    assignee = assignee_of(now, step)
    if assignee is None:
        fail_step(now, name, by=SERVER, note=unreachable(step))
        return
    open_step(now, name, StepState.WAITING)
    now.effects.append(Opened(name, assignee))


def _finish(now: Now, name: str) -> None:
    step, _ = now.step(name)
    change(now, name, StepState.DONE)
    now.effects.append(Happened(HistoryEvent.FINISHED, name, SERVER, step.text))
    end(now, RunState.ENDED, outcome=step.text, by=SERVER, note=None)


def _wait(now: Now, name: str) -> None:
    step, _ = now.step(name)
    length = duration(step.text)
    if length is None:
        raise AssertionError(f"{name}: a published duration reads {step.text!r}")
    standing = open_step(now, name, StepState.WAITING)
    standing.wake_at = now.at + length
    wake_step(now, name)


def _wait_until(now: Now, name: str) -> None:
    """A time already past continues at once; a missing or wrong one fails the step."""
    step, _ = now.step(name)
    until = parse_datetime_strict(value_at(now, step.text))
    if until is None:
        fail_step(now, name, by=SERVER, note=f"{step.text} holds no date and time to wait for")
        return
    standing = open_step(now, name, StepState.WAITING)
    standing.wake_at = until
    wake_step(now, name)


def _wait_for(now: Now, name: str) -> None:
    """Consumes the oldest event of its name that is held, or waits for one."""
    step, _ = now.step(name)
    standing = open_step(now, name, StepState.WAITING)
    event = next((event for event in now.held if event.name == step.text), None)
    if event is not None:
        now.held.remove(event)
        if event.key is not None:
            now.effects.append(Consumed(event.key))
        consume(now, name, event)
        return
    standing.wake_at = now.at + step.timeout if step.timeout is not None else None
    wake_step(now, name)


def consume(now: Now, name: str, event: Event) -> None:
    """A delivery completes a `wait_for`: the sender, and the event's data as output."""
    step, _ = now.step(name)
    done(now, name, {"output": dict(event.data)}, event.by)
    now.effects.append(Happened(HistoryEvent.DELIVERED, name, event.by, event.name))
    enter(now, step.next, source=name)


def wake_step(now: Now, name: str) -> bool:
    """Go on from a wait whose time has come. Whether it had."""
    step, standing = now.step(name)
    if standing.state is not StepState.WAITING or standing.wake_at is None or standing.wake_at > now.at:
        return False
    late = step.kind == "wait_for"
    done(now, name, {}, SERVER)
    now.effects.append(Happened(HistoryEvent.TIMED_OUT if late else HistoryEvent.WAITED, name, SERVER))
    enter(now, step.on_timeout or step.next if late else step.next, source=name)
    return True


# ---- parallel-1


def _parallel(now: Now, name: str) -> None:
    """Fork: all entries in the same write. Its place in the order of completions is that of the fork, so
    that rework from after the join takes back every branch.
    """
    step, _ = now.step(name)
    open_step(now, name, StepState.WAITING)
    mark(now, name)
    now.effects.append(Happened(HistoryEvent.FORKED, name, SERVER))
    for branch in step.branches:
        if now.live:  # an entry that fails ends the run
            enter(now, branch)


def _join(now: Now, source: str) -> None:
    """The branch of `source` is finished; the last one to finish completes the fork."""
    fork = fork_of(now.document, source)
    step, standing = now.step(fork)
    if any(now.steps[name].state in STEP_LIVE for name in members(now.document, fork)):
        return
    if standing.state is not StepState.WAITING or not _all_entered(now, fork):
        return
    change(now, fork, StepState.DONE)
    now.effects.append(Happened(HistoryEvent.JOINED, fork, SERVER))
    enter(now, step.next, source=fork)


def _all_entered(now: Now, fork: str) -> bool:
    """At the fork itself a first branch may join before the last one was entered (a wait already past).

    A branch that was entered has a step with a state, though not always its entry: a rejection there may
    have led forward.
    """
    step, _ = now.step(fork)
    entered = {
        branch_of(now.document, name)
        for name in members(now.document, fork)
        if now.steps[name].state is not StepState.NONE
    }
    return len(entered) == len(step.branches)


@lru_cache(maxsize=256)
def _branches(
    steps: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...],
) -> Mapping[str, tuple[str, str]]:
    """Step → (fork, entry), from `(id, where it leads, its branches' entries)`."""
    ways = {name: leads for name, leads, _ in steps}
    found: dict[str, tuple[str, str]] = {}
    for fork, _, entries in steps:
        for entry in entries:
            edge = [entry]
            while edge:
                name = edge.pop()
                if name not in found and name in ways:
                    found[name] = (fork, entry)
                    edge += ways[name]
    return found


def branch_of(document: Document, name: str) -> tuple[str, str] | None:
    """The fork and the entry of the branch that a step is in; None outside."""
    if not any(step.branches for step in document.steps.values()):
        return None
    shape = tuple((step.id, leads_to(step), step.branches) for step in document.steps.values())
    return _branches(shape).get(name)


def leads_to(step: Step) -> tuple[str, ...]:
    """Where a step may go on, but for a rejection."""
    names = (step.next, step.on_timeout, *(route.to for route in step.routes))
    return tuple(name for name in names if name and name != JOIN)


def fork_of(document: Document, name: str) -> str:
    branch = branch_of(document, name)
    if branch is None:
        raise AssertionError(f"{name} joins, but stands in no branch")
    return branch[0]


def members(document: Document, fork: str) -> list[str]:
    """Every step of every branch of a fork."""
    return [name for name in document.steps if (branch_of(document, name) or ("", ""))[0] == fork]


ENTER: Mapping[str, Callable[[Now, str], None]] = {
    "agent": _agent,
    "task": _person,
    "approve": _person,
    "finish": _finish,
    "wait": _wait,
    "wait_until": _wait_until,
    "wait_for": _wait_for,
    "parallel": _parallel,
}
