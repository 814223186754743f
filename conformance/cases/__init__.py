"""All cases, chapter by chapter."""

from collections.abc import Iterator

from conformance.cases import (
    acceptance,
    catalog,
    checks,
    claims,
    deciding,
    describe,
    doubts,
    endings,
    escalations,
    events,
    evidence,
    forks,
    guarantees,
    handoffs,
    leases,
    numbers,
    people,
    refusals,
    replays,
    rework,
    routes,
    runlists,
    starting,
    underway,
    waits,
    work,
)
from conformance.registry import Case, Chapter

CHAPTERS: tuple[Chapter, ...] = (
    describe.chapter, catalog.chapter, starting.chapter, claims.chapter, leases.tokens, claims.renewing,
    leases.chapter, handoffs.chapter, acceptance.chapter, routes.chapter, evidence.chapter, people.chapter,
    deciding.chapter, rework.chapter, escalations.chapter, replays.chapter, endings.chapter, endings.cancelling,
    waits.chapter, events.chapter, forks.chapter, checks.chapter, doubts.chapter, underway.chapter, numbers.chapter, work.chapter,
    runlists.chapter, guarantees.modes, guarantees.versions, refusals.chapter, guarantees.guarantees,
)  # fmt: skip


def titles() -> dict[str, str]:
    """What each chapter is about, by its name."""
    return {chapter.name: chapter.title for chapter in CHAPTERS}


def all_cases() -> Iterator[Case]:
    for chapter in CHAPTERS:
        yield from chapter.cases
