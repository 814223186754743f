"""A circuit breaker per evaluator, shared through the cache: who failed lately is asked after the others.

It opens when the server itself was to blame three times in a row, or at once where it lets us in no more. While it
is open one asker at a time tries again, every `HELD_SECONDS`. It turns nobody away: where all are open, all are
asked. What was wrong with a single request or answer never counts, so that no submission can shut an evaluator off.
"""

from checks import memory
from checks.evaluators import EvaluatorError

FAILURES = 3
HELD_SECONDS = 30.0
FORGOTTEN_SECONDS = 600.0


def is_open(version: str) -> bool:
    """Whether it opened and nobody has been answered since. Asks for nothing."""
    return (memory.get(_failures(version)) or 0) >= FAILURES


def is_held(version: str) -> bool:
    """Whether this asker should ask others first: it is open, and it is not this asker's turn to try."""
    return is_open(version) and not memory.take(_held(version), 1, HELD_SECONDS)


def well(version: str) -> None:
    if memory.get(_failures(version)) is not None:
        memory.forget(_failures(version), _held(version))


def failed(version: str, error: EvaluatorError) -> None:
    if not error.down:
        return
    if memory.count(_failures(version), FORGOTTEN_SECONDS, by=FAILURES if error.permanent else 1) >= FAILURES:
        memory.put(_held(version), 1, HELD_SECONDS)


def _failures(version: str) -> str:
    return f"evaluator-failed:{version}"


def _held(version: str) -> str:
    return f"evaluator-held:{version}"
