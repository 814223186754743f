"""Routes: where a run goes when there is a choice."""

from conformance.client import Data
from conformance.demands import equal, exactly, names, outcome, record_of, states
from conformance.registry import STRICT, Chapter
from conformance.world import World

chapter = Chapter("route", "Where a run goes when there is a choice")

ROUTES = [{"to": "left", "when": "The way is clear"}, {"to": "right"}]


def claimed(w: World) -> Data:
    return w.claim(w.start("conform-routes"), "choose")


@chapter.case(
    "shown", "A claim and an item show the routes", "tools: claim, workItems",
    "Where next is a list, each route is shown with its step, and with its when where the author wrote one.",
)  # fmt: skip
def shown(w: World) -> None:
    equal(claimed(w)["step"]["next"], ROUTES, "step.next of the claim")
    view = w.start("conform-task-routes")
    equal(view["workItems"][0]["next"], ROUTES, "next of the work item")


@chapter.case(
    "taken", "The chosen route is taken", "core §3.2",
    "The run goes on at the chosen step and at no other; choice and reason are recorded.",
)  # fmt: skip
def taken(w: World) -> None:
    view = w.submit(claimed(w), next="right", reason="The left is blocked.")
    states(view, choose="done", left=None, right="ready", end_left=None, end_right=None)
    record = record_of(view, "choose")
    equal((record["next"], record["reason"]), ("right", "The left is blocked."), "next and reason")
    outcome(w.work(view, "right"), "went-right")


@chapter.case(
    "required", "No choice, no completion", "core §3.2", "Where next is a list, a submission without next is not accepted.",
)  # fmt: skip
def required(w: World) -> None:
    claim = claimed(w)
    refusal = w.agent.refused("submit", "not_accepted", token=claim["token"], output={}, summary="S")
    names(refusal, "next", "reason")
    states(w.submit(claim, next="left", reason="Clear."), left="ready")


@chapter.case(
    "not-among", "A step that is no route", "core §3.2, §6.3",
    "next must be one of the listed routes, not just any step of the process.",
)  # fmt: skip
def not_among(w: World) -> None:
    claim = claimed(w)
    for step in ("end_left", "choose", "no-such-step", ""):
        given: Data = {"output": {}, "summary": "S", "next": step, "reason": "R"}
        names(w.agent.refused("submit", "not_accepted", "invalid", token=claim["token"], **given), "next")


@chapter.case(
    "reason", "A choice without a reason", "core §3.2", "The reason must be there and must not be blank.",
)  # fmt: skip
def reason(w: World) -> None:
    claim = claimed(w)
    blank: tuple[Data, ...] = ({}, {"reason": ""}, {"reason": " \n\t"})
    for given in blank:
        refusal = w.agent.refused(
            "submit", "not_accepted", token=claim["token"], output={}, summary="S", next="left", **given
        )
        names(refusal, "reason")


@chapter.case(
    "not-allowed", "A choice where there is none", "core §3.2",
    "next and reason on a step whose next is no list are issues, even where next names the step that follows.",
)  # fmt: skip
def not_allowed(w: World) -> None:
    claim = w.claim(w.start("conform-two"), "first")
    given = {"token": claim["token"], "output": {"first": "1"}, "summary": "S"}
    names(w.agent.refused("submit", "not_accepted", **given, next="second", reason="R"), "next", "reason")
    names(w.agent.refused("submit", "not_accepted", **given, next="second"), "next")
    names(w.agent.refused("submit", "not_accepted", **given, reason="R"), "reason")


@chapter.case(
    "person", "A person chooses in a task", "core §2.2, §3.2",
    "A task may have routes; completed must choose one with a reason, under the same rules.",
)  # fmt: skip
def person(w: World) -> None:
    view = w.start("conform-task-routes")
    for given, field in (
        ({}, "next"),
        ({"next": "choose", "reason": "R"}, "next"),
        ({"next": "left"}, "reason"),
    ):
        decision = w.decision(view, "choose", decision="completed", output={}, **given)
        names(w.person.refused("decide", "not_accepted", **decision), field)
    view = w.decide(view, "choose", "completed", output={}, next="left", reason="Clear.")
    record = record_of(view, "choose")
    equal((record["next"], record["reason"]), ("left", "Clear."), "next and reason")
    outcome(view, "went-left")


@chapter.case(
    "person-not-allowed", "A person's choice where there is none", "core §3.2; tools: decide",
    "next and reason with completed on a task without routes are not accepted.",
)  # fmt: skip
def person_not_allowed(w: World) -> None:
    view = w.start("conform-task")
    decision = w.decision(view, "task", decision="completed", output={"answer": "A"}, next="done", reason="R")
    names(w.person.refused("decide", "not_accepted", **decision), "next")


@chapter.case(
    "exact-lines", "The issue lines, word for word", "our ruling on tools: submit",
    "Issues read `next: required, one of a, b` and `reason: required`.", STRICT,
)  # fmt: skip
def exact_lines(w: World) -> None:
    claim = claimed(w)
    refusal = w.agent.refused("submit", "not_accepted", token=claim["token"], output={}, summary="S")
    exactly(refusal, "next: required, one of left, right", "reason: required")
