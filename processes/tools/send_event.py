"""send_event: an agent or an operator delivers an event to one run."""

from typing import Any

from django.conf import settings

from checks import codec
from processes import engine
from processes.callers import OPERATE, CallerKind
from processes.errors import ToolError
from processes.loaded import Loaded
from processes.pipeline import Answer, Call, Result
from processes.steps import ID


def run(call: Call) -> dict[str, Any]:
    if not ID.fullmatch(call.arguments["name"]):
        raise ToolError(
            "invalid", "No step can wait for an event of this name.", ["name: expected an event's name"]
        )
    return call.transition(call.arguments["runId"], lambda loaded: _deliver(call, loaded))


def _deliver(call: Call, loaded: Loaded) -> Answer:
    if call.caller.kind is CallerKind.PERSON and not call.caller.operator:
        raise ToolError("forbidden", f"Events come from agents and operators (permission {OPERATE}).")
    if not call.caller.may_work(loaded.compiled.process_id):
        raise ToolError("forbidden", f"This key may not work {loaded.compiled.process}.")
    data = call.arguments.get("data", {})
    weight = (
        len(loaded.row.data.encode()) + sum(_bytes(event.data) for event in loaded.now.held) + _bytes(data)
    )
    if weight > settings.RUN_DATA_BYTES:
        raise ToolError(
            "invalid",
            "The event's data is too large for this run.",
            [f"data: with it the run would hold {weight} bytes, at most {settings.RUN_DATA_BYTES}"],
        )
    event = engine.Event(call.arguments["name"], call.caller.id, data)
    taken = engine.deliver(loaded.now, event)
    return lambda _: Result({"consumedBy": taken}, {})


def _bytes(data: Any) -> int:
    return len(codec.dumps(data).encode())
