"""The end of a run: cancelled or ended, nothing more can be written to it."""

from conformance.client import Data
from conformance.demands import demand, equal, outcome, state_of, states
from conformance.registry import Chapter, profile, tool
from conformance.world import World, run_id

chapter = Chapter("ended", "After the end nothing is written")


def cancelled(w: World, process: str = "conform-two", step: str = "first") -> tuple[Data, Data]:
    """A cancelled run and the claim that was alive when it was cancelled."""
    view = w.start(process)
    claim = w.claim(view, step)
    return w.operator.ok("cancel", runId=run_id(view), reason="Off."), claim


@chapter.case(
    "submit", "A submission", "core §3.5; tools: submit",
    "On a run that is over, a submission is run_ended before anything else: its content is not even looked at.",
)  # fmt: skip
def submit(w: World) -> None:
    _, claim = cancelled(w)
    for output in ({"first": "1"}, {}, {"first": 5}):
        w.agent.refused(
            "submit", "conflict", issue="run_ended", token=claim["token"], output=output, summary="S"
        )


@chapter.case(
    "submit-after-finish", "A used token on a finished run", "core §3.5",
    "run_ended comes before stale: the token is old as well, but the run is over.",
)  # fmt: skip
def submit_after_finish(w: World) -> None:
    claim = w.claim(w.start("conform-work", subject="S"), "work")
    outcome(w.submit(claim, {"answer": "A"}), "worked")
    given = {"token": claim["token"], "output": {"answer": "B"}, "summary": "S"}
    w.agent.refused("submit", "conflict", issue="run_ended", **given)
    w.agent.refused("escalate", "conflict", issue="run_ended", token=claim["token"], note="N")


@chapter.case(
    "renew", "A renewal", "core §3.5", "A token of a run that is over can't be renewed: run_ended.", tool("renew"),
)  # fmt: skip
def renew(w: World) -> None:
    _, claim = cancelled(w)
    w.agent.refused("renew", "conflict", issue="run_ended", token=claim["token"])


@chapter.case(
    "escalate", "An escalation", "core §3.5", "A step of a run that is over can't be escalated: run_ended."
)
def escalate(w: World) -> None:
    _, claim = cancelled(w)
    w.agent.refused("escalate", "conflict", issue="run_ended", token=claim["token"], note="N")


@chapter.case(
    "claim", "A claim", "core §3.5", "No step of a run that is over can be claimed: run_ended, an unknown step too.",
)  # fmt: skip
def claim_it(w: World) -> None:
    view, _ = cancelled(w)
    for step in ("first", "second", "done", "no-such-step"):
        w.agent.refused("claim", "conflict", issue="run_ended", runId=run_id(view), stepId=step)


@chapter.case(
    "decide", "A decision", "core §3.5", "An item of a run that is over can't be decided: run_ended."
)
def decide(w: World) -> None:
    view = w.start("conform-verdict")
    decision = w.decision(view, "ask", decision="approved")
    w.operator.ok("cancel", runId=run_id(view), reason="Off.")
    w.person.refused("decide", "conflict", issue="run_ended", **decision)


@chapter.case(
    "cancel", "A cancellation", "tools: cancel", "A run that is over can't be cancelled: run_ended, however it ended.",
)  # fmt: skip
def cancel_it(w: World) -> None:
    view, _ = cancelled(w)
    w.operator.refused("cancel", "conflict", issue="run_ended", runId=run_id(view), reason="Again.")
    done = w.start("conform-now")
    w.operator.refused("cancel", "conflict", issue="run_ended", runId=run_id(done), reason="Too late.")
    outcome(w.view(done), "at-once")


@chapter.case(
    "event", "An event", "tools: send_event", "An event to a run that is over is run_ended.", tool("send_event"),
)  # fmt: skip
def event(w: World) -> None:
    view = w.start("conform-now")
    for who in (w.agent, w.operator):
        who.refused("send_event", "conflict", issue="run_ended", runId=run_id(view), name="signal", data={})


@chapter.case(
    "still-readable", "It can still be read", "core §4.1", "The record of a run stays: data, states and how it ended.",
)  # fmt: skip
def still_readable(w: World) -> None:
    view = w.start("conform-two")
    w.work(view, "first", {"first": "1"})
    w.operator.ok("cancel", runId=run_id(view), reason="Off.")
    read = w.view(view, w.other)
    equal(read["data"]["steps"]["first"]["output"], {"first": "1"}, "the output in the record")
    states(read, first="done", second="cancelled", done=None)


@chapter.case(
    "siblings", "A branch's end stops the siblings' tokens", "parallel-1 §3; core §3.5",
    "When one branch ends the run, a live claim in another is dead, and its submission is run_ended.",
    profile("parallel-1"),
)  # fmt: skip
def siblings(w: World) -> None:
    view = w.start("conform-fork-end")
    claim = w.claim(view, "other")
    view = w.decide(view, "ask", "rejected", note="No.")
    outcome(view, "rejected")
    states(view, other="cancelled", done=None)
    demand(state_of(view, "fork") == "cancelled", "the parallel step must be cancelled with its branches")
    w.agent.refused("submit", "conflict", issue="run_ended", token=claim["token"], output={}, summary="S")


cancelling = Chapter("cancel", "An operator ends a run")


@cancelling.case(
    "view", "A cancelled run", "core §3.5; tools: cancel",
    "state is cancelled, outcome null, ended tells who, when and why; unfinished steps are cancelled.",
)  # fmt: skip
def cancelled_view(w: World) -> None:
    view = w.start("conform-two")
    w.work(view, "first", {"first": "1"})
    w.claim(view, "second")
    view = w.operator.ok("cancel", runId=run_id(view), reason="No longer needed.")
    outcome(view, None, state="cancelled")
    ended = view["run"]["ended"]
    equal(ended["note"], "No longer needed.", "ended.note")
    demand(ended["by"] not in {"server", view["run"]["startedBy"]}, "ended.by must be the operator")
    states(view, first="done", second="cancelled", done=None)


@cancelling.case(
    "waiting-run", "A run that waits", "core §3.5", "A waiting run can be cancelled; its items and waits are gone.",
)  # fmt: skip
def waiting_run(w: World) -> None:
    view = w.start("conform-task")
    view = w.operator.ok("cancel", runId=run_id(view), reason="R")
    states(view, task="cancelled", done=None)
    equal(w.offered(view, w.person), [], "what a person finds of a cancelled run")
    view = w.operator.ok("cancel", runId=run_id(w.start("conform-sleep")), reason="R")
    states(view, sleep="cancelled")


@cancelling.case(
    "work-is-gone", "Its work is offered to nobody", "core §3.5", "A step of a cancelled run is no work.",
)  # fmt: skip
def work_is_gone(w: World) -> None:
    view = w.start("conform-work", subject="S")
    equal(len(w.offered(view)), 1, "the steps that are offered before")
    w.operator.ok("cancel", runId=run_id(view), reason="R")
    equal(w.offered(view), [], "the steps that are offered after")


@cancelling.case(
    "operators-only", "Only operators cancel", "core §4.1", "Agents and people without that right are refused.",
)  # fmt: skip
def operators_only(w: World) -> None:
    view = w.start("conform-work", subject="S")
    for who in (w.agent, w.other, w.person, w.colleague):
        who.refused("cancel", "forbidden", runId=run_id(view), reason="R")
    equal(w.view(view)["run"]["state"], "active", "the run's state")


@cancelling.case(
    "arguments", "A reason is needed, and a run", "tools: cancel", "Without a reason it is invalid; an unknown run is not_found.",
)  # fmt: skip
def arguments(w: World) -> None:
    view = w.start("conform-work", subject="S")
    w.operator.refused("cancel", "invalid", runId=run_id(view))
    w.operator.refused("cancel", "invalid", reason="R")
    w.operator.refused("cancel", "not_found", runId="no-such-run", reason="R")
    equal(w.view(view)["run"]["state"], "active", "the run's state")
