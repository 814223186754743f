"""decide: what is refused, and in which order."""

from functools import partial

from conformance.client import Data, new_id
from conformance.demands import demand, equal, outcome, states
from conformance.registry import PEOPLE_NAMED, STRICT, Chapter, profile
from conformance.world import World

chapter = Chapter("decide", "What a decision is refused for, and in which order")

ORDER = "tools: decide"


def drafted(w: World) -> Data:
    """A run of conform-approval that waits for its approval."""
    return w.work(w.start("conform-approval"), "draft", {"text": "T"})


@chapter.case(
    "agent", "An agent never decides", "core §6.4", "decide from an agent identity is always refused.",
)  # fmt: skip
def agent(w: World) -> None:
    task = w.start("conform-task")
    w.agent.refused(
        "decide", "forbidden", **w.decision(task, "task", decision="completed", output={"answer": "A"})
    )
    ask = w.start("conform-verdict")
    for given in (
        {"decision": "approved"},
        {"decision": "rejected", "note": "N"},
        {"decision": "failed", "note": "N"},
    ):
        w.agent.refused("decide", "forbidden", **w.decision(ask, "ask", **given))
    states(w.view(ask), ask="waiting")
    states(w.view(task), task="waiting")


@chapter.case(
    "agent-escalation", "An agent decides no escalation", "core §6.4",
    "An agent can't return, complete or fail a step that it escalated.",
)  # fmt: skip
def agent_escalation(w: World) -> None:
    view = w.escalate(w.start("conform-work", subject="S"), "work")
    for given in (
        {"decision": "returned", "note": "N"}, {"decision": "failed", "note": "N"},
        {"decision": "completed", "output": {"answer": "A"}},
    ):  # fmt: skip
        w.agent.refused("decide", "forbidden", **w.decision(view, "work", **given))


@chapter.case(
    "stale", "An old snapshot", "core §3.4, §6.4",
    "A decision carries the snapshot that it rests on; one that is not current is stale, and a fresh read helps.",
)  # fmt: skip
def stale(w: World) -> None:
    view = w.start("conform-verdict")
    decision = {**w.decision(view, "ask", decision="approved"), "snapshot": "of-long-ago"}
    w.person.refused("decide", "stale", **decision)
    states(w.view(view), ask="waiting")
    outcome(w.decide(view, "ask", "approved"), "agreed")


@chapter.case(
    "stale-rework", "A snapshot from before the rework", "core §3.4",
    "Run data that changed since the read makes a decision stale, though it names the open item.",
)  # fmt: skip
def stale_rework(w: World) -> None:
    view = drafted(w)
    before = w.decision(view, "approve", decision="approved")
    w.decide(view, "approve", "rejected", note="Again.")
    view = w.work(view, "draft", {"text": "U"})
    again = w.decision(view, "approve", decision="approved")
    demand(again["snapshot"] != before["snapshot"], "the snapshot must change with the run data")
    w.person.refused("decide", "stale", **{**again, "snapshot": before["snapshot"]})
    outcome(w.decide(view, "approve", "approved"), "published")


@chapter.case(
    "stale-sibling", "A sibling's completion makes a decision stale", "parallel-1 §3, Snapshots",
    "Within a fork every completion changes run data, so a person who read before it reads again.",
    profile("parallel-1"),
)  # fmt: skip
def stale_sibling(w: World) -> None:
    view = w.work(w.start("conform-fork"), "begin")
    decision = w.decision(view, "right", decision="completed", output={"side": "R"})
    w.work(view, "left", {"side": "L"}, next="join", reason="Done.")
    w.person.refused("decide", "stale", **decision)
    states(w.decide(view, "right", "completed", output={"side": "R"}), fork="done", review="waiting")


@chapter.case(
    "ended-first", "run_ended comes before everything", ORDER,
    "On an ended run every decision is run_ended: an unknown item, an old snapshot, an agent, all alike.",
)  # fmt: skip
def ended_first(w: World) -> None:
    view = w.start("conform-verdict")
    decision = w.decision(view, "ask", decision="approved")
    w.decide(view, "ask", "approved")
    for who in (w.person, w.colleague, w.agent):
        w_refused = partial(who.refused, "decide", "conflict", issue="run_ended")
        w_refused(**decision)
        w_refused(**{**decision, "workItemId": "no-such-item"})
        w_refused(**{**decision, "snapshot": "of-long-ago"})


@chapter.case(
    "decided-before-stale", "already_decided comes before stale", ORDER,
    "Whoever comes second learns that the item is decided, not that the snapshot is old; an agent too.",
)  # fmt: skip
def decided_before_stale(w: World) -> None:
    view = drafted(w)
    decision = w.decision(view, "approve", decision="approved")
    w.decide(view, "approve", "rejected", note="Again.")
    for who in (w.person, w.colleague, w.agent):
        who.refused("decide", "conflict", issue="already_decided", **{**decision, "snapshot": "of-long-ago"})


@chapter.case(
    "unknown-before-stale", "not_found comes before stale", ORDER,
    "An item that never was on this run is not_found, whatever the snapshot and whoever asks.",
)  # fmt: skip
def unknown_before_stale(w: World) -> None:
    view = w.start("conform-verdict")
    decision = {**w.decision(view, "ask", decision="approved"), "workItemId": "no-such-item"}
    for who in (w.person, w.agent):
        who.refused("decide", "not_found", **decision)
        who.refused("decide", "not_found", **{**decision, "snapshot": "of-long-ago"})
    w.person.refused("decide", "not_found", **{**decision, "runId": "no-such-run"})


@chapter.case(
    "other-run", "An item of another run", ORDER, "An item is found on its own run only.",
)  # fmt: skip
def other_run(w: World) -> None:
    one, two = w.start("conform-verdict"), w.start("conform-verdict")
    decision = {**w.decision(one, "ask", decision="approved"), "runId": two["run"]["id"]}
    w.person.refused("decide", "not_found", **decision)
    states(w.view(one), ask="waiting")


@chapter.case(
    "stale-before-forbidden", "stale comes before forbidden", ORDER,
    "An agent with an old snapshot is told that it is old, and is refused for being one with a current snapshot.",
)  # fmt: skip
def stale_before_forbidden(w: World) -> None:
    view = w.start("conform-verdict")
    decision = w.decision(view, "ask", decision="approved")
    w.agent.refused("decide", "stale", **{**decision, "snapshot": "of-long-ago"})
    w.agent.refused("decide", "forbidden", **decision)


@chapter.case(
    "forbidden-before-issues", "forbidden comes before not_accepted", ORDER,
    "Whoever may not decide does not learn what is wrong with the output.",
)  # fmt: skip
def forbidden_before_issues(w: World) -> None:
    view = w.start("conform-task")
    decision = w.decision(view, "task", decision="completed", output={"answer": 5})
    w.agent.refused("decide", "forbidden", **decision)
    w.person.refused("decide", "not_accepted", **decision)


@chapter.case(
    "not-theirs", "A person outside the assignment", "core §3.4; tools: decide",
    "Only whoever an item is assigned to may decide it.", PEOPLE_NAMED,
)  # fmt: skip
def not_theirs(w: World) -> None:
    view = w.start("conform-person", reviewer=w.person.value)
    w.colleague.refused("decide", "forbidden", **w.decision(view, "review", decision="approved"))
    w.colleague.refused("decide", "forbidden", **w.decision(view, "review", decision="failed", note="N"))
    outcome(w.decide(view, "review", "approved"), "reviewed")


@chapter.case(
    "misplaced", "Arguments that don't go with the decision", "tools: decide",
    "note with completed, and output, evidence, summary, next or reason with anything else, are invalid.",
)  # fmt: skip
def misplaced(w: World) -> None:
    task, ask = w.start("conform-task"), w.start("conform-verdict")
    completed = {"decision": "completed", "output": {"answer": "A"}, "note": "N"}
    w.person.refused("decide", "invalid", **w.decision(task, "task", **completed))
    extras: tuple[Data, ...] = (
        {"output": {}}, {"evidence": []}, {"summary": "S"}, {"next": "done"}, {"reason": "R"},
        {"next": "done", "reason": "R"},
    )  # fmt: skip
    call = w.decision(ask, "ask")
    for extra in extras:
        for given in (
            {"decision": "approved"},
            {"decision": "rejected", "note": "N"},
            {"decision": "failed", "note": "N"},
        ):
            w.person.refused("decide", "invalid", **{**call, **given, **extra})
    states(w.view(ask), ask="waiting")


@chapter.case(
    "arguments", "Arguments that break the schema", "core §6.3", "A missing, unknown or mistyped argument is invalid.",
)  # fmt: skip
def arguments(w: World) -> None:
    decision = w.decision(w.start("conform-verdict"), "ask", decision="approved")
    for key in ("runId", "workItemId", "snapshot", "decision"):
        w.person.refused(
            "decide", "invalid", **{name: value for name, value in decision.items() if name != key}
        )
    w.person.refused("decide", "invalid", **{**decision, "decision": "perhaps"})
    w.person.refused("decide", "invalid", **decision, token="made-up")  # noqa: S106 - not a secret


@chapter.case(
    "invalid-before-ended", "A broken call is invalid even on an ended run", "our ruling on core §6.3",
    "Arguments are held against the schema before anything is looked at.", STRICT,
)  # fmt: skip
def invalid_before_ended(w: World) -> None:
    view = w.start("conform-verdict")
    decision = w.decision(view, "ask", decision="perhaps")
    w.decide(view, "ask", "approved")
    w.person.refused("decide", "invalid", **decision)


@chapter.case(
    "race", "Two people decide at the same time", "core §3.4, §6 closing rule",
    "Exactly one decision wins; the other is a conflict.",
)  # fmt: skip
def race(w: World) -> None:
    view = drafted(w)
    decision = w.decision(view, "approve", decision="rejected")
    calls = [
        partial(who.send, "decide", **decision, note=f"No, says {who.name}.", requestId=new_id())
        for who in (w.person, w.colleague, w.person, w.colleague)
    ]
    answers = w.together(calls)
    won = [exchange for exchange in answers if exchange.answer["ok"]]
    equal(len(won), 1, "the number of decisions that won")
    for exchange in answers:
        if exchange is not won[0]:
            equal(exchange.answer["error"]["code"], "conflict", "the code of a decision that lost")
            equal(exchange.answer["error"].get("issues"), ["already_decided"], "its issues")
