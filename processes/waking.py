"""Time: waits whose time has come, and work that is overdue. Safe anywhere, any number of times at once.

Nothing depends on it being punctual: a run that is written to or read goes on from what is due by itself.
What this adds is that runs go on, and people are told, when nobody looks.
"""

import logging
from collections.abc import Iterable

from django.db import OperationalError, connection, transaction
from django.utils import timezone

from checks.judge import storing
from checks.receipts import checkpoints
from processes import runs
from processes.loaded import Loaded
from processes.models import Notice, Run, Step, WorkItem
from processes.states import ItemState, StepState

BATCH = 100
log = logging.getLogger(__name__)
_LIVE = [StepState.READY, StepState.CLAIMED, StepState.WAITING]


def wake(limit: int = BATCH) -> int:
    """Go on from waits that are due and tell what is overdue. How many runs and steps that were.

    What the judge keeps for a time goes by the same clock, and checkpoints of receipts come by it.
    """
    storing.purge_now_and_then()
    woken = wake_due(limit) + tell_overdue(limit)
    checkpoints.sweep_now_and_then()
    return woken


def wake_due(limit: int = BATCH) -> int:
    due = Step.objects.filter(state=StepState.WAITING, wake_at__lte=timezone.now())
    woken = 0
    for run in dict.fromkeys(due.order_by("wake_at").values_list("run_id", flat=True)[:limit]):
        try:
            woken += wake_run(run)
        except OperationalError:
            raise  # the database is away: for every run, and the next turn comes
        except Exception:  # one run that can't go on must not stop the others' time
            log.exception("run %s could not be woken", run)
    return woken


def wake_run(run: str) -> bool:
    """Whether anything was due. A run that another worker holds is left to that one."""
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
