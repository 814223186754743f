"""Idempotency: every write may be sent again, and is done once."""

import base64
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from conformance.client import Actor, Data, new_id
from conformance.demands import among, demand, equal, outcome, same_but, states
from conformance.failures import Failure
from conformance.registry import STRICT, Chapter, Function, tool
from conformance.world import World, run_id

chapter = Chapter("replay", "Every write may be sent again, and is done once")

VOLATILE = ("replayed", "url")  # what may differ between a result and its replay
AT_ONCE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One write and a different one with the same requestId that would succeed with its own."""

    who: Actor
    tool: str
    arguments: Data
    different: Data
    runs: tuple[Data, ...] = ()
    request: str = field(default_factory=new_id)


def a_start(w: World) -> Write:
    w.file("conform-work")
    given = {"process": "conform-work", "inputs": {"subject": "one"}}
    return Write(
        who=w.agent, tool="start_run", arguments=given, different={**given, "inputs": {"subject": "two"}}
    )


def two_claims(w: World) -> tuple[Data, Data, Data, Data]:
    one, two = w.start("conform-two"), w.start("conform-two")
    return one, two, w.claim(one, "first"), w.claim(two, "first")


def a_claim(w: World) -> Write:
    one, two = w.start("conform-two"), w.start("conform-two")
    given = {"runId": run_id(one), "stepId": "first"}
    return Write(
        who=w.agent, tool="claim", arguments=given, different={**given, "runId": run_id(two)}, runs=(one, two)
    )


def a_renewal(w: World) -> Write:
    one, two, first, second = two_claims(w)
    given = {"token": first["token"], "progress": "P"}
    return Write(
        who=w.agent,
        tool="renew",
        arguments=given,
        different={**given, "token": second["token"]},
        runs=(one, two),
    )


def a_submission(w: World) -> Write:
    one, two, first, second = two_claims(w)
    given = {"token": first["token"], "output": {"first": "1"}, "summary": "S"}
    return Write(
        who=w.agent,
        tool="submit",
        arguments=given,
        different={**given, "token": second["token"]},
        runs=(one, two),
    )


def an_escalation(w: World) -> Write:
    one, two, first, second = two_claims(w)
    given = {"token": first["token"], "note": "N"}
    return Write(
        who=w.agent,
        tool="escalate",
        arguments=given,
        different={**given, "token": second["token"]},
        runs=(one, two),
    )


def a_decision(w: World) -> Write:
    one, two = w.start("conform-verdict"), w.start("conform-verdict")
    return Write(
        who=w.person,
        tool="decide",
        arguments=w.decision(one, "ask", decision="approved"),
        different=w.decision(two, "ask", decision="approved"),
        runs=(one, two),
    )


def a_cancellation(w: World) -> Write:
    one, two = w.start("conform-sleep"), w.start("conform-sleep")
    given = {"runId": run_id(one), "reason": "R"}
    return Write(
        who=w.operator,
        tool="cancel",
        arguments=given,
        different={**given, "runId": run_id(two)},
        runs=(one, two),
    )


def an_upload(w: World) -> Write:
    given = {
        "fileName": "a.txt",
        "contentType": "text/plain",
        "contentBase64": base64.b64encode(b"one").decode(),
    }
    changed = {**given, "contentBase64": base64.b64encode(b"two").decode()}
    return Write(who=w.agent, tool="upload", arguments=given, different=changed)


def an_event(w: World) -> Write:
    one, two = w.start("conform-events"), w.start("conform-events")
    given = {"runId": run_id(one), "name": "other", "data": {"n": 1}}
    return Write(
        who=w.agent,
        tool="send_event",
        arguments=given,
        different={**given, "runId": run_id(two)},
        runs=(one, two),
    )


WRITES: tuple[tuple[str, Callable[[World], Write]], ...] = (
    ("start_run", a_start), ("claim", a_claim), ("renew", a_renewal), ("submit", a_submission),
    ("escalate", an_escalation), ("decide", a_decision), ("cancel", a_cancellation), ("upload", an_upload),
    ("send_event", an_event),
)  # fmt: skip


def _same(make: Callable[[World], Write], w: World) -> None:
    write = make(w)
    first = write.who.ok(write.tool, **write.arguments, requestId=write.request)
    _note(w, first)
    before = [w.view(run) for run in write.runs]
    for _ in range(2):
        again = write.who.ok(write.tool, **write.arguments, requestId=write.request)
        if not same_but(first, again, VOLATILE):
            raise Failure(f"{write.tool} with the same requestId must give the original result")
    equal([w.view(run) for run in write.runs], before, "the runs after the replays")


def _different(make: Callable[[World], Write], w: World) -> None:
    write = make(w)
    _note(w, write.who.ok(write.tool, **write.arguments, requestId=write.request))
    before = [w.view(run) for run in write.runs]
    write.who.refused(write.tool, "conflict", **write.different, requestId=write.request)
    equal([w.view(run) for run in write.runs], before, "the runs after the conflict")
    _note(w, write.who.ok(write.tool, **write.different, requestId=new_id()))


def _another_caller(make: Callable[[World], Write], w: World) -> None:
    write = make(w)
    _note(w, write.who.ok(write.tool, **write.arguments, requestId=write.request))
    caller = w.other if write.who is w.agent else w.colleague if write.who is w.person else w.person
    caller.refused(write.tool, "conflict", **write.arguments, requestId=write.request)


def _note(w: World, result: Data) -> None:
    """A run that a start made is cancelled with the case's others."""
    if "run" in result:
        w.started.append(result["run"]["id"])


def _bound(
    check: Callable[[Callable[[World], Write], World], None], make: Callable[[World], Write]
) -> Function:
    return partial(check, make)


for _name, _make in WRITES:
    _needs = (tool(_name),)
    chapter.add(
        _name, f"{_name} again gives the original result and changes nothing", "core §4, §6 closing rule",
        "Repeating a write with the same requestId and arguments returns what the first call returned.",
        _bound(_same, _make), *_needs,
    )  # fmt: skip
    chapter.add(
        f"{_name}-different", f"{_name} with a used requestId and other arguments", "core §4",
        "A requestId is good for one set of arguments; with others it is a conflict, and nothing is done.",
        _bound(_different, _make), *_needs,
    )  # fmt: skip
    chapter.add(
        f"{_name}-another-caller", f"{_name} with another caller's requestId", "our ruling on core §4",
        "A requestId belongs to whoever used it first; for another caller it is a conflict.",
        _bound(_another_caller, _make), *_needs, STRICT,
    )  # fmt: skip


@chapter.case(
    "failed-call", "A call that failed is not kept", "core §4",
    "A refused call leaves its requestId free, so that the corrected call can use it.",
)  # fmt: skip
def failed_call(w: World) -> None:
    claim = w.claim(w.start("conform-two"), "first")
    request = new_id()
    given = {"token": claim["token"], "summary": "S", "requestId": request}
    w.agent.refused("submit", "not_accepted", output={"first": 1}, **given)
    w.agent.refused("submit", "not_accepted", output={}, **given)
    states(w.agent.ok("submit", output={"first": "1"}, **given), first="done")


@chapter.case(
    "failed-start", "A start that failed is not kept", "core §4", "The requestId of an invalid start can be used again.",
)  # fmt: skip
def failed_start(w: World) -> None:
    w.file("conform-work")
    request = new_id()
    w.agent.refused("start_run", "invalid", process="conform-work", inputs={}, requestId=request)
    view = w.agent.ok("start_run", process="conform-work", inputs={"subject": "S"}, requestId=request)
    w.started.append(run_id(view))


@chapter.case(
    "other-tool", "A requestId is unique over all tools", "core §4", "A requestId of one tool is a conflict on another.",
)  # fmt: skip
def other_tool(w: World) -> None:
    request = new_id()
    view = w.agent.ok("start_run", process=w.file("conform-two").name, inputs={}, requestId=request)
    w.started.append(run_id(view))
    w.agent.refused("claim", "conflict", runId=run_id(view), stepId="first", requestId=request)
    states(w.view(view), first="ready")


@chapter.case(
    "submit-after-the-end", "A submission that ended its run, again", "core §3.5",
    "A replay is answered on an ended run too, where every other write is run_ended.",
)  # fmt: skip
def submit_after_the_end(w: World) -> None:
    claim = w.claim(w.start("conform-work", subject="S"), "work")
    given = {"token": claim["token"], "output": {"answer": "A"}, "summary": "S", "requestId": new_id()}
    first = w.agent.ok("submit", **given)
    outcome(first, "worked")
    demand(same_but(first, w.agent.ok("submit", **given), VOLATILE), "the replay must be the original result")
    w.agent.refused("submit", "conflict", issue="run_ended", **{**given, "requestId": new_id()})


@chapter.case(
    "claim-after-the-end", "A claim of a cancelled run, again", "core §3.3, §3.5",
    "The original result of a claim comes back with its token, though the run is over.",
)  # fmt: skip
def claim_after_the_end(w: World) -> None:
    view = w.start("conform-work", subject="S")
    given = {"runId": run_id(view), "stepId": "work", "requestId": new_id()}
    first = w.agent.ok("claim", **given)
    w.operator.ok("cancel", runId=run_id(view), reason="R")
    demand(same_but(first, w.agent.ok("claim", **given), VOLATILE), "the replay must be the original result")


@chapter.case(
    "original-view", "A replay shows the run as it was then", "core §4",
    "The original result comes back, not the run as it stands by now.",
)  # fmt: skip
def original_view(w: World) -> None:
    request = new_id()
    first = w.agent.ok("start_run", process=w.file("conform-two").name, inputs={}, requestId=request)
    w.started.append(run_id(first))
    w.work(first, "first", {"first": "1"})
    again = w.agent.ok("start_run", process="conform-two", inputs={}, requestId=request)
    states(again, first="ready", second=None)
    demand(same_but(first, again, VOLATILE), "the replay must be the original result")
    states(w.view(first), first="done", second="ready")


@chapter.case(
    "at-once", "The same start sent many times at once", "core §4, §6 closing rule",
    "Copies of one call that arrive together do one thing: one run, and the same result for each that succeeds.",
)  # fmt: skip
def at_once(w: World) -> None:
    given: Data = {"process": w.file("conform-two").name, "inputs": {}, "requestId": new_id()}
    answers = w.together([partial(w.agent.send, "start_run", **given) for _ in range(AT_ONCE)])
    for exchange in answers:
        if not exchange.answer["ok"]:
            raise Failure("a copy of the same call must give the original result", exchange)
    runs = {exchange.answer["data"]["run"]["id"] for exchange in answers}
    w.started.extend(runs)
    equal(len(runs), 1, "the number of runs that were started")


@chapter.case(
    "key-order", "The order of keys makes no other call", "core §4",
    "The same arguments in another order of keys are the same arguments.",
)  # fmt: skip
def key_order(w: World) -> None:
    request = new_id()
    w.file("conform-work")
    first = w.agent.ok(
        "start_run", process="conform-work", inputs={"subject": "S", "ready": True}, requestId=request
    )
    w.started.append(run_id(first))
    again = w.agent.ok(
        "start_run", requestId=request, inputs={"ready": True, "subject": "S"}, process="conform-work"
    )
    among(run_id(again), {run_id(first)}, "the run")
