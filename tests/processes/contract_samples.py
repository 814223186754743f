"""Arguments and results of every tool, and what it takes to break them."""

import json
import os
import string
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from checks import codec
from processes.contracts import TOOLS

ROOT = Path(__file__).resolve().parents[2]

SHARED = Path(os.environ.get("SHARED_DIR") or ROOT.parent / "shared") / "conformance" / "schemas" / "core-2"

FOLDER = ROOT / "processes" / "contracts"

PARTS = ("arguments", "result")

needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason=f"no public schemas at {SHARED} (SHARED_DIR)")

every_tool = pytest.mark.parametrize("tool", TOOLS)

slow_to_draw = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)

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


def arguments(tool, changes=()):
    merged = LEAST[tool] | dict(changes)
    return {key: value for key, value in merged.items() if value is not GONE}


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


def refuse(uri):
    raise LookupError(uri)


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
