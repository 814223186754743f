"""list_runs: runs by process, state and inputs, newest first."""

from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from checks import codec
from processes import inputs, paging
from processes.engine import stamp
from processes.models import Run, RunInput
from processes.pipeline import Call
from processes.versions import compiled

DEFAULT = 20


def run(call: Call) -> dict[str, Any]:
    """One statement, plus two for each version that is new to this process."""
    limit = int(call.arguments.get("limit", DEFAULT))
    rows = list(_runs(call)[: limit + 1])
    more = len(rows) > limit
    last = rows[limit - 1] if more else None
    return {
        "items": [_item(row) for row in rows[:limit]],
        "nextCursor": paging.encode(last.started_at, last.pk) if last is not None else None,
    }


def _runs(call: Call) -> QuerySet[Run]:
    found = Run.objects.defer("data").order_by("-started_at", "-id")
    if call.caller.processes is not None:
        found = found.filter(version__process__in=call.caller.processes)
    if "process" in call.arguments:
        found = found.filter(version__process__name=call.arguments["process"])
    if "state" in call.arguments:
        found = found.filter(state=call.arguments["state"])
    for name, value in call.arguments.get("inputs", {}).items():
        same = RunInput.objects.filter(run=OuterRef("pk"), field=name, digest=inputs.digest(value))
        found = found.filter(Exists(same))
    if "cursor" in call.arguments:
        at, pk = paging.decode(call.arguments["cursor"], datetime, str)
        found = found.filter(Q(started_at__lt=at) | Q(started_at=at, id__lt=pk))
    return found


def _item(row: Run) -> dict[str, Any]:
    about = compiled(row.version_id)
    return {
        "id": row.pk,
        "process": about.process,
        "version": about.number,
        "state": str(row.state),
        "outcome": row.outcome or None,
        "startedAt": stamp(row.started_at),
        "updatedAt": stamp(row.updated_at),
        "inputs": codec.loads(row.inputs),
    }
