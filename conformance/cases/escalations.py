"""Escalation: an agent hands its step to people."""

from conformance.client import Data
from conformance.demands import demand, equal, item_of, names, outcome, record_of, states
from conformance.registry import Chapter
from conformance.world import World

chapter = Chapter("escalate", "A step goes to people")


def escalated(w: World, process: str = "conform-work", step: str = "work") -> Data:
    inputs: Data = {"subject": "S"} if process == "conform-work" else {}
    return w.escalate(w.start(process, **inputs), step, "The door is locked.")


@chapter.case(
    "item", "The step waits, an item opens", "core §3.3; tools: escalate",
    "The view shows the step as waiting and an item with the agent's note, which takes returned, completed and failed.",
)  # fmt: skip
def item(w: World) -> None:
    view = escalated(w)
    states(view, work="waiting")
    equal(view["run"]["state"], "waiting", "the run's state")
    found = item_of(view, "work")
    equal(found["kind"], "agent", "kind")
    equal(found["escalation"]["note"], "The door is locked.", "escalation.note")
    equal(
        found["escalation"]["by"], view["run"]["startedBy"], "escalation.by (the agent also started the run)"
    )
    equal(set(found["decide"]["decisions"]), {"returned", "completed", "failed"}, "decisions")
    demand("answer" in (found["output"] or {}), "the item carries the step's output requirements")
    demand(found["text"].startswith("Look at the subject."), "the item's text is the step's instructions")


@chapter.case(
    "claim-lost", "The agent loses its claim", "core §3.3", "The token is dead once escalate has returned.",
)  # fmt: skip
def claim_lost(w: World) -> None:
    view = w.start("conform-work", subject="S")
    claim = w.claim(view, "work")
    w.agent.ok("escalate", token=claim["token"], note="N")
    w.agent.refused("submit", "stale", "invalid", token=claim["token"], output={"answer": "A"}, summary="S")
    w.agent.refused("escalate", "stale", "invalid", token=claim["token"], note="N")


@chapter.case(
    "listed", "Somebody finds it, agents don't", "core §3.3",
    "An escalation is in the work of operators, or of whom the server is configured to ask; no agent is offered the step.",
)  # fmt: skip
def listed(w: World) -> None:
    view = escalated(w)
    w.handler(view, "work")
    equal(w.offered(view, w.agent), [], "what the agent finds")
    equal(w.offered(view, w.other), [], "what another agent finds")


@chapter.case(
    "returned", "Returned, the step is ready again", "core §3.4",
    "returned with a note makes the step ready for any agent, and records no completion.",
)  # fmt: skip
def returned(w: World) -> None:
    view = escalated(w)
    view = w.decide(view, "work", "returned", by=w.handler(view, "work"), note="The key is under the mat.")
    states(view, work="ready")
    equal((view["run"]["state"], view["workItems"]), ("active", []), "the run's state and the open items")
    demand("work" not in view["data"]["steps"], "a return is no completion; run data must hold nothing of it")
    outcome(w.work(view, "work", {"answer": "A"}, by=w.other), "worked")


@chapter.case(
    "completed", "A person completes it in the agent's place", "core §3.4",
    "completed is accepted as a submission is, and recorded as the person's.",
)  # fmt: skip
def completed(w: World) -> None:
    view = escalated(w)
    who = w.handler(view, "work")
    wrong = w.decision(view, "work", decision="completed", output={"answer": 5})
    names(who.refused("decide", "not_accepted", **wrong), "answer")
    states(w.view(view), work="waiting")
    view = w.decide(view, "work", "completed", by=who, output={"answer": "Opened it myself."})
    record = record_of(view, "work")
    equal(record["output"], {"answer": "Opened it myself."}, "output")
    demand(record["by"] != view["run"]["startedBy"], "by must be the person, not the agent")
    outcome(view, "worked")


@chapter.case(
    "completed-with-route", "Completing a step with routes", "core §3.2, §3.4",
    "An escalated step with routes is completed with next and reason.",
)  # fmt: skip
def completed_with_route(w: World) -> None:
    view = escalated(w, "conform-routes", "choose")
    who = w.handler(view, "choose")
    names(
        who.refused("decide", "not_accepted", **w.decision(view, "choose", decision="completed", output={})),
        "next",
    )
    view = w.decide(view, "choose", "completed", by=who, output={}, next="left", reason="I looked.")
    states(view, choose="done", left="ready", right=None)


@chapter.case(
    "failed", "A person gives up", "core §3.4", "failed with a note ends the run.",
)  # fmt: skip
def failed(w: World) -> None:
    view = escalated(w)
    view = w.decide(view, "work", "failed", by=w.handler(view, "work"), note="It can't be done.")
    outcome(view, "failed")
    states(view, work="failed")
    equal(view["run"]["ended"]["note"], "It can't be done.", "ended.note")


@chapter.case(
    "note-needed", "A return and a failure need a note", "tools: decide", "returned and failed without a note are refused.",
)  # fmt: skip
def note_needed(w: World) -> None:
    view = escalated(w)
    who = w.handler(view, "work")
    for decision in ("returned", "failed"):
        who.refused("decide", "invalid", "not_accepted", **w.decision(view, "work", decision=decision))
    states(w.view(view), work="waiting")


@chapter.case(
    "no-approval", "It can't be approved or rejected", "tools: decide", "An escalated step takes its own decisions only.",
)  # fmt: skip
def no_approval(w: World) -> None:
    view = escalated(w)
    who = w.handler(view, "work")
    who.refused("decide", "invalid", "not_accepted", **w.decision(view, "work", decision="approved"))
    given = {"decision": "rejected", "note": "N"}
    who.refused("decide", "invalid", "not_accepted", **w.decision(view, "work", **given))


@chapter.case(
    "again", "It may be escalated again", "core §3.3, §3.4",
    "A returned step that is escalated once more opens a new item, with the earlier note in its handoff.",
)  # fmt: skip
def again(w: World) -> None:
    view = escalated(w)
    first = item_of(view, "work")["id"]
    w.decide(view, "work", "returned", by=w.handler(view, "work"), note="Try the window.")
    view = w.escalate(view, "work", "It is closed as well.")
    found = item_of(view, "work")
    demand(found["id"] != first, "the second escalation must be an item of its own")
    equal(found["escalation"]["note"], "It is closed as well.", "escalation.note")
    equal(
        (found["handoff"] or {}).get("returned", {}).get("note"), "Try the window.", "handoff.returned.note"
    )


@chapter.case(
    "arguments", "An escalation says why", "tools: escalate", "Without a note, escalate is invalid and the claim stands.",
)  # fmt: skip
def arguments(w: World) -> None:
    view = w.start("conform-work", subject="S")
    claim = w.claim(view, "work")
    w.agent.refused("escalate", "invalid", token=claim["token"])
    w.agent.refused("escalate", "invalid", note="N")
    states(w.view(view), work="claimed")


@chapter.case(
    "by-a-person", "People don't escalate", "core §4.1", "escalate is a tool of agents.",
)  # fmt: skip
def by_a_person(w: World) -> None:
    claim = w.claim(w.start("conform-work", subject="S"), "work")
    w.person.refused("escalate", "forbidden", "invalid", token=claim["token"], note="N")
    w.submit(claim, {"answer": "A"})
