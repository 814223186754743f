"""What a page says above a form that comes back: why, what happened meanwhile, and where to go on."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils import timezone

from approvals.controls import Form
from approvals.models import QueueEntry
from approvals.queue import entries
from approvals.reading import words
from processes.callers import Caller
from processes.models import HistoryEntry, Run, WorkItem
from processes.states import ItemState

SHOWN = 8  # of what happened meanwhile, the latest
_NO_NOTES = ("checked", "finished")  # they say what the text says already
KEPT = "Nothing was sent, all you typed is kept."


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Something to put right; `target` is the id of the field that mends it."""

    text: str
    target: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    at: datetime
    clock: str
    by: str
    text: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Next:
    """The item to go on with."""

    subject: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """`look` is the mock's: `error` for what must be put right, `stale` for what has changed."""

    title: str
    look: str = "stale"
    text: str = ""
    lines: tuple[Line, ...] = ()
    happened: tuple[Happening, ...] = ()
    onward: bool = False  # offer the next item, or the queue
    next: Next | None = None


def next_of(caller: Caller, *, but: str) -> Next | None:
    """The first open item in the person's queue. One statement."""
    first: QueueEntry | None = entries(caller).exclude(pk=but).first()
    if first is None:
        return None
    subject = first.subject or f"{words.title(first.process)} › {words.title(first.step)}"
    return Next(subject=subject, url=reverse("case", args=[first.pk]))


def to_mend(form: Form) -> tuple[Line, ...]:
    """Every error of the form, each linked to its field."""
    return tuple(
        Line(text=f"{label}: {said}" if label else said, target=target)
        for label, target, said in form.wrong()
    )


def as_said(said: Sequence[str]) -> tuple[Line, ...]:
    return tuple(Line(text=line) for line in said)


def to_put_right(form: Form, head: str = "Not accepted") -> Notice:
    lines = to_mend(form)
    things = words.count(len(lines), "thing")
    return Notice(look="error", title=f"{head}: {things} to put right. {KEPT}", lines=lines)


def plain(title: str, said: Sequence[str] = ()) -> Notice:
    return Notice(look="error", title=title, lines=as_said(said))


def copied_in() -> Notice:
    return Notice(
        title="The candidate's values are copied into the fields that were empty.",
        text="Nothing is sent yet. Change what is wrong, then send.",
    )


def changed(run: Run, seen: int) -> Notice:
    """The run moved on while its page was open. One statement."""
    now = timezone.now()
    since = list(
        HistoryEntry.objects.filter(run=run, number__gt=seen)
        .select_related("verdict")
        .defer("receipt")
        .order_by("-number")[:SHOWN]
    )
    return Notice(
        title="The run has changed since you opened it. Nothing was sent.",
        text="Read it again, then decide. What you typed is kept; nothing is chosen.",
        happened=tuple(_happening(entry, now) for entry in reversed(since)),
    )


def _happening(entry: HistoryEntry, now: datetime) -> Happening:
    verdict = entry.verdict.verdict if entry.verdict is not None else ""
    return Happening(
        at=entry.at,
        clock=words.clock(entry.at, now),
        by=words.name(entry.by),
        text=words.happened(entry.what, step=entry.step, attempt=entry.attempt, verdict=verdict),
        note=entry.note if entry.what not in _NO_NOTES else "",
    )


def already_decided(item: WorkItem, caller: Caller) -> Notice:
    """Who was first, with the next item to go on with."""
    title, now = "This item is no longer open. Nothing was sent.", timezone.now()
    if item.state == ItemState.DECIDED and item.decided_at is not None:
        who = "You have" if item.decided_by == caller.id else f"{words.name(item.decided_by)} has"
        when = words.clock(item.decided_at, now)
        title = f"{who} already decided this item: {item.decision}, {when}. Nothing was sent."
    return Notice(title=title, onward=True, next=next_of(caller, but=item.pk))


def ended(run: Run, item: WorkItem, caller: Caller) -> Notice:
    """The run is over, however that came."""
    how = f"was ended ({run.outcome})" if run.outcome else f"was {run.state}"
    when = f", {words.clock(run.ended_at, timezone.now())}" if run.ended_at else ""
    return Notice(
        title=f"The run {how} by {words.name(run.ended_by)}{when}. Nothing was sent.",
        text=run.ended_note or "",
        onward=True,
        next=next_of(caller, but=item.pk),
    )


def later(why: str, lines: tuple[Line, ...], *, after: int) -> Notice:
    """`why`: a `retry`'s message, whose words after the semicolon are for programs; `after`: its seconds."""
    return Notice(
        title=f"{why.partition(';')[0].rstrip('.')}. Send again {words.wait(after)}.",
        text="All you typed is kept, and nothing is done twice.",
        lines=lines,
    )
