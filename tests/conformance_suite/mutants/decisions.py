"""Wrong about decisions, and about what comes first when several things are wrong."""

import hashlib
from contextlib import contextmanager

from django.db.models import Q

from checks import codec
from processes import view
from processes.callers import CallerKind
from processes.errors import ToolError
from processes.models import Run
from processes.tools import get_work
from tests.conformance_suite.mutants.registry import after, at_the_door, mutant

MISPLACED = ("output", "evidence", "summary", "next", "reason")


def telling(code, *instead):
    """Change a refusal with the issue `code` to the refusal `instead`."""

    def change(call, caller, given):
        try:
            return call(caller, given)
        except ToolError as error:
            if code in (error.issues or ()):
                raise ToolError(*instead) from None
            raise

    return change


@mutant("snapshot-ignored", "A decision on an old snapshot counts.", "decide.stale")
def snapshot_ignored():
    def decide(call, caller, given):
        run = Run.objects.filter(pk=given.get("runId", "")).first()
        return call(caller, {**given, "snapshot": run.snapshot} if run is not None else given)

    return at_the_door("decide", decide)


@mutant("snapshot-of-addresses", "A file's fresh address changes the snapshot.", "evidence.snapshot")
@contextmanager
def snapshot_of_addresses():
    def hashed(call, caller, given):
        run = call(caller, given)
        snapshot = hashlib.sha256(codec.dumps(run["data"]).encode()).hexdigest()
        return {**run, "workItems": [with_snapshot(item, snapshot) for item in run["workItems"]]}

    def with_snapshot(item, snapshot):
        decide = {**item["decide"], "arguments": {**item["decide"]["arguments"], "snapshot": snapshot}}
        return {**item, "snapshot": snapshot, "decide": decide}

    with at_the_door("get_run", hashed), at_the_door("escalate", hashed):
        yield


@mutant("stale-before-decided", "Whoever decides second is told of an old snapshot.", "people.first-wins")
def stale_before_decided():
    return at_the_door("decide", telling("already_decided", "stale", "Read the run again."))


@mutant(
    "agent-refused-first",
    "An agent's decision is forbidden before anything is looked at.",
    "decide.stale-before-forbidden",
)
def agent_refused_first():
    def decide(call, caller, given):
        if caller.kind is CallerKind.AGENT:
            raise ToolError("forbidden", "Only people decide.")
        return call(caller, given)

    return at_the_door("decide", decide)


@mutant(
    "stale-before-ended", "A token of a run that is over is told to be stale.", "ended.submit-after-finish"
)
def stale_before_ended():
    return at_the_door("submit", telling("run_ended", "stale", "The claim is no longer current."))


@mutant("no-without-a-note", "A rejection or a failure needs no note.", "people.note-needed")
def no_without_a_note():
    def decide(call, caller, given):
        needed = given.get("decision") in ("rejected", "failed")
        return call(caller, {"note": "No.", **given} if needed else given)

    return at_the_door("decide", decide)


@mutant("misplaced-dropped", "Arguments that don't go with a decision are ignored.", "decide.misplaced")
def misplaced_dropped():
    def decide(call, caller, given):
        wrong = ("note",) if given.get("decision") == "completed" else MISPLACED
        return call(caller, {key: value for key, value in given.items() if key not in wrong})

    return at_the_door("decide", decide)


@mutant("escalation-lost", "An escalation is in nobody's work.", "escalate.listed")
def escalation_lost():
    return after(get_work, "assigned", lambda found, *_: found & Q(escalated=False))


@mutant("return-unsaid", "Whoever claims a returned step is not told the note.", "handoff.returned")
def return_unsaid():
    def shorten(left, *_):
        return {key: value for key, value in (left or {}).items() if key != "returned"} or None

    return after(view, "handoff", shorten)


@mutant("test-unmarked", "An item of a test run looks like any other.", "mode.test")
def unmarked():
    def unmark(item, *_, **__):
        return {key: value for key, value in item.items() if key != "mode"}

    return after(view, "work_item", unmark)
