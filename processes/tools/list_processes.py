"""list_processes: what can be started, in its latest published version, by name."""

from typing import Any

from django.db.models import Max

from processes import paging
from processes.models import Process
from processes.pipeline import Call
from processes.versions import compiled

PAGE = 50


def run(call: Call) -> dict[str, Any]:
    """One statement, plus two for each version that is new to this process."""
    found = Process.objects.filter(retired_at__isnull=True, versions__published_at__isnull=False)
    if call.caller.processes is not None:
        found = found.filter(pk__in=call.caller.processes)
    if "cursor" in call.arguments:
        (after,) = paging.decode(call.arguments["cursor"], str)
        found = found.filter(name__gt=after)
    # a draft is made after the version before it was published, so that the newest published row is the latest version
    rows = list(
        found.annotate(version=Max("versions__id"))
        .order_by("name")
        .values_list("name", "version")[: PAGE + 1]
    )
    more = len(rows) > PAGE
    rows = rows[:PAGE]
    return {
        "items": [_item(version) for _, version in rows],
        "nextCursor": paging.encode(rows[-1][0]) if more else None,
    }


def _item(version: int) -> dict[str, Any]:
    about = compiled(version)
    document = about.document
    item: dict[str, Any] = {
        "name": about.process,
        "description": document.description,
        "version": about.number,
        "inputs": {name: field.source for name, field in document.inputs.items()},
    }
    if document.requires:
        item["requires"] = dict(document.requires)
    return item
