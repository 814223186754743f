"""start_run: inputs against their fields, then a run whose first step is entered."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from processes import bounds, engine, runs, seams, view
from processes.callers import CallerKind
from processes.errors import ToolError
from processes.fields import value_issues
from processes.models import Version
from processes.people import Directory
from processes.pipeline import Call, Result
from processes.versions import Compiled, compiled


def run(call: Call) -> dict[str, Any]:
    about = _version(call)
    inputs = call.arguments["inputs"]
    if issues := value_issues(about.document.inputs, inputs, "inputs"):
        raise ToolError("invalid", f"The inputs don't fit {about.process}.", issues)
    if about.document.has_initiator and call.caller.kind is CallerKind.AGENT:
        raise ToolError(
            "invalid",
            f"{about.process} has steps for its initiator, who must be a person. Ask a person to start it.",
            ["initiator: a person must start this process"],
        )
    bounds.refuse_runs(call.caller.id)
    seams.prepare()
    with transaction.atomic(durable=True):
        now = engine.start(
            about.document, Directory(about, call.caller.user), inputs, by=call.caller.id, at=timezone.now()
        )
        if (large := runs.too_large(now)) is not None:
            raise ToolError("invalid", "The inputs are too large for a run.", [large])
        loaded = runs.create(
            about,
            now,
            by=call.caller.id,
            initiator=call.caller.user,
            test=call.arguments.get("mode") == "test",
        )
        done = Result(view.run_view(loaded), {"body": about.id})
        call.record(done, run=loaded.row.pk)
    return done.full()


def _version(call: Call) -> Compiled:
    name = call.arguments["process"]
    found = Version.objects.filter(
        process__name=name, published_at__isnull=False, process__retired_at__isnull=True
    )
    if "version" in call.arguments:
        found = found.filter(number=int(call.arguments["version"]))
    row = found.order_by("-number").values_list("pk", "process_id").first()
    if row is None:
        wanted = f" version {call.arguments['version']}" if "version" in call.arguments else ""
        raise ToolError("not_found", f"No process {name[:64]}{wanted} is published here.")
    if not call.caller.may_work(row[1]):
        raise ToolError("forbidden", f"This key may not work {name[:64]}.")
    return compiled(row[0])
