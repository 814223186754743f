"""The tools' contracts: what they accept, in which words they refuse, and that the public schemas agree."""

import json
import os
import re
import socket
import string
import time
from functools import cache
from pathlib import Path

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checks import codec
from processes import contracts
from processes.contracts import TOOLS, argument_issues, error_schema, result_issues, schema

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("SHARED_DIR") or ROOT.parent / "shared") / "conformance" / "schemas" / "core-2"
FOLDER = ROOT / "processes" / "contracts"
PARTS = ("arguments", "result")

needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason=f"no public schemas at {SHARED} (SHARED_DIR)")
every_tool = pytest.mark.parametrize("tool", TOOLS)
slow_to_draw = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)

# Arguments: the least that each tool takes

LEAST = {
    "describe": {},
    "list_processes": {},
    "start_run": {"process": "vendor-check", "inputs": {"vendor": "Acme"}, "requestId": "q1"},
    "get_run": {"runId": "r_1"},
    "get_work": {},
    "claim": {"runId": "r_1", "stepId": "check", "requestId": "q1"},
    "renew": {"token": "t", "requestId": "q1"},
    "upload": {
        "fileName": "a.pdf",
        "contentType": "application/pdf",
        "contentBase64": "YQ==",
        "requestId": "q1",
    },
    "submit": {"token": "t", "output": {"ok": True}, "summary": "Looked at both lists.", "requestId": "q1"},
    "escalate": {"token": "t", "note": "The list is down.", "requestId": "q1"},
    "decide": {
        "runId": "r_1",
        "workItemId": "w_1",
        "snapshot": "9b",
        "decision": "approved",
        "requestId": "q1",
    },
    "cancel": {"runId": "r_1", "reason": "Ordered twice.", "requestId": "q1"},
    "send_event": {"runId": "r_1", "name": "settled", "requestId": "q1"},
    "list_runs": {},
}
GONE = object()
LINK = {"kind": "link", "ref": "https://example.org"}

GOOD = [
    ("list_processes", {"cursor": "c" * 500}),
    ("start_run", {"version": 1, "mode": "live"}),
    ("start_run", {"version": 9007199254740991, "mode": "test", "inputs": {}}),
    ("start_run", {"version": codec.loads("3.0")}),
    ("start_run", {"inputs": codec.loads('{"a": 1e400, "b": [0.1, {"c": null}], "": false}')}),
    ("start_run", {"requestId": "q" * 128}),
    ("get_run", {"runId": ""}),
    ("get_work", {"limit": 1, "cursor": "", "process": "vendor-check"}),
    ("get_work", {"limit": 100}),
    ("claim", {"runId": "r" * 200}),
    ("renew", {"progress": "p" * 4000, "token": "t" * 1000}),
    ("upload", {"contentBase64": "A" * 2_000_000, "fileName": "f" * 255, "contentType": "c" * 160}),
    ("submit", {"summary": ""}),
    ("submit", {"summary": "é" * 2000, "evidence": []}),
    ("submit", {"evidence": [LINK] * 50, "next": "approve", "reason": "Clear."}),
    ("submit", {"output": {"deep": [[[{"a": None}]]], "number": 12345678901234567890}}),
    ("escalate", {"note": ""}),
    ("decide", {"decision": "completed", "output": {}, "evidence": [{"kind": "file", "ref": "f_1"}]}),
    ("decide", {"decision": "returned", "note": "Add the report."}),
    ("decide", {"decision": "completed", "summary": "", "next": "a", "reason": ""}),
    ("cancel", {"reason": ""}),
    ("send_event", {"data": {"paid": True}}),
    (
        "list_runs",
        {"process": "x", "state": "ended", "inputs": {"vendor": "Acme"}, "limit": 5, "cursor": "c"},
    ),
]

BAD = [
    ("describe", {"verbose": True}, ["verbose: not an argument of describe"]),
    ("list_processes", {"limit": 5}, ["limit: not an argument of list_processes"]),
    ("list_processes", {"cursor": 5}, ["cursor: expected string"]),
    ("list_processes", {"cursor": None}, ["cursor: expected string"]),
    ("list_processes", {"cursor": "c" * 501}, ["cursor: 501 characters are more than 500"]),
    ("start_run", {"process": GONE}, ["process: missing"]),
    ("start_run", {"process": "p" * 201}, ["process: 201 characters are more than 200"]),
    ("start_run", {"inputs": GONE}, ["inputs: missing"]),
    ("start_run", {"inputs": []}, ["inputs: expected object"]),
    ("start_run", {"inputs": None}, ["inputs: expected object"]),
    ("start_run", {"version": 0}, ["version: 0 is less than 1"]),
    ("start_run", {"version": -3}, ["version: -3 is less than 1"]),
    ("start_run", {"version": codec.loads("1.5")}, ["version: expected whole number"]),
    ("start_run", {"version": True}, ["version: expected whole number"]),
    ("start_run", {"version": "3"}, ["version: expected whole number"]),
    ("start_run", {"version": codec.loads("1e400")}, ["version: 1e400 is more than 9007199254740991"]),
    ("start_run", {"version": 9007199254740992}, ["version: 9007199254740992 is more than 9007199254740991"]),
    ("start_run", {"mode": "dry"}, ['mode: "dry" is not one of live, test']),
    ("start_run", {"mode": 1}, ["mode: expected string"]),
    ("start_run", {"requestId": ""}, ["requestId: empty"]),
    ("start_run", {"requestId": "q" * 129}, ["requestId: 129 characters are more than 128"]),
    (
        "start_run",
        {"inputs": 1, "mode": "dry", "process": GONE, "colour": 1},
        [
            "colour: not an argument of start_run",
            "inputs: expected object",
            'mode: "dry" is not one of live, test',
            "process: missing",
        ],
    ),
    ("get_run", {"runId": GONE}, ["runId: missing"]),
    ("get_run", {"runId": 8}, ["runId: expected string"]),
    ("get_run", {"requestId": "q1"}, ["requestId: not an argument of get_run"]),
    ("get_work", {"limit": 0}, ["limit: 0 is less than 1"]),
    ("get_work", {"limit": 101}, ["limit: 101 is more than 100"]),
    ("get_work", {"limit": codec.loads("101.0")}, ["limit: 101.0 is more than 100"]),
    ("get_work", {"limit": "20"}, ["limit: expected whole number"]),
    ("get_work", {"process": ["x"]}, ["process: expected string"]),
    ("claim", {"colour": "red"}, ["colour: not an argument of claim"]),
    ("claim", {"": 1}, ['"": not an argument of claim']),
    ("claim", {"runId": GONE, "stepId": GONE}, ["runId: missing", "stepId: missing"]),
    ("claim", {"stepId": "s" * 201}, ["stepId: 201 characters are more than 200"]),
    ("claim", {"requestId": GONE}, ["requestId: missing"]),
    ("renew", {"token": GONE}, ["token: missing"]),
    ("renew", {"token": "t" * 1001}, ["token: 1001 characters are more than 1000"]),
    ("renew", {"progress": "p" * 4001}, ["progress: 4001 characters are more than 4000"]),
    ("renew", {"progress": None}, ["progress: expected string"]),
    ("upload", {"fileName": ""}, ["fileName: empty"]),
    ("upload", {"fileName": "f" * 256}, ["fileName: 256 characters are more than 255"]),
    ("upload", {"contentType": ""}, ["contentType: empty"]),
    ("upload", {"contentType": "c" * 161}, ["contentType: 161 characters are more than 160"]),
    ("upload", {"contentBase64": ""}, ["contentBase64: empty"]),
    ("upload", {"contentBase64": {}}, ["contentBase64: expected string"]),
    ("submit", {"summary": GONE}, ["summary: missing"]),
    ("submit", {"summary": "s" * 2001}, ["summary: 2001 characters are more than 2000"]),
    ("submit", {"output": GONE}, ["output: missing"]),
    ("submit", {"output": "done"}, ["output: expected object"]),
    ("submit", {"evidence": LINK}, ["evidence: expected list"]),
    ("submit", {"evidence": [LINK] * 51}, ["evidence: 51 items are more than 50"]),
    ("submit", {"evidence": ["f_1"]}, ["evidence[0]: expected object"]),
    (
        "submit",
        {"evidence": [LINK | {"kind": "fil"}]},
        ['evidence[0].kind: "fil" is not one of file, link'],
    ),
    ("submit", {"evidence": [LINK, {"kind": "file"}]}, ["evidence[1].ref: missing"]),
    ("submit", {"evidence": [LINK | {"ref": ""}]}, ["evidence[0].ref: empty"]),
    (
        "submit",
        {"evidence": [LINK | {"ref": "r" * 2001}]},
        ["evidence[0].ref: 2001 characters are more than 2000"],
    ),
    ("submit", {"evidence": [LINK | {"sha256": "00"}]}, ["evidence[0].sha256: not known here"]),
    ("submit", {"next": ["a"]}, ["next: expected string"]),
    ("submit", {"reason": "r" * 4001}, ["reason: 4001 characters are more than 4000"]),
    ("submit", {"note": "n"}, ["note: not an argument of submit"]),
    ("escalate", {"note": GONE}, ["note: missing"]),
    ("escalate", {"note": "n" * 4001}, ["note: 4001 characters are more than 4000"]),
    (
        "decide",
        {"decision": "maybe"},
        ['decision: "maybe" is not one of completed, approved, rejected, returned, failed'],
    ),
    ("decide", {"decision": False}, ["decision: expected string"]),
    ("decide", {"snapshot": GONE, "workItemId": GONE}, ["snapshot: missing", "workItemId: missing"]),
    ("decide", {"evidence": [{}]}, ["evidence[0].kind: missing", "evidence[0].ref: missing"]),
    ("decide", {"token": "t"}, ["token: not an argument of decide"]),
    ("cancel", {"reason": GONE}, ["reason: missing"]),
    ("cancel", {"reason": "r" * 4001}, ["reason: 4001 characters are more than 4000"]),
    ("send_event", {"name": GONE}, ["name: missing"]),
    ("send_event", {"data": [1]}, ["data: expected object"]),
    ("send_event", {"data": None}, ["data: expected object"]),
    ("list_runs", {"state": "done"}, ['state: "done" is not one of active, waiting, ended, cancelled']),
    ("list_runs", {"inputs": "vendor"}, ["inputs: expected object"]),
    (
        "list_runs",
        {"limit": 101, "mode": "test"},
        ["limit: 101 is more than 100", "mode: not an argument of list_runs"],
    ),
]


def arguments(tool, changes=()):
    merged = LEAST[tool] | dict(changes)
    return {key: value for key, value in merged.items() if value is not GONE}


@every_tool
def test_least_arguments_fit(tool):
    assert argument_issues(tool, arguments(tool)) == []


@pytest.mark.parametrize(("tool", "changes"), GOOD)
def test_good_arguments_fit(tool, changes):
    assert argument_issues(tool, arguments(tool, changes)) == []


@pytest.mark.parametrize(("tool", "changes", "expected"), BAD)
def test_bad_arguments_are_told_line_by_line(tool, changes, expected):
    assert argument_issues(tool, arguments(tool, changes)) == expected


@every_tool
@pytest.mark.parametrize("value", [None, [], "text", 5, True, codec.loads("1.5")])
def test_arguments_are_an_object(tool, value):
    assert argument_issues(tool, value) == ["arguments: expected object"]


def test_an_unknown_tool_is_a_key_error():
    with pytest.raises(KeyError):
        argument_issues("erase", {})


# Issues stay small, on one line and in order


@pytest.mark.parametrize(
    ("mode", "shown"),
    [
        ("x" * 60, '"' + "x" * 60 + '"'),
        ("x" * 61, '"' + "x" * 59 + '…"'),
        ("a\nb\u202ec", '"a\\u000ab\\u202ec"'),
        ("\n" * 60, '"' + ("\\u000a" * 60)[:59] + '…"'),
    ],
)
def test_a_callers_value_is_cut_and_made_visible(mode, shown):
    assert argument_issues("start_run", arguments("start_run", {"mode": mode})) == [
        f"mode: {shown} is not one of live, test"
    ]


def test_a_number_is_shown_as_it_was_sent_and_cut():
    sent = codec.loads('{"limit": ' + "9" * 900 + "}")
    assert argument_issues("get_work", sent) == ["limit: " + "9" * 59 + "… is more than 100"]


def test_an_unknown_key_is_cut_and_made_visible():
    [line] = argument_issues("get_run", arguments("get_run", {"k\r\n" * 5000: 1}))
    assert line.endswith(": not an argument of get_run")
    assert len(line) < 100
    assert "\n" not in line


def test_order_follows_the_path_with_numbers_as_numbers():
    evidence = [LINK] * 2 + [{"kind": "x", "ref": ""}] + [LINK] * 8 + [{"kind": "file"}]
    expected = [
        'evidence[2].kind: "x" is not one of file, link',
        "evidence[2].ref: empty",
        "evidence[11].ref: missing",
        "summary: missing",
    ]
    changed = arguments("submit", {"evidence": evidence, "summary": GONE})
    assert argument_issues("submit", changed) == expected
    assert argument_issues("submit", dict(reversed(changed.items()))) == expected


def test_a_flood_of_errors_gives_fifty_issues_soon():
    started = time.perf_counter()
    listed = argument_issues("submit", arguments("submit", {"evidence": [{}] * 300_000}))
    keyed = argument_issues("claim", arguments("claim", {f"k{n:06}": n for n in range(100_000)}))
    assert time.perf_counter() - started < 5  # 10 s and more where every error is looked for
    assert len(listed) == len(keyed) == contracts.MAX_ISSUES
    assert listed[:2] == ["evidence: 300000 items are more than 50", "evidence[0].kind: missing"]
    assert keyed[0] == "k000000: not an argument of claim"


def test_a_flood_of_unknown_keys_hides_no_known_one():
    flood = {f"k{n}": n for n in range(1000)} | arguments("claim", {"stepId": 5})
    lines = argument_issues("claim", {"": 1} | flood)
    assert not any(line.endswith("missing") for line in lines)


@every_tool
def test_every_list_in_arguments_is_bounded(tool):
    lists = [node for node in nodes(schema(tool, "arguments")) if node.get("type") == "array"]
    assert all(node["maxItems"] <= contracts._EXAMINED for node in lists)


@every_tool
def test_every_string_in_arguments_is_bounded_but_the_file(tool):
    unbounded = [
        name
        for name, node in properties(schema(tool, "arguments"))
        if node.get("type") == "string" and "maxLength" not in node and "enum" not in node
    ]
    assert unbounded == (["contentBase64"] if tool == "upload" else [])


# The files


def test_files_and_tools_are_the_same_fourteen():
    assert len(TOOLS) == len(set(TOOLS)) == 14
    assert {path.name for path in (FOLDER / "tools").iterdir()} == {f"{tool}.json" for tool in TOOLS}


@every_tool
def test_a_tools_file_has_four_keys_and_words_for_a_developer(tool):
    found = json.loads((FOLDER / "tools" / f"{tool}.json").read_text("utf-8"))
    assert list(found) == ["title", "description", *PARTS]
    assert contracts.title(tool) == found["title"]
    assert contracts.description(tool) == found["description"]
    assert len(found["description"]) > 40


@every_tool
def test_every_argument_is_described(tool):
    bundle = schema(tool, "arguments")
    for name, node in bundle["properties"].items():
        assert node.get("description") or resolved(node, bundle).get("description"), name


def test_every_shared_shape_is_used():
    used = {name for tool in TOOLS for part in PARTS for name in schema(tool, part).get("$defs", ())}
    assert used | {"toolError"} == set(json.loads((FOLDER / "shared.json").read_text("utf-8"))["$defs"])


@every_tool
@pytest.mark.parametrize("part", PARTS)
def test_a_bundle_compiles_standing_alone(tool, part):
    bundle = schema(tool, part)
    jsonschema_rs.meta.validate(bundle)
    refs = [node["$ref"] for node in nodes(bundle) if "$ref" in node]
    assert all(re.fullmatch(r"#/\$defs/\w+", ref) for ref in refs)
    standing = jsonschema_rs.Draft202012Validator(json.loads(json.dumps(bundle)), retriever=refuse)
    sample = LEAST[tool] if part == "arguments" else RESULTS[tool]
    assert standing.is_valid(sample)
    assert not standing.is_valid(5)


def test_a_bundle_is_the_callers_to_change():
    before = schema("submit", "arguments")
    before["properties"].clear()
    before["$defs"].clear()
    assert schema("submit", "arguments")["properties"]
    assert schema("submit", "arguments")["$defs"]


# Nothing is fetched


@pytest.mark.parametrize(
    "ref", ["https://example.org/x.json", "file:///etc/hostname", "countersign:other#/$defs/id"]
)
def test_a_contract_may_name_our_shapes_only(ref):
    with pytest.raises(LookupError, match="contracts name shapes of countersign:shared only"):
        contracts._bundle({"properties": {"a": {"$ref": ref}}}, "x")


def test_a_validator_never_asks_the_network():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(jsonschema_rs.ValidationError, match="contracts are never fetched"):
            contracts._compiled({"$ref": f"http://127.0.0.1:{port}/schema.json"})
        server.settimeout(0.05)
        with pytest.raises(TimeoutError):
            server.accept()


def test_a_validator_never_reads_a_file(tmp_path):
    path = tmp_path / "schema.json"
    path.write_text('{"type": "string"}')
    with pytest.raises(jsonschema_rs.ValidationError, match="contracts are never fetched"):
        contracts._compiled({"$ref": path.as_uri()})


def test_patterns_are_linear():
    with pytest.raises(jsonschema_rs.ValidationError):
        contracts._compiled({"pattern": "(?=a)b"})
    slow_elsewhere = contracts._compiled({"pattern": "^(a+)+$"})
    started = time.perf_counter()
    assert not slow_elsewhere.is_valid("a" * 5000 + "b")
    assert time.perf_counter() - started < 1


# Results

AT = "2026-10-06T09:04:12Z"
SHA = "4f" * 32
VERDICT = {
    "verdict": "unsure",
    "advisory": False,
    "model": "example-1",
    "questions": [
        {"ask": "Does it match?", "kind": "yes_no", "answer": 0.62, "result": "unsure"},
        {"ask": "How?", "kind": "choice", "answer": "states", "confidence": 0.91, "result": "pass"},
        {"ask": "How far?", "kind": "rubric", "answer": None, "result": "fail"},
    ],
    "truncated": True,
    "at": AT,
}
SUBMITTED = {
    "output": {"cleared": True},
    "evidence": [{"kind": "file", "ref": "f_1", "sha256": SHA, "url": "https://example.org/f_1"}, LINK],
    "summary": "No hits.",
    "next": "approve",
    "reason": "Cleared.",
    "by": "a_1",
    "at": AT,
}
DATA = {
    "inputs": {"vendor": "Acme", "amount": 48000},
    "steps": {
        "check": SUBMITTED | {"check": VERDICT, "history": [SUBMITTED | {"check": VERDICT}]},
        "approve": {"decision": "rejected", "note": "No.", "by": "u_1", "at": AT, "history": []},
        "rewound": {"history": [{"decision": "approved", "by": "u_1", "at": AT}]},
    },
}
FIELDS = {
    "cleared": "boolean",
    "rows": {
        "type": "list",
        "items": {"type": "string", "one_of": ["a", "b"]},
        "optional": True,
        "description": "?",
    },
}
HANDOFF = {
    "progress": "Half.",
    "returned": {"note": "Again.", "by": "u_1", "at": AT},
    "issues": ["output.x: missing"],
    "check": VERDICT,
}
ITEM = {
    "id": "w_1",
    "stepId": "check",
    "kind": "agent",
    "text": "Check it.",
    "output": FIELDS,
    "evidence": ["file"],
    "next": [{"to": "approve", "when": "Clear."}, {"to": "decline"}],
    "assignedTo": {"group": "g_1"},
    "snapshot": "9b",
    "due": None,
    "escalation": {"note": "Unsure.", "by": "server", "at": AT, "check": VERDICT, "candidate": SUBMITTED},
    "handoff": HANDOFF,
    "mode": "test",
    "decide": {
        "tool": "decide",
        "arguments": {"runId": "r_1", "workItemId": "w_1", "snapshot": "9b", "requestId": "<new UUID>"},
        "decisions": ["returned", "completed", "failed"],
    },
}
APPROVAL = {
    **{key: ITEM[key] for key in ("id", "stepId", "text", "snapshot", "decide")},
    **dict.fromkeys(("output", "evidence", "next", "due", "escalation", "handoff")),
    "kind": "approve",
    "assignedTo": {"person": "mira@example.org"},
}
RUN = {
    "id": "r_1",
    "process": "vendor-check",
    "version": 3,
    "mode": "test",
    "state": "waiting",
    "outcome": None,
    "ended": None,
    "startedBy": "u_1",
    "startedAt": AT,
    "updatedAt": AT,
}
VIEW = {
    "run": RUN,
    "data": DATA,
    "steps": [
        {"id": "check", "kind": "agent", "state": "waiting", "due": AT, "overdue": False},
        {"id": "done", "kind": "finish", "state": None},
    ],
    "workItems": [ITEM, APPROVAL],
    "body": "# Vendor check\n",
    "replayed": True,
}
AGENT_WORK = {
    **{key: RUN[key] for key in ("process", "version", "mode")},
    "runId": "r_1",
    "stepId": "check",
    "readySince": AT,
    "due": None,
    "overdue": True,
    "handoff": HANDOFF,
    "claim": {"tool": "claim", "arguments": {"runId": "r_1", "stepId": "check", "requestId": "<new UUID>"}},
}
PERSON_WORK = {"runId": "r_1", "process": "vendor-check", "version": 3, "mode": "live", "workItem": APPROVAL}
LISTED = {key: RUN[key] for key in ("id", "process", "version", "state", "outcome", "startedAt", "updatedAt")}
LIMITS = {
    "runDataBytes": 1,
    "checkPass": 0.9,
    "checkFail": None,
    "checkConfidence": 0.8,
    "checkStateBytes": 65536,
}
RESULTS = {
    **dict.fromkeys(("start_run", "get_run", "submit", "escalate", "decide", "cancel"), VIEW),
    "describe": {
        "protocol": "agentprocess",
        "version": "core-2",
        "profiles": ["parallel-1", "check-1"],
        "leaseSeconds": 600,
        "person": {"format": "email"},
        "tools": list(TOOLS),
        "maxUploadBytes": 10485760,
        "limits": LIMITS,
    },
    "list_processes": {
        "items": [
            {
                "name": "vendor-check",
                "description": "Checks.",
                "version": 3,
                "inputs": FIELDS,
                "requires": {"systems": ["e-mail"]},
            }
        ],
        "nextCursor": None,
    },
    "get_work": {"items": [AGENT_WORK, PERSON_WORK], "nextCursor": "c"},
    "claim": {
        "token": "t",
        "expiresAt": AT,
        "extensions": {"facts-1": {"facts": []}},
        "mode": "live",
        "step": {
            "id": "check",
            "instructions": "Check.",
            **{key: ITEM[key] for key in ("output", "evidence", "next")},
        },
        "handoff": None,
        "body": "",
        "data": DATA,
    },
    "renew": {"token": "t", "expiresAt": AT},
    "upload": {"id": "f_1", "sha256": SHA, "bytes": 1},
    "send_event": {"consumedBy": None},
    "list_runs": {"items": [LISTED | {"inputs": {"vendor": "Acme"}}], "nextCursor": None},
}


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


# The public schemas agree


def refuse(uri):
    raise LookupError(uri)


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


# Helpers: walking, changing and drawing


def nodes(node):
    if isinstance(node, dict):
        yield node
    for item in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from nodes(item)


def properties(bundle):
    for node in nodes(bundle):
        if isinstance(node.get("properties"), dict):
            yield from ((name, resolved(item, bundle)) for name, item in node["properties"].items())


def resolved(node, bundle):
    return bundle["$defs"][node["$ref"].removeprefix("#/$defs/")] if "$ref" in node else node


def changed(value, place, new):
    value = json.loads(json.dumps(value))  # unlike a deep copy, nothing in it is the same object twice
    parent = value
    for key in place[:-1]:
        parent = parent[key]
    if new is GONE:
        del parent[place[-1]]
    else:
        parent[place[-1]] = new
    return value


def places(value, place=()):
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in pairs:
        yield (*place, key)
        yield from places(item, (*place, key))


@st.composite
def broken(draw, value):
    """One thing taken away, added or put in place of another; it may happen to fit all the same."""
    junk = draw(st.sampled_from([None, True, -1, 0, 1, 1.5, "", "x", "live", [], {}, [{}], GONE]))
    known = [*places(value), ("colour",)]
    place = draw(st.sampled_from(known))
    if junk is GONE and place == ("colour",):
        return value
    return changed(value, place, junk)


WORDS = st.text(string.ascii_letters + " é\n", max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=3,
)


def values(node, root=None):
    """A strategy for what a schema admits; it knows the keywords that the contracts use."""
    root = root or node
    if node is True or node == {}:
        return JSON
    if "$ref" in node:
        return st.deferred(lambda: values(resolved(node, root), root))
    if "anyOf" in node:
        return st.one_of([values(item, root) for item in node["anyOf"]])
    if "const" in node:
        return st.just(node["const"])
    if "enum" in node:
        return st.sampled_from(node["enum"])
    types = node["type"] if isinstance(node["type"], list) else [node["type"]]
    return st.one_of([DRAWERS[name](node, root) for name in types])


def texts(node, root):
    if "pattern" in node:
        return st.from_regex(node["pattern"], fullmatch=True).filter(lambda text: len(text) <= 64)
    least, most = node.get("minLength", 0), node.get("maxLength", 12)
    edges = st.sampled_from(["x" * least, "x" * most])
    return edges | st.text(string.printable + "é€😀", min_size=least, max_size=12)


def whole_numbers(node, root):
    least = node.get("minimum", node.get("exclusiveMinimum", -1) + 1)
    return st.integers(least, node.get("maximum", 2**53 - 1))


def numbers(node, root):
    least, most = node.get("minimum", -1e6), node.get("maximum", 1e6)
    return st.floats(least, most) | st.integers(int(least), int(most))


def lists(node, root):
    return st.lists(values(node["items"], root), min_size=node.get("minItems", 0), max_size=2)


def objects(node, root):
    named = {name: values(item, root) for name, item in node.get("properties", {}).items()}
    must = {name: named.pop(name) for name in node.get("required", ())}
    if node["additionalProperties"] is False:
        return st.fixed_dictionaries(must, optional=named)
    names = st.text(string.ascii_lowercase, min_size=1, max_size=5)
    return st.dictionaries(names, values(node["additionalProperties"], root), max_size=2)


DRAWERS = {
    "string": texts,
    "integer": whole_numbers,
    "number": numbers,
    "boolean": lambda _node, _root: st.booleans(),
    "null": lambda _node, _root: st.none(),
    "array": lists,
    "object": objects,
}
