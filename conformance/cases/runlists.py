"""list_runs: finding runs by what they are and what they began with."""

from typing import Any

from conformance.client import Data, new_id
from conformance.codec import Number
from conformance.demands import demand, equal
from conformance.registry import Chapter, tool
from conformance.world import World, run_id

chapter = Chapter("runs", "Finding runs", tool("list_runs"))


def found(w: World, **arguments: Any) -> list[str]:
    """The ids of all runs of conform-work that fit."""
    return [item["id"] for item in w.listed(w.agent, "list_runs", process="conform-work", **arguments)]


def marked(w: World, **inputs: Any) -> tuple[Data, str]:
    """A run with a subject of its own."""
    subject = new_id()
    return w.start("conform-work", subject=subject, **inputs), subject


@chapter.case(
    "entry", "An entry tells what a run is", "tools: list_runs", "Id, process, version, state, outcome, times and inputs.",
)  # fmt: skip
def entry(w: World) -> None:
    view, subject = marked(w)
    w.work(view, "work", {"answer": "A"})
    items = list(w.listed(w.agent, "list_runs", process="conform-work", inputs={"subject": subject}))
    equal(len(items), 1, "the number of runs found")
    run = w.view(view)["run"]
    wanted = {
        key: run[key] for key in ("id", "process", "version", "state", "outcome", "startedAt", "updatedAt")
    }
    equal(items[0], {**wanted, "inputs": {"subject": subject}}, "the entry")


@chapter.case("by-state", "By state", "tools: list_runs", "state narrows the list to runs in that state.")
def by_state(w: World) -> None:
    active, subject = marked(w)
    waiting = w.escalate(w.start("conform-work", subject=subject), "work")
    ended = w.work(w.start("conform-work", subject=subject), "work", {"answer": "A"})
    gone = w.operator.ok("cancel", runId=run_id(w.start("conform-work", subject=subject)), reason="R")
    for state, view in (("active", active), ("waiting", waiting), ("ended", ended), ("cancelled", gone)):
        equal(
            found(w, state=state, inputs={"subject": subject}), [run_id(view)], f"the runs that are {state}"
        )


@chapter.case(
    "by-process", "By process", "tools: list_runs", "process narrows the list to runs of that process."
)
def by_process(w: World) -> None:
    view = w.start("conform-two")
    items = list(w.listed(w.agent, "list_runs", process="conform-two", state="active"))
    equal({item["process"] for item in items}, {"conform-two"}, "the processes that are listed")
    demand(run_id(view) in {item["id"] for item in items}, "the run must be found")
    equal(
        list(w.listed(w.agent, "list_runs", process="conform-no-such-process")), [], "the runs of no process"
    )


@chapter.case(
    "by-inputs", "By several inputs", "tools: list_runs", "A run fits when every given field is equal; others don't matter.",
)  # fmt: skip
def by_inputs(w: World) -> None:
    view, subject = marked(w, amount=5, ready=True)
    other = w.start("conform-work", subject=subject, amount=5, ready=False)
    equal(set(found(w, inputs={"subject": subject})), {run_id(view), run_id(other)}, "by subject")
    equal(found(w, inputs={"subject": subject, "ready": True}), [run_id(view)], "by subject and ready: true")
    equal(
        found(w, inputs={"subject": subject, "ready": False}), [run_id(other)], "by subject and ready: false"
    )
    equal(found(w, inputs={"subject": subject, "amount": 6}), [], "by an amount that no run has")
    equal(found(w, inputs={"subject": subject, "colour": "red"}), [], "by a field that no run has")


@chapter.case(
    "exact", "Numbers are compared exactly", "core §2.3; tools: list_runs",
    "Two numbers that differ in the last of many digits are different; the same value is the same.",
)  # fmt: skip
def exact(w: World) -> None:
    texts = ("0.1", "0.1000000000000000055", "12345678901234567890", "12345678901234567891", "1e400")
    view, subject = marked(w, amount=Number(texts[0]))
    runs = {texts[0]: run_id(view)}
    for text in texts[1:]:
        runs[text] = run_id(w.start("conform-work", subject=subject, amount=Number(text)))
    for text, run in runs.items():
        equal(
            found(w, inputs={"subject": subject, "amount": Number(text)}),
            [run],
            f"the runs with the amount {text}",
        )


@chapter.case(
    "types", "A text is no number", "tools: list_runs", 'Equality is of the same type: "5", 5 and true are three things.',
)  # fmt: skip
def types(w: World) -> None:
    view, subject = marked(w, amount=1, ready=True)
    equal(found(w, inputs={"subject": subject, "amount": "1"}), [], 'the runs with the amount "1"')
    equal(found(w, inputs={"subject": subject, "amount": True}), [], "the runs with the amount true")
    equal(found(w, inputs={"subject": subject, "ready": 1}), [], "the runs with ready: 1")
    equal(
        found(w, inputs={"subject": subject, "amount": 1, "ready": True}),
        [run_id(view)],
        "the runs with both",
    )


@chapter.case(
    "structures", "By lists and objects", "tools: list_runs", "A list or an object is equal as a whole, keys in any order.",
)  # fmt: skip
def structures(w: World) -> None:
    view, subject = marked(w, tags=["a", "b"], detail={"x": 1, "y": [2]})
    equal(found(w, inputs={"subject": subject, "tags": ["a", "b"]}), [run_id(view)], "by tags")
    equal(found(w, inputs={"subject": subject, "tags": ["b", "a"]}), [], "by tags in another order")
    equal(found(w, inputs={"subject": subject, "tags": ["a"]}), [], "by a part of the tags")
    equal(found(w, inputs={"subject": subject, "detail": {"y": [2], "x": 1}}), [run_id(view)], "by detail")


@chapter.case(
    "pages", "Page by page", "tools: list_runs", "Every run stands on one page, also while others are started.",
)  # fmt: skip
def pages(w: World) -> None:
    view, subject = marked(w)
    mine = {run_id(view)} | {run_id(w.start("conform-work", subject=subject)) for _ in range(4)}
    listed: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = w.agent.ok("list_runs", process="conform-work", inputs={"subject": subject}, limit=2, **cursor)
        listed += [item["id"] for item in page["items"]]
        if page["nextCursor"] is None:
            break
        cursor = {"cursor": page["nextCursor"]}
        w.start("conform-work", subject="another")
    equal(sorted(listed), sorted(mine), "the runs of all pages")


@chapter.case(
    "arguments", "Arguments that break the schema", "core §6.3", "An unknown state, a limit out of range, a made-up cursor: invalid.",
)  # fmt: skip
def arguments(w: World) -> None:
    w.agent.refused("list_runs", "invalid", state="open")
    w.agent.refused("list_runs", "invalid", limit=0)
    w.agent.refused("list_runs", "invalid", limit=101)
    w.agent.refused("list_runs", "invalid", inputs=[])
    w.agent.refused("list_runs", "invalid", cursor="no-page-gave-this")


@chapter.case(
    "for-people", "People may list too", "core §4.2", "Anyone in the organization may list runs.",
)  # fmt: skip
def for_people(w: World) -> None:
    view, subject = marked(w)
    items = list(w.listed(w.person, "list_runs", inputs={"subject": subject}))
    equal([item["id"] for item in items], [run_id(view)], "the runs that a person finds")
