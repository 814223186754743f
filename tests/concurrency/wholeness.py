"""What holds of every run after every race, whoever won."""

import hashlib
from collections import Counter
from collections.abc import Iterator

from approvals.models import QueueEntry
from checks import codec
from processes.models import HeldEvent, HistoryEntry, Run, Step, Submission, WorkItem
from processes.states import STEP_LIVE, ItemState, RunState, StepState, SubmissionState
from processes.versions import compiled

_LIVE = {RunState.ACTIVE, RunState.WAITING}
_RECORDED = {"agent", "task", "approve", "wait", "wait_until", "wait_for"}
_COMPLETIONS = ("completed", "approved", "delivered", "waited", "timed_out", "joined", "finished")


def wrongs(run: str) -> list[str]:
    """Each thing that is not as it must be, in words."""
    row = Run.objects.get(pk=run)
    steps = {step.name: step for step in row.steps.all()}
    return [*_records(row), *_data(row, steps), *_work(row, steps), *_standing(row, steps)]


def _records(row: Run) -> Iterator[str]:
    entries = list(HistoryEntry.objects.filter(run=row).order_by("number"))
    if [entry.number for entry in entries] != list(range(1, len(entries) + 1)):
        yield "history has gaps"
    done = Counter((e.what, e.step, e.attempt) for e in entries if e.what in _COMPLETIONS and e.attempt)
    yield from (f"{step} {what} {times} times" for (what, step, _), times in done.items() if times > 1)
    if row.snapshot != hashlib.sha256(row.data.encode()).hexdigest():
        yield "the snapshot is not of the data"


def _data(row: Run, steps: dict[str, Step]) -> Iterator[str]:
    entries = codec.loads(row.data)["steps"]
    accepted = Counter(
        Submission.objects.filter(attempt__step__run=row, state=SubmissionState.ACCEPTED).values_list(
            "attempt__step__name", flat=True
        )
    )
    for name, step in steps.items():
        entry = entries.get(name, {"history": []})
        told = "by" in entry
        recorded = sum("output" in each for each in (entry, *entry["history"]))
        if accepted[name] > recorded or (
            step.kind in _RECORDED and step.state == StepState.DONE and not told
        ):
            yield f"{name} is done, of which run data knows nothing"
        if step.state in STEP_LIVE and told and step.kind != "approve":
            yield f"{name} is {step.state}, though run data holds its completion"


def _work(row: Run, steps: dict[str, Step]) -> Iterator[str]:
    opened = set(WorkItem.objects.filter(run=row, state=ItemState.OPEN).values_list("step__name", flat=True))
    for name, step in steps.items():
        persons = step.state == StepState.WAITING and step.kind in ("agent", "task", "approve")
        if persons and name not in opened:
            yield f"{name} waits for a person, and nobody is asked"
        if not persons and name in opened:
            yield f"{name} is {step.state or 'nothing'}, and somebody is asked"
    items = WorkItem.objects.filter(run=row, state=ItemState.OPEN).values_list("pk", flat=True)
    queued = QueueEntry.objects.filter(item__run=row).values_list("item", flat=True)
    if set(items) != set(queued):
        yield "the queue shows other items"


def _standing(row: Run, steps: dict[str, Step]) -> Iterator[str]:
    live = {name for name, step in steps.items() if step.state in STEP_LIVE}
    if row.state not in _LIVE:
        yield from (f"{name} is {steps[name].state} in a run that has ended" for name in sorted(live))
        if Submission.objects.filter(attempt__step__run=row, state=SubmissionState.CHECKING).exists():
            yield "a submission is being checked in a run that has ended"
        if HeldEvent.objects.filter(run=row).exists():
            yield "an event is held in a run that has ended"
        return
    document = compiled(row.version_id).document
    forks = {name for name in live if steps[name].kind == "parallel"}
    if live == forks:
        yield "the run is stuck"
    held = set(HeldEvent.objects.filter(run=row).values_list("name", flat=True))
    for name in sorted(live):
        if steps[name].kind == "wait_for" and document.steps[name].text in held:
            yield f"{name} waits for an event that is there"
