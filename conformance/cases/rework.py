"""Rework: an approval sends a run back, and nothing that was done is lost."""

from conformance.client import Data
from conformance.demands import (
    demand,
    entry_of,
    equal,
    item_of,
    moment,
    no_current,
    outcome,
    record_of,
    states,
)
from conformance.registry import Chapter
from conformance.world import World

chapter = Chapter("rework", "What a rejection takes back")


def reviewed(w: World) -> Data:
    """A run of conform-rework, planned and built, that waits for its review."""
    view = w.start("conform-rework")
    w.work(view, "plan", {"plan": "1"})
    return w.work(view, "build", {"built": "1"})


def shipped(w: World) -> Data:
    """The same, reviewed and shipped, that waits to be accepted."""
    view = w.decide(reviewed(w), "review", "approved", note="Fine.")
    return w.work(view, "ship", {"place": "1"})


@chapter.case(
    "back", "The returned-to step is ready, the rest unreached", "core §3.1, §3.5",
    "A rejection makes on_reject ready; what was completed after it is null and has no current value.",
)  # fmt: skip
def back(w: World) -> None:
    view = w.decide(reviewed(w), "review", "rejected", note="Plan anew.")
    states(view, plan="ready", build=None, review=None, ship=None)
    equal(view["run"]["state"], "active", "the run's state")
    no_current(view, "plan")
    no_current(view, "build")


@chapter.case(
    "history", "What was completed moves to history", "core §3.1",
    "Every step from the returned-to step on moves its fields into history, unchanged.",
)  # fmt: skip
def history(w: World) -> None:
    view = reviewed(w)
    before = {name: dict(record_of(view, name)) for name in ("plan", "build")}
    view = w.decide(view, "review", "rejected", note="Plan anew.")
    for name, record in before.items():
        record.pop("history")
        equal(record_of(view, name)["history"], [record], f"the history of {name}")


@chapter.case(
    "note-current", "The rejection stays current until it is decided anew", "core §3.1",
    "The rejecting approval keeps decision, note, by and at, so that the returned-to step reads the note.",
)  # fmt: skip
def note_current(w: World) -> None:
    view = w.decide(reviewed(w), "review", "rejected", note="Plan anew.")
    seen = w.claim(view, "plan")["data"]["steps"]["review"]
    equal(
        (seen["decision"], seen["note"], seen["history"]),
        ("rejected", "Plan anew.", []),
        "decision, note, history",
    )
    demand(seen["by"] and seen["at"], "by and at must stay too")


@chapter.case(
    "decided-anew", "The old decision then moves to history", "core §3.1",
    "When the approval completes again, its earlier decision is in its history, oldest first.",
)  # fmt: skip
def decided_anew(w: World) -> None:
    view = w.work(w.start("conform-approval"), "draft", {"text": "1"})
    for number in ("2", "3"):
        view = w.decide(view, "approve", "rejected", note=f"Write {number}.")
        view = w.work(view, "draft", {"text": number})
    view = w.decide(view, "approve", "approved")
    outcome(view, "published")
    draft, approve = record_of(view, "draft"), record_of(view, "approve")
    equal(
        [past["output"]["text"] for past in draft["history"]],
        ["1", "2"],
        "the history of draft, oldest first",
    )
    equal(
        [past.get("note") for past in approve["history"]], ["Write 2.", "Write 3."], "the history of approve"
    )
    equal((draft["output"], approve["decision"]), ({"text": "3"}, "approved"), "the current values")


@chapter.case(
    "second-current", "After the rework the new values are current", "core §3.1",
    "A step that completes again has its new values; the old ones are one entry of its history.",
)  # fmt: skip
def second_current(w: World) -> None:
    view = w.decide(reviewed(w), "review", "rejected", note="Plan anew.")
    view = w.work(view, "plan", {"plan": "2"})
    states(view, plan="done", build="ready", review=None)
    record = record_of(view, "plan")
    equal((record["output"], len(record["history"])), ({"plan": "2"}, 1), "output and length of the history")
    no_current(view, "build")


@chapter.case(
    "only-after", "Steps before the returned-to step stay", "core §3.1",
    "Only what was completed after the returned-to step, and that step, is taken back.",
)  # fmt: skip
def only_after(w: World) -> None:
    view = w.decide(shipped(w), "accept", "rejected", note="Build anew.")
    states(view, plan="done", build="ready", review=None, ship=None, accept=None)
    equal(record_of(view, "plan")["output"], {"plan": "1"}, "the output of plan")
    equal(record_of(view, "plan")["history"], [], "the history of plan")
    for name in ("build", "review", "ship"):
        no_current(view, name)
        equal(len(record_of(view, name)["history"]), 1, f"the length of the history of {name}")


@chapter.case(
    "approval-between", "An approval in between is taken back too", "core §3.1",
    "Only the rejecting approval keeps its values; another one on the way moves to history.",
)  # fmt: skip
def approval_between(w: World) -> None:
    view = w.decide(shipped(w), "accept", "rejected", note="Build anew.")
    past = record_of(view, "review")["history"][0]
    equal((past["decision"], past["note"]), ("approved", "Fine."), "the review in its history")
    equal(record_of(view, "accept")["note"], "Build anew.", "the rejecting approval's note")


@chapter.case(
    "through", "After rework the run goes the whole way again", "core §6.1",
    "Each step becomes ready because its predecessor completed into it, the second time as well.",
)  # fmt: skip
def through(w: World) -> None:
    view = w.decide(shipped(w), "accept", "rejected", note="Build anew.")
    view = w.work(view, "build", {"built": "2"})
    states(view, build="done", review="waiting", ship=None)
    view = w.decide(view, "review", "approved")
    view = w.work(view, "ship", {"place": "2"})
    view = w.decide(view, "accept", "approved")
    outcome(view, "accepted")
    equal(
        [past["output"] for past in record_of(view, "ship")["history"]],
        [{"place": "1"}],
        "the history of ship",
    )


@chapter.case(
    "due-restarts", "A repeat restarts the due clock", "core §2.2",
    "due counts from the moment the step became ready again.",
)  # fmt: skip
def due_restarts(w: World) -> None:
    view = w.work(w.start("conform-approval"), "draft", {"text": "1"})
    first = moment(item_of(view, "approve")["due"])
    view = w.decide(view, "approve", "rejected", note="Again.")
    demand(entry_of(view, "approve")["state"] is None, "the approval is unreached")
    view = w.work(view, "draft", {"text": "2"})
    demand(moment(item_of(view, "approve")["due"]) > first, "due of the repeat must be later than the first")


@chapter.case(
    "new-item", "A repeat is a new item", "core §3.4",
    "The item of the second round is another one; the first stays decided.",
)  # fmt: skip
def new_item(w: World) -> None:
    view = w.work(w.start("conform-approval"), "draft", {"text": "1"})
    first = item_of(view, "approve")["id"]
    view = w.decide(view, "approve", "rejected", note="Again.")
    equal(view["workItems"], [], "the open items after the rejection")
    view = w.work(view, "draft", {"text": "2"})
    demand(item_of(view, "approve")["id"] != first, "the item of the second round must have its own id")


@chapter.case(
    "forward", "A rejection may lead on instead of back", "core §2.2",
    "on_reject names any step; one that lies ahead becomes ready, and the rejection stays on record.",
)  # fmt: skip
def forward(w: World) -> None:
    view = w.decide(w.start("conform-reject-forward"), "ask", "rejected", note="Not like this.")
    states(view, mend="ready", refused=None, done=None)
    view = w.work(view, "mend")
    outcome(view, "refused")
    record = record_of(view, "ask")
    equal((record["decision"], record["note"]), ("rejected", "Not like this."), "decision and note")


@chapter.case(
    "old-token", "A token from before the rework", "core §6.2",
    "A claim of the first round is over; its token does not work on the step's new attempt.",
)  # fmt: skip
def old_token(w: World) -> None:
    view = w.start("conform-approval")
    claim = w.claim(view, "draft")
    w.submit(claim, {"text": "1"})
    w.decide(view, "approve", "rejected", note="Again.")
    w.agent.refused("submit", "stale", token=claim["token"], output={"text": "2"}, summary="S")
    w.claim(view, "draft")
    w.agent.refused("submit", "stale", token=claim["token"], output={"text": "2"}, summary="S")
