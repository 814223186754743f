"""A step that people must take over: by its agent's word, or because its check was unsure."""

from collections.abc import Mapping
from typing import Any

from processes import engine
from processes.engine import Assignee
from processes.loaded import Loaded
from processes.models import Submission


def open_escalation(
    loaded: Loaded,
    step: str,
    *,
    by: str,
    note: str,
    candidate: Submission | None = None,
    check: Mapping[str, Any] | None = None,
) -> None:
    """The step waits; its token is dead; the version's escalation group (or the operators) gets an item."""
    attempt = loaded.attempt(step)
    attempt.lease_until = None
    attempt.progress = ""
    if attempt.claimed_by_id is not None:
        attempt.generation += 1
    loaded.touch(attempt)
    engine.escalate(loaded.now, step, by=by, note=note, check=check)
    loaded.open_item(
        step,
        Assignee(group=loaded.compiled.escalations),
        escalated=True,
        note=note,
        by=by,
        candidate=candidate,
    )
    if candidate is not None:
        item = loaded.items[step]
        loaded.about[item.pk] = candidate
