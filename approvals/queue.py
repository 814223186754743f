"""Which items, in which order, for whom. The queue's table follows every write of a run."""

from typing import Any

from django.db.models import F, Q, QuerySet

from approvals.models import Band, QueueEntry
from checks.questions import Verdict
from processes.callers import Caller
from processes.models import Submission, WorkItem
from processes.seams import Change
from processes.states import SubmissionState


def follow(change: Change) -> None:
    """An observer: drop what was closed, add what was opened.

    Most writes close one item and open one, whose row is then the old one rewritten: one statement (and one
    more where an approval follows no submission of the same write).
    """
    closed = [item.pk for item in change.closed]
    opened = [_entry(item, change) for item in change.opened]
    if closed and opened and QueueEntry.objects.filter(pk=closed[0]).update(**_columns(opened[0])):
        del closed[0], opened[0]
    if closed:
        QueueEntry.objects.filter(pk__in=closed).delete()
    if opened:
        QueueEntry.objects.bulk_create(opened)


def _columns(entry: QueueEntry) -> dict[str, Any]:
    return {column.attname: getattr(entry, column.attname) for column in entry._meta.concrete_fields}


def _entry(item: WorkItem, change: Change) -> QueueEntry:
    about = change.about.get(item.pk) or (_before(change) if item.kind == "approve" else None)
    verdict = about.verdict if about is not None else None
    band, kind = Band.REST, item.kind
    if item.escalated:
        kind, band = ("unsure", Band.UNSURE) if verdict is not None else ("escalated", Band.REST)
    elif verdict is not None and verdict.verdict in (Verdict.UNSURE, Verdict.FAIL, Verdict.ERROR):
        band = Band.DOUBTED
    return QueueEntry(
        item=item,
        band=band,
        least_sure=(verdict.least_sure or 0.0) if verdict is not None else 0.0,
        process=change.compiled.process,
        version=change.compiled.number,
        step=item.step.name,
        kind=kind,
        subject=change.run.subject,
        submitted_by=about.by if about is not None else item.by,
        test=change.run.test,
        verdict=verdict,
        group_id=item.group_id,
        person_id=item.person_id,
        due_at=item.step.due_at,
        opened_at=item.opened_at,
    )


def _before(change: Change) -> Submission | None:
    """The latest accepted submission of the run: what an approval after another approval is about."""
    return (
        Submission.objects.filter(attempt__step__run=change.run, state=SubmissionState.ACCEPTED)
        .select_related("verdict")
        .defer("content")
        .order_by("-at")
        .first()
    )


def entries(caller: Caller) -> QuerySet[QueueEntry]:
    """What this person may decide, in the queue's order, ready to be listed with its answers."""
    mine = Q(person=caller.user) | Q(group__in=caller.groups)
    if caller.operator:
        mine |= Q(kind__in=["unsure", "escalated"]) | Q(group__isnull=True, person__isnull=True)
    return QueueEntry.objects.filter(mine).order_by(
        "band", F("least_sure").desc(), F("due_at").asc(nulls_last=True), "opened_at", "pk"
    )
