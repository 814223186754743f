"""Runs cases one after the other against a world.

Stories that stand next to each other share their waiting: each is told up to the end of its lease, then all of
them wait once, then each is told to its end.
"""

import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby

from conformance.failures import Exchange, Failure, Skip
from conformance.registry import Case
from conformance.reports import Result
from conformance.world import World


def run(cases: Iterable[Case], world: World) -> Iterator[Result]:
    """One result after the other, as they come."""
    for waits, group in groupby(cases, key=lambda case: case.story is not None):
        if waits:
            yield from _tell(list(group), world)
        else:
            yield from (run_one(case, world) for case in group)


def run_one(case: Case, world: World) -> Result:
    """How one case goes. Whatever goes wrong in it is its result; nothing is raised."""
    if case.story is not None:
        return next(iter(_tell([case], world)))
    going = _Going(case)
    if case.run is not None and not going.lacks(world):
        whole = case.run
        going.go_on(world, lambda: whole(world))
        going.end(world)
    return going.result()


def _tell(cases: list[Case], world: World) -> Iterator[Result]:
    told: list[tuple[_Going, Generator[None] | None]] = []
    for case in cases:
        going = _Going(case)
        story = case.story(world) if case.story is not None and not going.lacks(world) else None
        if story is not None:
            going.go_on(world, lambda story=story: next(story))  # type: ignore[misc]
        told.append((going, story))
    if any(story is not None and going.failure is None for going, story in told):
        world.outlive_leases()
    for going, story in told:
        if story is not None:
            if going.failure is None:
                going.go_on(world, lambda story=story: next(story, None))  # type: ignore[misc]
            going.end(world)
        yield going.result()


@dataclass(slots=True)
class _Going:
    """A case under way: what it has said so far, the runs that it started, and how it ended."""

    case: Case
    exchanges: list[Exchange] = field(default_factory=list)
    started: list[str] = field(default_factory=list)
    failure: Failure | None = None
    shows: Exchange | None = None  # the call that shows the failure
    skipped: str = ""
    seconds: float = 0.0

    def lacks(self, world: World) -> bool:
        """Whether the case can't be tried here."""
        reasons = [reason for need in self.case.needs if (reason := world.lacks(need)) is not None]
        self.skipped = "; ".join(reasons)
        return bool(reasons)

    def go_on(self, world: World, part: Callable[[], object]) -> None:
        """Run a part of the case, and keep what goes wrong."""
        world.begin(self.exchanges, self.started)
        began = time.monotonic()
        try:
            part()
        except Skip as skip:
            self.skipped = str(skip)
            self.failure = Failure(str(skip))
        except Failure as failure:
            self.failure = failure
        except Exception:  # noqa: BLE001 - a case that meets something unforeseen has failed, the others go on
            what = traceback.format_exc(limit=-3).strip().replace("\n", " | ")
            self.failure = Failure(f"unforeseen: {what}")
        self.seconds += time.monotonic() - began
        if self.failure is not None:
            self.shows = self.failure.exchange or (self.exchanges[-1] if self.exchanges else None)

    def end(self, world: World) -> None:
        world.begin(self.exchanges, self.started)
        world.clean_up()

    def result(self) -> Result:
        if self.skipped:
            return Result(case=self.case, verdict="skipped", message=self.skipped)
        if self.failure is None:
            return Result(case=self.case, verdict="ok", seconds=self.seconds)
        return Result(
            case=self.case,
            verdict="failed",
            message=self.failure.message,
            exchange=self.shows,
            seconds=self.seconds,
        )
