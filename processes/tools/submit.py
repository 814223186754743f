"""submit: work on a claim, against the objective rules and, where there is one, the check."""

from typing import Any

from processes import checking, claims, evaluating, files
from processes.acceptance import Content
from processes.handing import Handing
from processes.loaded import Loaded
from processes.pipeline import Call


def content_of(arguments: Any) -> Content:
    return Content(
        output=arguments.get("output", {}),
        evidence=tuple(arguments.get("evidence", ())),
        summary=arguments.get("summary"),
        next=arguments.get("next"),
        reason=arguments.get("reason"),
    )


def run(call: Call) -> dict[str, Any]:
    claim = claims.claim_of(call.caller, call.arguments["token"])
    content = content_of(call.arguments)
    verified = files.verify(files.refs(content.evidence))

    def work(loaded: Loaded) -> checking.Handed:
        claims.in_force(loaded, claim, call.caller)
        handing = Handing(
            caller=call.caller, step=claim.step, content=content, verified=verified, summary_needed=True
        )
        return checking.hand_in(loaded, call, handing)

    return evaluating.transition(call, claim.run, work)
