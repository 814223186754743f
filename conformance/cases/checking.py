"""What cases about checks have in common."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from conformance.client import Data, Refusal
from conformance.demands import demand, record_of
from conformance.evaluator import Asked
from conformance.failures import Exchange
from conformance.world import POLL_SECONDS, World

BAND = "Is the answer about the subject?"  # the question of most files, pass 0.9 and fail 0.5
ANSWER = "It is blue."


def answer(w: World, claim: Data, *, summary: str = "Done as asked.", **given: Any) -> Data:
    """Submit the answer while the evaluator says `given` (yes, choice, level); the view that comes back."""
    said, arguments = _parted(given)
    w.model.say(**said)
    return w.submit(claim, {"answer": ANSWER}, summary=summary, **arguments)


def refused(w: World, claim: Data, *, summary: str = "Done as asked.", **given: Any) -> Refusal:
    """The same submission, which must not be accepted."""
    said, arguments = _parted(given)
    w.model.say(**said)
    return w.agent.refused(
        "submit",
        "not_accepted",
        token=claim["token"],
        output={"answer": ANSWER},
        summary=summary,
        **arguments,
    )


def unsure(w: World) -> tuple[Data, Data]:
    """A run of conform-check whose answer is held, and the claim that it was submitted with."""
    claim = w.claim(w.start("conform-check"), "answer")
    return answer(w, claim, yes=0.7), claim


def kept_check(view: Data) -> Data:
    """The verdict in run data; fails where there is none."""
    record = record_of(view, "answer")
    demand("check" in record, "run data must hold the verdict in steps.answer.check")
    check: Data = record["check"]
    return check


def asked(w: World) -> list[Asked]:
    """What came to the evaluator since it was last told what to say; fails where nothing did."""
    demand(
        w.model.asked, f"the server must ask the evaluator of the suite, on port {w.model.port}; nothing came"
    )
    return w.model.asked


@contextmanager
def while_checking(w: World, call: Callable[[], Exchange]) -> Iterator[Future[Exchange]]:
    """The call under way, its evaluator asked and silent until the block ends; then its result is there."""
    w.model.hold()
    with ThreadPoolExecutor(max_workers=1) as pool:
        pending = pool.submit(call)
        try:
            end = time.monotonic() + w.patience
            while not w.model.asked and time.monotonic() < end:
                time.sleep(POLL_SECONDS)
            asked(w)
            yield pending
        finally:
            w.model.release()


def _parted(given: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    said: dict[str, Any] = {key: given.pop(key) for key in ("yes", "choice", "level") if key in given}
    return said, given
