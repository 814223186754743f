"""Events: delivered to one run, held until a wait takes them."""

from typing import Any

from conformance.client import Data
from conformance.codec import Number
from conformance.demands import among, demand, equal, outcome, record_of, state_of, states
from conformance.registry import Chapter, tool
from conformance.world import World, run_id

chapter = Chapter("event", "Events are held, and each serves one wait", tool("send_event"))


def send(w: World, view: Data, name: str = "signal", **data: Any) -> Any:
    """ConsumedBy of an event from an agent."""
    return w.agent.ok("send_event", runId=run_id(view), name=name, data=data)["consumedBy"]


def waiting(w: World) -> Data:
    """A run of conform-events that waits for its first signal."""
    return w.work(w.start("conform-events"), "begin")


@chapter.case(
    "consumed", "A wait that is ready takes it", "core §3.6, §3.1",
    "consumedBy names the wait; its record is the event's data as output, by whoever sent it; the run goes on.",
)  # fmt: skip
def consumed(w: World) -> None:
    view = waiting(w)
    states(view, first="waiting")
    equal(view["run"]["state"], "waiting", "the state of a run that waits for an event")
    answer = w.other.ok("send_event", runId=run_id(view), name="signal", data={"colour": "green"})
    equal(answer["consumedBy"], "first", "consumedBy")
    view = w.view(view)
    states(view, first="done", second="waiting")
    record = record_of(view, "first")
    equal(record["output"], {"colour": "green"}, "output")
    equal(set(record), {"output", "by", "at", "history"}, "what is recorded")
    demand(record["by"] not in {"server", view["run"]["startedBy"]}, "by must be whoever sent the event")


@chapter.case(
    "one-delivery", "One event serves one wait", "core §3.6",
    "The second of two waits for the same name waits for an event of its own.",
)  # fmt: skip
def one_delivery(w: World) -> None:
    view = waiting(w)
    equal(send(w, view, n=1), "first", "consumedBy of the first event")
    states(w.view(view), first="done", second="waiting", work=None)
    equal(send(w, view, n=2), "second", "consumedBy of the second event")
    view = w.view(view)
    states(view, second="done", work="ready")
    equal(record_of(view, "second")["output"], {"n": 2}, "the output of the second wait")


@chapter.case(
    "held", "An early event is held", "core §3.6",
    "An event before its wait is kept, consumedBy is null, and the wait takes it as soon as it is ready.",
)  # fmt: skip
def held(w: World) -> None:
    view = w.start("conform-events")
    equal(send(w, view, n=1), None, "consumedBy of an event that comes early")
    equal(w.view(view)["data"], view["data"], "run data while the event is held")
    view = w.work(view, "begin")
    states(view, first="done", second="waiting")
    equal(record_of(view, "first")["output"], {"n": 1}, "the output of the wait")


@chapter.case(
    "oldest-first", "Held events are taken oldest first", "core §3.6",
    "Of several held events with one name the first wait takes the oldest.",
)  # fmt: skip
def oldest_first(w: World) -> None:
    view = w.start("conform-events")
    for n in (1, 2, 3):
        equal(send(w, view, n=n), None, "consumedBy of a held event")
    view = w.work(view, "begin")
    states(view, first="done", second="done", work="ready")
    outputs = [record_of(view, name)["output"] for name in ("first", "second")]
    equal(outputs, [{"n": 1}, {"n": 2}], "the outputs of the two waits")
    outcome(w.work(view, "work"), "signalled")


@chapter.case(
    "other-name", "An event of another name", "core §3.6",
    "Names compare exactly; an event that no wait asks for is held and disturbs nothing.",
)  # fmt: skip
def other_name(w: World) -> None:
    view = waiting(w)
    for name in ("signals", "signal_", "other"):
        equal(send(w, view, name), None, f"consumedBy of {name}")
    states(w.view(view), first="waiting")


@chapter.case(
    "bad-name", "A name that no wait could have", "core §3.6",
    "Names have the pattern of step ids; one that does not match is refused or matches nothing.",
)  # fmt: skip
def bad_name(w: World) -> None:
    view = waiting(w)
    exchange = w.agent.send("send_event", runId=run_id(view), name="Signal")
    answer = exchange.answer
    told = answer["data"]["consumedBy"] if answer["ok"] else answer["error"]["code"]
    among(told, (None, "invalid"), "the answer to the name Signal")
    states(w.view(view), first="waiting")


@chapter.case(
    "without-data", "An event without data", "tools: send_event", "data may be left out; the wait goes on all the same.",
)  # fmt: skip
def without_data(w: World) -> None:
    view = waiting(w)
    equal(w.agent.ok("send_event", runId=run_id(view), name="signal")["consumedBy"], "first", "consumedBy")
    among(record_of(w.view(view), "first").get("output"), (None, {}), "output")


@chapter.case(
    "numbers", "Numbers in an event are kept exactly", "core §2.3", "Event data becomes an output, and no number is rounded.",
)  # fmt: skip
def numbers(w: World) -> None:
    view = waiting(w)
    data = {
        "a": Number("0.1000000000000000055"),
        "b": [Number("12345678901234567890"), {"c": Number("1e400")}],
    }
    w.agent.ok("send_event", runId=run_id(view), name="signal", data=data)
    equal(record_of(w.view(view), "first")["output"], data, "output")


@chapter.case(
    "operator", "An operator sends one", "core §3.6", "Events come from agents and operators.",
)  # fmt: skip
def operator(w: World) -> None:
    view = waiting(w)
    equal(
        w.operator.ok("send_event", runId=run_id(view), name="signal", data={})["consumedBy"],
        "first",
        "consumedBy",
    )


@chapter.case(
    "not-people", "Other people don't", "tools: send_event", "A person who is no operator is refused.",
)  # fmt: skip
def not_people(w: World) -> None:
    view = waiting(w)
    w.person.refused("send_event", "forbidden", runId=run_id(view), name="signal", data={})
    states(w.view(view), first="waiting")


@chapter.case(
    "arguments", "A run, a name, and data that is an object", "core §6.3", "Other arguments are invalid; an unknown run is not_found.",
)  # fmt: skip
def arguments(w: World) -> None:
    view = waiting(w)
    w.agent.refused("send_event", "invalid", runId=run_id(view))
    w.agent.refused("send_event", "invalid", runId=run_id(view), name="signal", data=[1])
    w.agent.refused("send_event", "not_found", runId="no-such-run", name="signal")
    states(w.view(view), first="waiting")


@chapter.case(
    "own-run", "An event is of one run", "core §3.6", "An event for one run serves no wait of another.",
)  # fmt: skip
def own_run(w: World) -> None:
    one, two = waiting(w), waiting(w)
    send(w, one, n=1)
    states(w.view(two), first="waiting")


@chapter.case(
    "too-large", "Event data beyond the limit", "core §6.3",
    "limits.runDataBytes also bounds event data when it is held.",
)  # fmt: skip
def too_large(w: World) -> None:
    view = w.start("conform-events")
    most = int(w.about["limits"]["runDataBytes"])
    given: Data = {"name": "signal", "data": {"text": "x" * (most + 1)}}
    w.agent.refused("send_event", "invalid", "not_accepted", runId=run_id(view), **given)
    states(w.work(view, "begin"), first="waiting")


@chapter.case(
    "timeout", "No event in time", "core §2.2", "When timeout passes, the run goes on at on_timeout, by the server.",
)  # fmt: skip
def timeout(w: World) -> None:
    view = w.start("conform-timeout")
    view = w.until(view, lambda seen: state_of(seen, "hope") == "done", "the wait has timed out")
    states(view, late="ready", met=None)
    record = record_of(view, "hope")
    equal(record["by"], "server", "by")
    demand("output" not in record or record["output"] == {}, "a wait that timed out has no output")
    equal(send(w, view), None, "consumedBy of an event that comes too late")
    outcome(w.work(view, "late"), "over")


@chapter.case(
    "timeout-next", "No event in time, and no way of its own", "core §2.2", "Without on_timeout the run goes on at next.",
)  # fmt: skip
def timeout_next(w: World) -> None:
    view = w.start("conform-timeout-next")
    view = w.until(view, lambda seen: state_of(seen, "hope") == "done", "the wait has timed out")
    states(view, work="ready")


@chapter.case(
    "in-time", "An event before the timeout", "core §2.2", "It goes on at next, not at on_timeout.",
)  # fmt: skip
def in_time(w: World) -> None:
    view = w.start("conform-patience")
    states(view, hope="waiting")
    equal(send(w, view, n=1), "hope", "consumedBy")
    states(w.view(view), hope="done", met="ready", late=None)
