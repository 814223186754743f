"""Drives a published process to each of its outcomes, knowing of it only what the tools tell.

At each choice (an agent's route, a person's decision, an event or the passing of time) the walker takes the
first that it has not met, and keeps the others, with the way there, for a run of their own. So every choice
of every step is taken once. Two things no tool tells, so the walker is given them: the names of the events
that a process waits for, and how long a pause may be.

`python -m tests.conformance.walker` writes docs/conformance.md.
"""

import base64
import os
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

if TYPE_CHECKING:
    from processes.callers import Caller

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("SHARED_DIR") or ROOT.parent / "shared")
TABLE = ROOT / "docs" / "conformance.md"
MOST_ACTS, MOST_PAUSES = 60, 40
ESCALATE = "escalate"
HEAD = """\
# Driven to every outcome

Each process of the public conformance data is published here, and a scripted walk drives runs of it to each
outcome that its file declares: its finish words, `rejected` where a rejection ends the run, and `failed`. The
walk reads tool results only. It takes every route of every agent and every decision of every person once, loops
once after each rejection that leads back, escalates one step and takes each decision on that, lets events come
and time-outs pass. Every answer is checked against our contracts and the public schemas.

"Runs" is how many of the walk's runs ended so; "steps" is how many acts (submissions, escalations, decisions,
events, pauses) the shortest of them took. `python -m tests.conformance.walker` writes this page, and a test
fails where it is out of date.

| process | outcome | runs | steps |
|---|---|---|---|
"""

Choice = tuple[str, str]  # a step and what is done there


def files() -> list[Path]:
    folders = [SHARED / "conformance" / part for part in ("fixtures", "marketplace")]
    return sorted(path for folder in folders for path in folder.glob("*/PROCESS.md"))


def label(path: Path) -> str:
    return f"{path.parts[-3]}/{path.parts[-2]}"


@dataclass
class Cast:
    """Who acts: an agent, and people by the group (as views show it) or the address that an item names."""

    agent: "Caller"
    groups: Mapping[str, "Caller"]
    people: Mapping[str, "Caller"]

    def of(self, assigned: Mapping[str, str]) -> "Caller":
        return self.groups[assigned["group"]] if "group" in assigned else self.people[assigned["person"]]


@dataclass
class Walk:
    """All runs of one process. `ended`: for each outcome, how many acts each run took."""

    process: str
    cast: Cast
    events: Sequence[str]
    pause: timedelta
    now: datetime = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
    ended: dict[str, list[int]] = field(default_factory=dict)
    taken: set[Choice] = field(default_factory=set)
    waiting: list[list[Choice]] = field(default_factory=lambda: [[]])  # ways that are still to be gone

    def go(self) -> None:
        with mock.patch("django.utils.timezone.now", side_effect=lambda: self.now):
            inputs = next(
                item["inputs"] for item in self._all("list_processes") if item["name"] == self.process
            )
            while self.waiting:
                Run(self, self.waiting.pop(), inputs).go()

    def call(self, caller: "Caller", tool: str, **arguments: Any) -> dict[str, Any]:
        from processes import pipeline
        from processes.tools import TOOLS
        from tests.processes.comparing import fits

        if TOOLS[tool].writes:
            arguments["requestId"] = str(uuid.uuid4())
        result = pipeline.call(tool, caller, arguments)
        fits(tool, result)
        return result

    def _all(self, tool: str, **arguments: Any) -> Iterator[dict[str, Any]]:
        """Every item of a list, page by page."""
        while True:
            page = self.call(self.cast.agent, tool, **arguments)
            yield from page["items"]
            if page["nextCursor"] is None:
                return
            arguments["cursor"] = page["nextCursor"]

    def work(self, run: str) -> dict[str, Any] | None:
        items = self._all("get_work", process=self.process)
        return next((item for item in items if item["runId"] == run), None)


class Run:
    """One run: first along a way that is known, then on by the first choices."""

    def __init__(self, walk: Walk, way: list[Choice], inputs: Mapping[str, Any]) -> None:
        self.walk, self.way = walk, way
        self.gone: list[Choice] = []
        self.view = self._start({name: self.value(field) for name, field in inputs.items()})
        self.id = self.view["run"]["id"]

    def _start(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        from processes.errors import ToolError

        cast, call = self.walk.cast, {"process": self.walk.process, "inputs": inputs}
        try:
            return self.walk.call(cast.agent, "start_run", **call)
        except ToolError as refused:
            if refused.code != "invalid":
                raise
        return self.walk.call(
            next(iter(cast.people.values())), "start_run", **call
        )  # it has steps for its initiator

    def go(self) -> None:
        while self.view["run"]["state"] in ("active", "waiting"):
            assert len(self.gone) < MOST_ACTS, f"{self.walk.process} goes round in a circle: {self.gone}"
            if self.view["run"]["state"] == "active":
                self._agent()
            elif self.view["workItems"]:
                order = [step["id"] for step in self.view["steps"]]
                self._person(min(self.view["workItems"], key=lambda item: order.index(item["stepId"])))
            else:
                self._wait()
        assert self.gone[: len(self.way)] == self.way
        self.walk.ended.setdefault(self.view["run"]["outcome"], []).append(len(self.gone))

    def choose(self, step: str, options: Sequence[str]) -> str:
        if len(self.gone) < len(self.way):
            chosen = self.way[len(self.gone)][1]
        else:
            # one escalation, and each decision on it, do for a process
            met = {option: (ESCALATE if option == ESCALATE else step, option) for option in options}
            new = [option for option in options if met[option] not in self.walk.taken]
            chosen = (new or options)[0]
            self.walk.waiting += [[*self.gone, (step, option)] for option in new[1:]]
            self.walk.taken.update(met.values())
        self.gone.append((step, chosen))
        return chosen

    # ---- who acts

    def _agent(self) -> None:
        work, agent = self.walk.work(self.id), self.walk.cast.agent
        assert work is not None, f"{self.walk.process} is active, and no agent has work: {self.view['steps']}"
        call = {key: value for key, value in work["claim"]["arguments"].items() if key != "requestId"}
        claim = self.walk.call(agent, work["claim"]["tool"], **call)
        chosen = self.choose(claim["step"]["id"], [*routes(claim["step"]), ESCALATE])
        if chosen == ESCALATE:
            self.view = self.walk.call(agent, "escalate", token=claim["token"], note="I can't tell.")
        else:
            made = self.submission(claim["step"], chosen, agent)
            self.view = self.walk.call(agent, "submit", token=claim["token"], **made)

    def _person(self, item: Mapping[str, Any]) -> None:
        decisions = item["decide"]["decisions"]
        options = [
            f"{decision} {route}".strip()
            for decision in sorted(decisions, key=lambda decision: decision == "failed")
            for route in (routes(item) if decision == "completed" else [""])
        ]
        at = item["stepId"] if item["escalation"] is None else ESCALATE
        decision, _, route = self.choose(at, options).partition(" ")
        person = self.walk.cast.of(item["assignedTo"])
        more: dict[str, Any] = {"note": "As I see it."}
        if decision == "completed":
            more = self.submission(item, route if route in routes(item) else routes(item)[0], person)
        call = {key: value for key, value in item["decide"]["arguments"].items() if key != "requestId"}
        self.view = self.walk.call(person, item["decide"]["tool"], **call, decision=decision, **more)

    def _wait(self) -> None:
        kinds = ("wait", "wait_until", "wait_for")
        step = next(s for s in self.view["steps"] if s["state"] == "waiting" and s["kind"] in kinds)
        options = [*self.walk.events, "time"] if step["kind"] == "wait_for" else ["time"]
        chosen = self.choose(step["id"], options)
        if chosen != "time":
            self.walk.call(
                self.walk.cast.agent, "send_event", runId=self.id, name=chosen, data={"seen": True}
            )
        for _ in range(MOST_PAUSES if chosen == "time" else 1):
            if chosen == "time":
                self.walk.now += self.walk.pause
            self.view = self.walk.call(self.walk.cast.agent, "get_run", runId=self.id)
            if next(s for s in self.view["steps"] if s["id"] == step["id"])["state"] != "waiting":
                return
        # not the event it waits for, or no time-out: another of the choices will do

    # ---- what is handed in

    def submission(self, asked: Mapping[str, Any], route: str, caller: "Caller") -> dict[str, Any]:
        fields = asked["output"] or {}
        required = {name: f for name, f in fields.items() if isinstance(f, str) or not f.get("optional")}
        return {
            "output": {name: self.value(f) for name, f in required.items()},
            "evidence": [self._evidence(kind, caller) for kind in asked["evidence"] or []],
            "summary": "Done as asked.",
            **({"next": route, "reason": "It is this one's turn."} if route else {}),
        }

    def _evidence(self, kind: str, caller: "Caller") -> dict[str, str]:
        if kind == "link":
            return {"kind": "link", "ref": "https://example.org/record"}
        content = base64.b64encode(b"Seen.").decode()
        file = {"fileName": "seen.txt", "contentType": "text/plain", "contentBase64": content}
        return {"kind": "file", "ref": self.walk.call(caller, "upload", **file)["id"]}

    def value(self, declared: Any) -> Any:
        spec = {"type": declared} if isinstance(declared, str) else declared
        if "one_of" in spec:
            return spec["one_of"][0]
        later = self.walk.now + timedelta(days=3)
        values = {
            "string": "text", "number": 1, "boolean": True, "object": {"a": 1}, "date": f"{later:%Y-%m-%d}",
            "datetime": f"{later:%Y-%m-%dT%H:%M:%SZ}", "person": next(iter(self.walk.cast.people)),
            "list": [self.value(spec["items"])] if "items" in spec else [],
        }  # fmt: skip
        return values[spec["type"]]


def routes(asked: Mapping[str, Any]) -> list[str]:
    return [route["to"] for route in asked["next"] or []] or [""]


# ---- one process, and all


@contextmanager
def confident() -> Iterator[None]:
    """An evaluator that passes whatever it is asked about."""
    from tests.world import ScriptedEvaluator

    evaluator = ScriptedEvaluator([[1.0]])
    with (
        mock.patch.multiple("checks.evaluators", configured=lambda: evaluator),
        mock.patch.multiple("checks.judging", configured=lambda: evaluator),
    ):
        yield


def walk(path: Path) -> Walk:
    """Publish a file, its roles played by one person each, and go every way. Needs a database."""
    from processes.document import parse
    from processes.steps import duration
    from tests.world import World

    world, text = World(), path.read_text("utf-8")
    document = parse(text).document
    assert document is not None
    groups = {f"g_{world.group(role).pk}": world.person(f"of-{role}"[:150], role) for role in document.roles}
    groups["g_operators"] = world.person("operator", operator=True)
    cast = Cast(world.agent(), groups, {"casey@example.org": world.person("casey")})
    # what no tool tells
    steps = document.steps.values()
    events = sorted({step.text for step in steps if step.kind == "wait_for"})
    lengths = [step.timeout or duration(step.text) for step in steps if step.kind in ("wait", "wait_for")]
    made = Walk(
        document.name, cast, events, max([timedelta(days=1), *(length for length in lengths if length)])
    )
    with confident():
        world.publish(text)
        made.go()
    return made


def declared(path: Path) -> set[str]:
    """The outcomes that a file promises: only to compare with."""
    from processes.document import parse

    document = parse(path.read_text("utf-8")).document
    assert document is not None
    steps = document.steps.values()
    ends = {"rejected"} if any(step.kind == "approve" and not step.on_reject for step in steps) else set()
    return {step.text for step in steps if step.kind == "finish"} | ends | {"failed"}


def rows(name: str, walk: Walk) -> list[str]:
    ended = sorted(walk.ended.items())
    return [f"| {name} | `{outcome}` | {len(runs)} | {min(runs)} |" for outcome, runs in ended]


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import django

    django.setup()
    from django.db import connection, transaction

    from processes.versions import compiled

    name = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0)
    found = []
    try:
        for path in files():
            block: Any = transaction.atomic()
            block._from_testcase = True  # the pipeline's own transactions may open in it
            with block:
                found += rows(label(path), walk(path))
                transaction.set_rollback(True)
            compiled.cache_clear()
            print(found[-1])
    finally:
        connection.creation.destroy_test_db(name, verbosity=0)
    TABLE.write_text(HEAD + "\n".join(found) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
