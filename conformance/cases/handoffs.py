"""Handoff: what an attempt leaves to the next go."""

from conformance.demands import demand, entry_of, equal, item_of, states
from conformance.registry import Chapter
from conformance.world import World

chapter = Chapter("handoff", "What an attempt leaves to the next go")


@chapter.case(
    "first", "There is none on a first attempt", "core §3.3",
    "The handoff is null in get_work, in the claim and in a work item as long as nothing was left.",
)  # fmt: skip
def first(w: World) -> None:
    view = w.start("conform-work", subject="S")
    equal(w.offered(view)[0]["handoff"], None, "the handoff in get_work")
    equal(w.claim(view, "work")["handoff"], None, "the handoff of the claim")
    equal(item_of(w.start("conform-task"), "task")["handoff"], None, "the handoff of a work item")


@chapter.case(
    "returned", "The note of whoever returned the step", "core §3.3, §3.4",
    "A returned step carries the note, and who wrote it when, to get_work and to the next claim.",
)  # fmt: skip
def returned(w: World) -> None:
    view = w.escalate(w.start("conform-work", subject="S"), "work")
    w.decide(view, "work", "returned", by=w.handler(view, "work"), note="Look in the cellar.")
    offered = w.offered(view)[0]["handoff"]
    handoff = w.claim(view, "work")["handoff"]
    equal(handoff, offered, "the handoff of the claim beside that of get_work")
    equal(handoff["returned"]["note"], "Look in the cellar.", "handoff.returned.note")
    demand(handoff["returned"]["by"] and handoff["returned"]["at"], "handoff.returned must say who and when")


@chapter.case(
    "issues-and-returned", "Issues stay beside a return", "core §3.3",
    "Several things may be left: the issues of the last submission and the note of the person who returned the step.",
)  # fmt: skip
def issues_and_returned(w: World) -> None:
    view = w.start("conform-work", subject="S")
    claim = w.claim(view, "work")
    refusal = w.agent.refused("submit", "not_accepted", token=claim["token"], output={}, summary="S")
    view = w.agent.ok("escalate", token=claim["token"], note="No idea.")
    item = item_of(view, "work")
    equal((item["handoff"] or {}).get("issues"), list(refusal.issues), "handoff.issues of the escalated item")
    w.decide(view, "work", "returned", by=w.handler(view, "work"), note="Try again.")
    handoff = w.claim(view, "work")["handoff"]
    equal(handoff.get("issues"), list(refusal.issues), "handoff.issues after the return")
    equal(handoff["returned"]["note"], "Try again.", "handoff.returned.note")


@chapter.case(
    "next-step", "Another step starts without one", "core §3.3",
    "A handoff is of one step; the step after it has none of its own.",
)  # fmt: skip
def next_step(w: World) -> None:
    view = w.start("conform-two")
    claim = w.claim(view, "first")
    w.agent.refused("submit", "not_accepted", token=claim["token"], output={}, summary="S")
    w.submit(claim, {"first": "1"})
    equal(w.claim(view, "second")["handoff"], None, "the handoff of the next step")


@chapter.case(
    "rework", "Rework starts fresh", "core §3.3; check-1 §3",
    "A step that an approval sent back is a new attempt: nothing is handed over, the note stands in run data.",
)  # fmt: skip
def rework(w: World) -> None:
    view = w.start("conform-approval")
    claim = w.claim(view, "draft")
    w.agent.refused("submit", "not_accepted", token=claim["token"], output={}, summary="S")
    w.submit(claim, {"text": "One"})
    w.decide(view, "approve", "rejected", note="Too short.")
    claim = w.claim(view, "draft")
    equal(claim["handoff"], None, "the handoff after a rejection")
    equal(claim["data"]["steps"]["approve"]["note"], "Too short.", "the note in run data")


@chapter.case(
    "due-goes-on", "A return does not restart the due clock", "core §3.4",
    "A returned step is the same attempt, so its due time stays.",
)  # fmt: skip
def due_goes_on(w: World) -> None:
    view = w.start("conform-work", subject="S")
    due = entry_of(view, "work")["due"]
    view = w.escalate(view, "work")
    equal(item_of(view, "work")["due"], due, "due on the escalated item")
    view = w.decide(view, "work", "returned", by=w.handler(view, "work"), note="Again.")
    states(view, work="ready")
    equal(entry_of(view, "work")["due"], due, "due after the return")
