"""The server's limits in force."""

from checks.models import CheckLimits
from checks.questions import Limits


def current() -> Limits:
    """The newest row's limits, else the profile's defaults. One statement."""
    row = CheckLimits.objects.order_by("-id").first()
    if row is None:
        return Limits()
    return Limits(
        check_pass=row.check_pass,
        check_fail=row.check_fail,
        check_confidence=row.check_confidence,
        check_state_bytes=row.check_state_bytes,
    )
