"""Acceptance: the objective rules that a submission meets, or nothing changes."""

from typing import Any

from conformance.client import Data, Refusal
from conformance.codec import Number
from conformance.demands import demand, equal, exactly, names, outcome, record_of, states
from conformance.registry import STRICT, Chapter
from conformance.world import World

chapter = Chapter("accept", "Acceptance of a submission")

RULE_TYPE = "A field holds a value of its declared type; anything else is not accepted, and the issue names the field."


def good(w: World, **changed: Any) -> Data:
    """An output that conform-fields accepts, with fields replaced or (`...`) left out."""
    output: Data = {
        "text": "T", "count": 5, "flag": False, "day": "2026-10-06", "moment": "2026-10-06T09:00:00Z",
        "things": [], "box": {}, "who": w.person.value or "somebody@example.org",
    }  # fmt: skip
    output |= changed
    return {name: value for name, value in output.items() if value is not ...}


def claimed(w: World, process: str = "conform-fields", step: str = "fill") -> Data:
    return w.claim(w.start(process), step)


def bounced(w: World, claim: Data, output: Data, **arguments: Any) -> Refusal:
    given = {"summary": "S", **arguments}
    return w.agent.refused("submit", "not_accepted", token=w.keep(claim), output=output, **given)


def refuses(w: World, name: str, *values: Any) -> None:
    """Each of these values of one field is refused by name, and afterwards a good one is taken."""
    claim = claimed(w)
    for value in values:
        names(bounced(w, claim, good(w, **{name: value})), f"output.{name}" if w.strict else name)
    w.submit(claim, good(w))


def takes(w: World, **fields: Any) -> None:
    output = good(w, **fields)
    view = w.submit(claimed(w), output)
    equal(record_of(view, "fill")["output"], output, "the recorded output")


@chapter.case(
    "good", "A submission with all that is asked for", "core §6.3, §3.1",
    "It completes the step; output, summary, who and when are recorded, and an empty history.",
)  # fmt: skip
def a_good_one(w: World) -> None:
    claim = claimed(w)
    view = w.submit(claim, good(w), summary="Filled in all of it.")
    record = record_of(view, "fill")
    equal(record["output"], good(w), "the recorded output")
    equal((record["summary"], record["history"]), ("Filled in all of it.", []), "summary and history")
    demand(record["by"] and record["at"], "the record must say who and when")
    equal(record.get("evidence", []), [], "the recorded evidence")
    demand(
        "next" not in record and "reason" not in record,
        "a step without routes records neither next nor reason",
    )
    outcome(view, "filled")


@chapter.case(
    "by", "by tells who did it", "core §3.1", "A record's by is the caller who completed the step.",
)  # fmt: skip
def by_whom(w: World) -> None:
    view = w.start("conform-two")
    w.work(view, "first", {"first": "1"})
    view = w.work(view, "second", {"second": "2"}, by=w.other)
    first, second = record_of(view, "first")["by"], record_of(view, "second")["by"]
    demand(first != second, "two agents must be told apart by by")
    equal(first, view["run"]["startedBy"], "by of the agent that also started the run")


@chapter.case("string", "What is no string", "core §2.3, §6.3", RULE_TYPE)
def a_string(w: World) -> None:
    refuses(w, "text", 5, True, None, [], {}, ["T"])


@chapter.case("number", "What is no number", "core §2.3, §6.3", RULE_TYPE)
def a_number(w: World) -> None:
    refuses(w, "count", "5", True, False, None, [5], {})


@chapter.case("boolean", "What is no boolean", "core §2.3, §6.3", RULE_TYPE)
def a_boolean(w: World) -> None:
    refuses(w, "flag", "true", 0, 1, None, "yes")


@chapter.case("date", "What is no real calendar date", "core §2.3, §6.3", RULE_TYPE)
def a_date(w: World) -> None:
    refuses(
        w, "day", "2026-02-29", "2026-13-01", "2026-04-31", "2026-1-1", "20261006", "06.10.2026", "", "today",
        "2026-10-06T00:00:00Z", 20261006, None,
    )  # fmt: skip


@chapter.case("datetime", "What is no datetime with an offset", "core §2.3, §6.3", RULE_TYPE)
def a_datetime(w: World) -> None:
    refuses(
        w, "moment", "2026-10-06T09:00:00", "2026-10-06", "2026-02-30T09:00:00Z", "2026-10-06T25:00:00Z",
        "2026-10-06T09:60:00Z", "2026-10-06T09:00Z", "", "now", 1791270000, None,
    )  # fmt: skip


@chapter.case("list", "What is no list", "core §2.3, §6.3", RULE_TYPE)
def a_list(w: World) -> None:
    refuses(w, "things", {}, "a", 5, None)


@chapter.case("object", "What is no object", "core §2.3, §6.3", RULE_TYPE)
def an_object(w: World) -> None:
    refuses(w, "box", [], "{}", 5, None)


@chapter.case("person", "What is no person", "core §2.3, §6.3", RULE_TYPE)
def a_person(w: World) -> None:
    refuses(w, "who", 5, True, [], None)


@chapter.case(
    "one-of", "A value outside one_of", "core §2.3, §6.3", "Only the listed values are taken, strings and numbers alike.",
)  # fmt: skip
def one_of(w: World) -> None:
    refuses(w, "colour", "blue", "Red", "", "red ")
    refuses(w, "size", 2, Number("2.5000000000000000000000001"), "1")


@chapter.case(
    "list-items", "Items of a list have a type too", "core §2.3, §6.3",
    "items types what a list holds; one item of another type refuses the list.",
)  # fmt: skip
def list_items(w: World) -> None:
    refuses(w, "words", [5], ["a", None], ["a", "b", ["c"]])


@chapter.case(
    "list-one-of", "Items of a list keep to one_of", "core §6.3", "one_of holds inside lists as well.",
)  # fmt: skip
def list_one_of(w: World) -> None:
    refuses(w, "shades", ["light", "grey"], [1])


@chapter.case(
    "nested-items", "Lists in lists are typed to the bottom", "core §2.3",
    "items may be a field of its own, a list of lists among them.",
)  # fmt: skip
def nested_items(w: World) -> None:
    refuses(w, "table", [[1], ["2"]], [1], [[1, True]])
    takes(w, table=[[1, 2], [], [Number("3.50")]])


@chapter.case(
    "missing", "A required field is missing", "core §2.3, §6.3", "Every field that is not optional must be there.",
)  # fmt: skip
def missing(w: World) -> None:
    claim = claimed(w)
    for name in ("text", "flag", "who"):
        names(bounced(w, claim, good(w, **{name: ...})), name)


@chapter.case(
    "undeclared", "A field that the file does not declare", "core §2.3, §6.3", "No undeclared field may be there.",
)  # fmt: skip
def undeclared(w: World) -> None:
    claim = claimed(w)
    names(bounced(w, claim, good(w, colour2="red")), "colour2")
    w.submit(claim, good(w))


@chapter.case(
    "optional", "Optional fields may be left out or given, never null", "core §2.3",
    "An optional field is omitted or has a value of its type; null is no value.",
)  # fmt: skip
def optional(w: World) -> None:
    claim = claimed(w)
    names(bounced(w, claim, good(w, remark=None)), "remark")
    w.submit(claim, good(w))
    takes(w, remark="R", colour="red", size=Number("2.5"), words=["a"], shades=["dark", "light"])


@chapter.case(
    "edges", "Values at the edge that fit", "core §2.3",
    "Empty texts, leap days, offsets, fractions of a second, empty lists and deep objects are values of their types.",
)  # fmt: skip
def edges(w: World) -> None:
    takes(
        w,
        text="",
        day="2028-02-29",
        moment="2026-10-06T23:59:59.999999-11:30",
        things=[None, [[]]],
        box={"": None},
    )
    takes(w, text="\U0001f600 \u202e", count=Number("-0"), moment="2026-10-06T09:00:00.5+00:00", words=[])


@chapter.case(
    "all-at-once", "Every issue is told at once", "core §6.3",
    "Whoever submits gets all that is wrong in one answer.",
)  # fmt: skip
def all_at_once(w: World) -> None:
    claim = claimed(w)
    wrong = good(w, text=5, count=..., day="tomorrow", colour="blue", words=["a", 5], extra=1)
    refusal = bounced(w, claim, wrong, next="done", reason="R")
    names(refusal, "text", "count", "day", "colour", "words", "extra", "next")


@chapter.case(
    "nothing-changes", "A refused submission changes nothing", "core §6.3; tools: submit",
    "The claim stands, run data and states are as before, and the same token completes the step afterwards.",
)  # fmt: skip
def nothing_changes(w: World) -> None:
    view = w.start("conform-two")
    claim = w.claim(view, "first")
    bounced(w, claim, {"first": 1})
    bounced(w, claim, {})
    read = w.view(view)
    equal(read["data"], view["data"], "run data after the refusals")
    states(read, first="claimed", second=None)
    states(w.submit(claim, {"first": "1"}), first="done", second="ready")


@chapter.case(
    "summary-missing", "No summary from an agent", "core §3.3; tools: submit",
    "An agent says in a summary what it did; without one the submission is refused, and summary is named.",
)  # fmt: skip
def summary_missing(w: World) -> None:
    claim = claimed(w)
    w.agent.refused("submit", "invalid", "not_accepted", token=claim["token"], output=good(w))
    names(
        w.agent.refused(
            "submit", "not_accepted", "invalid", token=claim["token"], output=good(w), summary=""
        ),
        "summary",
    )
    w.submit(claim, good(w))


@chapter.case(
    "summary-length", "A summary of 2000 characters and one more", "tools: submit",
    "A summary has 1 to 2000 characters.",
)  # fmt: skip
def summary_length(w: World) -> None:
    claim = claimed(w)
    w.agent.refused(
        "submit", "invalid", "not_accepted", token=claim["token"], output=good(w), summary="é" * 2001
    )
    view = w.submit(claim, good(w), summary="é" * 2000)
    equal(record_of(view, "fill")["summary"], "é" * 2000, "the recorded summary")


@chapter.case(
    "arguments", "Arguments that break the schema", "core §6.3",
    "A missing or unknown argument, or one of another type, is invalid before anything else.",
)  # fmt: skip
def arguments(w: World) -> None:
    claim = claimed(w)
    token = claim["token"]
    w.agent.refused("submit", "invalid", token=token, summary="S")
    w.agent.refused("submit", "invalid", output=good(w), summary="S")
    w.agent.refused("submit", "invalid", token=token, output=[], summary="S")
    w.agent.refused("submit", "invalid", token=token, output=good(w), summary=5)
    w.agent.refused("submit", "invalid", token=token, output=good(w), summary="S", note="N")
    w.agent.refused("submit", "invalid", token=token, output=good(w), summary="S", evidence={})
    w.submit(claim, good(w))


@chapter.case(
    "run-data-limit", "Run data has a limit", "core §6.3",
    "A submission that would take run data beyond limits.runDataBytes is not accepted, and the claim stands.",
)  # fmt: skip
def run_data_limit(w: World) -> None:
    most = int(w.about["limits"]["runDataBytes"])
    claim = claimed(w)
    bounced(w, claim, good(w, remark="x" * (most + 1)))
    bounced(w, claim, good(w, remark="é" * (most // 2 + 1)))
    w.submit(claim, good(w))


@chapter.case(
    "by-a-person", "People don't submit", "core §4.1", "submit is a tool of agents; people decide.",
)  # fmt: skip
def by_a_person(w: World) -> None:
    view = w.start("conform-work", subject="S")
    claim = w.claim(view, "work")
    given = {"token": claim["token"], "output": {"answer": "A"}, "summary": "S"}
    w.person.refused("submit", "forbidden", "invalid", **given)
    states(w.view(view), work="claimed")


@chapter.case(
    "task", "A person's task meets the same rules", "core §3.4",
    "completed on a task is accepted or not as a submission is; afterwards the item is still open.",
)  # fmt: skip
def task(w: World) -> None:
    view = w.start("conform-task")
    for output, field in (({}, "answer"), ({"answer": 5}, "answer"), ({"answer": "A", "x": 1}, "x")):
        decision = w.decision(view, "task", decision="completed", output=output)
        names(w.person.refused("decide", "not_accepted", **decision), field)
    outcome(w.decide(view, "task", "completed", output={"answer": "A", "count": Number("1.50")}), "counted")


@chapter.case(
    "exact-lines", "The issue lines, word for word", "our ruling on tools: submit",
    "Issues read `output.x: missing`, `output.x: expected number`, `output.x: not declared` and so on.", STRICT,
)  # fmt: skip
def exact_lines(w: World) -> None:
    claim = claimed(w)
    wrong = good(
        w,
        text=...,
        count="5",
        words=["a", "b", 5],
        shades=["grey"],
        colour="blue",
        size=7,
        extra=1,
        flag=None,
    )
    refusal = bounced(w, claim, wrong, summary=" ", next="done", reason="R")
    exactly(
        refusal, "summary: missing", "output.text: missing", "output.count: expected number",
        "output.flag: expected boolean", "output.words[2]: expected string",
        "output.shades[0]: not one of light, dark", "output.colour: not one of red, green",
        "output.size: not one of 1, 2.5", "output.extra: not declared", "next: not allowed", "reason: not allowed",
    )  # fmt: skip
