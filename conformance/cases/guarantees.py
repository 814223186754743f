"""Test runs, versions, and the five guarantees told as small stories."""

from typing import Any

from conformance.client import Data, new_id
from conformance.demands import demand, equal, item_of, outcome, record_of, states
from conformance.failures import Failure
from conformance.library import read
from conformance.registry import PUBLISHING, Chapter
from conformance.world import World, run_id

modes = Chapter("mode", "Test runs say so")


@modes.case(
    "test", "A test run says so everywhere", "core §3.3; tools: Shared shapes",
    "In a run of mode test the view, the offered step, the claim and every work item are marked.",
)  # fmt: skip
def test_mode(w: World) -> None:
    view = w.start("conform-approval", mode="test")
    equal(view["run"]["mode"], "test", "run.mode")
    equal(w.offered(view)[0]["mode"], "test", "mode in an agent's work")
    claim = w.claim(view, "draft")
    equal(claim["mode"], "test", "mode of the claim")
    view = w.submit(claim, {"text": "T"})
    equal(item_of(view, "approve").get("mode"), "test", "mode of the work item")
    entry = w.offered(view, w.person)[0]
    equal(
        (entry["mode"], entry["workItem"].get("mode")),
        ("test", "test"),
        "mode in a person's work and its item",
    )
    view = w.decide(view, "approve", "approved")
    outcome(view, "published")
    equal(view["run"]["mode"], "test", "run.mode at the end")


@modes.case(
    "live", "Any other run is live", "tools: start_run", "mode is live where it is left out, and a live item has no mark.",
)  # fmt: skip
def live_mode(w: World) -> None:
    view = w.start("conform-task")
    equal(view["run"]["mode"], "live", "run.mode")
    demand("mode" not in item_of(view, "task"), "an item of a live run carries no mode")
    equal(w.start("conform-task", mode="live")["run"]["mode"], "live", "run.mode of a run that asks for live")


versions = Chapter("version", "A published version never changes", PUBLISHING)

_SECOND = (
    ("Work as the first edition says.", "Work as the second edition says."),
    ("output: { answer: string }", "output: { reply: number }"),
    ("finish: first-edition", "finish: second-edition"),
    ("The first edition.", "The second edition."),
)


def published(w: World, text: str) -> None:
    """Publish a text as conform-versions, now."""
    if w.desk is None:
        raise Failure("there is no way to publish")
    key = new_id()
    w.desk.put(key, "conform-versions", text.encode())
    done = w.desk.outcome(key)
    demand(done.published, f"the edition must be published: {done.said[-600:]}")


def editions(w: World) -> tuple[Data, Data]:
    """A run of the first edition, then the second edition published and a run of that."""
    first = second = read("conform-versions").text
    for old, new in _SECOND:
        second = second.replace(old, new)
    published(w, first)
    before = w.start("conform-versions")
    published(w, second)
    after = w.start("conform-versions")
    w.editions = {"first": before["run"]["version"], "second": after["run"]["version"]}
    return before, after


@versions.case(
    "pinned", "A run keeps its version for life", "core §6.5",
    "A run that began with one version is worked, accepted and ended by that version, whatever is published later.",
)  # fmt: skip
def pinned(w: World) -> None:
    old, new = editions(w)
    demand(
        new["run"]["version"].value > old["run"]["version"].value, "a new version must have a higher number"
    )
    read_again = w.view(old)
    equal(
        (read_again["body"], read_again["run"]["version"]),
        (old["body"], old["run"]["version"]),
        "body and version",
    )
    claim = w.claim(old, "work")
    equal(claim["step"]["instructions"], "Work as the first edition says.", "the instructions")
    equal(claim["step"]["output"], {"answer": "string"}, "the output that is asked for")
    outcome(w.submit(claim, {"answer": "A"}), "first-edition")
    claim = w.claim(new, "work")
    equal(claim["step"]["output"], {"reply": "number"}, "the output that the new version asks for")
    outcome(w.submit(claim, {"reply": 1}), "second-edition")


def numbers_of(w: World) -> dict[str, Any]:
    """The version numbers of the first and the second edition, published if they are not yet."""
    if not w.editions:
        editions(w)
    return w.editions


@versions.case(
    "by-number", "An earlier version can still be started", "tools: start_run",
    "version names any published version; left out, and in the catalog, it is the latest.",
)  # fmt: skip
def by_number(w: World) -> None:
    numbers = numbers_of(w)
    view = w.agent.ok("start_run", process="conform-versions", version=numbers["first"], inputs={})
    w.started.append(run_id(view))
    equal(view["run"]["version"], numbers["first"], "the version of a run that names the first")
    equal(
        w.claim(view, "work")["step"]["output"],
        {"answer": "string"},
        "the output that the first edition asks for",
    )
    equal(
        w.start("conform-versions")["run"]["version"],
        numbers["second"],
        "the version of a run that names none",
    )
    listed = {item["name"]: item["version"] for item in w.listed(w.agent, "list_processes")}
    equal(listed["conform-versions"], numbers["second"], "the version in the catalog")


guarantees = Chapter("guarantee", "The five guarantees, as small stories")


@guarantees.case(
    "order", "1: work exists only along the steps", "core §6.1",
    "At no moment is a step open that the run has not come to: each becomes ready when its predecessor completes into it.",
)  # fmt: skip
def order(w: World) -> None:
    view = w.start("conform-rework")
    path = ("plan", "build", "review", "ship", "accept", "done")
    outputs = {"plan": {"plan": "1"}, "build": {"built": "1"}, "ship": {"place": "1"}}
    for place, step in enumerate(path[:-1]):
        open_states = {entry["id"]: entry["state"] for entry in view["steps"] if entry["state"] != "done"}
        wanted = {step: "ready" if step in outputs else "waiting", **dict.fromkeys(path[place + 1 :])}
        equal(open_states, wanted, f"the steps that are not done when the run is at {step}")
        view = w.work(view, step, outputs[step]) if step in outputs else w.decide(view, step, "approved")
    outcome(view, "accepted")


@guarantees.case(
    "one-actor", "2: one actor at a time", "core §6.2",
    "A live claim keeps every other caller out, and an escalation takes the step from its holder.",
)  # fmt: skip
def one_actor(w: World) -> None:
    view = w.start("conform-work", subject="S")
    claim = w.claim(view, "work")
    w.other.refused("claim", "conflict", issue="claimed_by_other", runId=run_id(view), stepId="work")
    view = w.agent.ok("escalate", token=claim["token"], note="N")
    w.decide(view, "work", "returned", by=w.handler(view, "work"), note="Go on.")
    theirs = w.claim(view, "work", by=w.other)
    given = {"token": claim["token"], "output": {"answer": "mine"}, "summary": "S"}
    w.agent.refused("submit", "stale", "invalid", **given)
    view = w.submit(theirs, {"answer": "theirs"}, by=w.other)
    equal(record_of(view, "work")["output"], {"answer": "theirs"}, "the output that counts")


@guarantees.case(
    "acceptance", "3: all rules or nothing", "core §6.3",
    "Output, evidence and route are looked at together; until all is well, nothing of the submission is kept.",
)  # fmt: skip
def acceptance(w: World) -> None:
    view = w.start("conform-files-and-links")
    claim = w.claim(view, "attach")
    given = {"token": claim["token"], "summary": "S"}
    file = {"kind": "file", "ref": w.upload()["id"]}
    w.agent.refused("submit", "not_accepted", **given, output={"x": 1}, evidence=[file])
    w.agent.refused("submit", "not_accepted", **given, output={}, evidence=[file], next="after", reason="R")
    equal(w.view(view)["data"]["steps"], {}, "what run data holds of the step")
    page = {"kind": "link", "ref": "https://example.org"}
    states(w.agent.ok("submit", **given, output={}, evidence=[file, page]), attach="done", after="ready")


@guarantees.case(
    "people-decide", "4: people decide, on what they saw", "core §6.4",
    "An agent's decision is refused, an old snapshot is refused, a person's current one counts.",
)  # fmt: skip
def people_decide(w: World) -> None:
    view = w.work(w.start("conform-approval"), "draft", {"text": "1"})
    seen = w.decision(view, "approve", decision="approved")
    w.agent.refused("decide", "forbidden", **seen)
    w.decide(view, "approve", "rejected", note="Again.")
    view = w.work(view, "draft", {"text": "2"})
    now = w.decision(view, "approve", decision="approved")
    w.person.refused("decide", "stale", **{**now, "snapshot": seen["snapshot"]})
    outcome(w.person.ok("decide", **now), "published")


@guarantees.case(
    "immutability", "5: what is published stays", "core §6.5",
    "Publishing anew gives a new number; the old number still means the old text.", PUBLISHING,
)  # fmt: skip
def immutability(w: World) -> None:
    for edition, number in numbers_of(w).items():
        again = w.agent.ok("start_run", process="conform-versions", version=number, inputs={})
        w.started.append(run_id(again))
        demand(
            f"The {edition} edition." in again["body"],
            f"version {number} must have the {edition} edition's body",
        )
