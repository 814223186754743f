"""Wrong about where a run goes: order, rework, branches, waits, events, ends."""

from dataclasses import replace
from unittest import mock

from checks import codec
from processes import engine, entering, now
from processes.now import Held, Opened
from processes.states import RunState, StepState
from tests.conformance_suite.mutants.registry import after, mutant, rounded


def steps_with(**changes):
    """The engine sees each step with what these functions make of its keys."""
    real = now.Now.step

    def step(self, name):
        found, standing = real(self, name)
        return replace(
            found, **{key: change(getattr(found, key)) for key, change in changes.items()}
        ), standing

    return mock.patch.object(now.Now, "step", step)


def entering_by(kind, enter):
    """A step of this kind is entered by `enter(real, now, name)`."""
    real = entering.ENTER[kind]
    return mock.patch.dict(entering.ENTER, {kind: lambda run, name: enter(real, run, name)})


@mutant("all-steps-open", "Every agent's step is ready from the start.", "guarantee.order", "claim.not-ready")
def all_steps_open():
    def open_all(run, *_, **__):
        for name, standing in run.steps.items():
            if standing.kind == "agent" and standing.state is StepState.NONE:
                entering.ENTER["agent"](run, name)
        return run

    return after(engine, "start", open_all)


@mutant("history-forgotten", "Rework forgets what was done before.", "rework.history")
def history_forgotten():
    def forget(run, name):
        if name in run.data["steps"]:
            run.data["steps"][name] = {"history": []}

    return mock.patch.object(now, "to_history", forget)


@mutant("history-rounded", "Numbers in history are floats.", "number.history")
def history_rounded():
    def to_floats(_, run, name):
        for past in run.data["steps"].get(name, {}).get("history", ()):
            output = past.get("output", {})
            output.update(
                {key: rounded(value.text) for key, value in output.items() if codec.is_number(value)}
            )

    return after(now, "to_history", to_floats)


@mutant("one-step-back", "Rework takes back the returned-to step only.", "rework.back", "fork.rework-all")
def one_step_back():
    return mock.patch.object(engine, "_rewind", return_value=None)


@mutant("rejection-unsaid", "A rejection goes to history at once.", "rework.note-current")
def rejection_unsaid():
    return after(engine, "reject", lambda _, run, name, **__: now.to_history(run, name))


@mutant("siblings-reworked", "Rework in a branch takes back its siblings.", "fork.rework-inside")
def siblings_reworked():
    return mock.patch.object(engine, "branch_of", return_value=None)


@mutant("joins-early", "The first branch that is done completes the fork.", "fork.join")
def joins_early():
    def join(run, source):
        fork = entering.fork_of(run.document, source)
        step, standing = run.step(fork)
        if standing.state is StepState.WAITING:
            now.change(run, fork, StepState.DONE)
            entering.enter(run, step.next, source=fork)

    return mock.patch.object(entering, "_join", join)


@mutant("one-branch", "A fork opens its first branch only.", "fork.first-step")
def one_branch():
    return steps_with(branches=lambda entries: entries[:1])


@mutant("work-left", "A cancelled run keeps its open steps.", "cancel.view")
def work_left():
    def end(run, state, *, outcome, by, note):
        run.state, run.outcome, run.ended_by, run.ended_note = state, outcome, by, note

    return mock.patch.object(engine, "end", end)


@mutant("ended-by-the-worker", "A finish is told as the end of somebody's own doing.", "start.at-once")
def ended_by_the_worker():
    return after(entering, "end", lambda _, run, *__, **___: setattr(run, "ended_by", "agent:conform-one"))


@mutant("always-active", "A run that only waits is told to be active.", "wait.long")
def always_active():
    return after(
        engine, "settle", lambda _, run: setattr(run, "state", RunState.ACTIVE) if run.live else None
    )


@mutant("no-offset", "The offset of a moment is not looked at.", "wait.until-far")
def no_offset():
    real = entering.parse_datetime_strict
    return mock.patch.object(
        entering,
        "parse_datetime_strict",
        lambda text: real(f"{text[:19]}Z") if isinstance(text, str) else None,
    )


@mutant("waits-for-nothing", "A moment that is missing counts as past.", "wait.until-missing")
def waits_for_nothing():
    real = entering.parse_datetime_strict
    return mock.patch.object(
        entering, "parse_datetime_strict", lambda text: real(text or "2000-01-01T00:00:00Z")
    )


@mutant("nobody-is-somebody", "A path to nobody leads to the operators.", "people.path-to-nobody")
def nobody_is_somebody():
    return after(entering, "assignee_of", lambda found, *_: found or now.Assignee())


@mutant("event-serves-twice", "One event serves two waits.", "event.one-delivery")
def event_serves_twice():
    real = engine.deliver

    def deliver(run, event):
        taken = real(run, event)
        if taken is not None:
            real(run, event)
        return taken

    return mock.patch.object(engine, "deliver", deliver)


@mutant("event-dropped", "An event that nobody waits for yet is dropped.", "event.held")
def event_dropped():
    def drop(taken, run, event):
        run.effects[:] = [effect for effect in run.effects if not isinstance(effect, Held)]
        return taken

    return after(engine, "deliver", drop)


@mutant("newest-event-first", "Of held events the newest is taken.", "event.oldest-first")
def newest_event_first():
    def enter(real, run, name):
        run.held.reverse()
        real(run, name)
        run.held.reverse()

    return entering_by("wait_for", enter)


@mutant("timeout-goes-on", "A wait that timed out goes on at next.", "event.timeout")
def timeout_goes_on():
    return steps_with(on_timeout=lambda _: "")


@mutant("return-restarts-due", "A returned step is due later than before.", "handoff.due-goes-on")
def return_restarts_due():
    def restart(found, run, name, **_):
        step, standing = run.step(name)
        standing.due_at = run.at + step.due
        return found

    return after(engine, "give_back", restart)


@mutant("approval-opens-nothing", "An approval has no item.", "people.approve-item")
def approval_opens_nothing():
    def enter(real, run, name):
        real(run, name)
        run.effects[:] = [effect for effect in run.effects if not isinstance(effect, Opened)]

    return entering_by("approve", enter)
