"""Load a run under its lock, let the engine move it, save it: the only writer of run state.

The lock is the run's row (PostgreSQL) or the write lock taken at BEGIN IMMEDIATE (SQLite). The save is
guarded by the revision that was loaded, so that a missed lock fails loudly instead of losing a write.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, FilteredRelation, OuterRef, Q, QuerySet, StringAgg, Subquery, Value
from django.utils import timezone

from checks import codec, limits
from checks.questions import Verdict
from processes import engine, saving, seams
from processes.errors import ToolError, run_ended
from processes.inputs import rows_of
from processes.loaded import Loaded
from processes.models import HeldEvent, HistoryEntry, Run, RunInput, Step, Submission
from processes.people import Directory
from processes.states import STEP_LIVE, UNSETTLED, ItemState, RunState, StepState
from processes.versions import Compiled, compiled


class LostLockError(RuntimeError):
    """The run changed under us although we held its lock: a fault of ours, and nothing was saved."""


# ---- reading


_JOINED: tuple[Any, ...] = (
    "live", "live__claimed_by", "open", "open__group", "open__person", "open__candidate__verdict"
)  # fmt: skip


def _steps(run: str) -> QuerySet[Step]:
    """Every step with its live attempt, its open item and what a view shows of them, in one statement.

    A statement of its own after the one that waits for the lock: on PostgreSQL that one would still see
    other tables as they were before it waited.
    """
    entries = HistoryEntry.objects.filter(run_id=run).order_by("-number").values("number")[:1]
    handed = Submission.objects.filter(attempt=OuterRef("live__pk"))
    judged = handed.filter(verdict__isnull=False).exclude(verdict__verdict=Verdict.ERROR).order_by()
    return (
        Step.objects.filter(run_id=run)
        .annotate(
            live=live_attempt(),
            open=FilteredRelation("items", condition=Q(items__state=ItemState.OPEN)),
            entries=Subquery(entries),
            handed=Subquery(handed.order_by("-number").values("number")[:1]),
            unsettled=Exists(handed.filter(state__in=UNSETTLED)),
            judged=Subquery(
                judged.values("attempt").annotate(all=StringAgg("digest", Value(","))).values("all")
            ),
            holds=Exists(HeldEvent.objects.filter(run_id=run)),
        )
        .select_related(*_JOINED)
        .order_by("position")
    )


def live_attempt() -> FilteredRelation:
    """Joins a step's latest attempt, which is live while the step is open."""
    return FilteredRelation("attempts", condition=Q(attempts__number=F("activations")))


def _row(run: str, *, lock: bool) -> Run:
    rows = Run.objects.annotate(**limits.columns())
    if lock:
        # rows that merely name the run (a notice of the timers) don't wait for it, nor it for them
        rows = rows.select_for_update(no_key=True)
    row = rows.filter(pk=run).first()
    if row is None:
        raise ToolError("not_found", f"There is no run {run[:60]}.")
    return row


def load(run: str, *, lock: bool = False) -> Loaded:
    """Raises ToolError `not_found`. Two statements (three where events are held), plus two when
    its version is new to this process.
    """
    row = _row(run, lock=lock)
    about = compiled(row.version_id)
    loaded = Loaded(
        row=row, compiled=about, now=_now(row, about), steps={}, attempts={}, numbers={}, items={}, entries=0,
        limits=limits.of(row),
    )  # fmt: skip
    found: Any = None
    for found in _steps(run):
        step: Step = found
        loaded.steps[step.name] = step
        step.run = row
        loaded.numbers[step.name] = step.activations
        loaded.entries = found.entries or 0
        loaded.handed_in[step.name] = found.handed or 0
        if found.unsettled:
            loaded.unsettled.add(step.name)
        loaded.judged[step.name] = set((found.judged or "").split(","))
        loaded.now.steps[step.name] = engine.StepNow(
            step.name, step.kind, StepState(step.state),
            **{column: getattr(step, column) for column in saving.STANDING if column != "state"},
        )  # fmt: skip
        # a filtered relation sets nothing where it found nothing
        attempt = getattr(found, "live", None) if step.state in STEP_LIVE else None
        if attempt is not None:
            attempt.step = step
            loaded.attempts[step.name] = attempt
        if (item := getattr(found, "open", None)) is not None:
            item.step, item.run, item.attempt = step, row, attempt
            loaded.items[step.name] = item
    if lock and found is not None and found.holds:
        loaded.now.held = [
            engine.Event(event.name, event.by, codec.loads(event.data), event.pk)
            for event in HeldEvent.objects.filter(run=row)
        ]
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


def go_on(loaded: Loaded) -> bool:
    """Go on from every wait whose time has come. Whether there was any.

    The snapshot goes with it: a decision that was made on what was there before is stale.
    """
    went_on = loaded.now.live and loaded.sleepers and engine.wake(loaded.now)
    if went_on:
        _fill(loaded.row, loaded.now)
    return went_on


@contextmanager
def locked(run: str, *, ended_ok: bool = False) -> Iterator[Loaded]:
    """The run, locked until the block ends, in a transaction of its own. `run_ended` comes first of all."""
    seams.prepare()
    with transaction.atomic(durable=True):
        loaded = load(run, lock=True)
        go_on(loaded)  # nobody has to be asked before a time that has come counts
        if not loaded.now.live and not ended_ok:
            raise run_ended()
        yield loaded


@contextmanager
def resumed(loaded: Loaded) -> Iterator[Loaded]:
    """The run as we left it an answer ago, in a new transaction and without reading it again.

    Its lock is the guarded save, which comes before any other write. Raises LostLockError when somebody
    moved the run in between, or the time ended it; then nothing is saved, and `locked` is the way.
    """
    seams.prepare()
    with transaction.atomic(durable=True):
        loaded.now.at = timezone.now()
        go_on(loaded)
        if not loaded.now.live:
            raise LostLockError(f"run {loaded.row.pk} ended while nobody held its lock")
        yield loaded


def create(about: Compiled, now: engine.Now, *, by: str, initiator: int | None, test: bool) -> Loaded:
    """A new run's rows. Three statements, then `save` adds what its first steps need."""
    row = Run(
        version_id=about.id,
        test=test,
        subject=subject(now.data["inputs"]),
        inputs=codec.dumps(now.data["inputs"]),
        started_by=by,
        initiator_id=initiator,
        started_at=now.at,
    )
    _fill(row, now)
    row.save(force_insert=True)
    RunInput.objects.bulk_create(rows_of(row, now.data["inputs"]))
    steps = [
        Step(
            run=row, name=name, position=position, kind=standing.kind,
            **{column: getattr(standing, column) for column in saving.STANDING},
        )
        for position, (name, standing) in enumerate(now.steps.items())
    ]  # fmt: skip
    loaded = Loaded(
        row=row, compiled=about, now=now, steps={step.name: step for step in steps}, attempts={},
        numbers=dict.fromkeys(now.steps, 0), items={}, entries=0,
    )  # fmt: skip
    saving.follow(loaded)
    for step in steps:
        step.activations = loaded.numbers[step.name]
    Step.objects.bulk_create(steps)
    saving.save_parts(loaded, saving.told(loaded, row.snapshot))
    loaded.saved()
    return loaded


def save(loaded: Loaded) -> None:
    """Write what changed, in a bounded number of statements whatever the run's size."""
    if not loaded.changed:
        saving.save_submissions(loaded)
        loaded.saved()
        return
    row = loaded.row
    saving.follow(loaded)
    entries = saving.told(loaded, row.snapshot)
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
        receipts=row.receipts,
        receipt_head=row.receipt_head,
        salt=row.salt,
    )
    if not saved:
        raise LostLockError(f"run {row.pk} moved on from revision {row.revision} while we held its lock")
    row.revision += 1
    saving.save_steps(loaded)
    saving.save_parts(loaded, entries)
    loaded.saved()


def forget_salt(run: str) -> bool:
    """From now on nobody opens what the receipts of this run promise; they verify as before. False where there is
    nothing to forget: a run that goes on still needs its salt.
    """
    over = Run.objects.filter(pk=run, ended_at__isnull=False, salt__isnull=False)
    return bool(over.update(salt=None))


def snapshot_of(data: str) -> str:
    """The SHA-256 of a run's data as they are stored."""
    return hashlib.sha256(data.encode("utf-8")).hexdigest()


def _fill(row: Run, now: engine.Now) -> None:
    row.data = codec.dumps(now.data)
    row.snapshot = snapshot_of(row.data)
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
