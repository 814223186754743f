"""An item among what waits for its reader, in one statement."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, Window
from django.db.models.functions import FirstValue, Lag, Lead, RowNumber

from approvals.models import QueueEntry
from approvals.queue import entries
from approvals.screens import frame
from processes.callers import Caller
from processes.models import WorkItem

# the queue's order (approvals.queue.entries), seen from the items; a test holds the two together
ORDER: tuple[Any, ...] = (
    "queued__band",
    F("queued__least_sure").desc(),
    F("queued__due_at").asc(nulls_last=True),
    "queued__opened_at",
    "pk",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """`number` is 0 where the item is not in the reader's queue; it then has no neighbours."""

    item: WorkItem
    number: int
    total: int
    before: str
    after: str
    sections: frame.May


def find(item: str, caller: Caller, user: Any) -> Place | None:
    """The item, whoever it is for, with its neighbours in this person's queue and what the frame offers."""
    if not item.isprintable():
        return None
    mine = entries(caller).order_by()
    found: Any = (
        WorkItem.objects.filter(Q(pk=item) | Q(pk__in=mine.values("pk")))
        .select_related("queued")
        .annotate(mine=Exists(QueueEntry.objects.filter(pk=OuterRef("pk"), pk__in=mine.values("pk"))))
        .annotate(
            which=Window(FirstValue("pk"), partition_by="pk"),
            number=Window(RowNumber(), order_by=ORDER),
            before=Window(Lag("pk"), order_by=ORDER),
            after=Window(Lead("pk"), order_by=ORDER),
            total=Window(Count("pk")),
            **frame.permissions(user),
        )
        .filter(which=item)
        .first()
    )
    if found is None:
        return None
    sections = frame.May(runs=found.runs, processes=found.processes, settings=user.is_staff)
    if not found.mine:
        return Place(item=found, number=0, total=found.total - 1, before="", after="", sections=sections)
    return Place(
        item=found,
        number=found.number,
        total=found.total,
        before=found.before or "",
        after=found.after or "",
        sections=sections,
    )
