"""SQL statements per call through the REST door: at most 16 for a write, 10 for a read, none growing.

Counted with warm versions, the caller's authentication included; BEGIN, COMMIT and SAVEPOINT lines are not
counted (and no test's transaction is open, so that there are no savepoints of its own). A submission with a
check is two transactions, shown apart and counted together.
"""

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from approvals import rules
from processes.tools import TOOLS
from tests.processes.flows import CHECKED_TASK, ERRAND, PEOPLE, cast, signing, work
from tests.processes.http import Http
from tests.processes.test_tool_upload import given
from tests.world import rid

WRITE, READ = 16, 10
SIZES = (3, 30)
_UNCOUNTED = re.compile(r"(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)", re.IGNORECASE)


CHECKED = """\
  - id: last
    agent: Do it.
    output: { text: string }
    evidence: [file]
    check:
      - { ask: One., pass: 0.9, fail: 0.5 }
      - { ask: Two., pass: 0.9, fail: 0.5 }
"""
REST = """\
  - { id: sign, approve: Sign it., person: finance, on_reject: %s }
  - { id: yours, task: Yours., person: initiator, next: %s }
"""


def process(kind: str, size: int) -> str:
    """`front`: a checked step, an approval, a task, and `size` steps to come. `chain`: `size` steps, then those
    three, and the approval goes back to the start.
    """
    many = "".join(f"  - {{ id: s{n}, agent: Do it. }}\n" for n in range(size))
    steps = {
        "front": CHECKED + REST % ("last", "s0") + many,
        "chain": many + CHECKED + REST % ("s0", "done"),
    }[kind]
    return (
        f"---\nname: {kind}-{size}\ndescription: A long one.\ninputs: {{ what: string }}\nsteps:\n"
        f"{steps}  - {{ id: done, finish: done }}\n---\n"
    )


FILED_TASK = """\
---
name: filed-task
description: A task with a file and a check, then an approval.
steps:
  - id: write
    task: Write it.
    person: finance
    output: { text: string }
    evidence: [file]
    check: [{ ask: One., pass: 0.9, fail: 0.5 }]
  - { id: sign, approve: Sign it., person: finance }
  - { id: done, finish: done }
---
"""


@dataclass
class Meter:
    """Counts the statements of HTTP calls, parted at each asking of the evaluator."""

    evaluator: Any
    table: dict[str, dict[int, list[int]]] = field(default_factory=dict)

    def call(self, row: str, size: int, http: Http, tool: str, arguments: dict[str, Any], *, ok=True) -> Any:
        parts: list[int] = []
        rules.prepare()  # read once in half a minute, by whoever comes first
        with CaptureQueriesContext(connection) as captured:
            self.evaluator.before = lambda: parts.append(len(captured))
            _, envelope = http.post(tool, arguments)
            self.evaluator.before = None
        assert envelope["ok"] is ok, (row, envelope)
        edges = [0, *parts, len(captured)]
        self.table.setdefault(row, {})[size] = [
            sum(not _UNCOUNTED.match(query["sql"]) for query in captured.captured_queries[start:end])
            for start, end in pairwise(edges)
        ]
        return envelope.get("data")

    def __str__(self) -> str:
        lines = [f"{'call':40} {'  '.join(f'n={size:<6}' for size in SIZES)}"]
        for row, counts in self.table.items():
            cells = "  ".join(f"{'+'.join(map(str, counts.get(size, []))):8}" for size in SIZES)
            lines.append(f"{row:40} {cells}")
        return "\n".join(lines)


@pytest.mark.django_db(transaction=True)
def test_statements_per_call(world, evaluator):
    meter = Meter(evaluator)
    c = cast(world)
    people = {name: Http(user=User.objects.get(username=name)) for name in ("ada", "ops")}
    agent = Http(key=world.keys[c.agent.id])
    # each version is parsed once per process, and is not counted
    for text, roles in (
        (CHECKED_TASK, {"writers": "finance"}), (ERRAND, {}), (PEOPLE, {}), (FILED_TASK, {})
    ):  # fmt: skip
        world.publish(text, **roles)
    for size in SIZES:
        world.publish(process("chain", size))
        world.publish(process("front", size), escalations="finance")
        for _ in range(size - len(SIZES)):  # more of everything that lists show
            world.publish(CHECKED_TASK.replace("checked-task", f"other-{rid()[:8]}"), writers="finance")
            world.call(c.ada, "start_run", process="checked-task", inputs={})
            _start(world, c.ada, size)
        _agents_part(meter, size, world, c, agent)
        _peoples_part(meter, size, world, c, people)
        _reads(meter, size, world, c, agent, people["ada"])
    _judge(meter)


def _judge(meter: Meter) -> None:
    told = {row.split(maxsplit=1)[0] for row in meter.table}
    assert told == set(TOOLS), f"not counted: {set(TOOLS) - told}"
    wrong = []
    for row, counts in meter.table.items():
        most = WRITE if TOOLS[row.split(maxsplit=1)[0]].writes else READ
        if counts[SIZES[0]] != counts[SIZES[1]] or sum(counts[SIZES[1]]) > most:
            wrong.append(row)
    assert not wrong, f"{wrong}\n{meter}"


def _start(world: Any, by: Any, size: int, kind: str = "front") -> dict[str, Any]:
    return world.call(by, "start_run", process=f"{kind}-{size}", inputs={"what": "x"})


def _text(ref: str) -> dict[str, Any]:
    return {"output": {"text": "t"}, "summary": "s", "evidence": [{"kind": "file", "ref": ref}]}


def _handed_in(world: Any, c: Any, size: int) -> dict[str, Any]:
    """A run whose checked step was handed in, with a file, and judged as the script says."""
    run = _start(world, c.ada, size)
    ref = world.call(c.agent, "upload", **given())["id"]
    work(world, c.agent, run, "last", **_text(ref))
    return run


def _all_done(world: Any, c: Any, size: int) -> dict[str, Any]:
    run = _start(world, c.ada, size, "chain")
    for n in range(size):
        work(world, c.agent, run, f"s{n}", output={}, summary="s")
    ref = world.call(c.agent, "upload", **given())["id"]
    work(world, c.agent, run, "last", **_text(ref))
    return run


def _agents_part(meter: Meter, size: int, world: Any, c: Any, agent: Http) -> None:
    def measure(row: str, **arguments: Any) -> Any:
        return meter.call(row, size, agent, row.split(maxsplit=1)[0], {**arguments, "requestId": rid()})

    limited = Http(key=world.keys[world.agent(only=[f"chain-{size}"]).id])
    run = _start(world, c.ada, size, "chain")["run"]["id"]
    call = {"runId": run, "stepId": "s0", "requestId": rid()}
    meter.call("claim (by a limited agent)", size, limited, "claim", call)
    run = _start(world, c.ada, size, "chain")["run"]["id"]
    token = measure("claim", runId=run, stepId="s0")["token"]
    token = measure("renew", token=token, progress="p")["token"]
    call = {"token": token, "output": {}, "summary": "s", "requestId": rid()}
    meter.call("submit", size, agent, "submit", call)
    meter.call("submit (replayed)", size, agent, "submit", call)
    token = world.claim(c.agent, {"run": {"id": run}}, "s1")["token"]
    measure("escalate", token=token, note="n")
    measure("send_event", runId=run, name="arrived")
    ref = measure("upload", **given())["id"]
    for row, script, ok in (
        ("submit (check passes)", [0.95], True),
        ("submit (check fails)", [0.1], False),
        ("submit (check unsure)", [0.7], True),
        ("submit (evaluator down)", "down", False),
    ):
        run = _start(world, c.ada, size)
        meter.evaluator.script = [script]
        token = world.claim(c.agent, run, "last")["token"]
        call = {"token": token, **_text(ref), "requestId": rid()}
        meter.call(row, size, agent, "submit", call, ok=ok)
    meter.call("submit (stored verdict)", size, agent, "submit", {**call, "summary": "other"}, ok=False)
    meter.evaluator.script = [[0.95]]


def _peoples_part(meter: Meter, size: int, world: Any, c: Any, people: dict[str, Http]) -> None:
    ada, ops = people["ada"], people["ops"]

    def decide(row: str, by: Http, caller: Any, run: dict[str, Any], decision: str, **more: Any) -> None:
        call = world.item(caller, run)["decide"]["arguments"]
        meter.call(row, size, by, "decide", {**call, "decision": decision, **more, "requestId": rid()})

    for row, name, inputs in (
        ("start_run", f"front-{size}", {"what": "x"}),
        ("start_run (a task first)", "checked-task", {}),
        ("start_run (a named person first)", "people", {"owner": "ada"}),
    ):
        world.call(c.ada, "start_run", process=name, inputs=inputs)  # warm
        meter.call(row, size, ada, "start_run", {"process": name, "inputs": inputs, "requestId": rid()})
    run = _handed_in(world, c, size)
    decide("decide (approved)", ada, c.ada, run, "approved")
    decide("decide (completed)", ada, c.ada, run, "completed")
    decide("decide (approved, run ends)", ada, c.ada, signing(world, c.agent), "approved")
    run = world.call(c.ada, "start_run", process="people", inputs={"owner": "ada"})
    boss = {"output": {"boss": "ops"}, "next": "allow", "reason": "r"}
    decide("decide (completed, a person next)", ada, c.ada, run, "completed", **boss)
    decide("decide (rejected, all reworked)", ada, c.ada, _all_done(world, c, size), "rejected", note="n")
    for row, decision, more in (
        ("decide (returned)", "returned", {"note": "n"}),
        ("decide (candidate whole)", "completed", {}),
        ("decide (candidate changed)", "completed", {"summary": "other"}),
        ("decide (failed)", "failed", {"note": "n"}),
    ):
        meter.evaluator.script = [[0.7]]
        decide(row, ada, c.ada, _handed_in(world, c, size), decision, **more)
    # the longest of all: a person's files, a check, and an approval that follows
    ref = world.call(c.ada, "upload", **given())["id"]
    task = world.call(c.ada, "start_run", process="filed-task", inputs={})
    decide("decide (task's check, files, an approval next)", ada, c.ada, task, "completed", **_text(ref))
    for row, script in (("passes", [0.95]), ("unsure", [0.7])):
        meter.evaluator.script = [script]
        task = world.call(c.ada, "start_run", process="checked-task", inputs={})
        if script == [0.7]:
            task = _unsure_task(world, c)
        decide(f"decide (task's check {row})", ada, c.ada, task, "completed", output={"text": "t"})
    meter.evaluator.script = [[0.95]]
    run = _start(world, c.ada, size)
    meter.call("cancel", size, ops, "cancel", {"runId": run["run"]["id"], "reason": "r", "requestId": rid()})


def _unsure_task(world: Any, c: Any) -> dict[str, Any]:
    text = CHECKED_TASK.replace("check: The text is kind.", "check: [{ ask: Kind?, pass: 0.9, fail: 0.5 }]")
    name = f"unsure-{rid()[:8]}"
    world.publish(text.replace("checked-task", name), writers="finance")
    return world.call(c.ada, "start_run", process=name, inputs={})


def _reads(meter: Meter, size: int, world: Any, c: Any, agent: Http, ada: Http) -> None:
    meter.evaluator.script = [[0.7]]
    unsure = _handed_in(world, c, size)
    meter.evaluator.script = [[0.95]]
    reads: list[tuple[str, Http, str, dict[str, Any]]] = [
        ("describe", agent, "describe", {}),
        ("list_processes", agent, "list_processes", {}),
        ("get_run", agent, "get_run", {"runId": unsure["run"]["id"]}),
        ("get_run (by a person)", ada, "get_run", {"runId": unsure["run"]["id"]}),
        ("get_work", agent, "get_work", {"limit": 100}),
        ("get_work (by a person)", ada, "get_work", {"limit": 100}),
        ("list_runs", agent, "list_runs", {"limit": 100, "inputs": {"what": "x"}}),
    ]
    for _, http, tool, arguments in reads:
        http.data(tool, arguments)  # warm
    for row, http, tool, arguments in reads:
        meter.call(row, size, http, tool, arguments)
