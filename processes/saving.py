"""The parts of a run's save: steps, attempts, items, events, history; then whoever observes.

Only `runs.py` calls this, under the run's lock. A bounded number of statements whatever the run's size.
"""

from django.db.models import F, Q

from checks import codec, verdicts
from checks.models import FactResult
from processes import engine, facts, receipting, seams
from processes.loaded import Loaded
from processes.models import Attempt, HeldEvent, HistoryEntry, Step, Submission, WorkItem
from processes.states import SUBMISSION_MOVES, HistoryEvent, ItemState, SubmissionState, before


def follow(loaded: Loaded) -> None:
    """Turn the engine's effects into attempts, items and history (not yet saved)."""
    for effect in loaded.now.effects:
        if isinstance(effect, engine.Closed):
            attempt = loaded.attempts.get(effect.step)
            if attempt is not None and attempt.pk is not None:
                loaded.over[attempt.pk] = attempt
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


def save_steps(loaded: Loaded) -> None:
    changed = []
    for name, standing in loaded.now.steps.items():
        row = loaded.steps[name]
        new = {column: getattr(standing, column) for column in STANDING}
        old = {column: getattr(row, column) for column in STANDING}
        if new != old or row.activations != loaded.numbers[name]:
            # the timers write it without the run's lock; a repeat, which restarts the clock, takes it back
            row.overdue_told = F("overdue_told") if row.due_at == standing.due_at else False
            for column, value in new.items():
                setattr(row, column, value)
            row.activations = loaded.numbers[name]
            changed.append(row)
    if changed:
        Step.objects.bulk_update(changed, [*STANDING, "activations", "overdue_told"])


# what the engine says of a step, column by column
STANDING = ("state", "ready_at", "due_at", "wake_at", "completed")
_ATTEMPT_COLUMNS = ["claimed_by", "generation", "lease_until", "progress", "handoff"]
_SUBMISSION_COLUMNS = [
    "state", "request_id", "by", "content", "digest", "verdict", "fence", "fence_until", "errors"
]  # fmt: skip
HELD = SubmissionState.HELD
_ONE_PER_ATTEMPT = {SubmissionState.CHECKING, HELD}
_MAY_BE_VOID = before(SUBMISSION_MOVES, SubmissionState.VOID)
_ITEM_COLUMNS = ["state", "decision", "decided_by", "decided_at"]


def save_parts(loaded: Loaded, entries: list[HistoryEntry]) -> None:
    """Submissions, attempts, items and history; then whoever observes. Old rows first: one open per step."""
    save_submissions(loaded)
    _void(loaded)
    changed = [attempt for attempt in loaded.changed_attempts.values() if attempt.pk]
    if changed:
        Attempt.objects.bulk_update(changed, _ATTEMPT_COLUMNS)
    new = [attempt for attempt in loaded.attempts.values() if attempt.pk is None]
    if new:
        Attempt.objects.bulk_create(new)
    closed = [item for item in loaded.closed if not item._state.adding]
    opened = [item for item in loaded.opened if item.state == ItemState.OPEN]
    for item in opened:
        item.attempt = loaded.attempts.get(item.step.name)
        _staff(loaded, item)
        if loaded.handed is not None and item.kind == "approve":
            loaded.about[item.pk] = loaded.handed
    if closed or opened:
        # one statement, in which the closed ones make room for the opened
        WorkItem.objects.bulk_create(
            [*closed, *opened], update_conflicts=True, unique_fields=["id"], update_fields=_ITEM_COLUMNS
        )
    _save_events(loaded)
    if entries:
        HistoryEntry.objects.bulk_create(entries)
        loaded.entries += len(entries)
    change = seams.Change(
        run=loaded.row, compiled=loaded.compiled, opened=opened, closed=closed, about=loaded.about
    )
    for observer in seams.observers:
        observer(change)


def _staff(loaded: Loaded, item: WorkItem) -> None:
    """An item that none of its group may decide is the operators'. Doing a task is no decision on work."""
    if item.group_id is None or (item.kind == "task" and not item.escalated):
        return
    about = Q(pk=item.candidate_id) if item.escalated else Q(state=SubmissionState.ACCEPTED)
    work = Submission.objects.filter(about, attempt__step__run=loaded.row)
    if seams.nobody_left(seams.Opening(group=item.group_id, work=work)):
        item.group = None


def save_submissions(loaded: Loaded) -> None:
    """New verdicts and facts, then the submissions that they are on: four statements at most."""
    for made in loaded.made:
        verdicts.save(made)
    if loaded.facts:
        FactResult.objects.bulk_create(loaded.facts)
    # who leaves a state that only one of an attempt may be in makes room first
    rows = sorted(loaded.submissions.values(), key=lambda row: row.state in _ONE_PER_ATTEMPT)
    if rows:
        Submission.objects.bulk_create(
            rows, update_conflicts=True, unique_fields=["id"], update_fields=_SUBMISSION_COLUMNS
        )


def _void(loaded: Loaded) -> None:
    """An attempt's end makes void what was still being checked or held."""
    doubtful = loaded.unsettled | {
        item.step.name for item in loaded.closed if item.candidate and item.candidate.state == HELD
    }
    if not loaded.now.live:
        # that a sibling's check has begun moves no run: a verdict may end the run without knowing of it
        done = loaded.handed.attempt.step.name if loaded.handed is not None else ""
        checked = {
            name for name, step in loaded.now.document.steps.items() if step.check or facts.outward(step)
        }
        doubtful |= checked - {done}
    over = [pk for pk, attempt in loaded.over.items() if attempt.step.name in doubtful]
    if over:
        Submission.objects.filter(attempt__in=over, state__in=_MAY_BE_VOID).update(state=SubmissionState.VOID)


def _save_events(loaded: Loaded) -> None:
    """Held events: kept, used up, or discarded with the run. No statement in a run without them."""
    effects = loaded.now.effects
    held = [effect.event for effect in effects if isinstance(effect, engine.Held)]
    if held and loaded.now.live:
        HeldEvent.objects.bulk_create(
            HeldEvent(run=loaded.row, name=e.name, by=e.by, data=codec.dumps(e.data), at=loaded.at)
            for e in held
        )
    if not loaded.now.live and loaded.now.document.waits_for_events:
        HeldEvent.objects.filter(run=loaded.row).delete()
        return
    used = [effect.key for effect in effects if isinstance(effect, engine.Consumed)]
    if used:
        HeldEvent.objects.filter(pk__in=used).delete()


def told(loaded: Loaded, seen: str) -> list[HistoryEntry]:
    """What happened, with its receipts; yet to be saved. `seen`: the run's snapshot before this write."""
    happened = [effect for effect in loaded.now.effects if isinstance(effect, engine.Happened)]
    attempts = {name: attempt.number for name, attempt in loaded.attempts.items()}
    entries = [
        HistoryEntry(
            run=loaded.row,
            number=loaded.entries + index,
            at=loaded.at,
            what=effect.what,
            step=effect.step,
            by=effect.by,
            attempt=attempts.get(effect.step),
            note=effect.note,
            verdict=loaded.verdicts.get(effect.step) if effect.what is HistoryEvent.CHECKED else None,
        )
        for index, effect in enumerate(happened, start=1)
    ]
    receipting.sign(loaded, entries, seen)
    return entries
