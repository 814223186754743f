"""start_run and get_run: how a run begins and how it is read."""

from conformance.client import Data
from conformance.codec import Number
from conformance.demands import demand, equal, names, outcome, state_of, states
from conformance.registry import PEOPLE_NAMED, STRICT, Chapter
from conformance.world import World

chapter = Chapter("start", "How a run begins and how it is read")

WRONG = {
    "count": "5", "flag": "true", "day": "2026-02-30", "moment": "2026-10-06T09:00:00", "things": "a",
    "words": ["a", 5], "box": [], "who": 5, "colour": "blue",
}  # fmt: skip


@chapter.case(
    "view", "The view of a fresh run", "tools: start_run; core §3.2",
    "A run begins with the first step of the file ready and no other; its inputs are run data.",
)  # fmt: skip
def fresh_view(w: World) -> None:
    view = w.start("conform-work", subject="S")
    run = view["run"]
    equal(
        (run["process"], run["mode"], run["state"]),
        ("conform-work", "live", "active"),
        "process, mode and state",
    )
    equal(view["data"], {"inputs": {"subject": "S"}, "steps": {}}, "run data")
    states(view, work="ready", done=None)
    equal([(s["id"], s["kind"]) for s in view["steps"]], [("work", "agent"), ("done", "finish")], "the steps")
    equal(view["workItems"], [], "the work items")


@chapter.case(
    "body", "The body comes exactly as it was written", "core §2, §6.5",
    "The body is for people and agents; a server returns it unchanged with every run view and every claim.",
)  # fmt: skip
def body(w: World) -> None:
    written = w.file("conform-work").body
    view = w.start("conform-work", subject="S")
    equal(view["body"], written, "the body in the run view")
    equal(w.claim(view, "work")["body"], written, "the body in the claim")


@chapter.case(
    "read-again", "Reading changes nothing", "core §4.1",
    "get_run gives the run as the write left it, however often it is read.",
)  # fmt: skip
def read_again(w: World) -> None:
    view = w.start("conform-task")
    first, second = w.view(view), w.view(view, w.person)
    equal(first, second, "the view read a second time, by a person")
    equal(first["data"], view["data"], "run data read after the start")


@chapter.case(
    "unknown-run", "A run that is not there", "core §4.3", "A run that no organization of the caller has is not_found.",
)  # fmt: skip
def unknown_run(w: World) -> None:
    w.agent.refused("get_run", "not_found", runId="no-such-run")


@chapter.case(
    "unknown-process", "A process that is not there", "core §4.3", "A process that is not published is not_found.",
)  # fmt: skip
def unknown_process(w: World) -> None:
    w.agent.refused("start_run", "not_found", process="conform-no-such-process", inputs={})


@chapter.case(
    "unknown-version", "A version that is not there", "tools: start_run",
    "Only a published version can be started.",
)  # fmt: skip
def unknown_version(w: World) -> None:
    w.file("conform-now")
    w.agent.refused("start_run", "not_found", process="conform-now", version=999_999, inputs={})


@chapter.case(
    "explicit-version", "The version can be named", "tools: start_run",
    "version picks a published version; left out, the latest is taken.",
)  # fmt: skip
def explicit_version(w: World) -> None:
    latest = w.start("conform-now")["run"]["version"]
    again = w.agent.ok("start_run", process="conform-now", version=latest, inputs={})
    equal(again["run"]["version"], latest, "the version of a run that was started with it")


@chapter.case(
    "input-missing", "A required input is missing", "tools: start_run; core §2.3",
    "Every input that is not optional must be given; otherwise the call is invalid and names it.",
)  # fmt: skip
def input_missing(w: World) -> None:
    w.file("conform-work")
    names(w.agent.refused("start_run", "invalid", process="conform-work", inputs={}), "subject")


@chapter.case(
    "input-undeclared", "An input that the file does not declare", "core §2.3",
    "Fields that are not declared are refused.",
)  # fmt: skip
def input_undeclared(w: World) -> None:
    w.file("conform-work")
    given = {"subject": "S", "colour": "red"}
    names(w.agent.refused("start_run", "invalid", process="conform-work", inputs=given), "colour")


@chapter.case(
    "input-types", "Inputs of the wrong type, one by one", "core §2.3",
    "Each input must be of its declared type, dates real, datetimes with an offset, list items likewise.",
)  # fmt: skip
def input_types(w: World) -> None:
    w.file("conform-inputs")
    for name, value in WRONG.items():
        given = {"text": "T", name: value}
        names(w.agent.refused("start_run", "invalid", process="conform-inputs", inputs=given), name)


@chapter.case(
    "input-issues", "Every wrong input is told at once", "tools: start_run",
    "An invalid start lists an issue for each thing that is wrong, not only the first.",
)  # fmt: skip
def input_issues(w: World) -> None:
    w.file("conform-inputs")
    given = {**WRONG, "extra": 1}
    refusal = w.agent.refused("start_run", "invalid", process="conform-inputs", inputs=given)
    names(refusal, "text", "extra", *WRONG)


@chapter.case(
    "input-null", "null is no value", "core §2.3",
    "An optional field may be left out; null is a value of no type.",
)  # fmt: skip
def input_null(w: World) -> None:
    w.file("conform-work")
    given = {"subject": "S", "amount": None}
    names(w.agent.refused("start_run", "invalid", process="conform-work", inputs=given), "amount")


@chapter.case(
    "inputs-kept", "Inputs of every type are kept as sent", "core §2.3, §3.1",
    "What a run starts with is its inputs, unchanged.",
)  # fmt: skip
def inputs_kept(w: World) -> None:
    given: Data = {
        "text": "Grüße \U0001f600", "count": Number("-0.5e-3"), "flag": False, "day": "2028-02-29",
        "moment": "2026-10-06T09:00:00.123+05:30", "things": [1, "a", [], {}], "words": [], "box": {"a": {"b": []}},
        "who": w.person.value or "somebody@example.org", "colour": "green",
    }  # fmt: skip
    view = w.start("conform-inputs", **given)
    equal(view["data"]["inputs"], given, "the inputs in the view")
    equal(w.view(view)["data"]["inputs"], given, "the inputs when they are read again")


@chapter.case(
    "arguments", "Arguments that break the schema", "core §6.3",
    "A missing required argument, or one of another type, is invalid.",
)  # fmt: skip
def arguments(w: World) -> None:
    w.file("conform-now")
    w.agent.refused("start_run", "invalid", process="conform-now")
    w.agent.refused("start_run", "invalid", inputs={})
    w.agent.refused("start_run", "invalid", process="conform-now", inputs=[])
    w.agent.refused("start_run", "invalid", process="conform-now", inputs={}, mode="dry")
    w.agent.refused("start_run", "invalid", process="conform-now", inputs={}, version="1")
    w.agent.refused("start_run", "invalid", process="conform-now", inputs={}, extra=1)
    w.agent.refused("start_run", "invalid", process="conform-now", inputs={}, requestId=5)


@chapter.case(
    "no-request-id", "A write without a requestId", "core §4",
    "Every write carries a requestId; without one it is invalid.",
)  # fmt: skip
def no_request_id(w: World) -> None:
    w.file("conform-now")
    exchange = w.agent.post("start_run", {"process": "conform-now", "inputs": {}})
    demand(not exchange.answer["ok"], "a start without a requestId must be refused")
    equal(exchange.answer["error"]["code"], "invalid", "the code")


@chapter.case(
    "too-large", "Inputs beyond the limit of run data", "core §6.3",
    "limits.runDataBytes also bounds the inputs of a run at its start.",
)  # fmt: skip
def too_large(w: World) -> None:
    w.file("conform-work")
    most = int(w.about["limits"]["runDataBytes"])
    given = {"subject": "x" * (most + 1)}
    w.agent.refused("start_run", "invalid", "not_accepted", process="conform-work", inputs=given)


@chapter.case(
    "by-person", "A person starts a run", "core §4.1", "Agents and people may start runs; the run says who did.",
)  # fmt: skip
def by_person(w: World) -> None:
    mine = w.start("conform-work", by=w.person, subject="S")["run"]["startedBy"]
    other = w.start("conform-work", by=w.colleague, subject="S")["run"]["startedBy"]
    agents = w.start("conform-work", subject="S")["run"]["startedBy"]
    demand(len({mine, other, agents}) == len("abc"), "startedBy must tell three callers apart")


@chapter.case(
    "initiator-by-agent", "An agent can't start a process with an initiator", "core §3.4",
    "A run that an agent starts has no initiator, so a process with a step for its initiator is refused.",
)  # fmt: skip
def initiator_by_agent(w: World) -> None:
    w.file("conform-initiator")
    w.agent.refused("start_run", "invalid", process="conform-initiator", inputs={})


@chapter.case(
    "initiator", "The initiator gets the step", "core §3.4", "initiator is the person who started the run.",
)  # fmt: skip
def initiator(w: World) -> None:
    view = w.start("conform-initiator", by=w.person)
    demand(len(w.offered(view, w.person)) == 1, "whoever started the run must find the item")
    equal(w.offered(view, w.colleague), [], "what somebody else finds of it")
    outcome(w.decide(view, "task", "completed", output={}), "told")


@chapter.case(
    "initiator-value", "The item names the initiator", "tools: workItems[].assignedTo",
    "An item for the initiator or a path carries the person's value in assignedTo.", PEOPLE_NAMED,
)  # fmt: skip
def initiator_value(w: World) -> None:
    view = w.start("conform-initiator", by=w.person)
    equal(view["workItems"][0]["assignedTo"], {"person": w.person.value}, "assignedTo")


@chapter.case(
    "at-once", "A run whose first step is a finish is over at once", "core §3.2, §3.5",
    "A finish ends the run with its outcome, by the server and without a note; a write returns when all of that is done.",
)  # fmt: skip
def at_once(w: World) -> None:
    view = w.start("conform-now")
    outcome(view, "at-once")
    equal(state_of(view, "done"), "done", "the state of the finish")
    ended = view["run"]["ended"]
    equal((ended["by"], ended["note"]), ("server", None), "ended by and note")
    equal(view["data"]["steps"], {}, "what run data holds of a finish")


@chapter.case(
    "without-a-key", "Nobody without a key can start or read", "core §4.1",
    "start_run is for agents and people, get_run for the organization.", STRICT,
)  # fmt: skip
def without_a_key(w: World) -> None:
    view = w.start("conform-work", subject="S")
    w.nobody.refused("get_run", "forbidden", runId=view["run"]["id"])
    w.nobody.refused("start_run", "forbidden", process="conform-now", inputs={})
    w.nobody.refused("get_work", "forbidden")
