"""What the judge API is sent, read strictly: every breach of a limit is named, none is passed over.

Lengths count characters.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from checks import facts
from checks.consensus import Given
from checks.facts.shapes import shown

MAX_BODY_BYTES = 100_000
TASK, OUTPUT, EVIDENCE, CRITERION, AGENT_ID, TOGETHER = 8_000, 16_000, 4_000, 500, 80, 24_000
MAX_EVIDENCE = MAX_CRITERIA = 20
MIN_ANSWERS, MAX_ANSWERS = 2, 16
_JUDGE = ("task", "agent_output", "evidence", "criteria", "checks", "retain")
_CONSENSUS = ("task", "answers", "evidence", "retain")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRequest:
    task: str
    output: str
    evidence: tuple[str, ...]
    criteria: tuple[str, ...]
    checks: tuple[facts.Fact, ...]
    retain: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsensusRequest:
    task: str
    answers: tuple[Given, ...]
    evidence: tuple[str, ...]
    retain: bool


def read_judge(body: Any) -> tuple[JudgeRequest | None, list[str]]:
    """A request, or everything that is wrong with it."""
    reading = _Reading(body, _JUDGE)
    if not isinstance(body, Mapping):
        return None, reading.problems
    task = reading.text("task", TASK)
    output = reading.text("agent_output", OUTPUT)
    evidence = reading.texts("evidence", MAX_EVIDENCE, EVIDENCE)
    criteria = reading.texts("criteria", MAX_CRITERIA, CRITERION)
    found: tuple[facts.Fact, ...] = ()
    if "checks" in reading.body:
        found, wrong = facts.read(reading.body["checks"])
        reading.problems += wrong
    retain = reading.flag("retain")
    reading.together(task, output, *evidence, *criteria)
    request = JudgeRequest(
        task=task, output=output, evidence=evidence, criteria=criteria, checks=found, retain=retain
    )
    return (None if reading.problems else request), reading.problems


def read_consensus(body: Any) -> tuple[ConsensusRequest | None, list[str]]:
    reading = _Reading(body, _CONSENSUS)
    if not isinstance(body, Mapping):
        return None, reading.problems
    task = reading.text("task", TASK)
    answers = reading.answers()
    evidence = reading.texts("evidence", MAX_EVIDENCE, EVIDENCE)
    retain = reading.flag("retain")
    reading.together(
        task,
        *evidence,
        *(answer.output for answer in answers),
        *(answer.agent_id or "" for answer in answers),
    )
    request = ConsensusRequest(task=task, answers=answers, evidence=evidence, retain=retain)
    return (None if reading.problems else request), reading.problems


def _items(value: list[Any]) -> str:
    return "1 item" if len(value) == 1 else f"{len(value)} items"


class _Reading:
    """A body read key by key; problems gather instead of stopping at the first."""

    def __init__(self, body: Any, keys: Sequence[str]) -> None:
        self.body: Mapping[str, Any] = body if isinstance(body, Mapping) else {}
        self.problems: list[str] = []
        if not isinstance(body, Mapping):
            self.problems.append("body: expected an object")
        known = ", ".join(keys)
        self.problems += [
            f"{shown(key)}: not known here; known are {known}" for key in self.body if key not in keys
        ]

    def text(self, name: str, most: int) -> str:
        if name not in self.body:
            self.problems.append(f"{name}: missing")
            return ""
        return self._text(self.body[name], name, most)

    def texts(self, name: str, count: int, most: int) -> tuple[str, ...]:
        value = self.body.get(name, [])
        if not isinstance(value, list):
            self.problems.append(f"{name}: expected a list")
            return ()
        if len(value) > count:
            self.problems.append(f"{name}: {len(value)} items; at most {count} are taken")
        return tuple(self._text(item, f"{name}[{place}]", most) for place, item in enumerate(value))

    def answers(self) -> tuple[Given, ...]:
        value = self.body.get("answers")
        if not isinstance(value, list):
            self.problems.append("answers: " + ("expected a list" if "answers" in self.body else "missing"))
            return ()
        if not MIN_ANSWERS <= len(value) <= MAX_ANSWERS:
            self.problems.append(f"answers: {_items(value)}; from {MIN_ANSWERS} to {MAX_ANSWERS} are taken")
        return tuple(self._answer(item, f"answers[{place}]") for place, item in enumerate(value))

    def flag(self, name: str) -> bool:
        value = self.body.get(name, False)
        if not isinstance(value, bool):
            self.problems.append(f"{name}: expected true or false")
        return value is True

    def together(self, *texts: str) -> None:
        total = sum(map(len, texts))
        if total > TOGETHER:
            self.problems.append(
                f"body: {total} characters of text; at most {TOGETHER} are taken all together"
            )

    def _answer(self, item: Any, path: str) -> Given:
        if not isinstance(item, Mapping):
            self.problems.append(f"{path}: expected an object")
            return Given(output="")
        self.problems += [
            f"{path}.{shown(key)}: not known here; known are agent_id, output"
            for key in item
            if key not in {"agent_id", "output"}
        ]
        agent = item.get("agent_id")
        if agent is not None:
            agent = self._text(agent, f"{path}.agent_id", AGENT_ID)
        if "output" not in item:
            self.problems.append(f"{path}.output: missing")
            return Given(output="", agent_id=agent)
        return Given(output=self._text(item["output"], f"{path}.output", OUTPUT), agent_id=agent)

    def _text(self, value: Any, path: str, most: int) -> str:
        if not isinstance(value, str):
            self.problems.append(f"{path}: expected a string")
            return ""
        if not value.strip():
            self.problems.append(f"{path}: is empty")
        elif len(value) > most:
            self.problems.append(f"{path}: {len(value)} characters; at most {most} are taken")
        return value
