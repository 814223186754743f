"""A token in force: what renew, submit and escalate ask for before they do anything."""

from django.utils import timezone

from processes import tokens, view
from processes.callers import Caller
from processes.errors import ToolError, checking
from processes.loaded import Loaded
from processes.models import Attempt, Submission
from processes.states import UNSETTLED, StepState, SubmissionState


def claim_of(caller: Caller, token: str) -> tokens.Claim:
    """Raises `invalid` for a token that does not verify for this caller."""
    if caller.agent is None:
        raise ToolError("forbidden", "Tokens are for agents.")
    return tokens.verify(token, caller.agent)


def in_force(loaded: Loaded, claim: tokens.Claim, caller: Caller) -> Attempt:
    """The attempt that the token holds. Raises `stale` when the lease ended or was replaced, `forbidden` when the
    agent was limited to other processes since it claimed.
    """
    attempt = loaded.attempts.get(claim.step)
    if (
        attempt is None
        or attempt.pk != claim.attempt
        or attempt.generation != claim.generation
        or loaded.now.steps[claim.step].state is not StepState.CLAIMED
        or view.lease_over(attempt, loaded.at)
    ):
        raise ToolError(
            "stale", "The claim is no longer current: its lease ended or was replaced. Ask get_work again."
        )
    if not caller.may_work(loaded.compiled.process_id):
        raise ToolError("forbidden", f"This key may not work {loaded.compiled.process} any more.")
    return attempt


def pending(loaded: Loaded, step: str) -> Submission | None:
    """The attempt's submission that is being checked or waits to be sent again. A statement only if there is."""
    if step not in loaded.unsettled:
        return None
    return loaded.attempt(step).submissions.filter(state__in=UNSETTLED).order_by("-number").first()


def refuse_while_checking(loaded: Loaded, step: str) -> None:
    """Raises `retry` while an evaluation of this attempt is under way."""
    waiting = pending(loaded, step)
    if waiting is not None and being_checked(waiting):
        raise checking()


def being_checked(submission: Submission) -> bool:
    """Somebody is asking the evaluator right now (or died less than the retry budget ago)."""
    return (
        submission.state == SubmissionState.CHECKING
        and submission.fence_until is not None
        and submission.fence_until > timezone.now()
    )
