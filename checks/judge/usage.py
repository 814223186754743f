"""`GET /v1/usage?days=30`: what one key's own calls came to, day by day (UTC), for whoever holds the key.

Three statements beside the key's: counts in groups of (day, verdict, engine), and the times that calls took, counted by
(day, milliseconds) and by milliseconds. A percentile is exact, by nearest rank: the smallest time that so many per cent of
the calls did not exceed. The counted times come in ascending order and are walked through once, so that memory holds one row
of them at a time however many calls there were, on SQLite as on PostgreSQL.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from typing import Any

from django.db.models import Count, QuerySet, Sum
from django.db.models.functions import TruncDate
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from checks import rates
from checks.facts.shapes import shown
from checks.judge import callers
from checks.judge.callers import RefusedError
from checks.judge.door import answered, door
from checks.models import JudgeCall, Key

DAYS, MOST_DAYS = 30, 90
ASKED_PER_MINUTE = 30
PERCENTILES = (50, 95)
VERDICTS = ("pass", "fail", "retry", "consensus")


@dataclass(slots=True)
class _Tally:
    """Calls of a day, or of all. `scored`: those that have a score, which consensus has not."""

    calls: int = 0
    verdicts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(VERDICTS, 0))
    scored: int = 0
    score: float = 0.0
    engines: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def add(self, row: Mapping[str, Any]) -> None:
        self.calls += row["calls"]
        self.verdicts[row["verdict"] or "consensus"] += row["calls"]
        self.engines[row["engine"]] += row["calls"]
        if row["total"] is not None:
            self.scored += row["calls"]
            self.score += row["total"]

    def view(self, latency: Mapping[int, int]) -> dict[str, Any]:
        return {
            "calls": self.calls,
            "verdicts": self.verdicts,
            "score_mean": round(self.score / self.scored, 4) if self.scored else None,
            "latency_ms": {f"p{percent}": latency.get(percent) for percent in PERCENTILES},
            "engines": dict(sorted(self.engines.items())),
        }


@door
def usage(request: HttpRequest) -> HttpResponse:
    return answered(request, _usage, "GET")


def _usage(request: HttpRequest) -> dict[str, Any]:
    key = callers.caller(request)
    days = _days(request)
    if wait := rates.wait(f"usage {key.pk}", ASKED_PER_MINUTE):
        message = f"Usage is told {ASKED_PER_MINUTE} times a minute to a key; come again in a moment."
        raise RefusedError("quota", 429, message, retry_after=wait)
    return of(key, days)


def of(key: Key, days: int) -> dict[str, Any]:
    """The last `days` days, today among them; a day without calls is there, too."""
    today = timezone.now().astimezone(UTC).date()
    first = today - timedelta(days=days - 1)
    calls = JudgeCall.objects.filter(
        key=key, at__gte=datetime.combine(first, datetime.min.time(), tzinfo=UTC)
    ).annotate(day=TruncDate("at", tzinfo=UTC))
    totals, by_day = _counted(calls)
    by_time = calls.values_list("milliseconds").annotate(count=Count("pk")).order_by("milliseconds")
    daily = (
        calls.values_list("day", "milliseconds").annotate(count=Count("pk")).order_by("day", "milliseconds")
    )
    latencies = {
        day: _percentiles(((row[1], row[2]) for row in rows), by_day[day].calls)
        for day, rows in groupby(daily.iterator(), key=lambda row: row[0])
    }
    every = [first + timedelta(days=place) for place in range(days)]
    per_day = callers.allowed(key)
    stored = by_day[today].calls
    return {
        "from": first.isoformat(),
        "to": today.isoformat(),
        "days": [{"day": day.isoformat(), **by_day[day].view(latencies.get(day, {}))} for day in every],
        "totals": totals.view(_percentiles(by_time.iterator(), totals.calls)),
        # what is counted may have been lost, and what was refused is not stored
        "quota": {"per_day": per_day, "used_today": min(per_day, max(stored, callers.counted(key)))},
    }


def _days(request: HttpRequest) -> int:
    """Raises RefusedError."""
    issues = [f"{shown(name)}: not known here; known is days" for name in request.GET if name != "days"]
    texts = request.GET.getlist("days") or [str(DAYS)]
    text = texts[0] if len(texts) == 1 and len(texts[0]) <= len(str(MOST_DAYS)) else ""
    days = int(text) if text.isascii() and text.isdigit() else 0
    if not 1 <= days <= MOST_DAYS:
        issues.append(f"days: expected one whole number from 1 to {MOST_DAYS}")
    if issues:
        raise RefusedError("invalid", 400, "The request is not as docs/judge.md tells.", issues)
    return days


def _counted(calls: QuerySet[Any]) -> tuple[_Tally, dict[date, _Tally]]:
    totals, by_day = _Tally(), defaultdict[date, _Tally](_Tally)
    groups = (
        calls.order_by().values("day", "verdict", "engine").annotate(calls=Count("pk"), total=Sum("score"))
    )
    for row in groups:
        totals.add(row)
        by_day[row["day"]].add(row)
    return totals, by_day


def _percentiles(times: Iterable[tuple[int, int]], many: int) -> dict[int, int]:
    """{percent: milliseconds}, by nearest rank, of (milliseconds, how often) in ascending order. Looks at each once."""
    found: dict[int, int] = {}
    upto = 0
    for milliseconds, count in times:
        upto += count
        for percent in PERCENTILES:
            if percent not in found and upto * 100 >= many * percent:
                found[percent] = milliseconds
    return found
