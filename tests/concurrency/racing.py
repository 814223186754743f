"""Races on purpose: calls in threads of their own that meet at a point, so that they overlap for certain.

Two ways: `together` starts all at once, and `meeting` lets them wait for each other; `overtaken` stops one at
a chosen place and lets the other come in between, as far as the first one's locks let it. The second needs
no patience: whether somebody waits for a lock is asked of the server.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.db import connection, connections
from django.utils import timezone

from processes import evaluating, runs, saving
from processes.errors import ToolError
from processes.models import HistoryEntry, Run

# seconds that two wait for each other: where one holds a lock the other can't come, else both surely do
BEHIND_A_LOCK, SURELY = 0.4, 20

Act = Callable[[], Any]


class Racer(threading.Thread):
    """One caller with a database connection of its own. `result`: what it returned or raised."""

    def __init__(self, act: Act) -> None:
        super().__init__(daemon=True)
        self._act, self.result = act, None

    def run(self) -> None:
        try:
            self.result = self._act()
        except BaseException as error:  # noqa: BLE001 - the outcome of a race is what the test looks at
            self.result = error
        finally:
            connections.close_all()

    def arrive(self) -> Any:
        self.join(30)
        assert not self.is_alive(), "a thread hangs"
        return self.result


def together(*acts: Act) -> list[Any]:
    """Start all at once; gives what each returned or raised, in order."""
    start = threading.Barrier(len(acts))
    racers = [Racer(lambda act=act: (start.wait(), act())[1]) for act in acts]
    for racer in racers:
        racer.start()
    return [racer.arrive() for racer in racers]


def meeting(function: Callable[..., Any], patience: float) -> Callable[..., Any]:
    """The function, but two racers wait for each other after it, as long as they have patience."""
    barrier = threading.Barrier(2)

    def met(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        # what a test does before and after its race meets nobody
        if isinstance(threading.current_thread(), Racer):
            with suppress(threading.BrokenBarrierError):
                barrier.wait(patience)
        return result

    return met


def meet_after_loading(monkeypatch: Any, patience: float = BEHIND_A_LOCK) -> None:
    """Without the lock both would see the run as it was."""
    monkeypatch.setattr(runs, "load", meeting(runs.load, patience))


# ---- one is overtaken by the other


class Stop:
    """Holds up one thread where it enters a function, until it is let go.

    The thread arms it itself, so that it is held up there and not earlier: `armed`, or from within.
    """

    def __init__(self, monkeypatch: Any, owner: Any, name: str) -> None:
        self.reached, self._go = threading.Event(), threading.Event()
        self._whom: int | None = None
        function = getattr(owner, name)

        def held_up(*args: Any, **kwargs: Any) -> Any:
            if self._whom == threading.get_ident():
                self._whom = None
                self.reached.set()
                assert self._go.wait(SURELY), "nobody let it go on"
            return function(*args, **kwargs)

        monkeypatch.setattr(owner, name, held_up)

    def arm(self) -> None:
        """The first one that gets here is held up, nobody else."""
        if self._whom is None and not self.reached.is_set():
            self._whom = threading.get_ident()

    def armed(self, act: Act) -> Act:
        return lambda: (self.arm(), act())[1]

    def wait_for(self, racer: Racer) -> None:
        while not self.reached.wait(0.01):
            assert racer.is_alive(), f"it came to its end before the stop: {racer.result!r}"

    def release(self) -> None:
        self._go.set()

    def holds(self) -> bool:
        """Whether somebody is held up right now: whoever comes to an end meanwhile waited for nothing."""
        return self.reached.is_set() and not self._go.is_set()


def overtaken(stop: Stop, first: Act, second: Act) -> tuple[Any, Any]:
    """`first` up to its stop; `second` to its end, or until it waits for what the first one has locked;
    then both to their ends. Gives what each returned or raised.
    """
    ahead = Racer(first)
    ahead.start()
    stop.wait_for(ahead)
    behind = Racer(second)
    behind.start()
    while behind.is_alive() and not _somebody_waits_for_a_lock():
        behind.join(0.01)
    stop.release()
    return ahead.arrive(), behind.arrive()


def halfway(stop: Stop, act: Act) -> Act:
    """Bring an act up to its stop. Gives what lets it go on, to what comes of it."""
    racer = Racer(stop.armed(act))
    racer.start()
    stop.wait_for(racer)
    return lambda: (stop.release(), racer.arrive())[1]


def _somebody_waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND wait_event_type = 'Lock' AND wait_event IN ('transactionid', 'tuple')"
        )
        return bool(cursor.fetchone()[0])


class Clocks:
    """Time goes by when a test says so, for everybody or, as on another machine, for one thread."""

    def __init__(self, monkeypatch: Any) -> None:
        self._one, self._all, now = threading.local(), timedelta(), timezone.now
        monkeypatch.setattr(
            timezone, "now", lambda: now() + self._all + getattr(self._one, "by", timedelta())
        )

    def forward(self, **delta: float) -> None:
        self._all += timedelta(**delta)

    def ahead(self, act: Act, **delta: float) -> Act:
        """The act, on a clock that is ahead of the others'."""

        def later() -> Any:
            self._one.by = timedelta(**delta)
            return act()

        return later


def sent_elsewhere(monkeypatch: Any) -> list[evaluating.Job]:
    """As with a broker, nobody asks in the call itself. Fills with what a worker would be sent."""
    jobs: list[evaluating.Job] = []

    def ask(_: Any, call: Any, asking: Any) -> None:
        jobs.append(evaluating.job_of(call, asking))

    monkeypatch.setattr(evaluating.Here, "ask", ask)
    return jobs


# ---- the guards, to be switched off


def drop_the_lock(monkeypatch: Any) -> None:
    row = runs._row
    monkeypatch.setattr(runs, "_row", lambda run, **_: row(run, lock=False))


def drop_the_revision(monkeypatch: Any) -> None:
    """Saves overwrite whatever is there. What is left then is the number of a history entry and a receipt's place in its
    chain, which the database gives once: the one is given anew here, and the other left out, so that the damage is seen.
    """
    among, parts = Run.objects.filter, saving.save_parts

    def whatever_its_revision(*args: Any, **kwargs: Any) -> Any:
        kwargs.pop("revision", None)
        return among(*args, **kwargs)

    def numbered_anew(loaded: Any, entries: Any) -> None:
        for number, entry in enumerate(entries, HistoryEntry.objects.filter(run=loaded.row).count() + 1):
            entry.number = number
            entry.chain = entry.seq = entry.receipt = entry.signed_at = None
        parts(loaded, entries)

    monkeypatch.setattr(Run.objects, "filter", whatever_its_revision)
    monkeypatch.setattr(saving, "save_parts", numbered_anew)


def told(results: list[Any]) -> list[Any]:
    """Refusals as `code issue`, results as "ok", faults as they are; sorted, for nobody knows who won."""
    return sorted((word(result) for result in results), key=str)


def word(result: Any) -> Any:
    if isinstance(result, ToolError):
        return " ".join([result.code, *(result.issues or [])])
    return result if isinstance(result, BaseException) else "ok"
