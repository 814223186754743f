"""How the evaluator last did, as those who asked it saw it. Nobody asks it just to know: an asking may cost money."""

import time
from dataclasses import dataclass

from checks import memory
from checks.evaluators import Evaluator

REMEMBERED_SECONDS = 24 * 3600
# while nothing changes, it is said again only so often
_AGAIN_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Outcome:
    """`since`: from when on it has been so; `at`: when that was last seen (seconds since 1970)."""

    well: bool
    since: float
    at: float


def last(evaluator: Evaluator) -> Outcome | None:
    """None where nobody asked it within a day."""
    found = memory.get(_key(evaluator))
    return None if found is None else Outcome(*found)


def note(evaluator: Evaluator, *, well: bool) -> None:
    """Whether it answered just now."""
    now, before = time.time(), last(evaluator)
    if before is not None and before.well is well:
        if now - before.at < _AGAIN_SECONDS:
            return
        memory.put(_key(evaluator), (well, before.since, now), REMEMBERED_SECONDS)
    else:
        memory.put(_key(evaluator), (well, now, now), REMEMBERED_SECONDS)


def _key(evaluator: Evaluator) -> str:
    return f"evaluator:{evaluator.version}"
