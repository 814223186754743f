"""The profile parallel-1: fork and join."""

from conformance.client import Data
from conformance.demands import (
    demand,
    entry_of,
    equal,
    moment,
    no_current,
    outcome,
    record_of,
    state_of,
    states,
)
from conformance.registry import Chapter, profile, tool
from conformance.world import World, run_id

chapter = Chapter("fork", "Fork and join", profile("parallel-1"))


def forked(w: World) -> Data:
    return w.work(w.start("conform-fork"), "begin")


def joined(w: World) -> Data:
    """A run of conform-fork that waits for its review, the left side done in two steps."""
    view = w.work(forked(w), "left", {"side": "L"}, next="left_more", reason="More.")
    w.work(view, "left_more")
    return w.decide(view, "right", "completed", output={"side": "R"})


@chapter.case(
    "at-once", "All entries are ready in one write", "parallel-1 §3, Fork",
    "The write that reaches the parallel step shows it waiting, and the entry of every branch ready or waiting.",
)  # fmt: skip
def at_once(w: World) -> None:
    view = forked(w)
    states(view, begin="done", fork="waiting", left="ready", left_more=None, right="waiting", review=None)
    equal(entry_of(view, "fork")["kind"], "parallel", "the kind of the parallel step")
    equal(len(view["workItems"]), 1, "the number of open items")
    demand("fork" not in view["data"]["steps"], "the parallel step records nothing")


@chapter.case(
    "first-step", "A process may begin with a fork", "parallel-1 §3", "start_run itself forks.",
)  # fmt: skip
def first_step(w: World) -> None:
    view = w.start("conform-fork-inside")
    states(view, fork="waiting", make="ready", other="ready", check_it=None, done=None)


@chapter.case(
    "two-claims", "Two agents work in two branches", "parallel-1 §3",
    "Each branch step has a claim of its own; work in one branch does not disturb another's.",
)  # fmt: skip
def two_claims(w: World) -> None:
    view = w.start("conform-fork-inside")
    mine, theirs = w.claim(view, "make"), w.claim(view, "other", by=w.other)
    w.submit(theirs, {"other": "O"}, by=w.other)
    view = w.submit(mine, {"made": "M"})
    states(view, make="done", other="done", check_it="waiting", fork="waiting")


@chapter.case(
    "offered", "get_work lists every branch", "parallel-1 §4",
    "Ready agent steps of all branches are offered to agents, open items of all branches to people.",
)  # fmt: skip
def offered(w: World) -> None:
    view = w.start("conform-fork-inside")
    equal({entry["stepId"] for entry in w.offered(view)}, {"make", "other"}, "the steps on offer")
    view = forked(w)
    equal(
        [entry["workItem"]["stepId"] for entry in w.offered(view, w.person)], ["right"], "the items on offer"
    )


@chapter.case(
    "join", "The last branch joins, and the run goes on", "parallel-1 §3, Join",
    "The write that completes the last branch shows the parallel step done and its next ready.",
)  # fmt: skip
def join(w: World) -> None:
    view = forked(w)
    view = w.decide(view, "right", "completed", output={"side": "R"})
    states(view, fork="waiting", right="done", left="ready", review=None)
    view = w.work(view, "left", {"side": "L"}, next="join", reason="Done.")
    states(view, fork="done", left="done", left_more=None, review="waiting")
    demand("fork" not in view["data"]["steps"], "the parallel step records nothing")
    record = record_of(view, "left")
    equal((record["next"], record["reason"]), ("join", "Done."), "next and reason of a route to join")
    outcome(w.decide(view, "review", "approved"), "joined")


@chapter.case(
    "join-shown", "join is shown as a route", "parallel-1 §2, §4", "A claim in a branch offers join as one of the routes.",
)  # fmt: skip
def join_shown(w: World) -> None:
    routes = w.claim(forked(w), "left")["step"]["next"]
    equal([route["to"] for route in routes], ["left_more", "join"], "the routes")


@chapter.case(
    "early", "A branch that joins early waits for the others", "parallel-1 §3, Join",
    "Its outputs are in run data at once; nothing after the fork is ready before all have joined.",
)  # fmt: skip
def early(w: World) -> None:
    view = w.work(forked(w), "left", {"side": "L"}, next="left_more", reason="More.")
    states(view, left="done", left_more="ready", fork="waiting")
    view = w.work(view, "left_more")
    states(view, left_more="done", fork="waiting", review=None, right="waiting")
    equal(
        record_of(w.view(view, w.person), "left")["output"],
        {"side": "L"},
        "the output of the branch that joined",
    )
    equal(view["run"]["state"], "waiting", "the state of a run in which only a person is pending")


@chapter.case(
    "run-state", "active as long as any branch is", "parallel-1 §3, Run state",
    "A run is active while a step of any branch is ready or claimed, else waiting.",
)  # fmt: skip
def run_state(w: World) -> None:
    view = forked(w)
    equal(view["run"]["state"], "active", "the state with a ready step in one branch")
    view = w.escalate(view, "left")
    equal(view["run"]["state"], "waiting", "the state with people pending in every branch")


@chapter.case(
    "rework-all", "Rework from after the join runs every branch again", "parallel-1 §3, Rework",
    "Completions of all branches go to history, the entries are ready again in the same write, other branch steps null.",
)  # fmt: skip
def rework_all(w: World) -> None:
    view = joined(w)
    view = w.decide(view, "review", "rejected", note="Both again.")
    states(view, begin="done", fork="waiting", left="ready", left_more=None, right="waiting", review=None)
    for name in ("left", "left_more", "right"):
        no_current(view, name)
        equal(len(record_of(view, name)["history"]), 1, f"the length of the history of {name}")
    equal(record_of(view, "begin")["history"], [], "the history of the step before the fork")
    review = record_of(view, "review")
    equal(
        (review["decision"], review["note"]), ("rejected", "Both again."), "the rejecting approval's values"
    )


@chapter.case(
    "rework-due", "Entries get a fresh due time", "parallel-1 §3, Rework", "due of every entry counts from the rework.",
)  # fmt: skip
def rework_due(w: World) -> None:
    view = joined(w)
    before = {name: entry_of(view, name).get("due") for name in ("left", "right")}
    view = w.decide(view, "review", "rejected", note="Both again.")
    for name, due in before.items():
        again = entry_of(view, name)["due"]
        demand(
            due is None or moment(again) > moment(due), f"due of {name} must be later than in the first round"
        )


@chapter.case(
    "rework-through", "The second round joins like the first", "parallel-1 §3",
    "After the rework the branches run, join and go on; history holds one completion for each earlier round.",
)  # fmt: skip
def rework_through(w: World) -> None:
    view = w.decide(joined(w), "review", "rejected", note="Again.")
    view = w.work(view, "left", {"side": "L2"}, next="join", reason="Short.")
    states(view, fork="waiting", review=None)
    view = w.decide(view, "right", "completed", output={"side": "R2"})
    states(view, fork="done", review="waiting", left_more=None)
    view = w.decide(view, "review", "rejected", note="And again.")
    equal(
        [past["output"] for past in record_of(view, "right")["history"]], [{"side": "R"}, {"side": "R2"}],
        "the history of right, oldest first",
    )  # fmt: skip


@chapter.case(
    "rework-before", "Rework to a step before the fork", "parallel-1 §2, §3",
    "The parallel step and all of its branches are unreached until the run comes to them again.",
)  # fmt: skip
def rework_before(w: World) -> None:
    view = w.work(w.start("conform-fork-back"), "begin", {"plan": "1"})
    w.work(view, "one")
    view = w.work(view, "two")
    view = w.decide(view, "review", "rejected", note="Plan anew.")
    states(view, begin="ready", fork=None, one=None, two=None, review=None)
    no_current(view, "one")
    view = w.work(view, "begin", {"plan": "2"})
    states(view, fork="waiting", one="ready", two="ready")
    w.work(view, "one")
    view = w.work(view, "two")
    outcome(w.decide(view, "review", "approved"), "joined")


@chapter.case(
    "rework-inside", "Rework inside a branch touches no sibling", "parallel-1 §3, Rework",
    "on_reject within a branch takes back that branch's later completions only.",
)  # fmt: skip
def rework_inside(w: World) -> None:
    view = w.start("conform-fork-inside")
    w.work(view, "make", {"made": "1"})
    view = w.work(view, "other", {"other": "1"})
    view = w.decide(view, "check_it", "rejected", note="Make it well.")
    states(view, fork="waiting", make="ready", check_it=None, other="done")
    no_current(view, "make")
    other = record_of(view, "other")
    equal((other["output"], other["history"]), ({"other": "1"}, []), "output and history of the sibling")
    view = w.work(view, "make", {"made": "2"})
    outcome(w.decide(view, "check_it", "approved"), "joined")


@chapter.case(
    "rework-inside-claim", "A sibling's claim survives", "parallel-1 §3, Rework",
    "Whoever works in another branch goes on with the same token.",
)  # fmt: skip
def rework_inside_claim(w: World) -> None:
    view = w.start("conform-fork-inside")
    w.work(view, "make", {"made": "1"})
    claim = w.claim(view, "other", by=w.other)
    w.decide(view, "check_it", "rejected", note="Make it well.")
    states(w.submit(claim, {"other": "1"}, by=w.other), other="done", make="ready")


@chapter.case(
    "failed-branch", "A failure in one branch ends all", "parallel-1 §3, Ending the run",
    "failed in a branch ends the run; the unfinished steps of every branch are cancelled and their items gone.",
)  # fmt: skip
def failed_branch(w: World) -> None:
    view = w.start("conform-fork-end")
    view = w.decide(view, "ask", "failed", note="Off.")
    outcome(view, "failed")
    states(view, ask="failed", other="cancelled", fork="cancelled", done=None)
    equal(w.offered(view), [], "what is offered of the run")


@chapter.case(
    "cancelled", "Cancelling cancels every branch", "core §3.5", "All unfinished steps of all branches are cancelled.",
)  # fmt: skip
def cancelled(w: World) -> None:
    view = forked(w)
    view = w.operator.ok("cancel", runId=run_id(view), reason="R")
    states(
        view, begin="done", fork="cancelled", left="cancelled", right="cancelled", left_more=None, review=None
    )


@chapter.case(
    "escalated", "An escalation in a branch", "parallel-1 §3",
    "An escalated branch step waits on a person while its siblings go on.",
)  # fmt: skip
def escalated(w: World) -> None:
    view = w.escalate(w.start("conform-fork-inside"), "make")
    states(view, make="waiting", other="ready", fork="waiting")
    view = w.work(view, "other", {"other": "O"})
    view = w.decide(view, "make", "completed", by=w.handler(view, "make"), output={"made": "M"})
    states(view, make="done", check_it="waiting")


def _timed(view: Data) -> bool:
    return state_of(view, "timer") == state_of(view, "lapse") == "done"


@chapter.case(
    "waits", "Timers and events in branches", "parallel-1 §3",
    "A branch may consist of waits: each ends by its own timer or event, and the last one joins.", tool("send_event"),
)  # fmt: skip
def waits(w: World) -> None:
    view = w.start("conform-fork-waits")
    equal(entry_of(view, "fork")["state"], "waiting", "the state of the parallel step")
    view = w.until(view, _timed, "the branches of the two timers have joined")
    states(view, fork="waiting", signal="waiting", sleepy="waiting")
    equal(w.agent.ok("send_event", runId=run_id(view), name="wake")["consumedBy"], "sleepy", "consumedBy")
    equal(
        w.agent.ok("send_event", runId=run_id(view), name="go", data={"n": 1})["consumedBy"],
        "signal",
        "consumedBy",
    )
    view = w.view(view)
    states(view, fork="done", timer="done", signal="done", sleepy="done")
    outcome(view, "joined")


@chapter.case(
    "one-event", "An event serves one branch once", "core §3.6; parallel-1 §3",
    "A wait in a branch takes one delivery; a second one with its name is held.", tool("send_event"),
)  # fmt: skip
def one_event(w: World) -> None:
    view = w.start("conform-fork-waits")
    equal(
        w.agent.ok("send_event", runId=run_id(view), name="go", data={"n": 1})["consumedBy"],
        "signal",
        "consumedBy",
    )
    equal(
        w.agent.ok("send_event", runId=run_id(view), name="go", data={"n": 2})["consumedBy"],
        None,
        "consumedBy of a second",
    )
    equal(record_of(w.view(view), "signal")["output"], {"n": 1}, "the output of the wait")
