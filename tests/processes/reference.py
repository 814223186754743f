"""A run as the protocol tells it: a second, small implementation to hold ours against.

Written from the protocol's text (run states, rework, branches, claims, checks) on the raw front matter of a
file. It shares no code with `processes`; where the protocol is silent it says so with *ruling*.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from unittest.mock import ANY

from tests.processes.documents import kind_of, leads_to

LEASE = timedelta(seconds=600)
CHECKING = timedelta(seconds=135)  # what a check may take at most, its retry included
ERRORS = 3
LIVE = ("ready", "claimed", "waiting")
SERVER = "server"
Refusal = tuple[str, list[str] | None] | None
ENDED: Refusal = ("conflict", ["run_ended"])


def length(text: str) -> timedelta:
    return (
        int(text[:-1])
        * {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}[text[-1]]
    )


def stamp(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}Z"


@dataclass
class Attempt:
    """One activation of an agent or task step: it spans leases and returns."""

    holder: str = ""
    token: str = ""
    until: datetime | None = None
    progress: str = ""
    handoff: dict[str, Any] = field(default_factory=dict)
    verdicts: dict[str, Any] = field(default_factory=dict)  # material → what it was judged to be
    unanswered: tuple[str, int] = ("", 0)  # material, errors in a row
    since: datetime | None = None  # when that material was first handed in
    asking: bool = False  # the evaluator is being asked

    def lapsed(self, at: datetime) -> bool:
        return self.until is None or self.until <= at


@dataclass
class Item:
    """An open work item: for whom (`finance`, an e-mail, "" = the operators); an escalation's note and candidate."""

    to: str
    escalation: dict[str, Any] | None = None
    candidate: dict[str, Any] | None = None
    lines: list[str] = field(default_factory=list)  # of its check


@dataclass
class Asked:
    """A submission that waits for its verdict."""

    step: str
    entry: dict[str, Any]
    by: str
    material: str
    at: datetime
    since: datetime | None = None  # when this submission was first handed in, if before


@dataclass
class Reference:
    """One run. Verbs take the time in `at`, which the caller sets first."""

    front: Mapping[str, Any]
    inputs: dict[str, Any]
    by: str
    at: datetime
    initiator: str
    escalations: str
    known: Sequence[str]  # people's e-mail addresses

    def __post_init__(self) -> None:
        self.spec: dict[str, dict[str, Any]] = {step["id"]: step for step in self.front["steps"]}
        self.following = dict(pairwise(self.spec))
        self.state: dict[str, str | None] = dict.fromkeys(self.spec)
        self.data: dict[str, Any] = {"inputs": self.inputs, "steps": {}}
        self.run, self.outcome, self.ended = "live", None, None
        self.done: list[str] = []  # completed steps in order; a fork from where it forked
        self.joined: set[str] = set()  # entries of branches that are finished
        self.items: dict[str, Item] = {}
        self.attempts: dict[str, Attempt] = {}
        self.held: list[tuple[str, str, Any]] = []
        self.due: dict[str, datetime] = {}
        self.wakes: dict[str, datetime] = {}
        self.told = [("started", "", self.by)]
        self.home: dict[str, tuple[str, str]] = {}  # step in a branch → its fork and entry
        for fork, step in self.spec.items():
            for entry in step.get("parallel", ()):
                self.home |= dict.fromkeys([entry, *self._ahead(entry)], (fork, entry))
        self._enter(next(iter(self.spec)))

    # ---- the graph

    def _leads_to(self, name: str) -> list[str]:
        step = self.spec[name]
        way = list(leads_to(step, "next", "on_timeout"))
        if "next" not in step and name in self.following and "finish" not in step:
            way.append(self.following[name])
        return [*(to for to in way if to in self.spec), *step.get("parallel", ())]

    def _ahead(self, name: str) -> set[str]:
        found: set[str] = set()
        edge = self._leads_to(name)
        while edge:
            if (to := edge.pop()) not in found:
                found.add(to)
                edge += self._leads_to(to)
        return found

    def _next(self, name: str) -> str:
        return self.spec[name].get("next") or self.following[name]

    def _value(self, path: str) -> Any:
        root, rest = path.split(".", 1)
        if root == "inputs":
            return self.inputs.get(rest)
        step, name = rest.split(".output.", 1)
        return self.data["steps"].get(step, {}).get("output", {}).get(name)

    def _assignee(self, name: str) -> str | None:
        person = self.spec[name]["person"]
        if person == "initiator":
            return self.initiator
        if "." not in person:
            return person
        value = self._value(person)
        return next((mail for mail in self.known if mail == str(value).lower()), None)

    # ---- reaching and leaving steps

    def _tell(self, what: str, name: str, by: str) -> None:
        self.told.append((what, name, by))

    def _enter(self, name: str, source: str = "") -> None:
        if name == "join":
            self._join(source)
            return
        step, kind = self.spec[name], kind_of(self.spec[name])
        self.due.pop(name, None)
        if kind == "finish":
            self.state[name] = "done"
            self._tell("finished", name, SERVER)
            self._end("ended", step["finish"], SERVER, None)
            return
        until = self._wake_time(name)
        to = self._assignee(name) if kind in ("task", "approve") else ""
        if to is None or (kind == "wait_until" and until is None):
            self._fail(name, SERVER, ANY)
            return
        self.state[name] = "ready" if kind == "agent" else "waiting"
        if "due" in step:
            self.due[name] = self.at + length(step["due"])
        if kind in ("agent", "task"):
            self.attempts[name] = Attempt()
        if kind in ("task", "approve"):
            self.items[name] = Item(to)
        event = next((e for e in self.held if e[0] == step.get("wait_for")), None)
        if kind == "parallel":
            self._fork(name)
        elif event is not None:
            self.held.remove(event)
            self._consume(name, event[1], event[2])
        elif until is not None:
            self.wakes[name] = until
            self._wake(name)

    def _wake_time(self, name: str) -> datetime | None:
        step = self.spec[name]
        if "wait_until" in step:
            value = self._value(step["wait_until"])
            return None if value is None else datetime.fromisoformat(value).astimezone(UTC)
        span = step.get("wait") or step.get("timeout")
        return self.at + length(span) if span else None

    def _fork(self, name: str) -> None:
        entries = self.spec[name]["parallel"]
        self.done.append(name)
        self.joined -= set(entries)
        self._tell("forked", name, SERVER)
        for entry in entries:
            if self.run == "live":
                self._enter(entry)

    def _join(self, source: str) -> None:
        fork, entry = self.home[source]
        self.joined.add(entry)
        if self.joined.issuperset(self.spec[fork]["parallel"]):
            self.state[fork] = "done"
            self._tell("joined", fork, SERVER)
            self._enter(self._next(fork))

    def _record(self, name: str, entry: dict[str, Any], by: str) -> None:
        self._shelve(name)
        history = self.data["steps"].pop(name, {"history": []})["history"]
        self.data["steps"][name] = {**entry, "by": by, "at": stamp(self.at), "history": history}

    def _shelve(self, name: str) -> None:
        """What is current goes to the end of the history (a waiting escalation's check alone is no completion)."""
        if name in self.data["steps"]:
            current = {**self.data["steps"][name]}
            history = current.pop("history")
            self.data["steps"][name] = {"history": [*history, current] if "by" in current else history}

    def _leave(self, name: str, state: str | None) -> None:
        self.state[name] = state
        self.attempts.pop(name, None)
        self.items.pop(name, None)
        self.wakes.pop(name, None)

    def _complete(self, name: str, entry: dict[str, Any], by: str, what: str, to: str = "") -> None:
        self._record(name, entry, by)
        self._leave(name, "done")
        self.done.append(name)
        self._tell(what, name, by)
        self._enter(to or self._next(name), name)

    def _fail(self, name: str, by: str, note: Any) -> None:
        self._record(name, {"decision": "failed", "note": note}, by)
        self._leave(name, "failed")
        self._tell("failed", name, by)
        self._end("ended", "failed", by, note)

    def _end(self, run: str, outcome: str | None, by: str, note: Any) -> None:
        self.run, self.outcome = run, outcome
        self.ended = {"by": by, "at": stamp(self.at), "note": note}
        self.held.clear()
        for name, state in self.state.items():
            if state in LIVE:
                self._leave(name, "cancelled")

    def cancel(self, by: str, reason: str) -> None:
        self._tell("cancelled", "", by)
        self._end("cancelled", None, by, reason)

    @property
    def run_state(self) -> str:
        """`waiting` while only people, timers, events and escalations are pending."""
        busy = any(state in ("ready", "claimed") for state in self.state.values())
        return self.run if self.run != "live" else "active" if busy else "waiting"

    # ---- time and events

    def _wake(self, name: str) -> None:
        if self.wakes.get(name, datetime.max.replace(tzinfo=UTC)) <= self.at:
            late = "wait_for" in self.spec[name]
            to = self.spec[name].get("on_timeout", "") if late else ""
            self._complete(name, {}, SERVER, "timed_out" if late else "waited", to)

    def advance(self) -> None:
        """Every wait whose time has come. *Ruling*: in the file's order."""
        while due := [name for name in self.spec if name in self.wakes and self.wakes[name] <= self.at]:
            self._wake(due[0])

    def _consume(self, name: str, by: str, data: Any) -> None:
        self._complete(name, {"output": data}, by, "delivered")

    def listening(self, event: str) -> list[str]:
        return [
            name
            for name, step in self.spec.items()
            if step.get("wait_for") == event and self.state[name] == "waiting"
        ]

    def deliver(self, event: str, by: str, data: Any, taken: str | None) -> None:
        if taken is not None:
            self._consume(taken, by, data)
        elif any(
            step.get("wait_for") == event for step in self.spec.values()
        ):  # *ruling*: else none could take it
            self.held.append((event, by, data))

    # ---- agents

    def shown(self, name: str) -> str | None:
        """A step's state: a claim whose lease has ended is ready."""
        lapsed = self.state[name] == "claimed" and self.attempts[name].lapsed(self.at)
        return "ready" if lapsed else self.state[name]

    def claim_refusal(self, name: str, agent: str) -> Refusal:
        if self.run != "live":
            return ENDED
        if kind_of(self.spec[name]) != "agent":
            return "forbidden", None
        if self.shown(name) == "claimed":
            mine = self.attempts[name].holder == agent
            return "conflict", ["claimed_by_you" if mine else "claimed_by_other"]
        return None if self.shown(name) == "ready" else ("conflict", ["not_ready"])

    def claim(self, name: str, agent: str, token: str) -> dict[str, Any] | None:
        """Gives the claim's handoff."""
        attempt = self.attempts[name]
        if attempt.progress and attempt.lapsed(self.at):
            attempt.handoff["progress"] = attempt.progress
        attempt.progress, attempt.holder, attempt.until = "", agent, self.at + LEASE
        attempt.token = token
        self.state[name] = "claimed"
        self._tell("claimed", name, agent)
        return attempt.handoff or None

    def token_refusal(self, name: str, token: str) -> Refusal:
        """For renew, submit and escalate."""
        if self.run != "live":
            return ENDED
        attempt = self.attempts.get(name)
        if attempt is None or attempt.token != token or self.shown(name) != "claimed":
            return "stale", None
        return ("retry", None) if attempt.asking else None

    def renew(self, name: str, token: str, progress: str | None) -> None:
        attempt = self.attempts[name]
        attempt.token, attempt.until = token, self.at + LEASE
        attempt.progress = attempt.progress if progress is None else progress

    def escalate(
        self,
        name: str,
        by: str,
        note: Any,
        held: Asked | None = None,
        check: Any = None,
        lines: Sequence[str] = (),
    ) -> None:
        attempt = self.attempts[name]
        attempt.token, attempt.until, attempt.progress = "", None, ""
        self.state[name] = "waiting"
        escalation = {"note": note, "by": by, "at": stamp(self.at)}
        if check is not None:
            self.data["steps"].setdefault(name, {"history": []})["check"] = escalation["check"] = check
        if held is not None:
            escalation["candidate"] = {**held.entry, "by": held.by, "at": stamp(held.since or held.at)}
        self.items[name] = Item(self.escalations, escalation, held.entry if held else None, list(lines))
        self._tell("escalated", name, by)

    # ---- submissions

    def hand_in(self, name: str, entry: dict[str, Any], issues: list[str], by: str) -> Refusal | Asked:
        """By an agent, or by a person on an ordinary task. An `Asked` must be settled with an answer."""
        if issues:
            self.attempts[name].handoff["issues"] = issues
            return "not_accepted", issues
        if "check" not in self.spec[name]:
            self._tell("submitted", name, by)
            self._complete(name, entry, by, "completed", entry.get("next", ""))
            return None
        proof = [e.get("sha256") or e["ref"] for e in entry["evidence"]]
        material = json.dumps([self.data, entry["output"], entry.get("summary", ""), proof], sort_keys=True)
        attempt = self.attempts[name]
        asked = Asked(name, entry, by, material, self.at)
        if material in attempt.verdicts:  # nobody re-rolls the dice
            self._tell("submitted", name, by)
            return self._apply(asked, *attempt.verdicts[material])
        if attempt.unanswered[0] != material:
            attempt.unanswered, attempt.since = (material, 0), self.at
        attempt.asking, asked.since = True, attempt.since
        if attempt.until is not None:
            attempt.until = max(attempt.until, self.at + CHECKING)
        return asked

    def settle(self, asked: Asked, answers: Sequence[Any] | None) -> Refusal:
        """The evaluator's answers, one a question, or None when it did not answer."""
        if self.run != "live":
            return ENDED
        attempt = self.attempts[asked.step]
        attempt.asking = False
        if attempt.unanswered[1] == 0:  # sent again after an error, it was told before
            self._tell("submitted", asked.step, asked.by)
        advisory = self.spec[asked.step].get("advisory", False)
        check, lines = judged(self.spec[asked.step]["check"], answers, advisory=advisory, at=self.at)
        if self.at >= asked.at + CHECKING:  # too late to count, but not lost
            attempt.unanswered = ("", 0)
            if answers is not None:
                attempt.verdicts[asked.material] = check, lines
            return "retry", None
        if answers is not None:
            attempt.verdicts[asked.material] = check, lines
        elif not advisory:
            errors = attempt.unanswered[1] + 1
            attempt.unanswered = (asked.material, errors)
            if errors < ERRORS:
                return "retry", None
            attempt.unanswered = ("", 0)
            self.escalate(asked.step, SERVER, ANY, asked)
            return None
        attempt.unanswered = ("", 0)
        return self._apply(asked, check, lines)

    def _apply(self, asked: Asked, check: Any, lines: list[tuple[str, str]]) -> Refusal:
        attempt, advisory = self.attempts[asked.step], check["advisory"]
        self._tell("checked", asked.step, "check")
        if check["verdict"] == "fail" and not advisory:
            attempt.handoff |= {
                "issues": [line for result, line in lines if result == "fail"],
                "check": check,
            }
            return "not_accepted", attempt.handoff["issues"]
        if check["verdict"] == "unsure" and not advisory:
            told = [line for result, line in lines if result != "pass"]
            self.escalate(asked.step, SERVER, ANY, asked, check, told)
            return None
        self._complete(
            asked.step, {**asked.entry, "check": check}, asked.by, "completed", asked.entry.get("next", "")
        )
        return None

    # ---- people

    def takes(self, name: str) -> tuple[str, ...]:
        if self.items[name].escalation is not None:
            return "returned", "completed", "failed"
        return ("completed", "failed") if "task" in self.spec[name] else ("approved", "rejected", "failed")

    def take_over(self, name: str, entry: dict[str, Any], issues: list[str], by: str) -> Refusal:
        """An escalated step is completed; nobody checks a person on that, and the check stays."""
        if issues:
            self.attempts[name].handoff["issues"] = issues
            return "not_accepted", issues
        escalation = self.items[name].escalation or {}
        kept = {"check": escalation["check"]} if "check" in escalation else {}
        self._complete(name, {**entry, **kept}, by, "completed", entry.get("next", ""))
        return None

    def decide(self, name: str, decision: str, by: str, note: str | None) -> None:
        """Every decision but `completed`."""
        if decision == "approved":
            self._complete(
                name, {"decision": "approved", **({} if note is None else {"note": note})}, by, "approved"
            )
        elif decision == "rejected":
            self._reject(name, by, note)
        elif decision == "failed":
            self._fail(name, by, note)
        else:
            self._give_back(name, by, note)

    def _reject(self, name: str, by: str, note: Any) -> None:
        self._record(name, {"decision": "rejected", "note": note}, by)
        self._tell("rejected", name, by)
        target = self.spec[name].get("on_reject")
        if target is None:
            self._leave(name, "done")
            self._end("ended", "rejected", by, note)
            return
        self._leave(name, None)
        if target in self.done:
            gone = self.done[self.done.index(target) :]
        else:  # *ruling*: nothing comes after it in time, so what it leads to goes
            gone = [other for other in self.done if other in self._ahead(target)]
        if name in self.home:
            gone = [other for other in gone if self.home.get(other) == self.home[name]]
        for other in gone:
            self._shelve(other)
            self.state[other] = None
            self.done.remove(other)
        self._enter(target)

    def _give_back(self, name: str, by: str, note: Any) -> None:
        item, attempt = self.items.pop(name), self.attempts[name]
        attempt.until = None
        attempt.handoff["returned"] = {"note": note, "by": by, "at": stamp(self.at)}
        if (
            item.candidate is not None
        ):  # it was the last submission, and no earlier one's issues count any more
            attempt.handoff.pop("issues", None)
            attempt.handoff.pop("check", None)
            if "check" in (item.escalation or {}):
                attempt.handoff |= {"check": item.escalation["check"], "issues": item.lines}
        entry = self.data["steps"].get(name, {})
        if entry.pop("check", None) is not None and entry == {"history": []}:
            del self.data["steps"][name]
        self._tell("returned", name, by)
        self.state[name] = "waiting" if "task" in self.spec[name] else "ready"
        if "task" in self.spec[name]:
            to = self._assignee(name)
            if to is None:
                self._fail(name, SERVER, ANY)
            else:
                self.items[name] = Item(to)


def judged(
    check: Any, answers: Sequence[Any] | None, *, advisory: bool, at: datetime
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """A check's view, and each question's result with its issue line."""
    views, lines = [], []
    questions = [{"ask": check}] if isinstance(check, str) else check
    for question, answer in zip(questions, answers, strict=True) if answers is not None else ():
        view, told = _answer(question, answer)
        views.append({"ask": question["ask"], **view})
        lines.append((view["result"], f"check: {' '.join(question['ask'].split())} → {told}"))
    results = [view["result"] for view in views]
    verdict = next((word for word in ("unsure", "fail", "pass") if word in results), "error")
    model = "scripted" if answers is None else "scripted-1"
    stamped = f"{at:%Y-%m-%dT%H:%M:%S}Z"
    return {
        "verdict": verdict,
        "advisory": advisory,
        "model": model,
        "questions": views,
        "at": stamped,
    }, lines


def _answer(question: Mapping[str, Any], answer: Any) -> tuple[dict[str, Any], str]:
    if not isinstance(answer, tuple):
        high = question.get("pass", 0.9)
        low = min(question.get("fail", high), high)
        result = "pass" if answer >= high else "fail" if answer < low else "unsure"
        return {
            "kind": "yes_no",
            "answer": answer,
            "result": result,
        }, f"{'yes' if answer >= high else 'no'} ({answer:g})"
    said, sure = answer
    if "levels" in question:
        kind, told = "rubric", f"level {said}: {question['levels'][said]} ({sure:g})"
        result = "pass" if said >= question["pass"] else "fail"
    else:
        kind, told = "choice", f"{said} ({sure:g})"
        result = (
            "pass" if said in question["pass"] else "unsure" if said in question.get("unsure", ()) else "fail"
        )
    if sure < question.get("confidence", 0.8):
        result = "unsure"
    return {"kind": kind, "answer": said, "confidence": sure, "result": result}, told
