"""What the case page draws of an item's decision: its form, or why there is none."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django.conf import settings
from django.urls import reverse

from approvals.choices import Case
from approvals.controls import Form, describe
from approvals.forms import Errors, Typed
from approvals.reading import words
from approvals.screens.facts import Facts
from approvals.screens.notices import Notice
from checks import codec
from processes import facts as facts_of_step
from processes.callers import Caller
from processes.document import Document
from processes.loaded import Loaded
from processes.models import WorkItem
from processes.states import ItemState
from processes.tools.decide import is_theirs
from processes.versions import compiled


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A form as it came: what was typed, and what its sender had seen."""

    typed: Typed = field(default_factory=Typed)
    snapshot: str
    seen: int  # the latest history entry of the run that the page showed
    request_id: str

    @classmethod
    def fresh(cls, loaded: Loaded, typed: Typed | None = None) -> "Sent":
        """A form about the run as it is now, and a new request."""
        return cls(
            typed=typed or Typed(),
            snapshot=loaded.row.snapshot,
            seen=loaded.entries,
            request_id=str(uuid.uuid4()),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """What the form depends on beside its item."""

    document: Document
    data: Mapping[str, Any]
    started_by: str
    holder: str  # the agent that claimed the step last
    file_names: Mapping[str, str]

    @classmethod
    def of(cls, facts: Facts) -> "Behind":
        """As the page shows it."""
        loaded = facts.loaded
        attempt = loaded.attempts.get(facts.item.step.name)
        held = attempt.claimed_by if attempt is not None else None
        return cls(
            document=loaded.compiled.document,
            data=loaded.now.data,
            started_by=loaded.row.started_by,
            holder=held.name if held is not None else "",
            file_names={ref: upload.file_name for ref, upload in facts.uploads.items()},
        )

    @classmethod
    def of_sent(cls, item: WorkItem) -> "Behind":
        """As much of it as reading a form needs, from an item with its run and attempt. No statement."""
        held = item.attempt.claimed_by if item.attempt is not None else None
        return cls(
            document=compiled(item.run.version_id).document,
            data=codec.loads(item.run.data),
            started_by=item.run.started_by,
            holder=held.name if held is not None else "",
            file_names={},
        )


def decision_context(
    facts: Facts,
    caller: Caller,
    *,
    posted: Sent | None = None,
    error: Notice | None = None,
    errors: Errors | None = None,
) -> dict[str, Any]:
    """The `decision` of the case page's context. `posted` and the errors: a form that comes back."""
    loaded, item = facts.loaded, facts.item
    sent = posted or Sent.fresh(loaded)
    form = describe(case_of(item, Behind.of(facts), sent.typed), sent.typed, errors)
    why_not = _why_not(loaded, item, caller)
    return {
        "item": item,
        "url": reverse("decide", args=[item.pk]),
        "form": None if why_not else form,
        # a task's fields are its page; all else is decided in the bar that stays in sight
        "task": item.kind == "task" and not item.escalated,
        # an escalated step that a person completes is held to no fact
        "checked": facts_of_step.promised(facts.spec) if item.kind == "task" and not item.escalated else (),
        "bar": item.kind != "task" or item.escalated,
        "why_not": why_not,
        "kept": _kept(form, sent.typed) if why_not else (),
        "sent": sent,
        "notice": error,
        "most": words.size(settings.MAX_UPLOAD_BYTES),
    }


def case_of(item: WorkItem, behind: Behind, typed: Typed) -> Case:
    step = behind.document.steps[item.step.name]
    candidate = codec.loads(item.candidate.content) if item.candidate is not None else None
    case = Case(document=behind.document, step=step, escalated=item.escalated, candidate=candidate)
    return replace(
        case,
        file_names={**behind.file_names, **{stored.ref: stored.name for stored in typed.stored}},
        worker=_worker(behind, item, case),
        reworker=_reworker(behind, case),
    )


def _worker(behind: Behind, item: WorkItem, case: Case) -> str:
    """Who gets the step back: whoever worked it last, or the task's assignee."""
    if case.step.kind == "task":
        return _assignee(behind, case.step.person)
    if item.candidate is not None:
        return words.name(item.candidate.by)
    return behind.holder or "the agent"


def _reworker(behind: Behind, case: Case) -> str:
    """Who worked the step that a rejection goes back to; "" where nobody is known."""
    if not case.step.on_reject:
        return ""
    target = case.document.steps[case.step.on_reject]
    if target.person:
        return _assignee(behind, target.person)
    by = str(behind.data["steps"].get(target.id, {}).get("by", ""))
    return words.name(by) if by.startswith("agent:") else ""


def _assignee(behind: Behind, person: str) -> str:
    """A role's own name, or whom a path leads to."""
    if person == "initiator":
        return words.name(behind.started_by)
    if "." not in person:
        return person
    value: Any = behind.data
    for part in person.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value if isinstance(value, str) else "the assignee"


def _why_not(loaded: Loaded, item: WorkItem, caller: Caller) -> str:
    """Why there is no form for this person; "" when there is one."""
    if item.state == ItemState.DECIDED:
        return f"{words.name(item.decided_by)} has decided this item: {item.decision}."
    if item.state != ItemState.OPEN:
        return "This item was taken back before anybody decided it."
    if not loaded.now.live:
        return "The run has ended, so nothing more can be decided."
    return "" if is_theirs(item, caller) else "This item is for somebody else; you may read it."


def _kept(form: Form, typed: Typed) -> tuple[tuple[str, str], ...]:
    """What was typed in vain, with its labels, so that it can be copied elsewhere."""
    texts = [(control.label, control.typed) for control in form.controls if control.typed.strip()]
    return (*texts, *((f"uploaded as {stored.ref}", stored.name) for stored in typed.stored))
