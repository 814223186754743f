"""Random calls on random documents: the real tools beside the reference model, which must always agree.

Each step of the machine is one call (and, within a check, perhaps a second while the evaluator is asked).
After it the runs that it touched are compared with the model, and so are the tables of all.
`EXPLORE=1` takes new seeds instead of the fixed ones.
"""

import base64
import hashlib
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest import mock

import pytest
from django.db import transaction
from hypothesis import HealthCheck, Phase, given, note, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from hypothesis.stateful import run_state_machine_as_test as run_as_test

from processes import pipeline, proofs, waking
from processes.document import parse
from processes.errors import ToolError
from processes.models import Run
from processes.versions import compiled
from tests.processes.comparing import Live, Named, bare, compare_tables, compare_view, fits
from tests.processes.documents import Made, documents, fillings, kind_of, leads_to, seldom, spoilt
from tests.processes.reference import ENDED, Asked, Reference, Refusal, judged, stamp
from tests.world import ScriptedEvaluator, World, rid

pytestmark = pytest.mark.django_db

AGENTS, PEOPLE = ("worker", "other", "limited"), ("ada", "ben", "ops")
GROUPS: dict[str, set[str]] = {"ada": {"finance"}, "ben": {"legal"}, "ops": set()}
MAILS = {name: f"{name}@example.org" for name in PEOPLE}
JUMPS = [timedelta(minutes=m) for m in (1, 5, 10, 60, 2 * 24 * 60, 2000 * 24 * 60)]
ANSWERS: dict[str, list[Any]] = {
    "yes_no": [1.0, 0.75, 0.5, 0.25, 0.0],
    "one_of": [(name, sure) for name in ("good", "bad", "lost") for sure in (1.0, 0.5)],
    "levels": [(level, sure) for level in range(3) for sure in (1.0, 0.5)],
}
MOODS = ["pass", "pass", "fail", "unsure", "silent"]
SPOILS = ["", "", "", "", "", "output", "summary", "evidence", "next", "reason"]
DECISIONS = ["completed", "approved", "rejected", "returned", "failed"]
NOTED = {"rejected", "returned", "failed"}
READS = {"get_work", "list_runs"}
MOST_RUNS, MOST_DOCUMENTS = 4, 4


class Stage:
    """Who acts, made once for a test; each has uploaded a file."""

    def __init__(self, world: World, evaluator: ScriptedEvaluator) -> None:
        self.world, self.evaluator = world, evaluator
        self.tally: Counter[str] = Counter()  # of calls
        self.told: Counter[str] = Counter()  # of what happened in runs
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


@dataclass(frozen=True, repr=False)
class Token(Named):
    run: Live
    step: str
    agent: str
    text: str

    def __repr__(self) -> str:
        return f"{self.agent}'s on {self.step} of {self.run.id}"


@dataclass(frozen=True, repr=False)
class Published(Named):
    made: Made
    number: int
    escalations: str

    def __repr__(self) -> str:
        return f"{self.made.front['name']} {self.number}"


@dataclass
class Content:
    """A submission: its arguments, what of it stands in run data, the issues that it must meet."""

    arguments: dict[str, Any]
    entry: dict[str, Any]
    issues: list[str]


class Machine(RuleBasedStateMachine):
    stage: Stage

    def __init__(self) -> None:
        super().__init__()
        self.block: Any = transaction.atomic()
        self.block._from_testcase = True  # as a TestCase's: the pipeline's own transactions may open in it
        self.block.__enter__()
        compiled.cache_clear()
        self.now = datetime(2026, 1, 1, 9, 0, 0, 123456, UTC)
        self.clock = mock.patch("django.utils.timezone.now", side_effect=lambda: self.now)
        self.clock.start()
        self.published: list[Published] = []
        self.runs: list[Live] = []
        self.tokens: list[Token] = []
        self.answered: list[tuple[str, str, dict[str, Any], Any]] = []
        self.kept: dict[tuple[int, str, str], Content] = {}
        self.views: dict[str, Any] = {}
        self.asks = len(self.stage.evaluator.asked)

    def teardown(self) -> None:
        for run in self.runs:
            assert proofs.of_run(Run.objects.get(pk=run.id)).hold
        self.stage.told.update(what for run in self.runs for what, _, _ in run.ref.told)
        self.clock.stop()
        transaction.set_rollback(True)
        self.block.__exit__(None, None, None)

    # ---- calling

    def call(self, who: str, tool: str, **arguments: Any) -> tuple[Any, Refusal]:
        """One call and what came of it: (data, None) or (None, refusal)."""
        told = f"{self.now:%d %H:%M} {who}: {tool} {arguments}"
        try:
            data = pipeline.call(tool, self.stage.callers[who], arguments)
        except ToolError as error:
            self.stage.tally[f"{tool} {error.code}"] += 1
            note(f"{told}\n    → {error.code} {error.issues or ''}")
            return None, (error.code, error.issues)
        self.stage.tally[tool] += 1
        note(f"{told}\n    → done")
        fits(tool, data)
        return data, None

    def write(self, run: Live | None, who: str, tool: str, **arguments: Any) -> tuple[Any, Refusal]:
        arguments["requestId"] = rid()
        data, refusal = self.call(who, tool, **arguments)
        if data is not None:
            self.answered.append((who, tool, arguments, bare(data)))
            if run is not None:
                run.touched = True
                self.views.pop(run.id, None)
            if "run" in data:
                self.views[data["run"]["id"]] = bare(data)
        return data, refusal

    def agree(self, came: Refusal, expected: Refusal) -> None:
        if came is not None and expected is not None and expected[1] is None:
            came = (came[0], None)  # the code alone is the protocol's
        assert came == expected

    def now_of(self, run: Live) -> Reference:
        """The model of a run; whatever is asked of it, first a time that has come counts."""
        run.ref.at = self.now
        run.ref.advance()
        return run.ref

    def by(self, who: str) -> str:
        return self.stage.callers[who].id

    def pick(self, data: Any, label: str, *weighted: tuple[int, list[Any]]) -> Any:
        """One of several kinds of choices, each kind as likely as its weight says."""
        able = [choices for weight, choices in weighted for _ in range(weight) if choices]
        return data.draw(st.sampled_from(able[data.draw(st.integers(0, len(able) - 1))]), label)

    def pick_run(self, data: Any) -> Live:
        return self.pick(
            data, "run", (9, [run for run in self.runs if run.ref.run == "live"]), (1, self.runs)
        )

    # ---- what can be done

    @initialize(data=st.data())
    def begin(self, data: Any) -> None:
        self.publish(data)
        self.publish(data)
        self.start(data)

    @rule(data=st.data())
    def act(self, data: Any) -> None:
        live = [run.ref for run in self.runs if run.ref.run == "live"]
        waits = any(ref.wakes for ref in live)
        awaited = any(
            ref.listening(step["wait_for"])
            for ref in live
            for step in ref.spec.values()
            if "wait_for" in step
        )
        acts: list[tuple[int, Callable[[Any], None]]] = [
            (12 if not live else 1 if len(self.runs) < MOST_RUNS else 0, self.start),
            (6 if any(ref.items for ref in live) else 0, self.decide),
            (8 if self.good_tokens() else 0, self.submit),
            (5 if self.ready() else 0, self.claim),
            (3 if awaited else 1 if live else 0, self.send),
            (3 if waits else 1 if live else 0, self.pass_time),
            (1 if self.good_tokens() else 0, self.renew),
            (1 if self.good_tokens() else 0, self.escalate),
            (1, self.stray),
            (1, self.repeat),
            (1, self.look),
            (1 if len(live) > 1 else 0, self.cancel),
            (3 if len(self.published) < MOST_DOCUMENTS and not live else 0, self.publish),
        ]
        self.pick(data, "act", *((weight, [act]) for weight, act in acts))(data)

    def publish(self, data: Any) -> None:
        made = data.draw(documents(), "document")
        escalations = data.draw(st.sampled_from(["finance", ""]), "escalations")
        version = self.stage.world.publish(made.text, escalations=escalations or None)
        self.published.append(Published(made, version.number or 0, escalations))

    def start(self, data: Any) -> None:
        about = data.draw(st.sampled_from(self.published[::-1]), "version")
        front = about.made.front
        personal = any(step.get("person") == "initiator" for step in front["steps"])
        who = self.pick(
            data,
            "who",
            (9, ["ada", "ops", "ada" if personal else "worker"]),
            (len(self.runs) and 1, ["limited", "other"]),
        )
        inputs, issues = data.draw(fillings(front["inputs"]), "inputs"), []
        if self.runs and data.draw(seldom, "spoilt"):
            inputs, issues = data.draw(spoilt(front["inputs"], inputs, "inputs"), "inputs")
        mode = data.draw(st.sampled_from([{}, {"mode": "test"}, {"mode": "live"}]), "mode")
        view, refusal = self.write(
            None, who, "start_run", process=front["name"], version=about.number, inputs=inputs, **mode
        )
        expected: Refusal = ("invalid", issues) if issues else None
        if who == "limited":
            expected = "forbidden", None
        elif not issues and who in AGENTS and personal:
            expected = "invalid", ["initiator: a person must start this process"]
        self.agree(refusal, expected)
        if view is not None:
            mails = [MAILS.get(who, ""), about.escalations, list(MAILS.values())]
            ref = Reference(front, inputs, self.by(who), self.now, *mails)
            self.runs.append(Live(view["run"]["id"], ref, mode.get("mode", "live")))

    # ---- agents

    def ready(self) -> list[tuple[Live, str]]:
        return [
            (run, name)
            for run in self.runs
            for name in run.ref.spec
            if run.ref.claim_refusal(name, "") is None
        ]

    def claim(self, data: Any) -> None:
        every = [(run, name) for run in self.runs for name in run.ref.spec]
        run, name = self.pick(data, "step", (9, self.ready()), (1, every))
        ref = self.now_of(run)
        who = data.draw(st.sampled_from(["worker"] * 6 + ["other"] * 3 + ["limited"]), "who")
        expected = ref.claim_refusal(name, self.by(who))
        if who == "limited" and ref.run == "live":
            expected = "forbidden", None
        view, refusal = self.write(run, who, "claim", runId=run.id, stepId=name)
        self.agree(refusal, expected)
        if view is not None:
            assert view["handoff"] == ref.claim(name, self.by(who), view["token"])
            assert view["expiresAt"] == stamp(ref.attempts[name].until or self.now)
            assert bare(view["data"]) == ref.data
            self.tokens.append(Token(run, name, who, view["token"]))

    def good_tokens(self) -> list[Token]:
        return [token for token in self.tokens if token.run.ref.token_refusal(token.step, token.text) is None]

    def pick_token(self, data: Any) -> tuple[Token, str, Reference, Refusal]:
        token = self.pick(data, "token", (12, self.good_tokens()), (1, self.tokens))
        ref = self.now_of(token.run)
        if data.draw(st.integers(0, 15), "stranger") == 15:
            stranger = "other" if token.agent == "worker" else "worker"
            return token, stranger, ref, ("invalid", ["token: does not verify"])
        return token, token.agent, ref, ref.token_refusal(token.step, token.text)

    def renew(self, data: Any) -> None:
        token, who, ref, expected = self.pick_token(data)
        given = data.draw(st.sampled_from([{}, {"progress": "half"}, {"progress": ""}]), "progress")
        result, refusal = self.write(token.run, who, "renew", token=token.text, **given)
        self.agree(refusal, expected)
        if result is not None:
            ref.renew(token.step, result["token"], given.get("progress"))
            self.tokens.append(Token(token.run, token.step, who, result["token"]))

    def escalate(self, data: Any) -> None:
        token, who, ref, expected = self.pick_token(data)
        result, refusal = self.write(token.run, who, "escalate", token=token.text, note="Can't.")
        self.agree(refusal, expected)
        if result is not None:
            ref.escalate(token.step, self.by(who), "Can't.")

    def submit(self, data: Any, *, nested: bool = False) -> None:
        token, who, ref, expected = self.pick_token(data)
        content = self.content(data, token.run, token.step, who)
        begun = expected or ref.hand_in(token.step, content.entry, content.issues, self.by(who))
        call = {"token": token.text, "summary": "", **content.arguments}
        self.finish(data, token.run, begun, who, "submit", call, nested=nested)

    def content(self, data: Any, run: Live, name: str, who: str) -> Content:
        at = (self.runs.index(run), name, who)
        if at in self.kept and data.draw(st.booleans(), "the same again"):
            return self.kept[at]
        step = run.ref.spec[name]
        output, issues = data.draw(fillings(step.get("output", {})), "output"), []
        link = {"kind": "link", "ref": "https://example.org/a"}
        evidence = [link if kind == "link" else self.stage.files[who] for kind in step.get("evidence", [])]
        given: dict[str, Any] = {"summary": "Did it."}
        routes = list(leads_to(step, "next")) if isinstance(step.get("next"), list) else []
        if routes:
            given |= {"next": data.draw(st.sampled_from(routes), "next"), "reason": "Because."}
        spoil = data.draw(st.sampled_from(SPOILS), "spoil")
        if spoil == "output":
            output, issues = data.draw(spoilt(step.get("output", {}), output, "output"), "output")
        elif spoil == "evidence" and evidence:
            issues = [f"evidence: {evidence.pop(0)['kind']} required"]
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
        arguments = {**entry, "evidence": [{"kind": item["kind"], "ref": item["ref"]} for item in evidence]}
        self.kept[at] = Content(arguments, entry, issues)
        return self.kept[at]

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
        if isinstance(begun, Asked):
            self.asks += 1
            answers = self.answers(data, run.ref.spec[begun.step]["check"])
            evaluator.script = ["silence" if answers is None else answers]
            if not nested and data.draw(seldom, "meanwhile"):
                evaluator.before = lambda: self.meanwhile(data, failed)
        _, refusal = self.write(run, who, tool, **call)
        evaluator.before = None
        if failed:
            raise failed[0]
        assert len(evaluator.asked) == self.asks
        if isinstance(begun, Asked):
            begun = self.now_of(run).settle(begun, answers)
            run.touched = True
            if refusal is not None:
                self.views.pop(run.id, None)  # of what was done meanwhile
        elif begun is not None and begun[0] == "not_accepted":
            run.touched = True  # its handoff
        self.agree(refusal, begun)

    def meanwhile(self, data: Any, failed: list[Exception]) -> None:
        """Another call while the evaluator is asked. (What it raises the judge would take for the evaluator's.)"""
        evaluator = self.stage.evaluator
        evaluator.before, script = None, evaluator.script
        acts = [
            self.cancel,
            self.claim,
            self.renew,
            self.escalate,
            self.submit,
            self.decide,
            self.send,
            self.pass_time,
        ]
        act = data.draw(
            st.sampled_from([act for act in acts if self.tokens or act in (self.cancel, self.decide)]), "act"
        )
        try:
            act(data, **({"nested": True} if act in (self.submit, self.decide) else {}))
        except Exception as error:
            failed.append(error)
            raise
        finally:
            evaluator.script = script

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

    # ---- people

    def decide(self, data: Any, *, nested: bool = False) -> None:
        known = [
            (run, name, item)
            for run in self.runs
            for name, item in run.items.items()
            if name in run.ref.items
        ]
        gone = [(run, "", item) for run in self.runs for item in [*run.gone, "w_none"]]
        run, name, item = self.pick(data, "item", (12, known), (1, gone))
        ref = self.now_of(run)
        name = name if name in ref.items else ""
        able = [person for person in PEOPLE if name and self.may(ref, name, person)]
        who = self.pick(data, "who", (12, able), (1, [*PEOPLE, "worker"]))
        likely = ["rejected"] * 3 if name and "on_reject" in ref.spec[name] else []
        takes = [*likely, *(decision for decision in ref.takes(name) if decision != "failed")] if name else []
        decision = self.pick(data, "decision", (12, takes), (1, DECISIONS))
        snapshot = self.pick(data, "snapshot", (12, run.snapshots[-1:]), (1, [*run.snapshots[:-1], "0"]))
        astray = data.draw(st.integers(0, 15), "astray") == 15
        content = Content({}, {}, [])
        if decision == "completed" and name and kind_of(ref.spec[name]) != "approve" and not astray:
            content = self.over(data, ref, name, self.content(data, run, name, who))
        elif decision == "completed":
            content.arguments = {"note": "No."} if astray else {}
        elif decision in NOTED:
            content.arguments = {} if astray else {"note": "No."}
        else:
            content.arguments = (
                {"summary": "x"} if astray else data.draw(st.sampled_from([{}, {"note": "Fine."}]), "note")
            )
        begun = self.misplaced(decision, content.arguments) or self.decide_refusal(
            run, name, item, who, decision, snapshot
        )
        if begun is None:
            begun = self.decided(ref, name, decision, who, content)
        call = {
            "runId": run.id,
            "workItemId": item,
            "snapshot": snapshot,
            "decision": decision,
            **content.arguments,
        }
        self.finish(data, run, begun, who, "decide", call, nested=nested)

    def over(self, data: Any, ref: Reference, name: str, content: Content) -> Content:
        """On a held candidate: all of it, with a summary of one's own perhaps, or something else altogether."""
        held = ref.items[name].candidate
        choice = (
            data.draw(st.sampled_from(["all", "summary", "else"]), "candidate")
            if held is not None
            else "else"
        )
        if held is None or choice == "else":
            return content
        mine = {"summary": "I looked."} if choice == "summary" else {}
        return Content(mine, {**held, **mine}, [])

    def misplaced(self, decision: str, given: dict[str, Any]) -> Refusal:
        found = ["note: not with completed"] if decision == "completed" and "note" in given else []
        if decision != "completed" and "summary" in given:
            found.append("summary: only with completed")
        if decision in NOTED and "note" not in given:
            found.append(f"note: required with {decision}")
        return ("invalid", found) if found else None

    def decide_refusal(
        self, run: Live, name: str, item: str, who: str, decision: str, snapshot: str
    ) -> Refusal:
        ref = run.ref
        if ref.run != "live":
            return ENDED
        if not name:
            return ("not_found", None) if item == "w_none" else ("conflict", ["already_decided"])
        if snapshot != run.snapshots[-1]:
            return "stale", None
        if who in AGENTS or not self.may(ref, name, who):
            return "forbidden", None
        if decision not in ref.takes(name):
            return "invalid", [f"decision: one of {', '.join(ref.takes(name))}"]
        return ("retry", None) if name in ref.attempts and ref.attempts[name].asking else None

    def decided(
        self, ref: Reference, name: str, decision: str, who: str, content: Content
    ) -> Refusal | Asked:
        """What the model makes of a decision that nothing stands against."""
        by = self.by(who)
        if decision != "completed":
            ref.decide(name, decision, by, content.arguments.get("note"))
            return None
        if ref.items[name].escalation is None:
            return ref.hand_in(name, content.entry, content.issues, by)
        return ref.take_over(name, content.entry, content.issues, by)

    def may(self, ref: Reference, name: str, who: str) -> bool:
        item = ref.items[name]
        if item.to in (MAILS[who], *GROUPS[who]):
            return True
        return who == "ops" and (item.to == "" or item.escalation is not None)

    def cancel(self, data: Any) -> None:
        run = self.pick_run(data)
        ref = self.now_of(run)
        who = data.draw(st.sampled_from(["ops", "ops", "ada", "worker"]), "who")
        expected = ENDED if ref.run != "live" else None if who == "ops" else ("forbidden", None)
        result, refusal = self.write(run, who, "cancel", runId=run.id, reason="Over.")
        self.agree(refusal, expected)
        if result is not None:
            ref.cancel(self.by(who), "Over.")

    # ---- events and time

    def send(self, data: Any) -> None:
        run = self.pick_run(data)
        ref = self.now_of(run)
        awaited = [step["wait_for"] for step in ref.spec.values() if "wait_for" in step]
        event = self.pick(data, "event", (6, awaited), (1, ["paid", "never"]))
        who = data.draw(st.sampled_from(["worker", "other", "ops", "ops", "limited", "ada"]), "who")
        given = data.draw(st.sampled_from([{}, {"data": {}}, {"data": {"n": 0.5, "a": [None]}}]), "data")
        expected = ENDED if ref.run != "live" else ("forbidden", None) if who in ("ada", "limited") else None
        result, refusal = self.write(run, who, "send_event", runId=run.id, name=event, **given)
        self.agree(refusal, expected)
        if result is not None:
            listening, taken = ref.listening(event), result["consumedBy"]
            assert taken in listening if listening else taken is None
            ref.deliver(event, self.by(who), given.get("data", {}), taken)

    def pass_time(self, data: Any) -> None:
        self.now += data.draw(st.sampled_from(JUMPS), "jump")
        self.stage.tally["pass_time"] += 1
        for run in self.runs:
            self.now_of(run)
            run.touched = True
        self.views.clear()
        if data.draw(st.booleans(), "wake"):
            waking.wake()
            assert waking.wake() == 0

    # ---- asking again, and reading

    def stray(self, data: Any) -> None:
        """A call that is probably out of place."""
        with_tokens = [self.renew, self.escalate, self.submit] if self.tokens else []
        data.draw(st.sampled_from([self.claim, self.decide, self.send, *with_tokens]), "act")(data)

    def repeat(self, data: Any) -> None:
        """An earlier write again, or changed, or by somebody else. Whatever comes of it, nothing may change."""
        who, tool, arguments, result = data.draw(st.sampled_from(self.answered[::-1]), "earlier")
        how = data.draw(st.sampled_from(["same", "same", "changed", "stranger"]), "how")
        if how == "changed":
            key = next(key for key in ("runId", "token", "process") if key in arguments)
            arguments = {**arguments, key: arguments[key] + "x"}
        elif how == "stranger":
            who = {"worker": "other", "other": "worker", "ops": "ada"}.get(who, "ops")
        again, refusal = self.call(who, tool, **arguments)
        self.agree(refusal, None if how == "same" else ("conflict", ["requestId: used before"]))
        assert how != "same" or bare(again) == result

    def look(self, data: Any) -> None:
        """get_work, page by page, and list_runs."""
        who = data.draw(st.sampled_from([*AGENTS, *PEOPLE]), "who")
        expected = [] if who == "limited" else [(run.id, name) for run, name in self.ready()]
        if who in PEOPLE:
            expected = [
                (run.id, name) for run in self.runs for name in run.ref.items if self.may(run.ref, name, who)
            ]
        found: list[tuple[str, str]] = []
        paging: dict[str, Any] = {"limit": data.draw(st.sampled_from([1, 3, 100]), "limit")}
        while paging:
            page, _ = self.call(who, "get_work", **paging)
            found += [(item["runId"], item.get("workItem", item)["stepId"]) for item in page["items"]]
            paging = {**paging, "cursor": page["nextCursor"]} if page["nextCursor"] else {}
        assert sorted(found) == sorted(expected)
        state = data.draw(st.sampled_from(["active", "waiting", "ended", "cancelled"]), "state")
        page, _ = self.call("worker", "list_runs", state=state)
        assert {item["id"] for item in page["items"]} == {
            run.id for run in self.runs if run.ref.run_state == state
        }

    @invariant()
    def all_is_as_the_model_says(self) -> None:
        for run in self.runs:
            if run.touched:
                self.now_of(run)
                view = self.views.pop(run.id, None) or bare(
                    pipeline.call("get_run", self.stage.callers["ops"], {"runId": run.id})
                )
                fits("get_run", view)
                compare_view(run, view, self.stage.groups)
        compare_tables(self.runs)


# ---- running


@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
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
        # a failure is told as it was found, at once; SHRINK=1 takes minutes to make it small
        phases=[Phase.generate, Phase.shrink] if os.environ.get("SHRINK") else [Phase.generate],
    )  # fmt: skip
    try:
        run_as_test(machine, settings=profile)
    finally:
        moves = sum(count for tool, count in stage.tally.items() if tool not in READS)
        print(moves, "transitions:", dict(sorted(stage.tally.items())), dict(sorted(stage.told.items())))
    assert moves >= 1000


def test_a_thousand_random_calls_agree_with_the_protocol(world, evaluator):
    run_machine(Stage(world, evaluator), 24, 65)


@pytest.mark.long
@pytest.mark.parametrize("shard", range(10))
def test_ten_thousand_random_calls_agree_with_the_protocol(world, evaluator, shard):
    run_machine(Stage(world, evaluator), 24, 65, shard)
