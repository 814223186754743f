"""What callers see: run views, work items, claims, in the protocol's shapes.

A view is built compact (no body, no file addresses, no token) because that is what is stored with a
request; `refill` adds those, when it is first answered and at each replay.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from checks import codec, verdicts
from processes import facts, files, tokens
from processes.document import Step as StepSpec
from processes.engine import stamp
from processes.loaded import Loaded
from processes.models import Attempt, Run, WorkItem
from processes.people import person_value
from processes.profiles import FACTS
from processes.states import DECISIONS, StepState
from processes.versions import Compiled, compiled

View = dict[str, Any]


def run_view(loaded: Loaded) -> View:
    """The run view without body and addresses. Statements: none, or one per person newly assigned."""
    row, now = loaded.row, loaded.now
    return {
        "run": _run(row, loaded.compiled),
        "data": now.data,
        "steps": [_step(loaded, name) for name in now.steps],
        "workItems": [
            work_item(item, loaded.compiled, row, data=now.data, at=loaded.at)
            for item in sorted(loaded.items.values(), key=lambda item: (item.opened_at, item.pk))
        ],
    }


def _run(row: Run, about: Compiled) -> View:
    over = row.ended_at is not None
    return {
        "id": row.pk,
        "process": about.process,
        "version": about.number,
        "mode": "test" if row.test else "live",
        "state": str(row.state),
        "outcome": row.outcome or None,
        "ended": {"by": row.ended_by, "at": stamp(row.ended_at), "note": row.ended_note}
        if row.ended_at is not None and over
        else None,
        "startedBy": row.started_by,
        "startedAt": stamp(row.started_at),
        "updatedAt": stamp(row.updated_at),
    }


def _step(loaded: Loaded, name: str) -> View:
    standing = loaded.now.steps[name]
    state: StepState = standing.state
    attempt = loaded.attempts.get(name)
    if state is StepState.CLAIMED and attempt is not None and lease_over(attempt, loaded.at):
        state = StepState.READY  # nobody has to notice that a lease ended
    view: View = {"id": name, "kind": standing.kind, "state": str(state) or None}
    if standing.due_at is not None:
        view["due"] = stamp(standing.due_at)
        view["overdue"] = bool(state) and state not in _OVER and loaded.at > standing.due_at
    return view


_OVER = {StepState.DONE, StepState.FAILED, StepState.CANCELLED}


def lease_over(attempt: Attempt, at: datetime) -> bool:
    return attempt.lease_until is None or attempt.lease_until <= at


def handoff(attempt: Attempt | None, at: datetime) -> View | None:
    """What the attempt's earlier lease, return or submission left; None on a first go."""
    if attempt is None:
        return None
    left: View = codec.loads(attempt.handoff) if attempt.handoff else {}
    if attempt.progress and lease_over(attempt, at):
        left = {**left, "progress": attempt.progress}
    return left or None


def requirements(spec: StepSpec) -> View:
    """What a submission must hold, as claims and work items give it; null where there is nothing."""
    if spec.kind == "approve":
        return {"output": None, "evidence": None, "next": None}
    routes = [{"to": r.to, **({"when": r.when} if r.when else {})} for r in spec.routes]
    return {
        "output": {name: field.source for name, field in spec.output.items()} or None,
        "evidence": list(spec.evidence) or None,
        "next": routes or None,
    }


def work_item(
    item: WorkItem, about: Compiled, row: Run, *, data: Mapping[str, Any] | None, at: datetime
) -> View:
    """One work item. An escalation shows its check: from the run data where that is at hand, else from the
    candidate's verdict, which must then be loaded with its answers.
    """
    spec = about.document.steps[item.step.name]
    due = item.step.due_at
    return {
        "id": item.pk,
        "stepId": spec.id,
        "kind": item.kind,
        "text": spec.text,
        **requirements(spec),
        "assignedTo": assigned_to(item),
        "snapshot": row.snapshot,
        "due": stamp(due) if due else None,
        "escalation": _escalation(item, data) if item.escalated else None,
        "handoff": handoff(item.attempt, at),
        **({"mode": "test"} if row.test else {}),
        "decide": {
            "tool": "decide",
            "arguments": {
                "runId": row.pk,
                "workItemId": item.pk,
                "snapshot": row.snapshot,
                "requestId": "<new UUID>",
            },
            "decisions": [str(decision) for decision in decisions(item)],
        },
    }


def decisions(item: WorkItem) -> tuple[str, ...]:
    return DECISIONS["escalated" if item.escalated else item.kind]


def assigned_to(item: WorkItem) -> View:
    if item.group_id is not None:
        return {"group": f"g_{item.group_id}"}
    if item.person is not None:
        return {"person": person_value(item.person)}
    return {"group": "g_operators"}


def _escalation(item: WorkItem, data: Mapping[str, Any] | None) -> View:
    view: View = {"note": item.note, "by": item.by, "at": stamp(item.opened_at)}
    if item.candidate is not None:
        held = item.candidate
        view["candidate"] = {**codec.loads(held.content), "by": held.by, "at": stamp(held.at)}
        if data is not None:
            check = data["steps"].get(item.step.name, {}).get("check")
        else:
            check = verdicts.view(held.verdict, held.verdict.answers.all()) if held.verdict else None
        if check is not None:
            view["check"] = check
    return view


def claim_view(loaded: Loaded, name: str) -> View:
    """A claim's result without token and body."""
    attempt = loaded.attempts[name]
    spec = loaded.compiled.document.steps[name]
    if attempt.lease_until is None:
        raise AssertionError("a claim has a lease")
    return {
        "expiresAt": stamp(attempt.lease_until),
        **({"extensions": {FACTS: facts.asked(spec)}} if spec.facts else {}),
        "mode": "test" if loaded.row.test else "live",
        "step": {"id": name, "instructions": spec.text, **requirements(spec)},
        "handoff": handoff(attempt, loaded.at),
        "data": loaded.now.data,
    }


# ---- what is added at each answer


def refill(view: View, *, body: int | None = None, token: Mapping[str, Any] | None = None) -> View:
    """Add what is never stored: the body of version `body`, addresses of files, the token derived again."""
    full = dict(view)
    if token is not None:
        claim = tokens.Claim(token["run"], token["step"], int(token["attempt"]), int(token["generation"]))
        full = {"token": tokens.derive(claim, int(token["agent"])), **full}
    if "data" in full:
        full["data"] = _data_with_urls(full["data"])
    if "workItems" in full:
        full["workItems"] = [_item_with_urls(item) for item in full["workItems"]]
    if body is not None:
        full["body"] = compiled(body).document.body
    return full


def _data_with_urls(data: View) -> View:
    steps = {name: _entry_with_urls(entry) for name, entry in data["steps"].items()}
    return {**data, "steps": steps}


def _entry_with_urls(entry: View) -> View:
    full = dict(entry)
    if "evidence" in full:
        full["evidence"] = with_urls(full["evidence"])
    if "history" in full:
        full["history"] = [_entry_with_urls(earlier) for earlier in full["history"]]
    return full


def _item_with_urls(item: View) -> View:
    escalation = item.get("escalation")
    if not escalation or "candidate" not in escalation:
        return item
    return {**item, "escalation": {**escalation, "candidate": _entry_with_urls(escalation["candidate"])}}


def with_urls(evidence: Iterable[Mapping[str, str]]) -> list[View]:
    return [
        {**item, "url": files.url(item["ref"])} if item["kind"] == "file" else dict(item) for item in evidence
    ]
