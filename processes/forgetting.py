"""What is kept of a write so that it can be told again, and for how long.

While a run goes on, and for REQUEST_RESULT_DAYS after its end, the same call again gets its first result. Then the
result goes, which holds a part of the run's data, and the call's digest stays: nobody does it twice by sending it again.
A file's request belongs to no run, and holds no more than the file's own row.
"""

from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from checks import memory
from processes.models import Request

AT_ONCE = 1000
_KEY, _EVERY_SECONDS = "results-forgotten", 3600


def forget_results() -> int:
    """Of the oldest requests whose runs ended long enough ago. How many that were."""
    before = timezone.now() - timedelta(days=settings.REQUEST_RESULT_DAYS)
    due = (
        Request.objects.exclude(result="")
        # a request is no younger than its run's end, so that this bounds how many are looked at
        .filter(run__isnull=False, at__lte=before, run__ended_at__lte=before)
        .order_by("at")
        .values_list("pk", flat=True)
    )
    return Request.forget_results(list(due[:AT_ONCE]))


def forget_results_now_and_then() -> int:
    """For a clock that ticks more often than this is needed. While there is more, each tick takes some."""
    if not memory.take(_KEY, True, _EVERY_SECONDS):
        return 0
    forgotten = forget_results()
    if forgotten == AT_ONCE:
        memory.forget(_KEY)
    return forgotten
