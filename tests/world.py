"""A small world for tests: people, groups, agents, published processes, and a scripted evaluator.

Everything is done through the real functions and tools; nothing is written to the tables by hand.
"""

import itertools
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import Group, Permission, User

from checks import canary
from checks.evaluators import Answers, EvaluatorError
from checks.questions import Answer, Kind, Question
from processes import agents, pipeline, publishing
from processes.callers import Caller, of_agent, of_user
from processes.errors import ToolError
from processes.models import Agent, Process, Version

_count = itertools.count(1)

SCREENING = """\
---
name: screening
description: Screen a supplier, then let finance approve.
inputs:
  supplier: string
  spend: { type: number, optional: true }
steps:
  - id: screen
    agent: Search both lists for the supplier.
    output: { cleared: boolean, finding: string }
    next:
      - { to: approve, when: No list has a match }
      - { to: declined, when: A list has a match }
    check:
      - ask: The finding supports the verdict.
        pass: 0.9
        fail: 0.5
  - id: approve
    person: finance
    approve: Approve when the supplier is cleared.
    due: 2d
    on_reject: screen
    next: done
  - id: declined
    finish: declined
  - id: done
    finish: onboarded
---
# Screening

Start it for a new supplier.
"""


@dataclass
class ScriptedEvaluator:
    """Answers what it is told to, in order; the last answer stays. A string raises it as an error."""

    script: list[Sequence[Any] | str] = field(default_factory=lambda: [[0.95]])
    name: str = "scripted"
    version: str = "1"
    is_model: bool = True
    method: str = "script"
    asked: list[Any] = field(default_factory=list)
    addressed: float = 0.02  # what it says to our own question
    before: Callable[[], None] | None = None

    def ask(self, state: Any, questions: Sequence[Question], *, deadline: float) -> Answers:
        self.asked.append(state)
        if self.before is not None:
            self.before()
        step = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(step, str):
            raise EvaluatorError(step, permanent=True)
        values = [step[min(i, len(step) - 1)] for i in range(len(questions))]
        answers = [
            Answer(probability=self.addressed) if question == canary.QUESTION else answer_to(question, value)
            for question, value in zip(questions, values, strict=True)
        ]
        return Answers(
            model="scripted-1",
            answers=tuple(answers),
            method=self.method,
        )


def answer_to(question: Question, value: Any) -> Answer:
    """yes/no: a probability. Choice: (name, confidence). Rubric: (level, confidence)."""
    if question.kind is Kind.YES_NO:
        return Answer(probability=value if isinstance(value, float) else 0.99)
    if question.kind is Kind.CHOICE:
        name, confidence = value if isinstance(value, tuple) else (question.pass_names[0], 0.99)
        return Answer(
            name=name, confidence=confidence, probabilities={n: float(n == name) for n in question.options}
        )
    level, confidence = value if isinstance(value, tuple) else (question.pass_level, 0.99)
    spread = {str(i): float(i == level) for i in range(len(question.levels))}
    return Answer(level=level, confidence=confidence, probabilities=spread)


def rid() -> str:
    return str(uuid.uuid4())


class World:
    """`world.call(caller, tool, **arguments)` gives data or raises; `world.refused(...)` gives the ToolError."""

    def group(self, name: str) -> Group:
        return Group.objects.get_or_create(name=name)[0]

    def user(self, name: str, *groups: str, operator: bool = False, **columns: Any) -> User:
        user = User.objects.create_user(name, f"{name}@example.org", "pass-word-1", **columns)
        user.groups.set([self.group(g) for g in groups])
        if operator:
            user.user_permissions.add(Permission.objects.get(codename="operate"))
        return User.objects.get(pk=user.pk)

    def person(self, name: str, *groups: str, operator: bool = False) -> Caller:
        return of_user(self.user(name, *groups, operator=operator))

    def __init__(self) -> None:
        self.keys: dict[str, str] = {}  # an agent's id -> its key, as its owner keeps it

    def agent(self, name: str | None = None, *, only: Sequence[str] | None = None) -> Caller:
        """`only`: limited to these processes."""
        agent, key = agents.create(name or f"agent-{next(_count)}")
        if only is not None:
            Agent.objects.filter(pk=agent.pk).update(limited=True)
            agent.processes.set(Process.objects.filter(name__in=only))
        caller = of_agent(key)
        assert caller is not None
        self.keys[caller.id] = key
        return caller

    def publish(self, text: str, *, escalations: str | None = None, **roles: str) -> Version:
        document = publishing.examine(text).document
        assert document is not None, publishing.examine(text).issues
        named = {role: roles.get(role, role) for role in document.roles}
        mapping = publishing.RoleMap(
            roles={role: self.group(group).pk for role, group in named.items()},
            escalations=self.group(escalations).pk if escalations else None,
        )
        return publishing.publish(publishing.draft(text, by="test"), mapping, by="test")

    def call(self, caller: Caller, tool: str, **arguments: Any) -> dict[str, Any]:
        from processes.tools import TOOLS

        if TOOLS[tool].writes:
            arguments.setdefault("requestId", rid())
        return pipeline.call(tool, caller, arguments)

    def refused(self, caller: Caller, tool: str, **arguments: Any) -> ToolError:
        try:
            data = self.call(caller, tool, **arguments)
        except ToolError as error:
            return error
        raise AssertionError(f"{tool} was not refused: {data}")

    # ---- shortcuts over one run

    def start(self, caller: Caller, process: str = "screening", **inputs: Any) -> dict[str, Any]:
        given = inputs or ({"supplier": "Acme"} if process == "screening" else {})
        return self.call(caller, "start_run", process=process, inputs=given)

    def claim(self, caller: Caller, run: dict[str, Any], step: str = "screen") -> dict[str, Any]:
        return self.call(caller, "claim", runId=run["run"]["id"], stepId=step)

    def submit(self, caller: Caller, token: str, **given: Any) -> dict[str, Any]:
        return self.call(caller, "submit", token=token, **{**GOOD, **given})

    def item(self, caller: Caller, run: dict[str, Any]) -> dict[str, Any]:
        """The run's only open work item, as get_run shows it now."""
        (item,) = self.call(caller, "get_run", runId=run["run"]["id"])["workItems"]
        return item

    def decide(self, caller: Caller, run: dict[str, Any], decision: str, **given: Any) -> dict[str, Any]:
        item = self.item(caller, run)
        return self.call(
            caller, "decide", runId=run["run"]["id"], workItemId=item["id"],
            **{"snapshot": item["snapshot"], "decision": decision, **given},
        )  # fmt: skip

    def view(self, caller: Caller, run: dict[str, Any]) -> dict[str, Any]:
        return self.call(caller, "get_run", runId=run["run"]["id"])


GOOD = {
    "output": {"cleared": True, "finding": "No match on either list."},
    "summary": "Searched both lists by name; no match.",
    "next": "approve",
    "reason": "No list has a match.",
}
