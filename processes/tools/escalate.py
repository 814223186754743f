"""escalate: an agent can't finish; the step goes to people with its note, and the claim is lost."""

from typing import Any

from processes import claims, escalation, tokens
from processes.errors import ToolError
from processes.loaded import Loaded
from processes.pipeline import Answer, Call, run_answer


def run(call: Call) -> dict[str, Any]:
    claim = claims.claim_of(call.caller, call.arguments["token"])
    note = call.arguments["note"]
    if not note.strip():
        raise ToolError("invalid", "Say in the note why you can't finish.", ["note: missing"])
    return call.transition(claim.run, lambda loaded: _escalate(call, claim, loaded, note))


def _escalate(call: Call, claim: tokens.Claim, loaded: Loaded, note: str) -> Answer:
    claims.in_force(loaded, claim, call.caller)
    claims.refuse_while_checking(loaded, claim.step)
    escalation.open_escalation(loaded, claim.step, by=call.caller.id, note=note)
    return run_answer
