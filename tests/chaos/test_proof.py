"""The proof can fail: each kind of harm, done to a record or to what the server shows, is found."""

import copy

import pytest

from tests.chaos import proof
from tests.chaos.proof import Findings
from tests.chaos.records import Record

RUN, OTHER = "r_1", "r_2"


def view(run: str, mark: str) -> dict:
    entry = {"output": {"mark": mark}, "history": []}
    return {
        "run": {"id": run, "state": "ended"},
        "steps": [{"id": "left", "state": "done"}],
        "data": {"inputs": {}, "steps": {"left": entry}},
    }


@pytest.fixture
def sound():
    record = Record()
    for run, mark in ((RUN, "n-1"), (OTHER, "n-2")):
        record.start(run, "chaos-fork")
        record.mark(mark, run)
    return record, {RUN: view(RUN, "n-1"), OTHER: view(OTHER, "n-2")}


def found(record, views) -> Findings:
    findings = Findings()
    proof._runs(record, views, findings)
    proof._marks(record, views, findings)
    return findings


def test_nothing_is_found_where_all_is_well(sound):
    assert found(*sound).clean


def lose(record, views):
    views[RUN]["data"]["steps"].clear()


def double(record, views):
    entry = views[RUN]["data"]["steps"]["left"]
    entry["history"].append(copy.deepcopy(entry))


def leave_open(record, views):
    views[RUN]["run"]["state"] = "active"


def mix_up(record, views):
    views[RUN]["data"], views[OTHER]["data"] = views[OTHER]["data"], views[RUN]["data"]


def refuse(record, views):
    record.refuse("n-1", "stale")


def tell_nobody(record, views):
    views[RUN]["data"]["steps"]["more"] = {"output": {"mark": "n-9"}, "history": []}


@pytest.mark.parametrize(
    ("harm", "kind"),
    [
        (lose, "lost"), (double, "doubled"), (leave_open, "stuck"), (mix_up, "wrong"), (refuse, "wrong"),
        (tell_nobody, "wrong"),
    ],
)  # fmt: skip
def test_harm_is_found(sound, harm, kind):
    harm(*sound)
    findings = found(*sound)
    assert not findings.clean and getattr(findings, kind)
