"""Races on purpose: calls in threads of their own that meet at a point, so that they overlap for certain."""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from django.db import connections

from processes import runs

# seconds that two wait for each other: where one holds a lock the other can't come, else both surely do
BEHIND_A_LOCK, SURELY = 0.4, 10


def together(*acts: Callable[[], Any]) -> list[Any]:
    """Start all at once; gives what each returned or raised, in order."""
    start = threading.Barrier(len(acts))
    results: list[Any] = [None] * len(acts)

    def run(index: int, act: Callable[[], Any]) -> None:
        try:
            start.wait()
            results[index] = act()
        except BaseException as error:  # noqa: BLE001 - the outcome of a race is what the test looks at
            results[index] = error
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(i, act)) for i, act in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads), "a thread hangs"
    return results


def meeting(function: Callable[..., Any], patience: float) -> Callable[..., Any]:
    """The function, but two callers wait for each other after it, as long as they have patience."""
    barrier = threading.Barrier(2)

    def met(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        with suppress(threading.BrokenBarrierError):
            barrier.wait(patience)
        return result

    return met


def meet_after_loading(monkeypatch: Any, patience: float = BEHIND_A_LOCK) -> None:
    """Without the lock both would see the run as it was."""
    monkeypatch.setattr(runs, "load", meeting(runs.load, patience))


def drop_the_lock(monkeypatch: Any) -> None:
    row = runs._row
    monkeypatch.setattr(runs, "_row", lambda run, **_: row(run, lock=False))


def told(results: list[Any]) -> list[Any]:
    """Refusals as `code issue`, results as "ok", faults as they are."""
    from processes.errors import ToolError

    def word(result: Any) -> Any:
        if isinstance(result, ToolError):
            return " ".join([result.code, *(result.issues or [])])
        return result if isinstance(result, BaseException) else "ok"

    return sorted((word(result) for result in results), key=str)
