"""Runs cases one after the other against a world."""

import time
import traceback
from collections.abc import Iterable, Iterator

from conformance.failures import Failure, Skip
from conformance.registry import Case
from conformance.reports import Result
from conformance.world import World


def run(cases: Iterable[Case], world: World) -> Iterator[Result]:
    """One result after the other, as they come."""
    for case in cases:
        yield run_one(case, world)


def run_one(case: Case, world: World) -> Result:
    """How one case goes. Whatever goes wrong in it is its result; nothing is raised."""
    lacking = [reason for need in case.needs if (reason := world.lacks(need)) is not None]
    if lacking:
        return Result(case=case, verdict="skipped", message="; ".join(lacking))
    began = time.monotonic()
    try:
        world.begin()
        case.run(world)
    except Skip as skip:
        return Result(case=case, verdict="skipped", message=str(skip))
    except Failure as failure:
        exchange = failure.exchange or (world.log.exchanges[-1] if world.log.exchanges else None)
        return Result(
            case=case,
            verdict="failed",
            message=failure.message,
            exchange=exchange,
            seconds=time.monotonic() - began,
        )
    except Exception:  # noqa: BLE001 - a case that meets something unforeseen has failed, the others go on
        last = world.log.exchanges[-1] if world.log.exchanges else None
        what = traceback.format_exc(limit=-3).strip().replace("\n", " | ")
        return Result(case=case, verdict="failed", message=f"unforeseen: {what}", exchange=last)
    finally:
        world.clean_up()
    return Result(case=case, verdict="ok", seconds=time.monotonic() - began)
