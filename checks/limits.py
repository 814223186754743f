"""The server's limits in force."""

from typing import Any

from django.db.models import QuerySet, Subquery

from checks.models import CheckLimits
from checks.questions import Limits

_NAMES = ("check_pass", "check_fail", "check_confidence", "check_state_bytes")


def current() -> Limits:
    """The newest row's limits, else the profile's defaults. One statement."""
    row = _newest().first()
    return Limits() if row is None else Limits(**{name: getattr(row, name) for name in _NAMES})


def columns() -> dict[str, Subquery]:
    """Annotations that bring the limits along with any row, for `of`: no statement of their own."""
    return {f"limit_{name}": Subquery(_newest().values(name)[:1]) for name in _NAMES}


def of(row: Any) -> Limits:
    """The limits that came with a row that `columns` was annotated to."""
    found = {name: getattr(row, f"limit_{name}") for name in _NAMES}
    return Limits() if found["check_pass"] is None else Limits(**found)


def _newest() -> QuerySet[CheckLimits]:
    return CheckLimits.objects.order_by("-id")
