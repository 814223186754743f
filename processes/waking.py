"""Time: waits whose time has come, and work that is overdue. Safe anywhere, any number of times at once.

Nothing depends on it being punctual: a run that is written to or read goes on from what is due by itself.
What this adds is that runs go on, and people are told, when nobody looks.
"""

import logging
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import OperationalError, connection, transaction
from django.utils import timezone

from checks import memory
from checks.judge import storing
from checks.receipts import checkpoints
from processes import forgetting, runs, seams
from processes.loaded import Loaded
from processes.models import Notice, Run, Step, WorkItem
from processes.states import ItemState, StepState

BATCH = 100
PUT_OFF, PUT_OFF_AT_MOST = timedelta(minutes=1), timedelta(hours=1)
MOST_PUT_OFF = 10_000
log = logging.getLogger(__name__)
_LIVE = [StepState.READY, StepState.CLAIMED, StepState.WAITING]


def wake(limit: int = BATCH) -> int:
    """Go on from waits that are due and tell what is overdue. How many runs and steps that were.

    What is kept for a time (by the judge, and for replays) goes by the same clock, and checkpoints of receipts come by it.
    """
    storing.purge_now_and_then()
    woken = wake_due(limit) + tell_overdue(limit)
    forgetting.forget_results_now_and_then()
    checkpoints.sweep_now_and_then()
    return woken


def wake_due(limit: int = BATCH) -> int:
    """A run that could not be woken is put off, so that however many there are of them, the others' time comes."""
    put_off = PutOff()
    due = Step.objects.filter(state=StepState.WAITING, wake_at__lte=timezone.now())
    woken = 0
    try:
        for run in dict.fromkeys(
            due.exclude(run__in=put_off.now()).order_by("wake_at").values_list("run_id", flat=True)[:limit]
        ):
            try:
                woken += wake_run(run)
            except Exception as error:
                put_off.again(run)
                if isinstance(error, OperationalError):
                    raise  # the database is away: for every run, and the next turn comes
                log.exception("run %s could not be woken; it is tried again later", run)
            else:
                put_off.forget(run)
    finally:
        put_off.keep()
    return woken


class PutOff:
    """Runs whose waking failed: each is left alone for a minute, then twice as long each time, up to an hour.

    Remembered together in the cache; what is lost of it is tried again the sooner. Whoever reads such a run, or
    writes to it, tries by that as before.
    """

    _KEY = "wakes-put-off"

    def __init__(self) -> None:
        self._failed: dict[str, tuple[int, datetime]] = memory.get(self._KEY) or {}
        self._changed = False

    def now(self) -> list[str]:
        at = timezone.now()
        return [run for run, (_, until) in self._failed.items() if until > at]

    def again(self, run: str) -> None:
        times = self._failed.pop(run, (0, None))[0] + 1
        wait = min(PUT_OFF * 2 ** min(times - 1, 10), PUT_OFF_AT_MOST)
        self._failed[run] = times, timezone.now() + wait
        self._changed = True

    def forget(self, run: str) -> None:
        self._changed |= self._failed.pop(run, None) is not None

    def keep(self) -> None:
        """But for those that were due for a while and did not come again: somebody ended them."""
        if not self._changed:
            return
        since = timezone.now() - PUT_OFF_AT_MOST
        failed = [(run, when) for run, when in self._failed.items() if when[1] > since]
        memory.put(self._KEY, dict(failed[-MOST_PUT_OFF:]), 2 * PUT_OFF_AT_MOST.total_seconds())


def wake_run(run: str) -> bool:
    """Whether anything was due. A run that another worker holds is left to that one."""
    seams.prepare()
    with transaction.atomic(durable=True):
        if connection.features.has_select_for_update_skip_locked and not (
            Run.objects.select_for_update(skip_locked=True, no_key=True).filter(pk=run).exists()
        ):
            return False
        loaded = runs.load(run, lock=True)
        if not runs.go_on(loaded):
            return False
        runs.save(loaded)
    return True


def fresh(run: str) -> Loaded:
    """The run as it is now, gone on from whatever is due. Raises ToolError `not_found`."""
    loaded = runs.load(run)
    if loaded.now.live and loaded.sleepers:
        wake_run(run)
        loaded = runs.load(run)
    return loaded


def tell_overdue(limit: int = BATCH) -> int:
    """Write a notice for each step whose due time has passed: to whom it is assigned, and to the operators."""
    now = timezone.now()
    with transaction.atomic(durable=True):
        late = Step.objects.filter(state__in=_LIVE, due_at__lt=now, overdue_told=False).order_by("due_at")
        if connection.features.has_select_for_update_skip_locked:
            late = late.select_for_update(skip_locked=True, of=("self",))
        steps = list(late.select_related("run").defer("run__data", "run__inputs")[:limit])
        told = Step.objects.filter(pk__in=[step.pk for step in steps], overdue_told=False).update(
            overdue_told=True
        )
        # a test run says so everywhere and tells nobody
        Notice.objects.bulk_create(_notices([step for step in steps if not step.run.test]))
    return told


def _notices(steps: list[Step]) -> Iterable[Notice]:
    now = timezone.now()
    items = {
        item.step_id: item
        for item in WorkItem.objects.filter(step__in=[step.pk for step in steps], state=ItemState.OPEN)
    }
    for step in steps:
        item = items.get(step.pk)
        if item is not None and (item.group_id or item.person_id):
            yield Notice(
                run=step.run,
                step=step.name,
                what="overdue",
                group_id=item.group_id,
                person_id=item.person_id,
                at=now,
            )
        yield Notice(run=step.run, step=step.name, what="overdue", at=now)
