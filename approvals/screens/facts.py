"""What a case's page is made from, as it stands in the database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User
from django.utils import timezone

from approvals.screens.place import Place, find
from checks import codec
from checks.models import FactResult, Verdict
from processes import runs
from processes.callers import Caller
from processes.document import Step as StepSpec
from processes.loaded import Loaded
from processes.models import HistoryEntry, Step, Submission, Upload, WorkItem
from processes.states import StepState, SubmissionState

EARLIER = 12  # submissions of the step
HISTORY = 100  # entries of the run


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What every part of the page is made from, as it was read."""

    place: Place
    loaded: Loaded
    item: WorkItem
    spec: StepSpec
    about: Submission | None
    earlier: Sequence[Submission]
    history: Sequence[HistoryEntry]
    uploads: Mapping[str, Upload]
    results: Sequence[FactResult]
    now: datetime

    @property
    def verdict(self) -> Verdict | None:
        return self.about.verdict if self.about is not None else None

    @property
    def kind(self) -> str:
        """As the queue calls it."""
        if self.item.escalated:
            return "unsure" if self.verdict is not None else "escalated"
        return self.item.kind


def read(pk: str, caller: Caller, user: User) -> Facts | None:
    """None: there is no such item. Place, run, steps, submissions and their answers, history, files: one statement each."""
    place = find(pk, caller, user)
    if place is None:
        return None
    loaded = runs.load(place.item.run_id)
    item = next((one for one in loaded.items.values() if one.pk == pk), place.item)
    item.step = next(step for step in loaded.steps.values() if step.pk == item.step_id)
    worked = _worked(loaded, item)
    handed_in = _submissions(worked) if worked is not None else []
    if item.candidate_id is not None and item is place.item:
        item.candidate = _of(item.candidate_id, handed_in)
    about = _about(item, handed_in)
    uploads = _uploads([about, *_before(about, handed_in)])
    history = HistoryEntry.objects.filter(run=loaded.row).select_related("verdict").defer("receipt")
    return Facts(
        place=place,
        loaded=loaded,
        item=item,
        spec=loaded.compiled.document.steps[item.step.name],
        about=about,
        earlier=_before(about, handed_in),
        history=list(history.order_by("-number")[:HISTORY]),
        uploads=uploads,
        results=_results(about, loaded, worked),
        now=timezone.now(),
    )


def _results(about: Submission | None, loaded: Loaded, worked: Step | None) -> list[FactResult]:
    """What the facts of the work came to when it was last looked at. A statement only where its step has facts."""
    if about is None or worked is None or not loaded.compiled.document.steps[worked.name].facts:
        return []
    found = list(FactResult.objects.filter(about=about.pk).order_by("-asked", "position"))
    return [result for result in found if result.asked == found[0].asked]


def _worked(loaded: Loaded, item: WorkItem) -> Step | None:
    """The step whose submission the item is about: its own, or the one completed last before an approval."""
    if item.kind != "approve":
        return item.step
    done = [
        step
        for step in loaded.steps.values()
        if step.kind in {"agent", "task"} and step.state == StepState.DONE and step.completed
    ]
    return max(done, key=lambda step: step.completed or 0, default=None)


def _submissions(step: Step) -> list[Submission]:
    """The step's latest submissions, latest first, with their verdicts and answers. Two statements."""
    rows = (
        Submission.objects.filter(attempt__step=step)
        .select_related("attempt", "verdict")
        .prefetch_related("verdict__answers")
        .order_by("-at", "-number")
    )
    return list(rows[:EARLIER])


def _of(pk: UUID | None, handed_in: Sequence[Submission]) -> Submission | None:
    return next((one for one in handed_in if one.pk == pk), None)


def _about(item: WorkItem, handed_in: Sequence[Submission]) -> Submission | None:
    if item.candidate_id is not None:
        return _of(item.candidate_id, handed_in)
    if item.kind != "approve":
        return None
    return next((one for one in handed_in if one.state == SubmissionState.ACCEPTED), None)


def _before(about: Submission | None, handed_in: Sequence[Submission]) -> Sequence[Submission]:
    if about is None:
        return handed_in
    return handed_in[handed_in.index(about) + 1 :]


def _uploads(submissions: Sequence[Submission | None]) -> dict[str, Upload]:
    """Rows of the files that the submission and the one before it cite."""
    shown = [codec.loads(one.content) for one in submissions[:2] if one is not None]
    refs = {item["ref"] for held in shown for item in held["evidence"] if item["kind"] == "file"}
    return Upload.objects.in_bulk(list(refs)) if refs else {}
