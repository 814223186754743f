"""cancel: an operator ends a run with a reason."""

from typing import Any

from processes import engine
from processes.callers import OPERATE
from processes.errors import ToolError
from processes.loaded import Loaded
from processes.pipeline import Answer, Call, run_answer


def run(call: Call) -> dict[str, Any]:
    if not call.arguments["reason"].strip():
        raise ToolError("invalid", "Say why the run is cancelled.", ["reason: missing"])
    return call.transition(call.arguments["runId"], lambda loaded: _cancel(call, loaded))


def _cancel(call: Call, loaded: Loaded) -> Answer:
    if not call.caller.operator:
        raise ToolError("forbidden", f"Only operators cancel runs (permission {OPERATE}).")
    engine.cancel(loaded.now, by=call.caller.id, reason=call.arguments["reason"])
    return run_answer
