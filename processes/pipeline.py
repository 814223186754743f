"""The one pipeline that every call passes, from REST, MCP or the browser.

1 arguments against the contract; 2 idempotency; 3 the tool loads the run under its lock; 4 the engine
moves it; 5 everything is saved with the request in one transaction. Tools are functions of a `Call`.
"""

import hashlib
import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, OperationalError

from checks import codec
from checks.receipts.keys import NoKeyError
from processes import contracts, logs, runs, view
from processes.callers import Caller, CallerKind
from processes.errors import ToolError, forgotten, used_before
from processes.loaded import Loaded
from processes.models import Request

log = logging.getLogger(__name__)

AGENT, PERSON, NOBODY = CallerKind.AGENT, CallerKind.PERSON, CallerKind.NOBODY


@dataclass(frozen=True, slots=True)
class Result:
    """A tool's answer, compact, and what `view.refill` needs to complete it."""

    view: Mapping[str, Any]
    refill: Mapping[str, Any]

    def full(self) -> dict[str, Any]:
        return view.refill(dict(self.view), **self.refill)


Answer = Callable[[Loaded], Result]


def run_answer(loaded: Loaded) -> Result:
    """The run view: what most writes answer."""
    return Result(view.run_view(loaded), {"body": loaded.compiled.id})


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    tool: str
    caller: Caller
    arguments: Mapping[str, Any]
    digest: str = ""

    @property
    def request_id(self) -> str:
        return str(self.arguments["requestId"])

    def move[T](
        self,
        run: str,
        work: Callable[[Loaded], Answer | T],
        *,
        ended_ok: bool = False,
        since: Loaded | None = None,
    ) -> Result | T:
        """Beats 3 to 5: lock, `work`, save, answer, record.

        `work` moves the run and gives the function that makes the answer from the saved run; anything
        else that it gives is given back once its changes are committed. What it raises changes nothing.
        `since`: the run as this call left it; it is read again only when somebody moved it since (then
        `work` is run a second time).
        """
        logs.note(run=run, caller=self.caller.id or None)
        if since is not None:
            try:
                return self._moved(runs.resumed(since), run, work)
            except runs.LostLockError:
                pass
        return self._moved(runs.locked(run, ended_ok=ended_ok), run, work)

    def _moved[T](
        self, held: AbstractContextManager[Loaded], run: str, work: Callable[[Loaded], Answer | T]
    ) -> Result | T:
        with held as loaded:
            outcome = work(loaded)
            runs.save(loaded)
            if not callable(outcome):
                return outcome
            done: Result = outcome(loaded)
            self.record(done, run=run)
            return done

    def transition(
        self,
        run: str,
        work: Callable[[Loaded], Answer | ToolError],
        *,
        ended_ok: bool = False,
        since: Loaded | None = None,
    ) -> dict[str, Any]:
        """`move` to its full answer. A ToolError that `work` gives back (rather than raises) is told after
        what it changed (a handoff, a void verdict) is committed.
        """
        return told(self.move(run, work, ended_ok=ended_ok, since=since))

    def record(self, result: Result, *, run: str | None) -> None:
        """Keep the result under its requestId, in the transaction of what it tells."""
        logs.note(run=run)
        Request(
            request_id=self.request_id,
            caller=self.caller.id,
            tool=self.tool,
            digest=self.digest,
            run_id=run,
            result=codec.dumps({"view": result.view, "refill": result.refill}),
        ).save(force_insert=True)

    def replay(self) -> dict[str, Any] | None:
        """The result of this very call, if it succeeded before. Raises `conflict` for another's, and where the
        result is no longer kept.
        """
        stored = Request.objects.filter(pk=self.request_id).first()
        if stored is None:
            return None
        if (stored.caller, stored.tool, stored.digest) != (self.caller.id, self.tool, self.digest):
            raise used_before()
        if not stored.result:
            raise forgotten(stored.run_id)
        kept = codec.loads(stored.result)
        full = view.refill(kept["view"], **{key: codec.plain(value) for key, value in kept["refill"].items()})
        return {**full, "replayed": True} if "run" in full else full


def told(outcome: Result | ToolError) -> dict[str, Any]:
    if isinstance(outcome, ToolError):
        raise outcome
    return outcome.full()


Tool = Callable[[Call], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Entry:
    """One tool: its function, who may call it, whether it writes."""

    run: Tool
    who: frozenset[CallerKind]
    writes: bool = False


UNSIGNED = "The server can't sign what it does at present, and its log says why; send the same call again when that is mended."
# what two writes at once may run into where a guard fails: faults of ours, nothing was written; a door says `retry`
FAULTS = (IntegrityError, runs.LostLockError)


def call(tool: str, caller: Caller, arguments: Any) -> dict[str, Any]:
    """Run a tool. Raises ToolError, and FAULTS for its door to log and to word. The log learns who did what to which run."""
    about = arguments.get("runId") if isinstance(arguments, dict) else None
    logs.note(tool=tool, caller=caller.id or None, run=about if isinstance(about, str) else None)
    try:
        data = _called(tool, caller, arguments)
    except ToolError as refused:
        logs.note(code=refused.code)
        raise
    logs.note(code="ok")
    return data


def _called(tool: str, caller: Caller, arguments: Any) -> dict[str, Any]:
    from processes.tools import TOOLS

    entry = TOOLS.get(tool)
    if entry is None:
        raise ToolError("not_found", f"There is no tool {tool[:40]!r} here.")
    if issues := contracts.argument_issues(tool, arguments):
        raise ToolError("invalid", f"The arguments of {tool} don't fit its contract.", issues)
    if caller.kind not in entry.who:
        raise ToolError("forbidden", f"{tool} is not for {_who(caller)}.")
    digest = hashlib.sha256(codec.canonical(arguments).encode()).hexdigest() if entry.writes else ""
    made = Call(tool=tool, caller=caller, arguments=arguments, digest=digest)
    if entry.writes and (again := made.replay()) is not None:
        return again
    try:
        return entry.run(made)
    except (ToolError, IntegrityError):
        # Two of the same call at once: the second finds the work done (claimed, decided, written) by the
        # first, which by now has kept its result. What the second did was rolled back.
        if entry.writes and (again := made.replay()) is not None:
            return again
        raise
    except NoKeyError:
        log.exception("what %s does could not be signed", tool)
        raise ToolError("retry", UNSIGNED, retry_after=60) from None
    except OperationalError:
        log.exception("the database could not do %s now", tool)
        raise ToolError("retry", "The server is busy; send the same call again.", retry_after=1) from None


def _who(caller: Caller) -> str:
    return {AGENT: "agents", PERSON: "people", NOBODY: "callers without a key or a session"}[caller.kind]
