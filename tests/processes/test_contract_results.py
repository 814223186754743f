"""Contracts: what a tool gives, and that the public schemas agree."""

import json
from functools import cache

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks import codec
from processes import contracts
from processes.contracts import TOOLS, argument_issues, error_schema, result_issues, schema
from tests.processes.contract_samples import (
    GONE,
    GOOD,
    LISTED,
    RESULTS,
    SHARED,
    arguments,
    broken,
    changed,
    every_tool,
    needs_shared,
    refuse,
    slow_to_draw,
    values,
)


@every_tool
def test_a_full_result_fits_ours(tool):
    assert result_issues(tool, RESULTS[tool]) == []


@needs_shared
@every_tool
def test_a_full_result_fits_the_public_schema(tool):
    assert public(f"tools/{tool}.result").is_valid(RESULTS[tool])


STATES = "ready, claimed, waiting, done, failed, cancelled, null"


TYPES = "string, number, boolean, date, datetime, list, object, person"


BAD_RESULTS = [
    ("renew", ["token"], GONE, "token: missing"),
    ("renew", ["replayed"], True, "replayed: not in the result of renew"),
    ("upload", ["sha256"], "F0", 'sha256: "F0" does not match ^[0-9a-f]{64}$'),
    ("send_event", ["consumedBy"], 5, "consumedBy: expected string or null"),
    ("describe", ["protocol"], "other", 'protocol: "other" is not "agentprocess"'),
    ("describe", ["limits", "checkPass"], 1.5, "limits.checkPass: 1.5 is more than 1"),
    (
        "list_processes",
        ["items", 0, "inputs", "x"],
        "text",
        f'items[0].inputs.x: "text" is not one of {TYPES}',
    ),
    ("list_processes", ["items", 0, "inputs", "x"], 5, "items[0].inputs.x: expected object or string"),
    (
        "list_processes",
        ["items", 0, "inputs", "x"],
        {"type": "list", "a": 1},
        "items[0].inputs.x.a: not known here",
    ),
    (
        "list_processes",
        ["items", 0, "inputs", ""],
        "string",
        "items[0].inputs: a name does not fit its schema",
    ),
    ("list_processes", ["items", 0, "requires", "systems"], [], "items[0].requires.systems: empty"),
    ("get_work", ["items", 0, "colour"], 1, "items[0].colour: not known here"),
    ("get_work", ["items", 1, "workItem", "snapshot"], GONE, "items[1].workItem.snapshot: missing"),
    ("get_run", ["run", "state"], "x", 'run.state: "x" is not one of active, waiting, ended, cancelled'),
    ("get_run", ["run", "ended"], [], "run.ended: expected object or null"),
    ("get_run", ["replayed"], False, "replayed: false is not true"),
    ("get_run", ["steps", 0, "state"], "x", f'steps[0].state: "x" is not one of {STATES}'),
    (
        "get_run",
        ["workItems", 0, "assignedTo", "person"],
        "p",
        "workItems[0].assignedTo.person: not known here",
    ),
    ("get_run", ["workItems", 0, "assignedTo"], 5, "workItems[0].assignedTo: expected object"),
    ("get_run", ["workItems", 0, "handoff", "check", "at"], GONE, "workItems[0].handoff.check.at: missing"),
    ("get_run", ["data", "steps", "check", "facts"], [], "data.steps.check.facts: not known here"),
]


@pytest.mark.parametrize(("tool", "place", "value", "line"), BAD_RESULTS)
def test_a_bad_result_is_told(tool, place, value, line):
    assert result_issues(tool, changed(RESULTS[tool], place, value)) == [line]


def test_an_error_far_down_a_long_result_is_found():
    items = [LISTED | {"inputs": {}}] * 500 + [LISTED]
    assert result_issues("list_runs", {"items": items, "nextCursor": None}) == ["items[500].inputs: missing"]


def test_the_error_shape():
    validator = contracts._compiled(error_schema())
    assert validator.is_valid({"code": "stale", "message": "Read it again."})
    assert not validator.is_valid({"code": "teapot", "message": "Short and stout."})


@cache
def public_files():
    return {
        str(path.relative_to(SHARED).with_suffix("")): json.loads(path.read_text())
        for path in SHARED.rglob("*.json")
    }


@cache
def public(name):
    files = [(file["$id"], file) for file in public_files().values() if "$id" in file]
    registry = jsonschema_rs.Registry(files, retriever=refuse)
    return jsonschema_rs.Draft202012Validator(public_files()[name], registry=registry, retriever=refuse)


@needs_shared
def test_the_public_index_knows_the_same_tools():
    assert set(public_files()["index"]["tools"]) == set(TOOLS)


@needs_shared
@every_tool
def test_public_arguments_cover_ours_by_proof(tool):
    theirs, ours = (
        jsonschema_rs.canonicalize(found, retriever=refuse)
        for found in (public_files()[f"tools/{tool}.arguments"], schema(tool, "arguments"))
    )
    assert theirs.covers(ours) == jsonschema_rs.canonical.Containment.YES


@needs_shared
@pytest.mark.parametrize(("tool", "changes"), GOOD)
def test_good_arguments_fit_the_public_schema(tool, changes):
    assert public(f"tools/{tool}.arguments").is_valid(codec.plain(arguments(tool, changes)))


@needs_shared
@every_tool
@settings(slow_to_draw, max_examples=60)
@given(data=st.data())
def test_both_judge_arguments_alike(tool, data):
    """Drawn from the public schema, half of them broken somewhere: never longer than our own bounds."""
    drawn = data.draw(values(public_files()[f"tools/{tool}.arguments"]))
    drawn = data.draw(st.just(drawn) | broken(drawn))
    issues = argument_issues(tool, codec.loads(codec.dumps(drawn)))
    assert (issues == []) == public(f"tools/{tool}.arguments").is_valid(drawn), issues


@needs_shared
@every_tool
@settings(slow_to_draw, max_examples=15)
@given(data=st.data())
def test_whatever_fits_our_result_fits_theirs(tool, data):
    drawn = data.draw(values(schema(tool, "result")))
    assert result_issues(tool, drawn) == []
    assert public(f"tools/{tool}.result").is_valid(drawn)


@needs_shared
@settings(slow_to_draw)
@given(data=st.data())
def test_whatever_fits_our_error_fits_theirs(data):
    assert public("tool-error").is_valid(data.draw(values(error_schema())))
