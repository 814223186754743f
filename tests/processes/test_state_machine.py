"""Random calls on random documents: the real tools beside the reference model, which must always agree.

Each rule is a call (and, within a check, a second call while the evaluator is asked). After it every view and
what the database holds of the runs that it touched are compared with the model. `EXPLORE=1` takes new seeds.
"""

import base64
import hashlib
import os
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest import mock

import pytest
from django.db import transaction
from hypothesis import HealthCheck, Phase, given, note, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from hypothesis.stateful import run_state_machine_as_test as run_as_test

from approvals.models import QueueEntry
from checks import codec
from processes import contracts, pipeline, waking
from processes.document import parse
from processes.errors import ToolError
from processes.models import Attempt, HeldEvent, HistoryEntry, Run, Submission, WorkItem
from processes.versions import compiled
from tests.processes.documents import Made, documents, fillings, kind_of, leads_to, seldom, spoilt
from tests.processes.public import public_issues
from tests.processes.reference import Asked, Reference, Refusal, judged, stamp
from tests.world import ScriptedEvaluator, World, rid

pytestmark = pytest.mark.django_db
AGENTS, PEOPLE = ("worker", "other", "limited"), ("ada", "ben", "ops")
GROUPS = {"ada": {"finance"}, "ben": {"legal"}, "ops": set[str]()}
MAILS = {name: f"{name}@example.org" for name in PEOPLE}
JUMPS = [timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=10), timedelta(hours=1), timedelta(days=2), timedelta(days=2000)]  # fmt: skip
ANSWERS: dict[str, list[Any]] = {
    "yes_no": [1.0, 0.75, 0.5, 0.25, 0.0],
    "one_of": [(name, sure) for name in ("good", "bad", "lost") for sure in (1.0, 0.5)],
    "levels": [(level, sure) for level in range(3) for sure in (1.0, 0.5)],
}
MOODS = ["pass", "pass", "fail", "unsure", "silent"]
DECISIONS = ["completed", "approved", "rejected", "returned", "failed"]
NOTED = {"rejected", "returned", "failed"}
OVERDUE = {"ready", "claimed", "waiting"}


class Stage:
    """Who acts, made once per test; each has uploaded a file."""

    def __init__(self, world: World, evaluator: ScriptedEvaluator) -> None:
        self.world, self.evaluator = world, evaluator
        self.tally: Counter[tuple[str, str]] = Counter()
        self.callers = {name: world.agent(name, only=[] if name == "limited" else None) for name in AGENTS}
        for name in PEOPLE:
            self.callers[name] = world.person(name, *GROUPS[name], operator=name == "ops")
        self.groups = {f"g_{world.group(name).pk}": name for name in ("finance", "legal")} | {
            "g_operators": ""
        }
        self.files = {name: self._upload(name) for name in self.callers}

    def _upload(self, name: str) -> dict[str, str]:
        content = base64.b64encode(name.encode()).decode()
        call = {"fileName": "f.txt", "contentType": "text/plain", "contentBase64": content}
        kept = self.world.call(self.callers[name], "upload", **call)
        return {"kind": "file", "ref": kept["id"], "sha256": hashlib.sha256(name.encode()).hexdigest()}


@dataclass(repr=False)
class Live:
    """A run beside its model."""

    id: str
    ref: Reference
    mode: str
    items: dict[str, str] = field(default_factory=dict)  # step → its open item
    gone: list[str] = field(default_factory=list)  # ids of items that were closed
    snapshots: list[tuple[str, str]] = field(default_factory=list)  # of run data, with the data, as they came
    revision: int = 0
    touched: bool = True

    def __repr__(self) -> str:
        return self.id


@dataclass(frozen=True, repr=False)
class Token:
    run: Live
    step: str
    agent: str
    text: str

    def __repr__(self) -> str:
        return f"of {self.agent} on {self.step} of {self.run.id}"


@dataclass(frozen=True, repr=False)
class Published:
    made: Made
    number: int
    escalations: str

    def __repr__(self) -> str:
        return f"{self.made.front['name']} {self.number}"


def bare(value: Any) -> Any:
    """Without what is made anew at each answer: files' addresses, and the mark of a replay."""
    if isinstance(value, dict):
        return {key: bare(item) for key, item in value.items() if key not in ("url", "replayed")}
    return [bare(item) for item in value] if isinstance(value, list) else value


class Machine(RuleBasedStateMachine):
    stage: Stage

    def __init__(self) -> None:
        super().__init__()
        self.block: Any = transaction.atomic()
        self.block._from_testcase = True  # as a TestCase's: the pipeline's own transactions may open in it
        self.block.__enter__()
        self.now = datetime(2026, 1, 1, 9, 0, 0, 123456, UTC)
        self.clock = mock.patch("django.utils.timezone.now", side_effect=lambda: self.now)
        self.clock.start()
        compiled.cache_clear()
        self.published: list[Published] = []
        self.runs: list[Live] = []
        self.tokens: list[Token] = []
        self.answered: list[tuple[str, str, dict[str, Any], Any]] = []
        self.kept: dict[tuple[int, str, str], Any] = {}

    def teardown(self) -> None:
        self.clock.stop()
        transaction.set_rollback(True)
        self.block.__exit__(None, None, None)

    # ---- calling

    def call(self, who: str, tool: str, **arguments: Any) -> tuple[Any, Refusal]:
        """One transition: what came of it, as (data, None) or (None, refusal)."""
        told = f"{self.now:%d %H:%M} {who}: {tool} {arguments}"
        try:
            data = pipeline.call(tool, self.stage.callers[who], arguments)
        except ToolError as error:
            self.stage.tally[tool, "refused"] += 1
            note(f"{told}\n    → {error.code} {error.issues or ''}")
            return None, (error.code, error.issues)
        self.stage.tally[tool, "done"] += 1
        note(f"{told}\n    → done")
        assert contracts.result_issues(tool, data) == []
        assert public_issues(tool, data) == []
        self.answered.append((who, tool, arguments, bare(data)))
        return data, None

    def write(self, who: str, tool: str, **arguments: Any) -> tuple[Any, Refusal]:
        return self.call(who, tool, **arguments, requestId=rid())

    def agree(self, came: Refusal, expected: Refusal) -> None:
        if came is not None and expected is not None and expected[1] is None:
            came = (came[0], None)  # the code alone is the protocol's
        assert came == expected

    def touch(self, run: Live) -> Reference:
        """Whatever is asked of a run, first the time that has come counts."""
        run.touched = True
        run.ref.at = self.now
        run.ref.advance()
        return run.ref

    def draw_run(self, data: Any) -> Live:
        every = list(range(len(self.runs)))
        live = [index for index in every if self.runs[index].ref.run == "live"]
        return self.runs[data.draw(st.sampled_from([*live * 5, *every]), "run")]

    def by(self, who: str) -> str:
        return self.stage.callers[who].id

    # ---- rules

    @initialize(data=st.data())
    def begin(self, data: Any) -> None:
        self._publish(data)
        self._start(data)

    @precondition(lambda self: len(self.published) < 3)
    @rule(data=st.data())
    def publish(self, data: Any) -> None:
        self._publish(data)

    def _publish(self, data: Any) -> None:
        made = data.draw(documents(), "document")
        escalations = data.draw(st.sampled_from(["finance", ""]), "escalations")
        version = self.stage.world.publish(made.text, escalations=escalations or None)
        self.published.append(Published(made, version.number or 0, escalations))

    @precondition(lambda self: sum(run.ref.run == "live" for run in self.runs) < 2)
    @rule(data=st.data())
    def start(self, data: Any) -> None:
        self._start(data)

    def _start(self, data: Any) -> None:
        about = data.draw(st.sampled_from(self.published), "version")
        front = about.made.front
        who = data.draw(
            st.sampled_from(["ada", "ops", "ben", "worker", *(["limited"] if self.runs else [])]), "who"
        )
        inputs, issues = data.draw(fillings(front["inputs"]), "inputs"), []
        if self.runs and data.draw(seldom):
            inputs, issues = data.draw(spoilt(front["inputs"], inputs, "inputs"), "inputs")
        mode = data.draw(st.sampled_from([None, "test"]), "mode")
        given_mode = {"mode": mode} if mode else {}
        view, refusal = self.write(
            who, "start_run", process=front["name"], version=about.number, inputs=inputs, **given_mode
        )
        expected: Refusal = ("invalid", issues) if issues else None
        if who == "limited":
            expected = "forbidden", None
        elif not issues and who in AGENTS and any(s.get("person") == "initiator" for s in front["steps"]):
            expected = "invalid", ["initiator: a person must start this process"]
        self.agree(refusal, expected)
        if view is not None:
            ref = Reference(
                front,
                inputs,
                self.by(who),
                self.now,
                MAILS.get(who, ""),
                about.escalations,
                list(MAILS.values()),
            )
            self.runs.append(Live(view["run"]["id"], ref, mode or "live"))

    def ready(self) -> list[tuple[Live, str]]:
        return [(run, name) for run in self.runs for name in run.ref.spec if run.ref.shown(name) == "ready"]

    @precondition(lambda self: self.ready())
    @rule(data=st.data())
    def claim(self, data: Any) -> None:
        self._claim(data)

    def _claim(self, data: Any) -> None:
        every = [(run, name) for run in self.runs for name in run.ref.spec]
        run, name = data.draw(st.sampled_from([*self.ready() * 10, *every]), "step")
        ref = self.touch(run)
        who = data.draw(st.sampled_from(["worker", "worker", "other", "limited"]), "who")
        expected = ref.claim_refusal(name, self.by(who))
        if who == "limited" and ref.run == "live":
            expected = "forbidden", None
        view, refusal = self.write(who, "claim", runId=run.id, stepId=name)
        self.agree(refusal, expected)
        if view is not None:
            assert view["handoff"] == ref.claim(name, self.by(who))
            assert view["expiresAt"] == stamp(ref.attempts[name].until or self.now)
            assert bare(view["data"]) == ref.data
            ref.attempts[name].token = view["token"]
            self.tokens.append(Token(run, name, who, view["token"]))

    def good_tokens(self) -> list[Token]:
        return [token for token in self.tokens if token.run.ref.token_refusal(token.step, token.text) is None]

    def draw_token(self, data: Any) -> tuple[Token, str, Reference, Refusal]:
        good = self.good_tokens()
        token = data.draw(st.sampled_from([*good * 10, *self.tokens]), "token")
        ref = self.touch(token.run)
        if data.draw(st.integers(0, 15), "stranger") == 15:
            return (
                token,
                "other" if token.agent == "worker" else "worker",
                ref,
                ("invalid", ["token: does not verify"]),
            )
        return token, token.agent, ref, ref.token_refusal(token.step, token.text)

    @precondition(lambda self: self.good_tokens())
    @rule(data=st.data())
    def renew(self, data: Any) -> None:
        self._renew(data)

    def _renew(self, data: Any) -> None:
        token, who, ref, expected = self.draw_token(data)
        progress = data.draw(st.sampled_from([None, "half", ""]), "progress")
        given_progress = {} if progress is None else {"progress": progress}
        result, refusal = self.write(who, "renew", token=token.text, **given_progress)
        self.agree(refusal, expected)
        if result is not None:
            ref.renew(token.step, result["token"], progress)
            self.tokens.append(Token(token.run, token.step, who, result["token"]))

    @precondition(lambda self: self.good_tokens())
    @rule(data=st.data())
    def escalate(self, data: Any) -> None:
        self._escalate(data)

    def _escalate(self, data: Any) -> None:
        token, who, ref, expected = self.draw_token(data)
        result, refusal = self.write(who, "escalate", token=token.text, note="Can't.")
        self.agree(refusal, expected)
        if result is not None:
            ref.escalate(token.step, self.by(who), "Can't.")

    @precondition(lambda self: self.good_tokens())
    @rule(data=st.data())
    def submit(self, data: Any) -> None:
        self._submit(data, nested=False)

    @precondition(lambda self: self.good_tokens())
    @rule(data=st.data())
    def submit_again(self, data: Any) -> None:
        self._submit(data, nested=False)

    def _submit(self, data: Any, *, nested: bool = True) -> None:
        token, who, ref, expected = self.draw_token(data)
        arguments, entry, issues = self.content(data, token.run, token.step, who)
        arguments.setdefault("output", {})
        arguments = {"summary": "", **arguments}
        begun = expected or ref.hand_in(token.step, entry, issues, self.by(who))
        self.finish(data, token.run, begun, who, "submit", {"token": token.text, **arguments}, nested=nested)

    def finish(
        self,
        data: Any,
        run: Live,
        begun: Refusal | Asked,
        who: str,
        tool: str,
        call: dict[str, Any],
        *,
        nested: bool,
    ) -> None:
        """Send a submission; where it is checked, script the answers and perhaps do something meanwhile."""
        answers, failed = None, []
        evaluator = self.stage.evaluator
        asked = len(evaluator.asked)
        if isinstance(begun, Asked):
            answers = self.answers(data, run.ref.spec[begun.step]["check"])
            evaluator.script = ["silence" if answers is None else answers]
            if not nested and data.draw(seldom, "meanwhile"):
                evaluator.before = lambda: self.meanwhile(data, failed)
        _, refusal = self.write(who, tool, **call)
        evaluator.before = None
        if failed:
            raise failed[0]
        assert len(evaluator.asked) - asked == isinstance(begun, Asked)
        if isinstance(begun, Asked):
            self.touch(run)
            begun = run.ref.settle(begun, answers)
        self.agree(refusal, begun)

    @precondition(lambda self: self.runs)
    @rule(data=st.data())
    def stray(self, data: Any) -> None:
        """A call that is probably out of place."""
        acts = [
            self._claim,
            self._decide,
            self._send,
            *([self._renew, self._escalate, self._submit] if self.tokens else []),
        ]
        data.draw(st.sampled_from(acts), "act")(data)

    def meanwhile(self, data: Any, failed: list[Exception]) -> None:
        """Another call while the evaluator is asked. (What it raises, the judge would take for an evaluator's.)"""
        self.stage.evaluator.before = None
        acts = [
            self._claim,
            self._renew,
            self._escalate,
            self._submit,
            self._decide,
            self._cancel,
            self._send,
            self._pass,
        ]
        try:
            data.draw(st.sampled_from(acts), "act")(data)
        except Exception as error:
            failed.append(error)
            raise

    def answers(self, data: Any, check: Any) -> list[Any] | None:
        mood = data.draw(st.sampled_from(MOODS), "mood")
        if mood == "silent":
            return None
        found = []
        for question in [{"ask": check}] if isinstance(check, str) else check:
            known = ANSWERS[next((key for key in ("one_of", "levels") if key in question), "yes_no")]
            fit = [
                a for a in known if judged([question], [a], advisory=False, at=self.now)[0]["verdict"] == mood
            ]
            found.append(data.draw(st.sampled_from(fit or known), "answer"))
        return found

    def content(
        self, data: Any, run: Live, name: str, who: str
    ) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
        """Arguments of a submission, what of it stands in run data, and the issues that it must meet."""
        at = (self.runs.index(run), name, who)
        if at in self.kept and data.draw(st.booleans(), "the same again"):
            return self.kept[at]
        step = run.ref.spec[name]
        output, issues = data.draw(fillings(step.get("output", {})), "output"), []
        links = [{"kind": "link", "ref": "https://example.org/a"}]
        evidence = [
            e
            for kind in step.get("evidence", [])
            for e in (links if kind == "link" else [self.stage.files[who]])
        ]
        given: dict[str, Any] = {"summary": "Did it."}
        routes = list(leads_to(step, "next")) if isinstance(step.get("next"), list) else []
        if routes:
            given |= {"next": data.draw(st.sampled_from(routes), "next"), "reason": "Because."}
        spoil = data.draw(
            st.sampled_from(["", "", "", "", "output", "summary", "evidence", "next", "reason"]), "spoil"
        )
        if spoil == "output":
            output, issues = data.draw(spoilt(step.get("output", {}), output, "output"), "output")
        elif spoil == "evidence" and evidence:
            issues = [f"evidence: {evidence[0]['kind']} required"]
            evidence = evidence[1:]
        elif spoil == "summary":
            given.pop("summary")
            issues = ["summary: missing"] if who in AGENTS else []
        elif spoil == "next":
            given["next"] = "nowhere"
            issues = [f"next: required, one of {', '.join(routes)}"] if routes else ["next: not allowed"]
        elif spoil == "reason" and routes:
            given.pop("reason")
            issues = ["reason: required"]
        entry = {"output": output, "evidence": evidence, **given}
        arguments = {**entry, "evidence": [{"kind": e["kind"], "ref": e["ref"]} for e in evidence]}
        self.kept[at] = arguments, entry, issues
        return self.kept[at]

    @precondition(lambda self: any(run.ref.items for run in self.runs))
    @rule(data=st.data())
    def decide(self, data: Any) -> None:
        self._decide(data, nested=False)

    @precondition(lambda self: any(run.ref.items for run in self.runs))
    @rule(data=st.data())
    def decide_again(self, data: Any) -> None:
        self._decide(data, nested=False)

    def _decide(self, data: Any, *, nested: bool = True) -> None:
        known = [
            (run, name, item)
            for run in self.runs
            for name, item in run.items.items()
            if name in run.ref.items
        ]
        gone = [(run, "", item) for run in self.runs for item in [*run.gone, "w_none"]]
        run, name, item = data.draw(st.sampled_from([*known * 10, *gone]), "item")
        ref = self.touch(run)
        name = name if name in ref.items else ""
        able = [p for p in PEOPLE if name and self.may(ref, name, p)]
        who = data.draw(st.sampled_from([*able * 6, *PEOPLE, "worker"]), "who")
        decision = data.draw(
            st.sampled_from([*(ref.takes(name) * 3 if name else ()), *DECISIONS]), "decision"
        )
        current = run.snapshots[-1][0]
        snapshot = data.draw(
            st.sampled_from([current] * 9 + [s for s, _ in run.snapshots[:-1]] + ["0"]), "snapshot"
        )
        given: dict[str, Any] = {}
        entry: dict[str, Any] = {}
        issues: list[str] = []
        misplaced = data.draw(st.integers(0, 15), "misplaced") == 15
        if decision == "completed":
            if misplaced:
                given["note"] = "No."
            elif name and kind_of(ref.spec[name]) != "approve":
                given, entry, issues = self.content(data, run, name, who)
                given, entry, issues = self.over(data, ref, name, given, entry, issues)
        elif decision in NOTED and not misplaced:
            given["note"] = "No."
        elif data.draw(st.booleans(), "more"):
            given |= {"summary": "x"} if misplaced else {"note": "Fine."}
        begun = self.decide_refusal(run, name, item, who, decision, given, current=snapshot == current)
        by = self.by(who)
        if begun is None and decision == "completed" and ref.items[name].escalation is None:
            begun = ref.hand_in(name, entry, issues, by)
        elif begun is None and decision == "completed":
            begun = ("not_accepted", issues) if issues else None
            if issues:
                ref.attempts[name].handoff["issues"] = issues
            else:
                ref.take_over(name, entry, by)
        elif begun is None:
            ref.decide(name, decision, by, given.get("note"))
        call = {"runId": run.id, "workItemId": item, "snapshot": snapshot, "decision": decision, **given}
        self.finish(data, run, begun, who, "decide", call, nested=nested)

    def over(self, data: Any, ref: Reference, name: str, given: Any, entry: Any, issues: list[str]) -> Any:
        """On a held candidate: all of it, with a summary of one's own perhaps, or something else altogether."""
        held = ref.items[name].candidate
        choice = data.draw(st.sampled_from(["all", "summary", "else"]), "candidate")
        if held is None or choice == "else":
            return given, entry, issues
        mine = {"summary": "I looked."} if choice == "summary" else {}
        return mine, {**held, **mine}, []

    def decide_refusal(
        self,
        run: Live,
        name: str,
        item: str,
        who: str,
        decision: str,
        given: dict[str, Any],
        *,
        current: bool,
    ) -> Refusal:
        ref = run.ref
        if decision == "completed" and "note" in given:
            return "invalid", ["note: not with completed"]
        found = ["summary: only with completed"] if decision != "completed" and "summary" in given else []
        if decision in NOTED and "note" not in given:
            found.append(f"note: required with {decision}")
        if found:
            return "invalid", found
        if ref.run != "live":
            return "conflict", ["run_ended"]
        if not name:
            return ("conflict", ["already_decided"]) if item in run.gone else ("not_found", None)
        if not current:
            return "stale", None
        if who in AGENTS or not self.may(ref, name, who):
            return "forbidden", None
        if decision not in ref.takes(name):
            return "invalid", [f"decision: one of {', '.join(ref.takes(name))}"]
        attempt = ref.attempts.get(name)
        return ("retry", None) if attempt is not None and attempt.asking else None

    def may(self, ref: Reference, name: str, who: str) -> bool:
        item = ref.items[name]
        if item.to in (MAILS[who], *GROUPS[who]):
            return True
        return who == "ops" and (item.to == "" or item.escalation is not None)

    @precondition(lambda self: self.runs)
    @rule(data=st.data())
    def send_event(self, data: Any) -> None:
        self._send(data)

    def _send(self, data: Any) -> None:
        run = self.draw_run(data)
        ref = self.touch(run)
        awaited = [step["wait_for"] for step in ref.spec.values() if "wait_for" in step]
        event = data.draw(st.sampled_from([*awaited * 2, "paid", "never"]), "event")
        who = data.draw(st.sampled_from(["worker", "ops", "ada", "limited", "other"]), "who")
        given_data = data.draw(st.sampled_from([{}, {"data": {}}, {"data": {"n": 0.5, "a": [None]}}]), "data")
        expected: Refusal = None if ref.run == "live" else ("conflict", ["run_ended"])
        if who in ("ada", "limited") and expected is None:
            expected = "forbidden", None
        result, refusal = self.write(who, "send_event", runId=run.id, name=event, **given_data)
        self.agree(refusal, expected)
        if result is not None:
            listening, taken = ref.listening(event), result["consumedBy"]
            assert taken in listening if listening else taken is None
            ref.deliver(event, self.by(who), given_data.get("data", {}), taken)

    @precondition(lambda self: len(self.runs) > 1)
    @rule(data=st.data())
    def cancel(self, data: Any) -> None:
        self._cancel(data)

    def _cancel(self, data: Any) -> None:
        run = self.draw_run(data)
        ref = self.touch(run)
        who = data.draw(st.sampled_from(["ada", "worker", "ben", "ops"]), "who")
        expected: Refusal = None if ref.run == "live" else ("conflict", ["run_ended"])
        if who != "ops" and expected is None:
            expected = "forbidden", None
        result, refusal = self.write(who, "cancel", runId=run.id, reason="Over.")
        self.agree(refusal, expected)
        if result is not None:
            ref.cancel(self.by(who), "Over.")

    @rule(data=st.data())
    def pass_time(self, data: Any) -> None:
        self._pass(data)

    def _pass(self, data: Any) -> None:
        self.now += data.draw(st.sampled_from(JUMPS), "jump")
        note(f"{self.now:%Y-%m-%d %H:%M}")
        for run in self.runs:
            self.touch(run)
        if data.draw(st.booleans(), "wake"):
            waking.wake()
            assert waking.wake() == 0

    @precondition(lambda self: self.answered)
    @rule(data=st.data())
    def repeat(self, data: Any) -> None:
        """An earlier call again, changed, or by somebody else. Whatever comes of it, nothing may change."""
        writes = [
            (who, tool, args, result) for who, tool, args, result in self.answered if "requestId" in args
        ]
        who, tool, arguments, result = data.draw(st.sampled_from(writes[::-1]), "earlier")
        how = data.draw(st.sampled_from(["same", "same", "changed", "stranger"]), "how")
        if how == "changed":
            key = next(key for key in ("runId", "token", "process") if key in arguments)
            arguments = {**arguments, key: arguments[key] + "x"}
        elif how == "stranger":
            who = {"worker": "other", "other": "worker", "ops": "ada"}.get(who, "ops")
        before = len(self.answered)
        again, refusal = self.call(who, tool, **arguments)
        del self.answered[before:]
        self.agree(refusal, None if how == "same" else ("conflict", ["requestId: used before"]))
        if how == "same":
            assert bare(again) == result
        for run in self.runs:
            self.touch(run)

    @precondition(lambda self: self.runs)
    @rule(data=st.data())
    def look(self, data: Any) -> None:
        """get_work, page by page, and list_runs."""
        for run in self.runs:
            self.touch(run)
        who = data.draw(st.sampled_from([*AGENTS, *PEOPLE]), "who")
        expected = []
        for run in self.runs:
            if who in PEOPLE:
                expected += [(run.id, name) for name in run.ref.items if self.may(run.ref, name, who)]
            elif who != "limited":
                agents = [n for n, s in run.ref.spec.items() if "agent" in s and run.ref.shown(n) == "ready"]
                expected += [(run.id, name) for name in agents]
        found: list[tuple[str, str]] = []
        paging: dict[str, Any] = {"limit": data.draw(st.sampled_from([1, 3, 100]), "limit")}
        while paging:
            page, _ = self.call(who, "get_work", **paging)
            found += [(item["runId"], item.get("workItem", item)["stepId"]) for item in page["items"]]
            paging = {**paging, "cursor": page["nextCursor"]} if page["nextCursor"] else {}
        assert sorted(found) == sorted(expected)
        state = data.draw(st.sampled_from(["active", "waiting", "ended", "cancelled"]), "state")
        page, _ = self.call("worker", "list_runs", state=state)
        assert {item["id"] for item in page["items"]} == {r.id for r in self.runs if r.ref.run_state == state}

    # ---- what must always hold

    @invariant()
    def every_run_is_as_the_model_says(self) -> None:
        for run in self.runs:
            if run.touched:
                self.compare(run)
        self.compare_tables()
        for run in self.runs:
            run.touched = False

    def compare(self, run: Live) -> None:
        ref = self.touch(run)
        view = pipeline.call("get_run", self.stage.callers["ops"], {"runId": run.id})
        assert contracts.result_issues("get_run", view) == []
        assert public_issues("get_run", view) == []
        view = bare(view)
        told = {key: view["run"][key] for key in ("state", "outcome", "ended", "mode", "startedBy")}
        assert told == {
            "state": ref.run_state, "outcome": ref.outcome, "ended": ref.ended, "mode": run.mode, "startedBy": ref.by,
        }  # fmt: skip
        assert {step["id"]: step["state"] for step in view["steps"]} == {
            name: ref.shown(name) for name in ref.spec
        }
        for step in view["steps"]:
            if step["state"] in OVERDUE:
                due = ref.due.get(step["id"])
                assert step.get("due") == (stamp(due) if due else None)
                assert step.get("overdue", False) == (due is not None and due < self.now)
        assert view["data"] == ref.data
        assert {item["stepId"] for item in view["workItems"]} == set(ref.items)
        for item in view["workItems"]:
            self.compare_item(run, item)
        items = {item["stepId"]: item["id"] for item in view["workItems"]}
        run.gone += [old for name, old in run.items.items() if items.get(name) != old]
        run.items = items

    def compare_item(self, run: Live, item: dict[str, Any]) -> None:
        name, ref = item["stepId"], run.ref
        model, attempt = ref.items[name], ref.attempts.get(name)
        to = item["assignedTo"]
        assert (self.stage.groups[to["group"]] if "group" in to else to["person"]) == model.to
        assert item["escalation"] == model.escalation
        assert item["handoff"] == ((attempt and attempt.handoff) or None)
        assert tuple(item["decide"]["decisions"]) == ref.takes(name)
        assert item["kind"] == kind_of(ref.spec[name])

    def compare_tables(self) -> None:
        rows = {row.pk: row for row in Run.objects.all()}
        assert len(rows) == len(self.runs)
        live = [run for run in self.runs if run.ref.run == "live"]
        for run in self.runs:
            row = rows[run.id]
            assert row.snapshot == hashlib.sha256(row.data.encode()).hexdigest()
            assert bare(codec.loads(row.data)) == run.ref.data
            if run.snapshots:  # it changes exactly when the data do
                assert (run.snapshots[-1][0] == row.snapshot) == (run.snapshots[-1][1] == row.data)
            if not run.snapshots or run.snapshots[-1][0] != row.snapshot:
                run.snapshots.append((row.snapshot, row.data))
            assert run.touched or row.revision == run.revision
            run.revision = row.revision
        items = WorkItem.objects.filter(state="open").values_list("pk", "run", "step__name")
        opened = {pk: (run, step) for pk, run, step in items}
        assert sorted(opened.values()) == sorted((run.id, name) for run in live for name in run.ref.items)
        assert set(QueueEntry.objects.values_list("pk", flat=True)) == set(opened)
        attempts = Attempt.objects.filter(live=True).values_list("step__run", "step__name")
        assert sorted(attempts) == sorted((run.id, name) for run in live for name in run.ref.attempts)
        events = Counter(HeldEvent.objects.values_list("run", "name"))
        assert events == Counter((run.id, event) for run in live for event, _, _ in run.ref.held)
        open_ended = Submission.objects.filter(state__in=["checking", "error", "held"], attempt__live=False)
        assert not open_ended.exists()
        self.compare_history([run for run in self.runs if run.touched])

    def compare_history(self, runs: list[Live]) -> None:
        entries = HistoryEntry.objects.filter(run__in=[run.id for run in runs])
        told = list(entries.order_by("run", "number").values_list("run", "number", "what", "step", "by"))
        for run in runs:
            mine = [entry[1:] for entry in told if entry[0] == run.id]
            assert mine == [(n, *entry) for n, entry in enumerate(run.ref.told, 1)]


# ---- running


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(documents())
def test_every_generated_document_is_valid(made):
    parsed = parse(made.text)
    assert parsed.issues == ()
    assert [(s.id, s.kind) for s in parsed.document.steps.values()] == [
        (s["id"], kind_of(s)) for s in made.front["steps"]
    ]


def run_machine(stage: Stage, examples: int, steps: int, shard: int | None = None) -> None:
    machine: Any = type("Shard", (Machine,), {"stage": stage})
    explore = bool(os.environ.get("EXPLORE"))
    if shard is not None and not explore:
        machine = seed(shard)(machine)
    profile = settings(
        max_examples=examples, stateful_step_count=steps, derandomize=not explore, database=None, deadline=None,
        print_blob=False, report_multiple_bugs=False, suppress_health_check=list(HealthCheck),
        phases=[Phase.generate] if os.environ.get("NOSHRINK") else [Phase.generate, Phase.shrink],
    )  # fmt: skip
    try:
        run_as_test(machine, settings=profile)
    finally:
        print(sum(stage.tally.values()), "transitions:", dict(stage.tally))  # noqa: T201


def test_a_thousand_random_calls_agree_with_the_protocol(world, evaluator):
    stage = Stage(world, evaluator)
    run_machine(stage, 40, 30)
    assert sum(stage.tally.values()) >= 1000


@pytest.mark.long
@pytest.mark.parametrize("shard", range(10))
def test_ten_thousand_random_calls_agree_with_the_protocol(world, evaluator, shard):
    stage = Stage(world, evaluator)
    run_machine(stage, 30, 50, shard)
    assert sum(stage.tally.values()) >= 1000
