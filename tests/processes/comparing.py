"""Our runs held against the reference model: what a view says, and what the tables hold beside it."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

from checks import codec
from processes import contracts
from tests.processes.documents import kind_of
from tests.processes.public import public_issues
from tests.processes.reference import LIVE, Reference, stamp

# an attempt that is live, in SQL of our own
_LIVE = "a.number = s.activations AND s.state IN ('ready', 'claimed', 'waiting')"


class Named:
    """Shown in a failing example by its own words, not field by field."""

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: FBT001 - the printer's own signature
        printer.text(repr(self))


@dataclass(repr=False)
class Live(Named):
    """A run beside its model."""

    id: str
    ref: Reference
    mode: str
    items: dict[str, str] = field(default_factory=dict)  # step → its open item
    gone: list[str] = field(default_factory=list)  # ids of items that were closed
    snapshots: list[str] = field(default_factory=list)  # of run data, as they came
    data: str = ""
    revision: int = 0
    touched: bool = True  # since it was last compared

    def __repr__(self) -> str:
        return self.id


def bare(value: Any) -> Any:
    """Without what is made anew at each answer: files' addresses, and the mark of a replay."""
    if isinstance(value, dict):
        return {key: bare(item) for key, item in value.items() if key not in ("url", "replayed")}
    return [bare(item) for item in value] if isinstance(value, list) else value


def fits(tool: str, result: dict[str, Any]) -> None:
    assert contracts.result_issues(tool, result) == []
    assert public_issues(tool, result) == []


def compare_view(run: Live, view: dict[str, Any], groups: dict[str, str]) -> None:
    """A run view. Notes which items are open now, and which no longer."""
    ref, about = run.ref, view["run"]
    assert {key: about[key] for key in ("state", "outcome", "ended", "mode", "startedBy")} == {
        "state": ref.run_state, "outcome": ref.outcome, "ended": ref.ended, "mode": run.mode, "startedBy": ref.by,
    }  # fmt: skip
    assert {step["id"]: step["state"] for step in view["steps"]} == {
        name: ref.shown(name) for name in ref.spec
    }
    for step in view["steps"]:
        if step["state"] in LIVE:
            due = ref.due.get(step["id"])
            told = {"due": stamp(due), "overdue": due < ref.at} if due else {}
            assert {key: step[key] for key in ("due", "overdue") if key in step} == told
    assert view["data"] == ref.data
    assert {item["stepId"] for item in view["workItems"]} == set(ref.items)
    for item in view["workItems"]:
        _compare_item(ref, item, groups)
    found = {item["stepId"]: item["id"] for item in view["workItems"]}
    items = {name: found[name] for name in ref.spec if name in found}
    run.gone += [old for name, old in run.items.items() if items.get(name) != old]
    run.items = items


def _compare_item(ref: Reference, item: dict[str, Any], groups: dict[str, str]) -> None:
    name, to = item["stepId"], item["assignedTo"]
    model, attempt = ref.items[name], ref.attempts.get(name)
    assert (groups[to["group"]] if "group" in to else to["person"]) == model.to
    assert item["escalation"] == model.escalation
    assert item["handoff"] == ((attempt and attempt.handoff) or None)
    assert tuple(item["decide"]["decisions"]) == ref.takes(name)
    assert item["kind"] == kind_of(ref.spec[name])


def compare_tables(runs: Sequence[Live]) -> None:
    """All runs at once, in plain SQL (the ORM would take most of the test's time)."""
    live = [run for run in runs if run.ref.run == "live"]
    rows = {row[0]: row[1:] for row in _rows("SELECT id, revision, snapshot, data FROM processes_run")}
    assert set(rows) == {run.id for run in runs}
    for run in runs:
        _compare_row(run, *rows[run.id])
    items = _rows(
        "SELECT i.id, i.run_id, s.name FROM processes_workitem i JOIN processes_step s ON s.id = i.step_id "
        "WHERE i.state = 'open'"
    )
    assert sorted(item[1:] for item in items) == sorted(
        (run.id, name) for run in live for name in run.ref.items
    )
    assert {row[0] for row in _rows("SELECT item_id FROM approvals_queueentry")} == {
        item[0] for item in items
    }
    attempts = _rows(
        f"SELECT s.run_id, s.name FROM processes_attempt a JOIN processes_step s ON s.id = a.step_id WHERE {_LIVE}"
    )
    assert sorted(attempts) == sorted((run.id, name) for run in live for name in run.ref.attempts)
    events = Counter(_rows("SELECT run_id, name FROM processes_heldevent"))
    assert events == Counter((run.id, event) for run in live for event, _, _ in run.ref.held)
    pending = _rows(
        "SELECT b.id FROM processes_submission b JOIN processes_attempt a ON a.id = b.attempt_id "
        f"JOIN processes_step s ON s.id = a.step_id WHERE b.state IN ('checking', 'error', 'held') AND NOT ({_LIVE})"
    )
    assert pending == []
    for run in runs:
        if run.touched:
            told = _rows(
                "SELECT number, what, step, by FROM processes_historyentry WHERE run_id = %s ORDER BY number",
                run.id,
            )
            assert told == [(number, *entry) for number, entry in enumerate(run.ref.told, 1)]
        run.touched = False


def _compare_row(run: Live, revision: int, snapshot: str, data: str) -> None:
    """The snapshot is the data's hash, and so changes exactly when the data do; without a write, nothing does."""
    if not run.touched:
        assert (revision, snapshot, data) == (run.revision, run.snapshots[-1], run.data)
        return
    assert snapshot == hashlib.sha256(data.encode()).hexdigest()
    assert bare(codec.loads(data)) == run.ref.data
    if not run.snapshots or snapshot != run.snapshots[-1]:
        assert data != run.data
        run.snapshots.append(snapshot)
    run.revision, run.data = revision, data


def _rows(sql: str, *values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return [tuple(row) for row in cursor.fetchall()]
