"""What the clients know: every write that was acknowledged, and every one that was refused for good.

A nonce goes into each write that leaves a mark in run data. Proof is then counting: each acknowledged nonce stands
in its run once, no refused one stands anywhere.
"""

import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Ack:
    """A write that the server said yes to."""

    caller: str
    tool: str
    arguments: dict[str, Any]
    run: str


@dataclass
class Record:
    lock: threading.Lock = field(default_factory=threading.Lock)
    acks: list[Ack] = field(default_factory=list)
    runs: dict[str, str] = field(default_factory=dict)  # run → process, in order of start
    ended: set[str] = field(default_factory=set)
    marks: dict[str, str] = field(default_factory=dict)  # nonce → run: it must stand there once
    refused: dict[str, str] = field(default_factory=dict)  # nonce → the refusal's code: it must stand nowhere
    sent: set[str] = field(default_factory=set)  # runs that were sent their event
    files: dict[str, bytes] = field(default_factory=dict)  # upload → what was sent
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)  # answers that no caller should ever see

    def ack(self, ack: Ack) -> None:
        with self.lock:
            self.acks.append(ack)
            self.counts[f"acknowledged {ack.tool}"] += 1

    def count(self, what: str) -> None:
        with self.lock:
            self.counts[what] += 1

    def fault(self, what: str) -> None:
        with self.lock:
            self.faults.append(what)

    def mark(self, nonce: str, run: str) -> None:
        with self.lock:
            self.marks[nonce] = run

    def refuse(self, nonce: str, code: str) -> None:
        with self.lock:
            self.refused[nonce] = code

    def start(self, run: str, process: str) -> None:
        with self.lock:
            self.runs[run] = process

    def end(self, run: str) -> None:
        with self.lock:
            self.ended.add(run)

    @property
    def busy(self) -> list[str]:
        """Open runs that somebody works now."""
        return [run for run in self.open if self.runs[run] != "chaos-late"]

    @property
    def open(self) -> list[str]:
        with self.lock:
            return [run for run in self.runs if run not in self.ended]
