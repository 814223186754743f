"""Times, names and sizes as the screens say them. Pure. Every time is in UTC, and the pages say so."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from processes.states import HistoryEvent

MINUTE, HOUR, DAY = 60, 3600, 86_400
SOON = timedelta(hours=2)
_WEEK = 7
_MOMENT = 10  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    text: str
    state: str  # "" | soon | late
    at: str  # for <time datetime>


def title(slug: str) -> str:
    """`check_vendor` → Check vendor."""
    words = slug.replace("_", " ").replace("-", " ").strip()
    return words[:1].upper() + words[1:]


def name(by: str) -> str:
    """`agent:screening-agent` → screening-agent."""
    kind, colon, rest = by.partition(":")
    return rest if colon and kind in {"agent", "person"} else by


def span(seconds: float) -> str:
    """A length of time in one unit; hours with minutes while there are few."""
    seconds = max(0, int(seconds))
    if seconds < MINUTE:
        return "under a minute"
    if seconds < HOUR:
        return f"{seconds // MINUTE} min"
    if seconds < DAY:
        return f"{seconds // HOUR} h"
    return f"{seconds // DAY} d"


def wait(seconds: int) -> str:
    """When it helps to come back, rounded up: in a moment, in a minute, in 5 minutes, in an hour."""
    if seconds <= _MOMENT:
        return "in a moment"
    minutes = -(-seconds // MINUTE)
    if minutes < HOUR // MINUTE:
        return "in a minute" if minutes == 1 else f"in {minutes} minutes"
    hours = -(-seconds // HOUR)
    return "in an hour" if hours == 1 else f"in {hours} hours"


def age(at: datetime, now: datetime) -> str:
    passed = (now - at).total_seconds()
    return "new" if passed < MINUTE else f"{span(passed)} old"


def ago(at: datetime, now: datetime) -> str:
    passed = (now - at).total_seconds()
    return "just now" if passed < MINUTE else f"{span(passed)} ago"


def due(at: datetime | None, now: datetime) -> Due | None:
    if at is None:
        return None
    left = at - now
    if left < timedelta(0):
        return Due(text=f"overdue {span(-left.total_seconds())}", state="late", at=stamp(at))
    return Due(text=f"due {_until(at, now)}", state="soon" if left < SOON else "", at=stamp(at))


def _until(at: datetime, now: datetime) -> str:
    seconds = int((at - now).total_seconds())
    if seconds < SOON.total_seconds() and seconds >= HOUR:
        return f"in 1 h {seconds % HOUR // MINUTE:02d}"
    if seconds < DAY / 2:
        return f"in {span(seconds)}"
    day, today = at.astimezone(UTC).date(), now.astimezone(UTC).date()
    clock_ = at.astimezone(UTC).strftime("%H:%M")
    if day == today:
        return f"today {clock_}"
    if (day - today).days == 1:
        return f"tomorrow {clock_}"
    return f"{clock(at, now)}"


def clock(at: datetime, now: datetime) -> str:
    """A moment as short as it stays clear: 10:00, Thu 10:40, 3 Nov 10:40, 3 Nov 2025."""
    at, now = at.astimezone(UTC), now.astimezone(UTC)
    days = abs((at.date() - now.date()).days)
    if days == 0:
        return at.strftime("%H:%M")
    if days < _WEEK:
        return at.strftime("%a %H:%M")
    if at.year == now.year:
        return f"{at.day} {at.strftime('%b %H:%M')}"
    return f"{at.day} {at.strftime('%b %Y')}"


def stamp(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def size(count: int) -> str:
    if count < 100:  # noqa: PLR2004 - below it tenths of a kilobyte say less than bytes
        return "1 byte" if count == 1 else f"{count} bytes"
    if count < 1024 * 1024:
        kilo = count / 1024
        return f"{kilo:.1f} KB" if kilo < 10 else f"{kilo:.0f} KB"  # noqa: PLR2004 - one figure is enough
    return f"{count / 1024 / 1024:.1f} MB"


def fingerprint(sha256: str) -> str:
    """`7be1 40c9 … 5d02`."""
    return f"{sha256[:4]} {sha256[4:8]} … {sha256[-4:]}"


def short_id(identifier: str) -> str:
    """`r_4f2a91…` → `4f2a 91`: enough to tell runs apart by eye."""
    bare = identifier.partition("_")[2] or identifier
    return f"{bare[:4]} {bare[4:6]}".strip()


def count(many: int, one: str, more: str = "") -> str:
    """`2 files`."""
    return f"{many} {one if many == 1 else more or one + 's'}"


# ---- what happened, as history tells it: the words after whoever did it

_HAPPENED: Mapping[str, str] = {
    HistoryEvent.STARTED: "started the run",
    HistoryEvent.CLAIMED: "claimed {step}",
    HistoryEvent.SUBMITTED: "submitted {attempt}",
    HistoryEvent.CHECKED: "checked {attempt}",
    HistoryEvent.FACTS_HOLD: "hold for {attempt}",
    HistoryEvent.FACTS_FAIL: "don't hold for {attempt}",
    HistoryEvent.ESCALATED: "asked for a person on {step}",
    HistoryEvent.RETURNED: "returned {attempt}",
    HistoryEvent.COMPLETED: "completed {step}",
    HistoryEvent.APPROVED: "approved at {step}",
    HistoryEvent.REJECTED: "rejected at {step}",
    HistoryEvent.FAILED: "failed {step}",
    HistoryEvent.WAITED: "went on from {step}, whose time had come",
    HistoryEvent.TIMED_OUT: "went on from {step}, for which nothing came in time",
    HistoryEvent.DELIVERED: "delivered what {step} waited for",
    HistoryEvent.FORKED: "started the branches of {step}",
    HistoryEvent.JOINED: "joined the branches of {step}",
    HistoryEvent.FINISHED: "ended the run",
    HistoryEvent.CANCELLED: "cancelled the run",
}
_CHECKED = {
    "pass": "passed {attempt}",
    "fail": "bounced {attempt}",
    "unsure": "was unsure about {attempt}",
    "error": "did not answer on {attempt}",
}


def happened(what: str, *, step: str, attempt: int | None, verdict: str) -> str:
    pattern = _HAPPENED.get(what, what)
    if what == HistoryEvent.CHECKED:
        pattern = _CHECKED.get(verdict, pattern)
    tried = f"attempt {attempt}" if attempt else title(step)
    return pattern.format(step=title(step), attempt=tried)
