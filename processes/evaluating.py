"""Where the evaluator is asked, and how long the caller's request waits for it.

A server asks elsewhere: embedded in a pool of threads of its own, with a broker in a worker. Its request waits
up to CHECK_WAIT_SECONDS, holding neither transaction nor lock, and at most half of the server's threads (one at least) wait at
once, so that reads and pages are answered while evaluators are slow; whoever does not get an answer in
time is told `retry`, and the same call finds it later. Commands and tests ask in the call itself.
"""

import contextvars
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from celery import exceptions, states
from celery.result import AsyncResult
from django.conf import settings
from django.db import close_old_connections, connections
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import RedisError

from checks import evaluators
from processes import checking
from processes.callers import Caller
from processes.checking import Asking, Handed, Joining
from processes.errors import ToolError
from processes.errors import checking as being_checked
from processes.loaded import Loaded
from processes.pipeline import Call, Result, told

log = logging.getLogger(__name__)

MOST_AT_ONCE = 64  # evaluations of one server process; they wait for the network, not for the processor

# what those who find no place to wait are told: come back in so many seconds, aiming at so many of them a second
LEAST_SECONDS, MOST_SECONDS, SENT_AWAY_A_SECOND = 2, 20, 4

# a broker or a result backend that is away, in the words of all who may say so
UNREACHABLE = (BrokerError, RedisError, OSError)

View = dict[str, Any]


class Asker(Protocol):
    """Asks, settles, and answers the call; or joins a call's own evaluation that is under way."""

    def ask(self, call: Call, asking: Asking) -> View: ...
    def join(self, call: Call, joining: Joining) -> View: ...


def transition(call: Call, run: str, work: Callable[[Loaded], Handed]) -> dict[str, Any]:
    """Like `Call.transition`, for work that may have to ask the evaluator first."""
    evaluators.configured()  # which one is read before the lock; under it, nobody waits for the cache
    outcome: Result | ToolError | Asking | Joining = call.move(run, work)
    if isinstance(outcome, Asking):
        return _asker.ask(call, outcome)
    if isinstance(outcome, Joining):
        return _asker.join(call, outcome)
    return told(outcome)


class Here:
    """In the call itself."""

    def ask(self, call: Call, asking: Asking) -> View:
        return checking.resolve(call, asking)

    def join(self, call: Call, joining: Joining) -> View:
        raise being_checked()


class Slots:
    """How many requests of this process may wait at once.

    The more ask after checks that are under way, the longer each is told to stay away, so that asking after
    them never becomes the load that slows everything else down.
    """

    def __init__(self, most: int) -> None:
        self._free = threading.Semaphore(most)
        self._lock = threading.Lock()
        self._sent_away: deque[float] = deque(maxlen=MOST_SECONDS * SENT_AWAY_A_SECOND)

    @contextmanager
    def one(self) -> Iterator[None]:
        """Raises `retry` at once where none is free: the evaluation goes on, and the same call finds it."""
        if not self._free.acquire(blocking=False):
            raise being_checked(self._seconds())
        try:
            yield
        finally:
            self._free.release()

    def _seconds(self) -> int:
        now = time.monotonic()
        with self._lock:
            lately = sum(1 for at in self._sent_away if at > now - MOST_SECONDS)
            self._sent_away.append(now)
        return max(LEAST_SECONDS, min(MOST_SECONDS, lately // SENT_AWAY_A_SECOND))


def _free_connections() -> None:
    """A waiting thread keeps no connection from the others."""
    connections.close_all()


class Threads:
    """Embedded: a pool of this process."""

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        self._pool = ThreadPoolExecutor(MOST_AT_ONCE, thread_name_prefix="evaluator")
        self._asked: dict[tuple[UUID, int], Future[View]] = {}

    def ask(self, call: Call, asking: Asking) -> View:
        key = (asking.submission.pk, asking.fence)
        # with the request's context, so that what is logged there names the request
        run = contextvars.copy_context().run
        future = self._asked[key] = self._pool.submit(run, self._resolve, call, asking)
        future.add_done_callback(lambda done: self._over(key, done))
        return self._wait(future)

    def asks(self, joining: Joining) -> bool:
        return (joining.submission, joining.fence) in self._asked

    def join(self, call: Call, joining: Joining) -> View:
        future = self._asked.get((joining.submission, joining.fence))
        if future is None:  # asked by another process, or settled in this moment
            raise being_checked()
        return self._wait(future)

    def _wait(self, future: Future[View]) -> View:
        with self._slots.one():
            wait([future], timeout=settings.CHECK_WAIT_SECONDS)
        if not future.done():
            raise being_checked()
        return future.result()

    def _over(self, key: tuple[UUID, int], done: Future[View]) -> None:
        self._asked.pop(key, None)
        error = done.exception()
        if error is not None and not isinstance(error, ToolError):  # perhaps nobody waits for it any more
            log.error("a check could not be settled", exc_info=error)

    @staticmethod
    def _resolve(call: Call, asking: Asking) -> View:
        close_old_connections()
        try:
            if checking.waited(asking):  # behind others, for so long that its fence would fall too soon
                taken = checking.take_again(asking)
                if taken is None:
                    raise being_checked()
                asking = taken
            return checking.resolve(call, asking)
        finally:
            _free_connections()


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What a worker is sent: no payload of anybody's, only where to find it and whose call it answers."""

    run: str
    submission: str
    fence: int
    until: str  # the fence's end, as it was recorded: whoever begins to ask moves it
    tool: str
    caller: str
    request_id: str
    digest: str

    @property
    def task_id(self) -> str:
        """The same for whoever asks after this evaluation."""
        return f"check-{self.submission}-{self.fence}"

    def call(self) -> Call:
        return Call(
            tool=self.tool,
            caller=Caller(id=self.caller),
            arguments={"requestId": self.request_id},
            digest=self.digest,
        )


def job_of(call: Call, asking: Asking) -> Job:
    until = asking.submission.fence_until
    if until is None:
        raise AssertionError("what is being checked has a fence")
    return Job(
        run=asking.run, submission=str(asking.submission.pk), fence=asking.fence, until=until.isoformat(),
        tool=call.tool, caller=call.caller.id, request_id=call.request_id, digest=call.digest,
    )  # fmt: skip


def evaluate(job: Job) -> View:
    """In a worker: ask and settle. Gives `{}`, or the refusal as `{error, retryAfter}`.

    Safe any number of times: one asks, whoever else is sent the same job does nothing.
    """
    until = datetime.fromisoformat(job.until)
    asking = checking.take(job.run, UUID(job.submission), job.fence, until)
    if asking is None:
        return {}
    try:
        checking.resolve(job.call(), asking)
    except ToolError as refused:
        return {"error": refused.view(), "retryAfter": refused.retry_after}
    return {}


class Workers:
    """Scaled: a Celery task; its result says that the answer is there, the database holds it."""

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        self._spare = Threads(slots)  # while there is no broker

    def ask(self, call: Call, asking: Asking) -> View:
        job = job_of(call, asking)
        from processes.tasks import evaluate as task

        try:
            task.apply_async(args=(asdict(job),), task_id=job.task_id, retry=False)
        except UNREACHABLE as error:
            # its message may hold the broker's password
            log.warning("the broker does not answer (%s); asking the evaluator here", type(error).__name__)
            return self._spare.ask(call, asking)
        view = self._wait(call, job.task_id)
        view.pop("replayed", None)  # the call's own, first answer
        return view

    def join(self, call: Call, joining: Joining) -> View:
        if self._spare.asks(joining):
            return self._spare.join(call, joining)
        return self._wait(call, f"check-{joining.submission}-{joining.fence}")

    def _wait(self, call: Call, task_id: str) -> View:
        with self._slots.one():
            result: AsyncResult[View] = AsyncResult(task_id)
            _free_connections()
            try:
                outcome = result.get(timeout=settings.CHECK_WAIT_SECONDS, propagate=False)
                answered = result.state == states.SUCCESS
            # RuntimeError: Celery's own word for a result backend that it lost
            except (exceptions.TimeoutError, RuntimeError, *UNREACHABLE):
                raise being_checked() from None
        if not answered:
            raise being_checked()
        if "error" in outcome:
            refused = outcome["error"]
            raise ToolError(
                refused["code"], refused["message"], refused.get("issues"), retry_after=outcome["retryAfter"]
            )
        view = call.replay()
        if view is None:  # settled by another, whose refusal the same call will find
            raise being_checked()
        return view


_asker: Asker = Here()


def start() -> None:
    """The server's entry points call this; commands and tests don't."""
    global _asker  # noqa: PLW0603 - one per process, chosen when it starts
    # a single thread waits too: it holds up what else it would answer, but never the check, which has threads of its own
    slots = Slots(max(1, settings.SERVER_THREADS // 2))
    _asker = Workers(slots) if settings.CELERY_BROKER_URL else Threads(slots)
