"""The queue: what waits for a person, least sure first, refreshed without moving what is being read.

A bounded number of statements whatever the queue holds: one for all counts, one for the processes, one for
the page's entries, one for their answers, one for what the page has seen.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, F, Q, QuerySet
from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.views.decorators.cache import never_cache
from django.views.decorators.vary import vary_on_headers

from approvals.models import Band, QueueEntry
from approvals.queue import entries
from approvals.reading import bars, words
from approvals.screens import frame
from approvals.screens.answers import Brief, Chip, briefs, item_chips
from checks.models import Answer
from processes.callers import Caller, of_user
from processes.models import WorkItem
from processes.states import ItemState

PAGE = 50
PAGE_DIGITS = 4
QUESTIONS = 6  # of one row; the rest is counted
SEEN = 20  # newest items that a page remembers
OVERLAP = timedelta(seconds=30)  # an item may be committed a little after one that was opened later
DENSITY, COMPACT = "density", "compact"
_YEAR = 365 * 86_400

FILTERS = {
    "open": "Open",
    "unsure": "Unsure",
    "approvals": "Approvals",
    "tasks": "Tasks",
    "escalated": "Escalated",
    "mine": "Mine",
    "overdue": "Overdue",
}
SECTIONS = {
    Band.UNSURE: ("Unsure", "least sure first"),
    Band.DOUBTED: ("Approvals after a doubtful check", "least sure first, then by due time"),
    Band.REST: ("Approvals and tasks", "by due time"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the address asks to see."""

    kind: str = "open"
    process: str = ""
    q: str = ""
    page: int = 1
    compact: bool = False

    @classmethod
    def of(cls, query: QueryDict, cookies: dict[str, str]) -> "Wanted":
        kind, page = query.get("show", "open"), query.get("page", "1")
        return cls(
            kind=kind if kind in FILTERS else "open",
            process=_clean(query.get("process", "")),
            q=_clean(query.get("q", "")).strip(),
            page=max(1, int(page)) if page.isascii() and page.isdigit() and len(page) <= PAGE_DIGITS else 1,
            compact=query.get(DENSITY, cookies.get(DENSITY, "")) == COMPACT,
        )

    def query(self, **other: Any) -> str:
        """The address of the same view with something else."""
        given = {"show": self.kind, "process": self.process, "q": self.q, **other}
        kept = {key: value for key, value in given.items() if value and (key, value) != ("show", "open")}
        return f"{reverse('queue')}?{urlencode(kept)}" if kept else reverse("queue")

    def narrow(self) -> Q:
        """Process and search, which the counts of the filters respect."""
        found = Q(process=self.process) if self.process else Q()
        if self.q:
            found &= (
                Q(subject__icontains=self.q)
                | Q(submitted_by__icontains=self.q)
                | Q(item__run__id__startswith=self.q)
            )
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    name: str
    label: str
    count: int
    url: str
    current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    pk: str
    title: str
    process: str
    step: str
    by: str
    age: str
    opened: str
    due: words.Due | None
    chips: tuple[Chip, ...]
    kind: str  # what is asked, where the chip does not say it
    questions: tuple[Brief, ...]
    more: int
    say: str
    gap: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    title: str
    order: str
    count: int
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    total: int
    tabs: dict[str, int] = field(default_factory=dict)
    bands: dict[int, int] = field(default_factory=dict)


@frame.signed_in
@never_cache
@vary_on_headers("HX-Request", "HX-Target", "Cookie")
def queue(request: HttpRequest) -> HttpResponseBase:
    """The page; for htmx its list alone."""
    user = frame.person(request)
    caller = of_user(user)
    wanted = Wanted.of(request.GET, request.COOKIES)
    now = timezone.now()
    mine = entries(caller)
    counts = _counts(mine, caller, wanted, now)
    page = _page(mine, caller, wanted, now)
    context = {
        **frame.context("Queue", waiting=counts.total, sections=frame.may(user), here="queue"),
        "wanted": wanted,
        "tabs": _tabs(wanted, counts),
        "processes": _processes(mine, wanted),
        "sections_of_rows": _sections(page[:PAGE], counts, now),
        "shown": counts.tabs[wanted.kind],
        "next_url": wanted.query(page=wanted.page + 1) if len(page) > PAGE else "",
        "prev_url": wanted.query(page=wanted.page - 1) if wanted.page > 1 else "",
        "density_url": wanted.query(density="comfortable" if wanted.compact else COMPACT),
        "news_url": _news_url(mine, caller, wanted, now),
        "now": now,
        "day": _day(caller, now) if not counts.total else None,
    }
    partial = frame.htmx(request) and frame.htmx(request).target == "list"
    response = render(request, f"approvals/queue.html{'#again' if partial else ''}", context)
    if DENSITY in request.GET:
        value = COMPACT if wanted.compact else "comfortable"
        response.set_cookie(DENSITY, value, max_age=_YEAR, samesite="Lax", httponly=True)
    return response


@never_cache
def queue_news(request: HttpRequest) -> HttpResponseBase:
    """The poll: how many items came since the page was made. It never sends the items themselves, and takes nobody who is
    signed out away from what they were typing.
    """
    if frame.htmx(request) and not request.user.is_authenticated:
        return frame.toast(request, "You are signed out. All you typed stays here.", sign_in=True)
    return _news(request)


@frame.signed_in
def _news(request: HttpRequest) -> HttpResponseBase:
    since = parse_datetime(request.GET.get("since", "")[:40]) if request.GET.get("since") else None
    if since is None or since.tzinfo is None:
        return frame.no_content()
    caller = of_user(frame.person(request))
    wanted = Wanted.of(request.GET, request.COOKIES)
    seen = [pk for pk in request.GET.get("seen", "").split(",") if pk.isprintable()][:SEEN]
    fresh = _filtered(entries(caller), caller, wanted, timezone.now()).filter(opened_at__gte=since)
    new = fresh.exclude(pk__in=seen).order_by().count()
    if not new:
        return frame.no_content()
    return render(request, "approvals/queue.html#news", {"new": new, "url": wanted.query(), "wanted": wanted})


# ---- asking the database


def _kinds(caller: Caller, now: datetime) -> dict[str, Q]:
    return {
        "open": Q(),
        "unsure": Q(kind="unsure"),
        "approvals": Q(kind="approve"),
        "tasks": Q(kind="task"),
        "escalated": Q(kind="escalated"),
        "mine": Q(person=caller.user),
        "overdue": Q(due_at__lt=now),
    }


def _filtered(
    mine: QuerySet[QueueEntry], caller: Caller, wanted: Wanted, now: datetime
) -> QuerySet[QueueEntry]:
    return mine.filter(wanted.narrow(), _kinds(caller, now)[wanted.kind])


def _counts(mine: QuerySet[QueueEntry], caller: Caller, wanted: Wanted, now: datetime) -> Counts:
    """Every number of the page in one statement."""
    kinds, narrow = _kinds(caller, now), wanted.narrow()
    asked = {f"tab_{name}": Count("pk", filter=narrow & kind) for name, kind in kinds.items()}
    here = narrow & kinds[wanted.kind]
    asked |= {f"band_{band.value}": Count("pk", filter=here & Q(band=band)) for band in Band}
    found = mine.order_by().aggregate(total=Count("pk"), **asked)
    return Counts(
        total=found["total"],
        tabs={name: found[f"tab_{name}"] for name in kinds},
        bands={band.value: found[f"band_{band.value}"] for band in Band},
    )


def _page(mine: QuerySet[QueueEntry], caller: Caller, wanted: Wanted, now: datetime) -> list[QueueEntry]:
    """One entry more than a page holds, when there are more."""
    first = (wanted.page - 1) * PAGE
    rows = _filtered(mine, caller, wanted, now).select_related("verdict").annotate(asked_by=F("item__by"))
    return list(rows[first : first + PAGE + 1])


def _answers(page: Iterable[QueueEntry]) -> dict[Any, list[Answer]]:
    """Answers by verdict, without their options."""
    wanted = {entry.verdict_id for entry in page if entry.verdict_id is not None}
    if not wanted:
        return {}
    rows = Answer.objects.filter(verdict__in=wanted).defer("options").order_by("verdict", "position")
    return {verdict: list(group) for verdict, group in groupby(rows, key=lambda answer: answer.verdict_id)}


def _processes(mine: QuerySet[QueueEntry], wanted: Wanted) -> list[tuple[str, str, int]]:
    rows = mine.order_by("process").values_list("process").annotate(many=Count("pk"))
    found = [(name, words.title(name), many) for name, many in rows]
    if wanted.process and all(name != wanted.process for name, _, _ in found):
        found.append((wanted.process, words.title(wanted.process), 0))
    return found


def _news_url(mine: QuerySet[QueueEntry], caller: Caller, wanted: Wanted, now: datetime) -> str:
    """The poll's address, with the newest items that this page has seen."""
    newest = list(
        _filtered(mine, caller, wanted, now).order_by("-opened_at").values_list("pk", "opened_at")[:SEEN]
    )
    since = max(newest[0][1] - OVERLAP, newest[-1][1]) if len(newest) == SEEN else now - OVERLAP
    if 0 < len(newest) < SEEN:
        since = newest[0][1] - OVERLAP
    seen = ",".join(pk for pk, opened in newest if opened >= since)
    given = {"show": wanted.kind, "process": wanted.process, "q": wanted.q}
    query = {"since": since.isoformat(), "seen": seen} | {key: value for key, value in given.items() if value}
    return f"{reverse('queue_news')}?{urlencode(query)}"


def _day(caller: Caller, now: datetime) -> dict[str, int]:
    """What was decided today, for the page of an empty queue."""
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    decided = WorkItem.objects.filter(state=ItemState.DECIDED, decided_at__gte=today)
    return decided.aggregate(
        you=Count("pk", filter=Q(decided_by=caller.id)), others=Count("pk", filter=~Q(decided_by=caller.id))
    )


# ---- what the template draws


def _tabs(wanted: Wanted, counts: Counts) -> list[Tab]:
    return [
        Tab(
            name=name,
            label=label,
            count=counts.tabs[name],
            url=wanted.query(show=name),
            current=name == wanted.kind,
        )
        for name, label in FILTERS.items()
    ]


def _sections(page: Sequence[QueueEntry], counts: Counts, now: datetime) -> list[Section]:
    answers = _answers(page)
    found = []
    for band, group in groupby(page, key=lambda entry: entry.band):
        title, order = SECTIONS[Band(band)]
        rows = tuple(_row(entry, answers.get(entry.verdict_id, []), now) for entry in group)
        found.append(Section(title=title, order=order, count=counts.bands[band], rows=rows))
    return found


def _row(entry: QueueEntry, answers: list[Answer], now: datetime) -> Row:
    is_model = entry.verdict is None or entry.verdict.is_model
    questions, deciding = briefs(answers, is_model=is_model, most=QUESTIONS)
    return Row(
        pk=entry.pk,
        title=entry.subject or words.title(entry.process),
        process=words.title(entry.process),
        step=words.title(entry.step),
        by=words.name(entry.submitted_by),
        age=words.age(entry.opened_at, now),
        opened=words.stamp(entry.opened_at),
        due=words.due(entry.due_at, now),
        chips=item_chips(entry.kind, entry.verdict, asked_by=getattr(entry, "asked_by", ""), test=entry.test),
        kind="approval" if entry.kind == "approve" and entry.verdict is not None else "",
        questions=questions,
        more=len(answers) - len(questions),
        say=_said(entry, deciding, is_model=is_model),
        gap=bars.gap(deciding) if deciding is not None and not _addressed(entry) else "",
    )


def _addressed(entry: QueueEntry) -> bool:
    """No question put it where it stands."""
    return entry.verdict is not None and entry.verdict.addressed


def _said(entry: QueueEntry, deciding: Answer | None, *, is_model: bool) -> str:
    if _addressed(entry):
        return "Some of this work speaks to whoever judges it, so a person decides."
    return bars.say(deciding, is_model=is_model) if deciding is not None else ""


def _clean(text: str) -> str:
    """No database takes NUL, and nobody searches for more than this."""
    return text.replace("\x00", "")[:100]
