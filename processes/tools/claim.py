"""claim: one agent takes a ready step under a lease, with a token that only it can use."""

from datetime import timedelta
from typing import Any

from django.conf import settings

from checks import codec
from processes import bounds, engine, view
from processes.errors import ToolError
from processes.loaded import Loaded
from processes.pipeline import Answer, Call, Result
from processes.states import StepState


def run(call: Call) -> dict[str, Any]:
    return call.transition(call.arguments["runId"], lambda loaded: _claim(call, loaded))


def _claim(call: Call, loaded: Loaded) -> Answer:
    name = call.arguments["stepId"]
    _refuse_unless_claimable(call, loaded, name)
    attempt = loaded.attempt(name)
    left = view.handoff(attempt, loaded.at)
    attempt.handoff = codec.dumps(left) if left else ""
    attempt.progress = ""
    attempt.claimed_by_id = call.caller.agent
    attempt.generation += 1
    attempt.lease_until = loaded.at + timedelta(seconds=settings.LEASE_SECONDS)
    loaded.touch(attempt)
    engine.claim(loaded.now, name, by=call.caller.id)
    token = {
        "run": loaded.row.pk,
        "step": name,
        "attempt": attempt.pk,
        "generation": attempt.generation,
        "agent": call.caller.agent,
    }
    return lambda saved: Result(view.claim_view(saved, name), {"body": saved.compiled.id, "token": token})


def _refuse_unless_claimable(call: Call, loaded: Loaded, name: str) -> None:
    if name not in loaded.now.steps:
        raise ToolError("not_found", f"{loaded.compiled.process} has no step {name[:64]}.")
    if not call.caller.may_work(loaded.compiled.process_id):
        raise ToolError("forbidden", f"This key may not work {loaded.compiled.process}.")
    standing = loaded.now.steps[name]
    if standing.kind != "agent":
        raise ToolError("forbidden", f"{name} is no agent's step ({standing.kind}).")
    if standing.state is StepState.CLAIMED:
        attempt = loaded.attempt(name)
        if not view.lease_over(attempt, loaded.at):
            mine = attempt.claimed_by_id == call.caller.agent
            raise ToolError(
                "conflict",
                "You hold a claim on it already." if mine else "Another agent holds it. Take other work.",
                ["claimed_by_you" if mine else "claimed_by_other"],
            )
    elif standing.state is not StepState.READY:
        raise ToolError("conflict", f"{name} is not ready; ask get_work what is.", ["not_ready"])
    bounds.refuse_claims(call.caller.agent, loaded.at)
