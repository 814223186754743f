"""decide: a person completes, approves, rejects, returns or fails an item.

Errors in this order: `invalid` (what no state could make right), run_ended, already_decided, not_found,
stale, forbidden, not_accepted. An agent is always refused, at its place.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django.db.models import Q

from checks import canary, codec
from checks.questions import issue_lines, judged_again
from processes import checking, claims, engine, evaluating, files, seams, view
from processes.acceptance import Content, content_of
from processes.applying import set_state
from processes.callers import Caller, CallerKind
from processes.errors import ToolError
from processes.handing import Handing, accept
from processes.loaded import Loaded
from processes.models import Submission, WorkItem
from processes.pipeline import Call, run_answer
from processes.states import NOTE_NEEDED, Decision, SubmissionState
from processes.tools import submit

_ONLY_COMPLETED = ("output", "evidence", "summary", "next", "reason")


def run(call: Call) -> dict[str, Any]:
    decision = Decision(call.arguments["decision"])
    if issues := _misplaced(call.arguments, decision):
        raise ToolError("invalid", f"These arguments don't go with {decision}.", issues)
    verified = files.verify(_cited(call)) if decision is Decision.COMPLETED else {}

    def work(loaded: Loaded) -> checking.Handed:
        item = _item(loaded, call)
        _refuse_unless_theirs(loaded, item, call)
        ruling = seams.ruling(_asked(loaded, item, call.caller, decision))
        if isinstance(ruling, seams.Refuse):
            raise ToolError(ruling.code, ruling.message, ruling.issues)
        if isinstance(ruling, seams.Hold):
            return run_answer
        if decision is Decision.COMPLETED:
            return _complete(loaded, item, call, verified)
        VERBS[decision](loaded, item, call.caller.id, call.arguments.get("note", ""))
        return run_answer

    return evaluating.transition(call, call.arguments["runId"], work)


def _misplaced(arguments: Any, decision: Decision) -> list[str]:
    if decision is Decision.COMPLETED:
        return ["note: not with completed"] if "note" in arguments else []
    found = [f"{key}: only with completed" for key in _ONLY_COMPLETED if key in arguments]
    if decision in NOTE_NEEDED and not arguments.get("note", "").strip():
        found.append(f"note: required with {decision}")
    return found


def _cited(call: Call) -> set[str]:
    """Files to verify before the lock: the given ones, or the candidate's where that is taken whole."""
    given = files.refs(call.arguments.get("evidence", ()))
    if "output" in call.arguments or "evidence" in call.arguments:
        return given
    held = (
        WorkItem.objects.filter(pk=call.arguments["workItemId"], candidate__isnull=False)
        .values_list("candidate__content", flat=True)
        .first()
    )
    return files.refs(codec.loads(held)["evidence"]) if held else given


def _item(loaded: Loaded, call: Call) -> WorkItem:
    """Raises already_decided, then not_found."""
    wanted = call.arguments["workItemId"]
    for item in loaded.items.values():
        if item.pk == wanted:
            return item
    known = WorkItem.objects.filter(pk=wanted, run=loaded.row).values_list("decided_by", "decision").first()
    if known is None:
        raise ToolError("not_found", f"There is no item {wanted[:60]} on this run.")
    who = f" by {known[0]} ({known[1]})" if known[0] else ""
    raise ToolError("conflict", f"The item was already decided{who}.", ["already_decided"])


def _refuse_unless_theirs(loaded: Loaded, item: WorkItem, call: Call) -> None:
    """Raises stale, forbidden, `invalid` for a decision this item does not take, `retry` while checking."""
    if call.arguments["snapshot"] != loaded.row.snapshot and not _under_way(loaded, item, call):
        raise ToolError("stale", "The run has changed since you read it. Read it again, then decide.")
    caller = call.caller
    if caller.kind is not CallerKind.PERSON:
        raise ToolError("forbidden", "Only people decide.")
    if not is_theirs(item, caller):
        raise ToolError("forbidden", "The item is assigned to somebody else.")
    if call.arguments["decision"] not in view.decisions(item):
        allowed = ", ".join(view.decisions(item))
        raise ToolError("invalid", "This item takes another decision.", [f"decision: one of {allowed}"])
    if (
        item.kind == "task" and call.arguments["decision"] != Decision.COMPLETED
    ):  # which may be that very call
        claims.refuse_while_checking(loaded, item.step.name)


def _under_way(loaded: Loaded, item: WorkItem, call: Call) -> bool:
    """Whether this very call is being checked: it was not stale when it came, and a sibling may have moved on."""
    waiting = claims.pending(loaded, item.step.name) if item.kind == "task" else None
    return (
        waiting is not None
        and claims.being_checked(waiting)
        and (waiting.request_id, waiting.by) == (call.request_id, call.caller.id)
    )


def is_theirs(item: WorkItem, caller: Caller) -> bool:
    """Their own, their group's, or as an operator any escalation."""
    if item.person_id is not None or item.group_id is not None:
        mine = item.person_id == caller.user if item.person_id is not None else item.group_id in caller.groups
        return mine or (caller.operator and item.escalated)
    return caller.operator


def _asked(loaded: Loaded, item: WorkItem, caller: Caller, decision: Decision) -> seams.Asked:
    # Whoever took an unchanged candidate has decided, not worked; nor has an earlier approver.
    about = Q(pk=item.candidate_id) if item.escalated else Q(state=SubmissionState.ACCEPTED)
    work = Submission.objects.filter(about, attempt__step__run=loaded.row)
    return seams.Asked(run=loaded.row, item=item, caller=caller, decision=decision, work=work)


# ---- what each decision does


def _complete(loaded: Loaded, item: WorkItem, call: Call, verified: dict[str, Any]) -> checking.Handed:
    step, given = item.step.name, submit.content_of(call.arguments)
    candidate = item.candidate
    content = given
    if candidate is not None and "output" not in call.arguments:
        content = _over(content_of(codec.loads(candidate.content)), given, call.arguments)
    handing = Handing(caller=call.caller, step=step, content=content, verified=verified, summary_needed=False)
    if not item.escalated:
        return checking.hand_in(loaded, call, handing)
    kept = accept(loaded, handing)
    if isinstance(kept, ToolError):
        return kept
    # a person completing an escalated step is not checked again
    check = loaded.now.data["steps"].get(step, {}).get("check")
    submission = _kept(loaded, call, step, kept, candidate)
    loaded.decide(item, Decision.COMPLETED, call.caller.id)
    done = {**kept.as_json(), **({"check": check} if check is not None else {})}
    engine.complete(loaded.now, step, done, by=call.caller.id)
    loaded.handed = submission
    return run_answer


def _kept(loaded: Loaded, call: Call, step: str, kept: Content, candidate: Submission | None) -> Submission:
    """What the step is completed with: the candidate as it is, or a submission of the person's own."""
    if candidate is not None and kept.as_json() == codec.loads(candidate.content):
        set_state(loaded, candidate, SubmissionState.ACCEPTED)
        return candidate
    submission = checking.accepted(loaded, call, step, kept)
    if candidate is not None:
        set_state(loaded, candidate, SubmissionState.RETURNED)
    return submission


def _over(held: Content, given: Content, arguments: Any) -> Content:
    """The candidate whole; given fields override."""
    named = {key: getattr(given, key) for key in _ONLY_COMPLETED if key in arguments}
    # the hashes are of the server's own recording and are verified anew
    plain = tuple({"kind": item["kind"], "ref": item["ref"]} for item in held.evidence)
    return replace(replace(held, evidence=plain), **named)


def _approve(loaded: Loaded, item: WorkItem, by: str, note: str) -> None:
    loaded.decide(item, Decision.APPROVED, by)
    engine.approve(loaded.now, item.step.name, by=by, note=note)


def _reject(loaded: Loaded, item: WorkItem, by: str, note: str) -> None:
    loaded.decide(item, Decision.REJECTED, by)
    engine.reject(loaded.now, item.step.name, by=by, note=note)


def _fail(loaded: Loaded, item: WorkItem, by: str, note: str) -> None:
    loaded.decide(item, Decision.FAILED, by)
    engine.fail(loaded.now, item.step.name, by=by, note=note)


def _return(loaded: Loaded, item: WorkItem, by: str, note: str) -> None:
    """Same attempt, same due time; the note and the check travel in the handoff."""
    step = item.step.name
    loaded.decide(item, Decision.RETURNED, by)
    attempt = loaded.attempt(step)
    left: dict[str, Any] = codec.loads(attempt.handoff) if attempt.handoff else {}
    left["returned"] = {"note": note, "by": by, "at": engine.stamp(loaded.at)}
    if item.candidate is not None:
        # it was the last submission, and it was held: what an earlier one was told is over
        left.pop("issues", None)
        left.pop("check", None)
        set_state(loaded, item.candidate, SubmissionState.RETURNED)
        check = loaded.now.data["steps"].get(step, {}).get("check")
        if check is not None:
            # from run data, which is at hand
            judged = judged_again(
                loaded.compiled.document.steps[step].check, check["questions"], loaded.limits
            )
            lines = issue_lines(judged, unsure=True)
            if item.candidate.verdict is not None and item.candidate.verdict.addressed:
                lines.append(f"check: {canary.REASON}")
            left |= {"issues": lines, "check": check}
    attempt.handoff = codec.dumps(left)
    attempt.lease_until = None
    loaded.touch(attempt)
    assignee = engine.give_back(loaded.now, step, by=by, note=note)
    loaded.close_item(step)
    if assignee is not None:
        loaded.open_item(step, assignee)


VERBS: dict[Decision, Callable[[Loaded, WorkItem, str, str], None]] = {
    Decision.APPROVED: _approve,
    Decision.REJECTED: _reject,
    Decision.FAILED: _fail,
    Decision.RETURNED: _return,
}
