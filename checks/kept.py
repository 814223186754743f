"""What writes ask after all the time and what hardly ever changes: kept by every process for some seconds.

A stamp in the cache (`checks.memory`) tells all processes of a change at once; where they share no cache they notice it
when those seconds are over. Whoever holds a lock asks for what is `known`, which waits for nobody.
"""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from django.db import transaction

from checks import memory

SECONDS = 30.0
_STAMP_SECONDS = 7 * 24 * 3600


@dataclass(frozen=True, slots=True)
class _Read[T]:
    value: T
    stamp: object
    until: float


class Kept[T]:
    """`read` asks the database; `name` is the stamp's."""

    def __init__(self, name: str, read: Callable[[], T]) -> None:
        self._name, self._read = name, read
        self._last: _Read[T] | None = None  # one per process; whoever comes second reads the same

    def current(self) -> T:
        """Asks the cache; and the database, where it changed or was read some seconds ago."""
        stamp = memory.get(self._name)
        if stamp is None:
            memory.take(self._name, secrets.token_hex(8), _STAMP_SECONDS)
            stamp = memory.get(self._name)
        last = self._last
        if last is None or last.stamp != stamp or last.until <= time.monotonic():
            last = self._last = _Read(self._read(), stamp, time.monotonic() + SECONDS)
        return last.value

    def known(self) -> T | None:
        """As last read, by asking nobody; None where nothing was."""
        return None if self._last is None else self._last.value

    def changed(self) -> None:
        """Call it in the transaction of the change: all processes read anew once the change can be read."""
        self.forget()
        transaction.on_commit(self._say)

    def forget(self) -> None:
        """As if nothing had been read yet."""
        self._last = None

    def _say(self) -> None:
        memory.put(self._name, secrets.token_hex(8), _STAMP_SECONDS)
