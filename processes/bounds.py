"""How much of the server one caller may hold: live claims, live runs, files in a day.

One statement each, by an index. Two calls at once may both be the last one allowed: a bound on load is no
promise to anybody, and a lock for it would make callers wait for each other.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Count, F, Sum
from django.utils import timezone

from processes.errors import ToolError, too_many
from processes.models import Attempt, Run, Upload
from processes.states import RunState, StepState

DAY = timedelta(days=1)
_LIVE = [RunState.ACTIVE, RunState.WAITING]
_MINUTE, _HOUR = 60, 3600


def refuse_claims(agent: int | None, at: datetime) -> None:
    """Raises `retry` for an agent that holds as many claims as one may."""
    most = settings.LIVE_CLAIMS_PER_AGENT
    held = Attempt.objects.filter(
        claimed_by=agent, lease_until__gt=at, number=F("step__activations"), step__state=StepState.CLAIMED
    )
    if held.count() >= most:
        raise too_many(
            f"You hold {most} claims, as many as one agent may. Submit or escalate some of them, or let their leases "
            "end; then send the same call again.",
            f"claims: at most {most} at a time",
            retry_after=_MINUTE,
        )


def refuse_runs(caller: str) -> None:
    """Raises `retry` for a caller whose runs are as many as may be under way."""
    most = settings.LIVE_RUNS_PER_CALLER
    if Run.objects.filter(started_by=caller, state__in=_LIVE).order_by().count() >= most:
        raise too_many(
            f"{most} runs that you started are still under way, as many as one caller may have. Work or cancel some of "
            "them; then send the same call again.",
            f"runs: at most {most} under way",
            retry_after=_MINUTE,
        )


def refuse_uploads(caller: str, size: int) -> None:
    """Raises `retry` for a caller who stored as much as one may within a day."""
    since = timezone.now() - DAY
    stored = Upload.objects.filter(by=caller, at__gt=since).aggregate(files=Count("pk"), bytes=Sum("size"))
    if stored["files"] >= settings.UPLOADS_PER_DAY:
        raise _full(f"files: at most {settings.UPLOADS_PER_DAY} in 24 hours")
    if (stored["bytes"] or 0) + size > settings.UPLOAD_BYTES_PER_DAY:
        raise _full(f"bytes: at most {settings.UPLOAD_BYTES_PER_DAY} in 24 hours")


def _full(issue: str) -> ToolError:
    message = (
        "You have stored as much as one caller may within a day. Cite what is stored, or upload it later."
    )
    return too_many(message, issue, retry_after=_HOUR)
