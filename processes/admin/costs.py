"""What checks took: requests, tokens, time and money, by process, step and day."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
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


def by_step(verdicts: QuerySet[Any]) -> list[Total]:
    """One row for each step of each process. One statement; a verdict that several submissions share counts once."""
    handed_in = Submission.objects.filter(verdict=OuterRef("pk")).order_by("pk")
    step = handed_in.values("attempt__step__name")[:1]
    process = handed_in.values("attempt__step__run__version__process__name")[:1]
    found = verdicts.annotate(process=Subquery(process), step=Subquery(step)).values("process", "step")
    return _totals(found.annotate(**_sums()).order_by("process", "step")[:MOST_ROWS])


def by_day(verdicts: QuerySet[Any]) -> list[Total]:
    found = verdicts.annotate(day=TruncDate("at")).values("day")
    return _totals(found.annotate(**_sums()).order_by("-day")[:MOST_ROWS])


def by_process(steps: Iterable[Total]) -> list[Total]:
    """The rows of `by_step`, added up."""
    found: dict[str, list[Total]] = {}
    for total in steps:
        found.setdefault(total.process, []).append(total)
    return [_added(totals, process=process) for process, totals in found.items()]


def _added(totals: list[Total], *, process: str) -> Total:
    checks = sum(total.checks for total in totals)
    known = [total.cost for total in totals if total.cost is not None]
    return Total(
        process=process,
        checks=checks,
        failed=sum(total.failed for total in totals),
        requests=sum(total.requests for total in totals),
        input_tokens=sum(total.input_tokens for total in totals),
        output_tokens=sum(total.output_tokens for total in totals),
        seconds=sum(total.seconds * total.checks for total in totals) / checks if checks else 0.0,
        cost=sum(known, Decimal(0)) if known else None,
        unpriced=sum(total.unpriced for total in totals),
    )


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
    steps = by_step(verdicts)
    context = {
        **site.each_context(request),
        "opts": opts,
        "title": "What checks took",
        "days": days,
        "spans": SPANS,
        "tables": [
            ("process", by_process(steps)),
            ("process and step", steps),
            ("day (UTC)", by_day(verdicts)),
        ],
    }
    return TemplateResponse(request, "admin/processes/costs.html", context)
