"""Deciding an item: a person's form becomes one `decide` call; the answer becomes the next page.

Whatever refuses, the page comes back with everything that was typed. Only a `stale` form loses its choice
and gets a new snapshot, because the person has to read again.
"""

import logging
from dataclasses import dataclass, replace
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods
from django_htmx.http import HttpResponseClientRedirect

from approvals.choices import CHANGES, Case, Choice
from approvals.controls import describe
from approvals.forms import FILE, Errors, Typed, by_field, chosen, copied, read
from approvals.reading import words
from approvals.screens import frame, notices, store
from approvals.screens.case import render_case
from approvals.screens.decision import Behind, Sent, case_of, decision_context
from approvals.screens.facts import Facts
from approvals.screens.facts import read as facts_of
from approvals.screens.sent import BUSY, sent_of, stored_now
from processes import pipeline
from processes.api import STATUS
from processes.callers import Caller, of_user
from processes.errors import ToolError, run_ended
from processes.models import WorkItem
from processes.states import RUN_LIVE, ItemState

log = logging.getLogger(__name__)

__all__ = ["decide", "decision_context"]
UNREAD = 422


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitting:
    """A person before an item, with the form that they sent."""

    request: HttpRequest
    caller: Caller
    item: WorkItem
    case: Case
    sent: Sent

    @property
    def choice(self) -> Choice | None:
        return chosen(self.case, self.sent.typed)


@frame.signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def decide(request: HttpRequest, item: str) -> HttpResponseBase:
    """Send a decision. A GET (a reload, a return from signing in) leads to the item's page."""
    if request.method != "POST":
        return redirect("case", item)
    caller = of_user(frame.person(request))
    row = _load(item)
    sent = sent_of(request, caller, row)
    case = case_of(row, Behind.of_sent(row), sent.typed)
    sitting = Sitting(request=request, caller=caller, item=row, case=case, sent=sent)
    wrong: Errors = {}
    later: ToolError | None = None
    if sitting.choice is None or sitting.choice.value == CHANGES or "copy" in request.POST:
        sitting, wrong, later = _with_files(sitting)
    if "copy" in request.POST:
        typed = copied(case, sitting.sent.typed)
        return _again(sitting, _facts(sitting), typed, notices.copied_in(), status=200, errors=wrong)
    return _decide(sitting, wrong, later)


def _load(item: str) -> WorkItem:
    """The item with all that reading its form takes, in one statement."""
    found = item.isprintable() and (
        WorkItem.objects.filter(pk=item)
        .select_related("run", "step", "candidate", "attempt__claimed_by")
        .first()
    )
    if not found:
        raise Http404("There is no such item.")
    return found


def _facts(sitting: Sitting) -> Facts:
    """For the page that comes back, read when the form is judged: the run may have moved meanwhile."""
    facts = facts_of(sitting.item.pk, sitting.caller, frame.person(sitting.request))
    if facts is None:
        raise Http404("There is no such item.")
    return facts


def _with_files(sitting: Sitting) -> tuple[Sitting, Errors, ToolError | None]:
    """Attached files stored now, so that none is lost when the form comes back."""
    attached = stored_now(sitting.request, sitting.caller, sitting.item, sitting.sent)
    typed = replace(sitting.sent.typed, stored=(*sitting.sent.typed.stored, *attached.stored))
    sitting = replace(sitting, sent=replace(sitting.sent, typed=typed))
    return sitting, {FILE: attached.said} if attached.said else {}, attached.later


def _decide(sitting: Sitting, wrong: Errors, later: ToolError | None) -> HttpResponseBase:
    """`wrong`: of the attached files; `later`: where sending them again helps."""
    sent = sitting.sent
    reading = read(sitting.case, sent.typed)
    wrong = {**reading.errors, **wrong}
    try:
        if wrong:
            _refuse_if_over(sitting)
            return _refused(sitting, later, wrong) if later else _unread(sitting, wrong)
        arguments = {
            **reading.arguments,
            "runId": sitting.item.run_id,
            "workItemId": sitting.item.pk,
            "snapshot": sent.snapshot,
            "requestId": sent.request_id,
        }
        with store.asked("look at what a decision cites"):
            result = pipeline.call("decide", sitting.caller, arguments)
    except ToolError as error:
        return _refused(sitting, error)
    except store.AwayError as away:
        return _refused(sitting, away.told())
    except pipeline.FAULTS:
        log.exception("a decision ran into another write")
        return _refused(sitting, ToolError("retry", BUSY, retry_after=1))
    return _onward(sitting, result)


def _refuse_if_over(sitting: Sitting) -> None:
    """What the tool would say first of all, where its arguments can't even be made."""
    if sitting.item.run.state not in RUN_LIVE:
        raise run_ended()
    if sitting.item.state != ItemState.OPEN:
        raise ToolError("conflict", "The item was already decided.", ["already_decided"])
    if sitting.sent.snapshot != sitting.item.run.snapshot:
        raise ToolError("stale", "The run has changed.")


# ---- the form comes back


def _again(
    sitting: Sitting,
    facts: Facts,
    typed: Typed,
    notice: notices.Notice,
    *,
    status: int,
    errors: Errors | None = None,
) -> HttpResponseBase:
    posted = replace(sitting.sent, typed=typed)
    context = decision_context(facts, sitting.caller, posted=posted, error=notice, errors=errors)
    return render_case(
        sitting.request, sitting.item.pk, decision_override=context, facts=facts, status=status
    )


def _unread(sitting: Sitting, wrong: Errors) -> HttpResponseBase:
    typed, facts = sitting.sent.typed, _facts(sitting)
    if sitting.choice is None:
        return _again(sitting, facts, typed, notices.plain(wrong[""][0]), status=STATUS["invalid"])
    notice = notices.to_put_right(describe(sitting.case, typed, wrong))
    return _again(sitting, facts, typed, notice, status=UNREAD, errors=wrong)


def _refused(sitting: Sitting, error: ToolError, errors: Errors | None = None) -> HttpResponseBase:
    """The tool said no. The run is read again, because it may have moved. `errors`: of fields, where they are known."""
    facts = _facts(sitting)
    item, typed, issues = facts.item, sitting.sent.typed, error.issues or []
    case = case_of(item, Behind.of(facts), typed)
    if error.code == "stale":
        return _stale(sitting, facts)
    if "run_ended" in issues:
        notice = notices.ended(facts.loaded.row, item, sitting.caller)
    elif error.code == "conflict" and item.state != ItemState.OPEN:
        notice = notices.already_decided(item, sitting.caller)
    elif error.code == "conflict":
        # the requestId was used for something else: a page from the browser's history
        fresh = replace(Sent.fresh(facts.loaded, typed), snapshot=sitting.sent.snapshot)
        sitting, notice = (
            replace(sitting, sent=fresh),
            notices.plain("This form was sent before. Send it again."),
        )
    elif error.code == "retry":
        lines = notices.to_mend(describe(case, typed, errors)) if errors else notices.as_said(issues)
        notice = notices.later(error.message, lines, after=error.retry_after or 1)
    elif issues:
        errors = by_field(case, issues)
        notice = notices.to_put_right(describe(case, typed, errors))
    else:
        notice = notices.plain(f"{error.message} {notices.KEPT}")
    response = _again(sitting, facts, typed, notice, status=STATUS[error.code], errors=errors)
    if error.code == "retry":
        response.headers["Retry-After"] = str(error.retry_after or 1)
    return response


def _stale(sitting: Sitting, facts: Facts) -> HttpResponseBase:
    """A fresh page and a new request; what was typed is kept, what was chosen is not."""
    notice = notices.changed(facts.loaded.row, sitting.sent.seen)
    typed = sitting.sent.typed.unchosen()
    sitting = replace(sitting, sent=Sent.fresh(facts.loaded, typed))
    return _again(sitting, facts, typed, notice, status=STATUS["stale"])


# ---- it is done


def _onward(sitting: Sitting, result: dict[str, Any]) -> HttpResponseBase:
    """To the next item, with what happened. A 303, so that no reload sends it again."""
    following = notices.next_of(sitting.caller, but=sitting.item.pk)
    then = f"Next: {following.subject}." if following else "Nothing else waits for you."
    messages.success(sitting.request, f"{_done(sitting, result)} {then}")
    url = following.url if following else reverse("queue")
    if frame.htmx(sitting.request):
        return HttpResponseClientRedirect(url)
    response = HttpResponse(status=303)
    response.headers["Location"] = url
    return response


def _done(sitting: Sitting, result: dict[str, Any]) -> str:
    """What the decision did, as the run's view tells it."""
    choice, step = sitting.choice, sitting.case.step
    if choice is None:
        raise AssertionError("nothing was sent without a choice")
    if any(item["id"] == sitting.item.pk for item in result.get("workItems", ())):
        return "Your decision is recorded; the item stays open until the others have decided too."
    states = {one["id"]: one["state"] for one in result.get("steps", ())}
    run = result.get("run", {})
    if choice.decision == "completed" and states.get(step.id) == "waiting":
        return "Handed in. The check was unsure, so a person looks at it."
    said = {
        "returned": f"Returned to {sitting.case.worker}.",
        "completed": f"{words.title(step.id)} is completed.",
        "approved": "Approved.",
        "rejected": "Rejected.",
        "failed": f"{words.title(step.id)} has failed.",
    }[choice.decision]
    if choice.decision == "rejected" and step.on_reject and run.get("outcome") is None:
        said = f"Rejected: back to {words.title(step.on_reject)}."
    return f"{said} The run has ended: {run['outcome']}." if run.get("outcome") else said
