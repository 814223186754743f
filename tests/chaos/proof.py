"""After the kills: is every acknowledged write there, and there once?"""

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import httpx
import psycopg

from tests.chaos.clients import Caller, Refused
from tests.chaos.records import Record

REPLAYED = 300  # acknowledged writes that are sent again at the end


@dataclass
class Findings:
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        return not (self.lost or self.doubled or self.stuck or self.wrong)

    def as_json(self) -> dict[str, list[str]]:
        return {name: getattr(self, name)[:20] for name in ("lost", "doubled", "stuck", "wrong")}


def prove(record: Record, operator: Caller, dsn: str) -> Findings:
    found = Findings()
    views = {run: operator.read("get_run", runId=run) for run in record.runs}
    _runs(record, views, found)
    _marks(record, views, found)
    _files(record, views, found)
    _database(record, views, dsn, found)
    _replays(record, operator, views, found)
    _receipts(found)
    found.wrong += record.faults
    return found


def _runs(record: Record, views: dict[str, Any], found: Findings) -> None:
    for run, view in views.items():
        if view["run"]["state"] != "ended":
            states = {step["id"]: step["state"] for step in view["steps"]}
            found.stuck.append(f"{run} ({record.runs[run]}): {states}")
        for name, entry in view["data"]["steps"].items():
            if record.runs[run] != "chaos-work" and entry["history"]:
                found.doubled.append(f"{run} {name}: completed more than once, without a rejection")


def _marks(record: Record, views: dict[str, Any], found: Findings) -> None:
    stands: Counter[str] = Counter()
    for run, view in views.items():
        for mark in _marks_in(view["data"]):
            stands[mark] += 1
            if mark in record.refused:
                found.wrong.append(f"{run}: {mark} is there, though it was refused ({record.refused[mark]})")
            elif record.marks.get(mark, run) != run:
                found.wrong.append(f"{run}: {mark} belongs to {record.marks[mark]}")
            elif mark not in record.marks:
                found.wrong.append(f"{run}: {mark} is there, and nobody was told so")
    for mark, run in record.marks.items():
        if stands[mark] == 0:
            found.lost.append(f"{run}: {mark} was acknowledged and is not there")
        elif stands[mark] > 1:
            found.doubled.append(f"{run}: {mark} is there {stands[mark]} times")


def _marks_in(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [mark for each in value.values() for mark in _marks_in(each)]
    if isinstance(value, list):
        return [mark for each in value for mark in _marks_in(each)]
    return [value] if isinstance(value, str) and value.startswith("n-") else []


def _files(record: Record, views: dict[str, Any], found: Findings) -> None:
    with httpx.Client(trust_env=False) as http:
        for run, view in views.items():
            for entry in view["data"]["steps"].values():
                for item in entry.get("evidence", ()):
                    if item["kind"] == "file" and http.get(item["url"]).content != record.files[item["ref"]]:
                        found.lost.append(f"{run}: the file {item['ref']} is not what was uploaded")


def _database(record: Record, views: dict[str, Any], dsn: str, found: Findings) -> None:
    """What no tool tells: how many runs there are, the notices, and work that nobody would find again."""
    with psycopg.connect(dsn) as connection:
        rows = connection.execute("SELECT id FROM processes_run").fetchall()
        found.doubled += [f"{run}: nobody was told of it" for (run,) in rows if run not in record.runs]
        late = [run for run, process in record.runs.items() if process == "chaos-late"]
        told = Counter(run for (run,) in connection.execute("SELECT run_id FROM processes_notice").fetchall())
        found.lost += [f"{run}: no notice that it is overdue" for run in late if not told[run]]
        found.doubled += [f"{run}: {told[run]} notices" for run in late if told[run] > 1]
        for what, sql in _LEFT_OVER.items():
            found.stuck += [f"{what}: {row[0]}" for row in connection.execute(sql).fetchall()]
        entries = connection.execute(
            "SELECT run_id, array_agg(number ORDER BY number) FROM processes_historyentry GROUP BY run_id"
        ).fetchall()
        found.wrong += [
            f"{run}: its history has gaps" for run, n in entries if n != list(range(1, len(n) + 1))
        ]


_LEFT_OVER = {
    "a submission of an ended run": (
        "SELECT b.id FROM processes_submission b JOIN processes_attempt a ON a.id = b.attempt_id JOIN "
        "processes_step s ON s.id = a.step_id JOIN processes_run r ON r.id = s.run_id "
        "WHERE b.state IN ('checking', 'error', 'held') AND r.state = 'ended'"
    ),
    "an open item of an ended run": (
        "SELECT i.id FROM processes_workitem i JOIN processes_run r ON r.id = i.run_id "
        "WHERE i.state = 'open' AND r.state <> 'active' AND r.state <> 'waiting'"
    ),
    "a row of the queue without its item": (
        "SELECT q.item_id FROM approvals_queueentry q JOIN processes_workitem i ON i.id = q.item_id "
        "WHERE i.state <> 'open'"
    ),
}


def _replays(record: Record, operator: Caller, views: dict[str, Any], found: Findings) -> None:
    """The same calls once more: each gets its result again, and nothing moves."""
    callers = {caller.name: caller for caller in operator.others}
    for ack in operator.random.sample(record.acks, min(REPLAYED, len(record.acks))):
        again = callers[ack.caller]._until_answered(ack.tool, ack.arguments)
        if isinstance(again, Refused):
            found.lost.append(f"{ack.run}: {ack.tool} was acknowledged, and again it is {again}")
    for run, view in views.items():
        now = operator.read("get_run", runId=run)
        if json.dumps(_lasting(now), sort_keys=True) != json.dumps(_lasting(view), sort_keys=True):
            found.doubled.append(f"{run}: sending old calls again changed it")


def _receipts(found: Findings) -> None:
    """Every receipt is in its place and signed, and what each promises is what is on record."""
    # only now are the settings those of the cluster
    from checks.receipts import export, exporting, keys
    from processes import proofs
    from processes.models import Run

    read = export.check(exporting.lines(), keys.published())
    found.wrong += [f"receipts, {problem}" for problem in read.problems]
    for run in Run.objects.defer("data", "inputs").filter(receipts__gt=0):
        proved = proofs.of_run(run)
        told = [*proved.wrong, *(text for proof in proved.proofs for text in proof.wrong)]
        found.wrong += [f"{run}: {text}" for text in told]


def _lasting(view: dict[str, Any]) -> Any:
    """Without the addresses of files, which are new each time."""

    def strip(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: strip(each) for key, each in value.items() if key != "url"}
        return [strip(each) for each in value] if isinstance(value, list) else value

    return strip(view)
