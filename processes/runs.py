"""Load a run under its lock, let the engine move it, save it: the only writer of run state.

The lock is the run's row (PostgreSQL) or the write lock taken at BEGIN IMMEDIATE (SQLite). The save is
guarded by the revision that was loaded, so that a missed lock fails loudly instead of losing a write.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import FilteredRelation, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from checks import codec
from processes import engine, seams
from processes.errors import ToolError, run_ended
from processes.models import Attempt, HistoryEntry, Run, Step, Submission, WorkItem
from processes.people import Directory
from processes.states import ItemState, RunState, StepState, SubmissionState
from processes.versions import Compiled, compiled


class LostLockError(RuntimeError):
    """The run changed under us although we held its lock: a fault of ours, and nothing was saved."""


@dataclass(slots=True, kw_only=True)
class Loaded:
    """A run with its steps, live attempts and open items. Fields end in what `save` writes."""

    row: Run
    compiled: Compiled
    now: engine.Now
    steps: dict[str, Step]
    attempts: dict[str, Attempt]  # live ones, by step
    numbers: dict[str, int]  # the latest attempt's number, by step
    items: dict[str, WorkItem]  # open ones, by step
    entries: int  # history entries so far
    # what the tool adds beside the engine's moves
    changed_attempts: dict[int, Attempt] = field(default_factory=dict)
    opened: list[WorkItem] = field(default_factory=list)
    closed: list[WorkItem] = field(default_factory=list)
    handed: Submission | None = None  # the submission that completed its step in this write
    about: dict[str, Submission] = field(default_factory=dict)  # what an opened item is about
    verdicts: dict[str, Any] = field(default_factory=dict)  # step → verdict, for its history entry

    @property
    def at(self) -> datetime:
        return self.now.at

    @property
    def changed(self) -> bool:
        return bool(self.now.effects or self.changed_attempts or self.opened or self.closed)

    def attempt(self, step: str) -> Attempt:
        return self.attempts[step]

    def touch(self, attempt: Attempt) -> None:
        """Save this attempt's columns with the run."""
        self.changed_attempts[attempt.pk] = attempt

    def decide(self, item: WorkItem, decision: str, by: str) -> None:
        item.state, item.decision = ItemState.DECIDED, decision
        item.decided_by, item.decided_at = by, self.at

    def open_item(self, step: str, assignee: engine.Assignee, **columns: Any) -> WorkItem:
        """Open a work item on a step; any that is open there is closed first."""
        if (old := self.items.pop(step, None)) is not None:
            if old.state == ItemState.OPEN:
                old.state = ItemState.REMOVED
            self.closed.append(old)
        item = WorkItem(
            run=self.row,
            step=self.steps[step],
            attempt=self.attempts.get(step),
            kind=self.steps[step].kind,
            group_id=assignee.group,
            person_id=assignee.person,
            opened_at=self.at,
            **columns,
        )
        self.items[step] = item
        self.opened.append(item)
        return item

    def close_item(self, step: str) -> None:
        if (old := self.items.pop(step, None)) is not None:
            if old.state == ItemState.OPEN:
                old.state = ItemState.REMOVED
            self.closed.append(old)


# ---- reading


_JOINED: tuple[Any, ...] = (
    "live", "live__claimed_by", "open", "open__group", "open__person", "open__candidate"
)  # fmt: skip


def _steps(run: str) -> QuerySet[Step]:
    """Every step with its live attempt, its open item and what a view shows of them, in one statement.

    A statement of its own after the one that waits for the lock: on PostgreSQL that one would still see
    other tables as they were before it waited.
    """
    entries = HistoryEntry.objects.filter(run_id=run).order_by("-number").values("number")[:1]
    latest = Attempt.objects.filter(step=OuterRef("pk")).order_by("-number").values("number")[:1]
    return (
        Step.objects.filter(run_id=run)
        .annotate(
            live=FilteredRelation("attempts", condition=Q(attempts__live=True)),
            open=FilteredRelation("items", condition=Q(items__state=ItemState.OPEN)),
            latest=Subquery(latest),
            entries=Subquery(entries),
        )
        .select_related(*_JOINED)
        .order_by("position")
    )


def _row(run: str, *, lock: bool) -> Run:
    rows = Run.objects.all()
    if lock:
        rows = rows.select_for_update()
    row = rows.filter(pk=run).first()
    if row is None:
        raise ToolError("not_found", f"There is no run {run[:60]}.")
    return row


def load(run: str, *, lock: bool = False) -> Loaded:
    """Raises ToolError `not_found`. Two statements, plus two when its version is new to this process."""
    row = _row(run, lock=lock)
    about = compiled(row.version_id)
    loaded = Loaded(
        row=row, compiled=about, now=_now(row, about), steps={}, attempts={}, numbers={}, items={}, entries=0
    )  # fmt: skip
    found: Any
    for found in _steps(run):
        step: Step = found
        loaded.steps[step.name] = step
        step.run = row
        loaded.numbers[step.name] = found.latest or 0
        loaded.entries = found.entries or 0
        loaded.now.steps[step.name] = engine.StepNow(
            step.name, step.kind, StepState(step.state), step.ready_at, step.due_at, step.completed
        )
        # a filtered relation sets nothing where it found nothing
        if (attempt := getattr(found, "live", None)) is not None:
            attempt.step = step
            loaded.attempts[step.name] = attempt
        if (item := getattr(found, "open", None)) is not None:
            item.step, item.run, item.attempt = step, row, attempt
            loaded.items[step.name] = item
    return loaded


def _now(row: Run, about: Compiled) -> engine.Now:
    return engine.Now(
        document=about.document,
        people=Directory(about, row.initiator_id),
        at=timezone.now(),
        data=codec.loads(row.data),
        steps={},
        state=RunState(row.state),
        outcome=row.outcome,
        ended_by=row.ended_by,
        ended_note=row.ended_note,
    )


# ---- writing


@contextmanager
def locked(run: str, *, ended_ok: bool = False) -> Iterator[Loaded]:
    """The run, locked until the block ends, in a transaction of its own. `run_ended` comes first of all."""
    with transaction.atomic(durable=True):
        loaded = load(run, lock=True)
        if not loaded.now.live and not ended_ok:
            raise run_ended()
        yield loaded


def create(about: Compiled, now: engine.Now, *, by: str, initiator: int | None, test: bool) -> Loaded:
    """A new run's rows. Three statements, then `save` adds what its first steps need."""
    row = Run(
        version_id=about.id,
        test=test,
        subject=subject(now.data["inputs"]),
        started_by=by,
        initiator_id=initiator,
        started_at=now.at,
    )
    _fill(row, now)
    row.save(force_insert=True)
    steps = [
        Step(run=row, name=name, position=position, kind=s.kind, state=s.state, ready_at=s.ready_at,
             due_at=s.due_at, completed=s.completed)
        for position, (name, s) in enumerate(now.steps.items())
    ]  # fmt: skip
    Step.objects.bulk_create(steps)
    loaded = Loaded(
        row=row, compiled=about, now=now, steps={step.name: step for step in steps}, attempts={},
        numbers=dict.fromkeys(now.steps, 0), items={}, entries=0,
    )  # fmt: skip
    _follow(loaded)
    _save_parts(loaded)
    return loaded


def save(loaded: Loaded) -> None:
    """Write what changed, in a bounded number of statements whatever the run's size."""
    row = loaded.row
    _follow(loaded)
    _fill(row, loaded.now)
    row.updated_at = loaded.at
    saved = Run.objects.filter(pk=row.pk, revision=row.revision).update(
        data=row.data,
        snapshot=row.snapshot,
        state=row.state,
        outcome=row.outcome,
        ended_by=row.ended_by,
        ended_at=row.ended_at,
        ended_note=row.ended_note,
        updated_at=row.updated_at,
        revision=row.revision + 1,
    )
    if not saved:
        raise LostLockError(f"run {row.pk} moved on from revision {row.revision} while we held its lock")
    row.revision += 1
    _save_steps(loaded)
    _save_parts(loaded)


def _fill(row: Run, now: engine.Now) -> None:
    row.data = codec.dumps(now.data)
    row.snapshot = hashlib.sha256(row.data.encode()).hexdigest()
    row.state, row.outcome = now.state, now.outcome
    row.ended_by, row.ended_note = now.ended_by, now.ended_note
    row.ended_at = None if now.live else (row.ended_at or now.at)


def too_large(now: engine.Now) -> str | None:
    """The issue when run data outgrew the server's bound."""
    size = len(codec.dumps(now.data).encode())
    if size <= settings.RUN_DATA_BYTES:
        return None
    return f"run data: {size} bytes, at most {settings.RUN_DATA_BYTES}; put large content in a file"


def subject(inputs: dict[str, Any]) -> str:
    """A run's title for people: its first text input that is not blank, else its first number."""
    texts = [value for value in inputs.values() if isinstance(value, str) and value.strip()]
    if texts:
        return " ".join(texts[0].split())[:200]
    numbers = [value for value in inputs.values() if codec.is_number(value)]
    return codec.dumps(numbers[0])[:200] if numbers else ""


def _follow(loaded: Loaded) -> None:
    """Turn the engine's effects into attempts, items and history (not yet saved)."""
    for effect in loaded.now.effects:
        if isinstance(effect, engine.Closed):
            if (attempt := loaded.attempts.get(effect.step)) is not None and attempt.live:
                attempt.live = False
                attempt.lease_until = None
                loaded.touch(attempt)
            loaded.close_item(effect.step)
        elif isinstance(effect, engine.Opened):
            step = loaded.steps[effect.step]
            if step.kind in ("agent", "task"):
                loaded.numbers[step.name] += 1
                loaded.attempts[step.name] = Attempt(
                    step=step, number=loaded.numbers[step.name], opened_at=loaded.at
                )
            if effect.assignee is not None:
                loaded.open_item(step.name, effect.assignee)


def _save_steps(loaded: Loaded) -> None:
    changed = []
    for name, s in loaded.now.steps.items():
        row = loaded.steps[name]
        before = (row.state, row.ready_at, row.due_at, row.completed)
        row.state, row.ready_at, row.due_at, row.completed = s.state, s.ready_at, s.due_at, s.completed
        if before != (row.state, row.ready_at, row.due_at, row.completed):
            changed.append(row)
    if changed:
        Step.objects.bulk_update(changed, ["state", "ready_at", "due_at", "completed"])


_ATTEMPT_COLUMNS = ["live", "claimed_by", "generation", "lease_until", "progress", "handoff"]
_ITEM_COLUMNS = ["state", "decision", "decided_by", "decided_at"]


def _save_parts(loaded: Loaded) -> None:
    """Attempts, items and history; then whoever observes. Old rows first: one live, one open per step."""
    changed = [attempt for attempt in loaded.changed_attempts.values() if attempt.pk]
    if changed:
        Attempt.objects.bulk_update(changed, _ATTEMPT_COLUMNS)
        checked = {name for name, step in loaded.now.document.steps.items() if step.check}
        over = [attempt.pk for attempt in changed if not attempt.live and attempt.step.name in checked]
        if over:
            # the attempt's end makes void what was still being checked or held
            Submission.objects.filter(
                attempt__in=over,
                state__in=[SubmissionState.CHECKING, SubmissionState.ERROR, SubmissionState.HELD],
            ).update(state=SubmissionState.VOID)
    closed = [item for item in loaded.closed if not item._state.adding]
    if closed:
        WorkItem.objects.bulk_update(closed, _ITEM_COLUMNS)
    new = [attempt for attempt in loaded.attempts.values() if attempt.pk is None]
    if new:
        Attempt.objects.bulk_create(new)
    opened = [item for item in loaded.opened if item.state == ItemState.OPEN]
    if opened:
        for item in opened:
            item.attempt = loaded.attempts.get(item.step.name)
            if loaded.handed is not None and item.kind == "approve":
                loaded.about[item.pk] = loaded.handed
        WorkItem.objects.bulk_create(opened)
    _save_history(loaded)
    change = seams.Change(
        run=loaded.row, compiled=loaded.compiled, opened=opened, closed=closed, about=loaded.about
    )
    for observer in seams.observers:
        observer(change)
    loaded.now.effects.clear()


def _save_history(loaded: Loaded) -> None:
    happened = [effect for effect in loaded.now.effects if isinstance(effect, engine.Happened)]
    attempts = {name: attempt.number for name, attempt in loaded.attempts.items()}
    rows: Sequence[HistoryEntry] = [
        HistoryEntry(
            run=loaded.row,
            number=loaded.entries + index,
            at=loaded.at,
            what=effect.what,
            step=effect.step,
            by=effect.by,
            attempt=attempts.get(effect.step),
            note=effect.note,
            verdict=loaded.verdicts.get(effect.step) if effect.what == "checked" else None,
        )
        for index, effect in enumerate(happened, start=1)
    ]
    if rows:
        HistoryEntry.objects.bulk_create(rows)
        loaded.entries += len(rows)
