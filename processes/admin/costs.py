"""What checks took: requests, tokens, time and money, by process, step and day."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, timedelta
from decimal import Decimal
from typing import Any

from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.db.models import Avg, Count, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import TruncDate
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone

from checks.models import Verdict
from processes.models import Submission

SPANS = (1, 7, 30, 90)
DEFAULT_DAYS = 30
MOST_ROWS = 500
ELSEWHERE = "(no process)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """Of some checks. `unpriced`: how many of them nobody knows the cost of."""

    process: str = ""
    step: str = ""
    day: date | None = None
    checks: int
    failed: int
    requests: int
    input_tokens: int
    output_tokens: int
    seconds: float
    cost: Decimal | None
    unpriced: int


def verdicts_since(days: int) -> QuerySet[Any]:
    return Verdict.objects.filter(at__gte=timezone.now() - timedelta(days=days))


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What one statement added up. `cut`: there was more than the page shows."""

    by: str
    totals: list[Total]
    cut: bool

    @property
    def most(self) -> int:
        return MOST_ROWS


def by_process(verdicts: QuerySet[Any]) -> Table:
    found = _placed(verdicts).values("process")
    return _table("process", found.annotate(**_sums()).order_by("process"))


def by_step(verdicts: QuerySet[Any]) -> Table:
    """One row for each step of each process."""
    found = _placed(verdicts).values("process", "step")
    return _table("process and step", found.annotate(**_sums()).order_by("process", "step"))


def by_day(verdicts: QuerySet[Any]) -> Table:
    found = verdicts.annotate(day=TruncDate("at", tzinfo=UTC)).values("day")
    return _table("day (UTC)", found.annotate(**_sums()).order_by("-day"))


def _placed(verdicts: QuerySet[Any]) -> QuerySet[Any]:
    """With the process and step of each; a verdict that several submissions share counts once."""
    handed_in = Submission.objects.filter(verdict=OuterRef("pk")).order_by("pk")
    step = handed_in.values("attempt__step__name")[:1]
    process = handed_in.values("attempt__step__run__version__process__name")[:1]
    placed: QuerySet[Any] = verdicts.annotate(process=Subquery(process), step=Subquery(step))
    return placed


def _table(by: str, rows: QuerySet[Any]) -> Table:
    totals = _totals(rows[: MOST_ROWS + 1])
    return Table(by=by, totals=totals[:MOST_ROWS], cut=len(totals) > MOST_ROWS)


def _sums() -> dict[str, Any]:
    return {
        "checks": Count("pk"),
        "failed": Count("pk", filter=Q(verdict="error")),
        "all_requests": Sum("requests"),
        "tokens_in": Sum("input_tokens"),
        "tokens_out": Sum("output_tokens"),
        "taken": Avg("milliseconds"),
        "money": Sum("cost"),
        "unpriced": Count("pk", filter=Q(cost__isnull=True)),
    }


def _totals(rows: Iterable[dict[str, Any]]) -> list[Total]:
    return [
        Total(
            process=row.get("process") or ELSEWHERE,
            step=row.get("step") or "",
            day=row.get("day"),
            checks=row["checks"],
            failed=row["failed"],
            requests=row["all_requests"] or 0,
            input_tokens=row["tokens_in"] or 0,
            output_tokens=row["tokens_out"] or 0,
            seconds=(row["taken"] or 0) / 1000,
            cost=row["money"],
            unpriced=row["unpriced"],
        )
        for row in rows
    ]


def page(request: HttpRequest, site: AdminSite, opts: Any) -> HttpResponse:
    if not request.user.has_perm("checks.view_verdict"):
        raise PermissionDenied
    asked = request.GET.get("days", "")
    days = int(asked) if asked in {str(span) for span in SPANS} else DEFAULT_DAYS
    verdicts = verdicts_since(days)
    context = {
        **site.each_context(request),
        "opts": opts,
        "title": "What checks took",
        "days": days,
        "spans": SPANS,
        "tables": [by_process(verdicts), by_step(verdicts), by_day(verdicts)],
    }
    return TemplateResponse(request, "admin/processes/costs.html", context)
