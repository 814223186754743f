"""list_processes: what can be started."""

from conformance.client import Data
from conformance.demands import demand, equal
from conformance.failures import Failure
from conformance.library import read
from conformance.registry import STRICT, Chapter
from conformance.world import World

chapter = Chapter("catalog", "What can be started")


def entry(w: World, name: str) -> Data:
    w.file(name)
    for item in w.listed(w.agent, "list_processes"):
        if item["name"] == name:
            return item
    raise Failure(f"list_processes must list {name}, which is published")


@chapter.case(
    "all-published", "Every valid file of the suite is published", "core §2, §6",
    "A server refuses only what the format forbids or what needs a tool or profile that it does not list.",
)  # fmt: skip
def all_published(w: World) -> None:
    from conformance.library import files

    for file in files():
        if file.name != "conform-systems" and not any(w.lacks(need) for need in file.needs):
            w.file(file.name)


@chapter.case(
    "entry", "An entry tells name, description, version and inputs", "tools: list_processes",
    "list_processes gives for each published process what somebody needs in order to start it.",
)  # fmt: skip
def an_entry(w: World) -> None:
    found = entry(w, "conform-work")
    equal(found["description"], "One step for an agent, then the end.", "the description")
    equal(
        found["inputs"].get("subject"), {"type": "string", "description": "What the work is about"},
        "the input subject, as its author wrote it",
    )  # fmt: skip
    equal(set(found["inputs"]), {"subject", "amount", "ready", "detail", "tags"}, "the names of the inputs")


@chapter.case(
    "no-inputs", "A process without inputs lists none", "core §2.1",
    "inputs may be left out of a file, and then there are none.",
)  # fmt: skip
def no_inputs(w: World) -> None:
    equal(entry(w, "conform-two")["inputs"], {}, "inputs")


@chapter.case(
    "once", "Every process is listed once over all pages", "tools: list_processes",
    "The catalog is paged; a process stands on one page, with its latest version.",
)  # fmt: skip
def once(w: World) -> None:
    names = [item["name"] for item in w.listed(w.agent, "list_processes")]
    twice = sorted({name for name in names if names.count(name) > 1})
    demand(not twice, f"listed more than once: {', '.join(twice)}")


@chapter.case(
    "for-people", "People see it too", "core §4.1", "list_processes is for anyone.",
)  # fmt: skip
def for_people(w: World) -> None:
    mine = {item["name"] for item in w.listed(w.person, "list_processes")}
    missing = sorted(w.published - mine)
    demand(not missing, f"person 1 must find {', '.join(missing)}")


@chapter.case(
    "bad-cursor", "A cursor that no page gave is refused", "core §4.3",
    "Arguments that make no sense are invalid.",
)  # fmt: skip
def bad_cursor(w: World) -> None:
    w.agent.refused("list_processes", "invalid", cursor="no-page-gave-this")


@chapter.case(
    "systems", "Systems that a process requires are told", "core revision 10: requires",
    "requires.systems of a file is shown wherever the process is offered, and never checked.", STRICT,
)  # fmt: skip
def systems(w: World) -> None:
    equal(entry(w, "conform-systems").get("requires"), {"systems": ["ledger", "mail-room"]}, "requires")


@chapter.case(
    "yaml-core", "yes, on, dates and times in a file are texts", "core §2.1",
    "The front matter is YAML 1.2 with the core schema, in which only true, false, null and numbers are no texts.",
)  # fmt: skip
def yaml_core(w: World) -> None:
    inputs = entry(w, "conform-yaml")["inputs"]
    equal(
        inputs["answer"]["one_of"], ["yes", "no", "on", "off", "12:30", "2026-10-06", "1_000"],
        "one_of of the input answer",
    )  # fmt: skip
    equal(inputs["size"]["one_of"], [1, 2.5, 16, 1000], "one_of of the input size")
    for word in ("yes", "off", "12:30", "2026-10-06"):
        view = w.start("conform-yaml", answer=word)
        claim = w.claim(view, "work")
        equal(claim["step"]["instructions"], "yes", "the instructions")
        view = w.submit(claim)
        equal(view["run"]["outcome"], "no", "the outcome")
    demand(read("conform-yaml").text, "the file can be read")
