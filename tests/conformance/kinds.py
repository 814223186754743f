"""One process with a step of every kind, and a cast that walks runs of it into every situation.

A situation is a function of a `Stage` that gives the run's view. Every answer on the way is held against our
contracts and against the public schemas.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from processes import contracts
from processes.errors import ToolError
from tests.processes import flows
from tests.processes.public import shape_issues
from tests.processes.test_tool_upload import given as file_given
from tests.world import ScriptedEvaluator, World, rid

KINDS = """\
---
name: kinds
description: A step of every kind.
inputs:
  at: { type: datetime, optional: true }
  long: { type: string, optional: true }
steps:
  - id: draft
    agent: Draft it.
    output: { text: string }
    evidence: [file, link]
    check:
      - { ask: Is it kind?, pass: 0.9, fail: 0.5 }
      - { ask: What does it do?, one_of: { states: It says so., hedges: Perhaps., unclear: Who knows. }, pass: [states], unsure: [unclear] }
      - { ask: How whole is it?, levels: [Empty., Half., Whole.], pass: 2 }
    next:
      - { to: both, when: It is worth it }
      - drop
  - { id: both, parallel: [left, right], next: sign }
  - { id: left, agent: The left part., next: join }
  - id: right
    task: The right part.
    person: initiator
    output: { text: string }
    check: Is it kind?
    due: 1h
    next: join
  - { id: sign, approve: All of it., person: finance, due: 1d, on_reject: draft }
  - { id: pause, wait: 1h }
  - { id: until, wait_until: inputs.at }
  - { id: paid, wait_for: payment, timeout: 2d, on_timeout: late }
  - { id: done, finish: paid }
  - { id: late, finish: unpaid }
  - { id: drop, finish: dropped }
---
Of all kinds.
"""
PASSES: list[Any] = [0.95, ("states", 0.95), (2, 0.95)]
FAILS: list[Any] = [0.12, ("hedges", 0.9), (1, 0.85)]
UNSURE: list[Any] = [0.7, ("unclear", 0.9), (2, 0.3)]
WORDS = {"output": {"text": "Dear all"}, "summary": "Wrote it."}
FAR = "2100-01-01T00:00:00Z"

View = dict[str, Any]


class Stage:
    """A cast before one run of KINDS. `with stage.clock:` is needed around what calls `later`."""

    def __init__(self, world: World, evaluator: ScriptedEvaluator) -> None:
        self.world, self.evaluator, self.clock = world, evaluator, ExitStack()
        self.cast = flows.cast(world)
        self.agent, self.ada, self.ops = self.cast.agent, self.cast.ada, self.cast.ops
        self.run = ""
        self.claims: list[View] = []
        self.hours = 0

    def call(self, caller: Any, tool: str, **arguments: Any) -> View:
        try:
            answer = self.world.call(caller, tool, **arguments)
        except ToolError as error:
            if issues := shape_issues("tool-error", error.view()):
                raise AssertionError(issues) from error
            raise
        issues = [*contracts.result_issues(tool, answer), *shape_issues(f"tools/{tool}.result", answer)]
        assert not issues, (tool, issues)
        return answer

    def publish(self, text: str = KINDS, **more: str) -> None:
        self.world.publish(text, escalations="finance", **more)

    def start(self, process: str = "kinds", *, by: Any = None, mode: str = "live", **inputs: Any) -> View:
        view = self.call(by or self.ada, "start_run", process=process, inputs=inputs, mode=mode)
        self.run = view["run"]["id"]
        return view

    def view(self) -> View:
        return self.call(self.ada, "get_run", runId=self.run)

    def claim(self, step: str = "draft") -> View:
        self.claims.append(self.call(self.agent, "claim", runId=self.run, stepId=step))
        return self.claims[-1]

    def submit(self, step: str = "draft", script: list[Any] | str = PASSES, **given: Any) -> View:
        """Claim, and hand in what the evaluator thinks so of. A refusal is swallowed: the view tells."""
        token = self.claim(step)["token"]
        self.evaluator.script = [script]
        if step == "draft":
            given = {**WORDS, "evidence": self.evidence(), "next": "both", "reason": "Worth it.", **given}
        try:
            self.call(self.agent, "submit", token=token, **{"output": {}, "summary": "s", **given})
        except ToolError as error:
            if error.code not in ("not_accepted", "retry"):
                raise
        return self.view()

    def evidence(self) -> list[View]:
        file = self.call(self.agent, "upload", **file_given())["id"]
        return [{"kind": "file", "ref": file}, {"kind": "link", "ref": "https://example.org"}]

    def escalate(self) -> View:
        return self.call(self.agent, "escalate", token=self.claim()["token"], note="The list is down.")

    def decide(self, decision: str, *, by: Any = None, **given: Any) -> View:
        (item,) = self.view()["workItems"]
        arguments = {**item["decide"]["arguments"], "requestId": rid(), "decision": decision, **given}
        return self.call(by or self.ada, "decide", **arguments)

    def later(self, hours: int) -> View:
        self.hours += hours
        self.clock.enter_context(flows.later(hours=hours))
        return self.view()

    def expire(self) -> View:
        flows.expire({"run": {"id": self.run}})
        return self.view()

    def event(self) -> View:
        self.call(self.agent, "send_event", runId=self.run, name="payment", data={"amount": 5})
        return self.view()

    def cancel(self) -> View:
        return self.call(self.ops, "cancel", runId=self.run, reason="Twice.")


def shown(view: View, claims: list[View]) -> Iterator[str]:
    """What a view, and the claims before it, show: `agent ready`, `unsure yes_no`, `handoff issues`."""
    yield from (f"{step['kind']} {step['state']}" for step in view["steps"])
    yield from ("overdue" for step in view["steps"] if step.get("overdue"))
    run = view["run"]
    yield from (f"run {run['state']}", f"outcome {run['outcome']}", f"mode {run['mode']}")
    if run["ended"]:
        yield "ended by the server" if run["ended"]["by"] == "server" else "ended by somebody"
    for step in view["data"]["steps"].values():
        yield from _record(step)
        for earlier in step["history"]:
            yield "history"
            yield from (f"history of {found}" for found in _record(earlier))
    for item in view["workItems"]:
        yield from _item(item)
    for claim in claims:
        left = claim["handoff"] or {"none": None}
        yield from (f"handoff {key}" for key in left)
        yield from _check(left.get("check"))


def _record(step: View) -> Iterator[str]:
    if "decision" in step:
        yield f"decision {step['decision']}"
    yield from (f"evidence {item['kind']}" for item in step.get("evidence", ()))
    yield from _check(step.get("check"))


def _check(check: View | None) -> Iterator[str]:
    if check:
        yield f"{'advisory' if check['advisory'] else 'verdict'} {check['verdict']}"
        yield from (f"{question['result']} {question['kind']}" for question in check["questions"])
        if check.get("truncated"):
            yield "truncated"


def _item(item: View) -> Iterator[str]:
    yield f"item {item['kind']}"
    yield f"assigned to a {next(iter(item['assignedTo']))}"
    yield from (f"asks for {key}" for key in ("output", "evidence", "next") if item[key])
    yield from (f"item's handoff {key}" for key in item["handoff"] or ())
    if item["due"]:
        yield "item due"
    if "mode" in item:
        yield "item of a test"
    if item["escalation"]:
        yield f"escalated {item['kind']}"
        yield "candidate" if "candidate" in item["escalation"] else "no candidate"
