"""What a case works with: the callers, what the server offers, and the everyday moves of a run.

def returns_the_step(w: World) -> None:
view = w.start("conform-work", subject="A")
claim = w.claim(view, "work")
w.submit(claim, {"answer": "B"})
"""

import base64
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from conformance import library
from conformance.client import Actor, Data, Log
from conformance.demands import item_of, moment
from conformance.evaluator import Evaluator
from conformance.failures import Exchange, Failure, Skip
from conformance.invariants import OVER_STATES
from conformance.publishing import Desk, Outcome, Publisher
from conformance.registry import Need

SHORT_LEASE_SECONDS = 5
SPARE_SECONDS = 0.5  # beyond the end of a lease, for clocks that are not quite the same
POLL_SECONDS = 0.2
PAGE = 100


@dataclass(slots=True, kw_only=True)
class World:
    """`refusals`: what became of each file that the server would not publish, by process name."""

    agent: Actor
    other: Actor
    person: Actor
    colleague: Actor
    operator: Actor
    nobody: Actor
    about: Data
    log: Log
    strict: bool = False
    evaluator: Evaluator | None = None
    publisher: Publisher | None = None
    desk: Desk | None = None
    published: set[str] = field(default_factory=set)
    refusals: dict[str, Outcome] = field(default_factory=dict)
    patience: float = 15.0  # seconds that a timer may be late
    started: list[str] = field(default_factory=list)
    claimed: dict[str, float] = field(default_factory=dict)  # when each claim was made, by token
    editions: Data = field(default_factory=dict)  # the numbers of conform-versions, once both are published

    # What the server offers.

    def lacks(self, need: Need) -> str | None:
        """Why a need is not met here; None where it is."""
        met = {
            "tool": need.what in self.about["tools"],
            "profile": need.what in self.about["profiles"],
            "publishing": self.publisher is not None,
            "evaluator": self.evaluator is not None,
            "lease": self.lease <= SHORT_LEASE_SECONDS,
            "names": bool(self.person.value and self.colleague.value),
            "strict": self.strict,
        }[need.kind]
        if met:
            return None
        words = {"tool": f"the tool {need.what}", "profile": f"the profile {need.what}"}
        return f"needs {words.get(need.kind, need.what)}"

    @property
    def lease(self) -> float:
        return float(self.about["leaseSeconds"])

    @property
    def model(self) -> Evaluator:
        if self.evaluator is None:
            raise Skip("needs an --evaluator-port that the server asks")
        return self.evaluator

    @property
    def people(self) -> tuple[Actor, Actor, Actor]:
        return (self.person, self.colleague, self.operator)

    def file(self, name: str) -> library.ProcessFile:
        """One of the suite's files, published. Raises Skip or Failure where it is not."""
        file = library.read(name)
        for need in file.needs:
            if lacking := self.lacks(need):
                raise Skip(lacking)
        if name not in self.published:
            refusal = self.refusals.get(name)
            said = f": {refusal.said[-600:]}" if refusal else " (it is not in list_processes)"
            raise Failure(f"the valid process {name} was not published{said}")
        return file

    # Everyday moves.

    def start(self, process: str, *, by: Actor | None = None, mode: str = "", **inputs: Any) -> Data:
        """The view of a fresh run of one of the suite's processes."""
        self.file(process)
        extra = {"mode": mode} if mode else {}
        view = (by or self.agent).ok("start_run", process=process, inputs=inputs, **extra)
        self.started.append(view["run"]["id"])
        return view

    def view(self, run: Data | str, by: Actor | None = None) -> Data:
        """The run as it stands now."""
        return (by or self.agent).ok("get_run", runId=run_id(run))

    def claim(self, run: Data | str, step: str, by: Actor | None = None) -> Data:
        claim = (by or self.agent).ok("claim", runId=run_id(run), stepId=step)
        self.claimed[claim["token"]] = time.monotonic()
        return claim

    def submit(
        self, claim: Data, output: Data | None = None, by: Actor | None = None, **arguments: Any
    ) -> Data:
        """Hand in work on a claim; the view that comes back."""
        given = {"summary": "Done as asked.", **arguments}
        return (by or self.agent).ok("submit", token=claim["token"], output=output or {}, **given)

    def work(
        self,
        run: Data | str,
        step: str,
        output: Data | None = None,
        by: Actor | None = None,
        **arguments: Any,
    ) -> Data:
        """Claim a step and submit it in one go."""
        return self.submit(self.claim(run, step, by), output, by, **arguments)

    def escalate(self, run: Data | str, step: str, note: str = "I can't do this.") -> Data:
        claim = self.claim(run, step)
        return self.agent.ok("escalate", token=claim["token"], note=note)

    def decide(
        self, run: Data | str, step: str, decision: str, by: Actor | None = None, **arguments: Any
    ) -> Data:
        """Decide a step's open item as its reader sees it now; the view that comes back."""
        who = by or self.person
        call = item_of(self.view(run, who), step)["decide"]["arguments"]
        return who.ok("decide", **{**call, "decision": decision, **arguments, "requestId": _fresh()})

    def decision(self, run: Data | str, step: str, **arguments: Any) -> Data:
        """The arguments of a decision on a step's open item, without a requestId."""
        call = item_of(self.view(run), step)["decide"]["arguments"]
        return {key: value for key, value in {**call, **arguments}.items() if key != "requestId"}

    def handler(self, run: Data | str, step: str) -> Actor:
        """Whoever of the operator and the two people finds this item in their work (for escalations)."""
        wanted = (run_id(run), step)
        process = self.view(run)["run"]["process"]
        for who in (self.operator, self.person, self.colleague):
            for entry in self.listed(who, process=process):
                if (entry["runId"], entry["workItem"]["stepId"]) == wanted:
                    return who
        raise Failure(f"nobody of the operator and the two people finds the item for {step} with get_work")

    def upload(self, content: bytes = b"report", by: Actor | None = None, name: str = "report.txt") -> Data:
        return (by or self.agent).ok(
            "upload",
            fileName=name,
            contentType="text/plain",
            contentBase64=base64.b64encode(content).decode(),
        )

    def listed(self, who: Actor, tool: str = "get_work", **arguments: Any) -> Iterator[Data]:
        """Every item of a paged tool, page by page. Raises Failure where the pages go in a circle."""
        seen: set[str] = set()
        limit = {"limit": PAGE} if tool != "list_processes" else {}
        page = who.ok(tool, **{**limit, **arguments})
        while True:
            yield from page["items"]
            cursor = page["nextCursor"]
            if cursor is None:
                return
            if cursor in seen:
                raise Failure(f"{tool} gives the cursor {cursor[:40]} twice; its pages have no end")
            seen.add(cursor)
            page = who.ok(tool, **{**limit, **arguments, "cursor": cursor})

    def offered(self, run: Data | str, who: Actor | None = None) -> list[Data]:
        """What get_work lists of this run: steps for an agent, items for a person."""
        process = self.view(run)["run"]["process"]
        entries = self.listed(who or self.agent, process=process)
        return [entry for entry in entries if entry["runId"] == run_id(run)]

    # Time.

    def until(self, run: Data | str, holds: Callable[[Data], bool], what: str) -> Data:
        """Read the run until something is so. Raises Failure after `patience` seconds."""
        end = time.monotonic() + self.patience
        while True:
            view = self.view(run)
            if holds(view):
                return view
            if time.monotonic() > end:
                raise Failure(f"after {self.patience:g} seconds {what} must have happened, and has not")
            time.sleep(POLL_SECONDS)

    def now(self) -> datetime:
        """The server's own clock, as it stamps a fresh run."""
        return moment(self.start("conform-now")["run"]["startedAt"])

    def outlive_leases(self) -> None:
        """Wait until every lease that was given so far is over for sure."""
        time.sleep(self.lease + SPARE_SECONDS)

    def keep(self, claim: Data) -> str:
        """The token of a claim; first renewed, and put into the claim, where a short lease might end soon."""
        age = time.monotonic() - self.claimed.get(claim["token"], time.monotonic())
        if age > self.lease / 3 and "renew" in self.about["tools"]:
            claim["token"] = self.agent.ok("renew", token=claim["token"])["token"]
            self.claimed[claim["token"]] = time.monotonic()
        return str(claim["token"])

    def stamp_in(self, seconds: float) -> str:
        """A datetime value that many seconds from the server's now."""
        return (self.now() + timedelta(seconds=seconds)).isoformat()

    # Many at once.

    def together(self, calls: Sequence[Callable[[], Exchange]]) -> list[Exchange]:
        """Make these calls at the same time. The first Failure of any is raised."""
        with ThreadPoolExecutor(max_workers=len(calls)) as pool:
            return [future.result() for future in [pool.submit(call) for call in calls]]

    # Between cases.

    def begin(self, exchanges: list[Exchange], started: list[str]) -> None:
        """Go on with a case: what it says and starts is noted in these lists."""
        self.log.exchanges = exchanges
        self.started = started
        if self.evaluator is not None:
            self.evaluator.release()
            self.evaluator.say()

    def clean_up(self) -> None:
        """Cancel what the case left open, so that get_work stays short. Best effort."""
        over = set(self._seen_over())
        for run in self.started:
            if run in over:
                continue
            try:
                self.operator.send("cancel", runId=run, reason="The conformance case is over.")
            except Failure:
                continue

    def _seen_over(self) -> Iterator[str]:
        """The runs whose end the case saw."""
        for exchange in self.log.exchanges:
            data = exchange.answer.get("data") if isinstance(exchange.answer, dict) else None
            run = data.get("run") if isinstance(data, dict) else None
            if isinstance(run, dict) and run["state"] in OVER_STATES:
                yield run["id"]


def run_id(run: Data | str) -> str:
    """The id of a run, from its view or as it is."""
    return run if isinstance(run, str) else str(run["run"]["id"])


def _fresh() -> str:
    from conformance.client import new_id

    return new_id()
