"""get_run: the run view. Never a token."""

from typing import Any

from processes import view, waking
from processes.errors import ToolError
from processes.pipeline import Call


def run(call: Call) -> dict[str, Any]:
    loaded = waking.fresh(call.arguments["runId"])
    if not call.caller.may_work(loaded.compiled.process_id):
        raise ToolError("forbidden", f"This key may not read runs of {loaded.compiled.process}.")
    return view.refill(view.run_view(loaded), body=loaded.compiled.id)
