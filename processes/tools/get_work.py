"""get_work: for agents the steps they may claim, for people their open items, oldest first."""

from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from processes import paging, runs, view, waking
from processes.callers import Caller, CallerKind
from processes.engine import stamp
from processes.models import Step, WorkItem
from processes.pipeline import Call
from processes.states import ItemState, StepState
from processes.versions import compiled

DEFAULT = 20
_JOINED: tuple[Any, ...] = ("live", "run")


def run(call: Call) -> dict[str, Any]:
    """One statement (for people two), plus two for each version that is new to this process. No run data."""
    limit = int(call.arguments.get("limit", DEFAULT))
    last: tuple[Any, ...] | None
    waking.wake_due()
    if call.caller.kind is CallerKind.AGENT:
        steps = list(_steps(call)[: limit + 1])
        items = [_step(row) for row in steps[:limit]]
        last = (steps[limit - 1].ready_at, steps[limit - 1].pk) if len(steps) > limit else None
    else:
        rows = list(_items(call)[: limit + 1])
        items = [_item(row) for row in rows[:limit]]
        last = (rows[limit - 1].opened_at, rows[limit - 1].pk) if len(rows) > limit else None
    return {"items": items, "nextCursor": paging.encode(*last) if last else None}


def _steps(call: Call) -> QuerySet[Step]:
    """Ready agent steps; a claim whose lease has ended counts as ready."""
    now = timezone.now()
    over = Q(live__lease_until__lte=now)
    found = (
        Step.objects.annotate(live=runs.live_attempt())
        .filter(kind="agent")
        .filter(Q(state=StepState.READY) | Q(state=StepState.CLAIMED) & over)
        .select_related(*_JOINED)
        .defer("run__data", "run__inputs")
        .order_by("ready_at", "id")
    )
    if call.caller.processes is not None:
        found = found.filter(run__version__process__in=call.caller.processes)
    if "process" in call.arguments:
        found = found.filter(run__version__process__name=call.arguments["process"])
    if "cursor" in call.arguments:
        at, pk = paging.decode(call.arguments["cursor"], datetime, int)
        found = found.filter(Q(ready_at__gt=at) | Q(ready_at=at, id__gt=pk))
    return found


def _step(row: Any) -> dict[str, Any]:
    about, now = compiled(row.run.version_id), timezone.now()
    return {
        "runId": row.run_id,
        "stepId": row.name,
        "process": about.process,
        "version": about.number,
        "mode": "test" if row.run.test else "live",
        "readySince": stamp(row.ready_at),
        "due": stamp(row.due_at) if row.due_at else None,
        "overdue": row.due_at is not None and now > row.due_at,
        "handoff": view.handoff(getattr(row, "live", None), now),
        "claim": {
            "tool": "claim",
            "arguments": {"runId": row.run_id, "stepId": row.name, "requestId": "<new UUID>"},
        },
    }


def assigned(caller: Caller) -> Q:
    """Whose open items a person may decide: their own, their groups', and as an operator any escalation."""
    mine = Q(person_id=caller.user) | Q(group_id__in=caller.groups)
    if caller.operator:
        mine |= Q(escalated=True) | Q(group__isnull=True, person__isnull=True)
    return mine


def _items(call: Call) -> QuerySet[WorkItem]:
    found = (
        WorkItem.objects.filter(assigned(call.caller), state=ItemState.OPEN)
        .select_related("run", "step", "attempt", "person", "candidate__verdict")
        .prefetch_related("candidate__verdict__answers")
        .defer("run__data", "run__inputs")
        .order_by("opened_at", "id")
    )
    if "process" in call.arguments:
        found = found.filter(run__version__process__name=call.arguments["process"])
    if "cursor" in call.arguments:
        at, pk = paging.decode(call.arguments["cursor"], datetime, str)
        found = found.filter(Q(opened_at__gt=at) | Q(opened_at=at, id__gt=pk))
    return found


def _item(row: WorkItem) -> dict[str, Any]:
    about = compiled(row.run.version_id)
    item = view.work_item(row, about, row.run, data=None, at=timezone.now())
    return {
        "runId": row.run_id,
        "process": about.process,
        "version": about.number,
        "mode": "test" if row.run.test else "live",
        "workItem": view.refill({"workItems": [item]})["workItems"][0],
    }
