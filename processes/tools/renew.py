"""renew: a new lease and token; the old token is dead at once."""

from datetime import timedelta
from typing import Any

from django.conf import settings

from processes import claims, tokens
from processes.engine import stamp
from processes.loaded import Loaded
from processes.pipeline import Answer, Call, Result


def run(call: Call) -> dict[str, Any]:
    claim = claims.claim_of(call.caller, call.arguments["token"])
    return call.transition(claim.run, lambda loaded: _renew(call, claim, loaded))


def _renew(call: Call, claim: tokens.Claim, loaded: Loaded) -> Answer:
    attempt = claims.in_force(loaded, claim, call.caller)
    claims.refuse_while_checking(loaded, claim.step)
    attempt.generation += 1
    until = attempt.lease_until = loaded.at + timedelta(seconds=settings.LEASE_SECONDS)
    attempt.progress = call.arguments.get("progress", attempt.progress)
    loaded.touch(attempt)
    token = {
        "run": claim.run,
        "step": claim.step,
        "attempt": attempt.pk,
        "generation": attempt.generation,
        "agent": call.caller.agent,
    }
    return lambda _: Result({"expiresAt": stamp(until)}, {"token": token})
