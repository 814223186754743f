"""Contracts: what arguments a tool takes, and how a breach is told."""

import json
import re
import socket
import time

import jsonschema_rs
import pytest

from checks import codec
from processes import contracts
from processes.contracts import TOOLS, argument_issues, schema
from tests.processes.contract_samples import (
    FOLDER,
    GONE,
    GOOD,
    LEAST,
    LINK,
    PARTS,
    RESULTS,
    arguments,
    every_tool,
    nodes,
    properties,
    refuse,
    resolved,
)

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
