"""The objective rules of a submission: every issue at once, in the protocol's words. Pure."""

import pytest

from checks import codec
from processes.acceptance import Content, FileState, content_of, issues, with_hashes
from processes.document import parse

TEXT = """\
---
name: rules
description: One step of each sort.
steps:
  - id: full
    agent: Do it.
    output:
      x: { type: boolean }
      n: { type: number, one_of: [1, 2.50], optional: true }
      d: { type: date, optional: true }
      t: { type: datetime, optional: true }
      p: { type: person, optional: true }
      l: { type: list, items: { type: list, items: string }, optional: true }
      o: { type: object, optional: true }
      s: { type: string, one_of: [a, b], optional: true }
    evidence: [file, link]
    next: [plain, done]
  - id: plain
    agent: Do it.
  - id: done
    finish: done
---
"""
DOCUMENT = parse(TEXT).document
assert DOCUMENT is not None
FULL, PLAIN = DOCUMENT.steps["full"], DOCUMENT.steps["plain"]
FILES = {
    "f_1": FileState(sha256="1" * 64),
    "f_2": FileState(sha256="2" * 64, refusal="changed since it was uploaded"),
}
EVIDENCE = ({"kind": "file", "ref": "f_1"}, {"kind": "link", "ref": "u"})
GOOD = {"summary": "s", "evidence": EVIDENCE, "next": "done", "reason": "r"}


def of(output: str = '{"x": true}', **changed: object) -> list[str]:
    content = Content(output=codec.loads(output), **{**GOOD, **changed})  # type: ignore[arg-type]
    return issues(FULL, content, FILES, summary_needed=True)


def test_sound_work_has_none():
    assert of() == []
    everything = '{"x":false,"n":2.5,"d":"2028-02-29","t":"2026-01-01T00:00:00+02:00","p":"a@b","l":[["a"],[]],"o":{"k":null},"s":"b"}'
    assert of(everything) == []


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("{}", ["output.x: missing"]),
        ('{"x": null}', ["output.x: expected boolean"]),
        ('{"x": 1}', ["output.x: expected boolean"]),
        ('{"x": true, "n": true}', ["output.n: expected number"]),
        ('{"x": true, "n": 3}', ["output.n: not one of 1, 2.50"]),
        ('{"x": true, "n": 1.0}', []),
        ('{"x": true, "n": null}', ["output.n: expected number"]),
        ('{"x": true, "d": "2026-02-29"}', ["output.d: expected date"]),
        ('{"x": true, "d": "2026-2-3"}', ["output.d: expected date"]),
        ('{"x": true, "t": "2026-01-01 00:00:00Z"}', ["output.t: expected datetime"]),
        ('{"x": true, "t": "2026-01-01T00:00:00"}', ["output.t: expected datetime"]),
        ('{"x": true, "p": ""}', ["output.p: expected person"]),
        ('{"x": true, "l": {}}', ["output.l: expected list"]),
        ('{"x": true, "l": [[], "a", [1]]}', ["output.l[1]: expected list", "output.l[2][0]: expected string"]),
        ('{"x": true, "o": []}', ["output.o: expected object"]),
        ('{"x": true, "s": "A"}', ["output.s: not one of a, b"]),
        ('{"x": true, "y": 1}', ["output.y: not declared"]),
    ],
)  # fmt: skip
def test_output(output, expected):
    assert of(output) == expected


@pytest.mark.parametrize("summary", [None, "", " \n\t"])
def test_a_summary_is_needed_of_agents(summary):
    assert of(summary=summary) == ["summary: missing"]
    content = Content(output={"x": True}, **{**GOOD, "summary": summary})
    assert issues(FULL, content, FILES, summary_needed=False) == []


FILE, LINK = EVIDENCE


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        ((), ["evidence: file required", "evidence: link required"]),
        ((LINK,), ["evidence: file required"]),
        ((FILE,), ["evidence: link required"]),
        ((FILE, FILE, LINK), []),
        ((FILE, LINK, {"kind": "file", "ref": "f_0"}), ["evidence f_0: not found"]),
        (
            ({"kind": "file", "ref": "f_2"}, LINK),
            ["evidence f_2: changed since it was uploaded", "evidence: file required"],
        ),
        (({"kind": "file", "ref": "x" * 90}, *EVIDENCE), [f"evidence {'x' * 60}: not found"]),
    ],
)
def test_evidence(evidence, expected):
    assert of(evidence=evidence) == expected


@pytest.mark.parametrize(
    ("route", "expected"),
    [
        ({"next": None, "reason": None}, ["next: required, one of plain, done", "reason: required"]),
        ({"next": "full"}, ["next: required, one of plain, done"]),
        ({"next": "join"}, ["next: required, one of plain, done"]),
        ({"reason": " "}, ["reason: required"]),
    ],
)
def test_route(route, expected):
    assert of(**route) == expected


@pytest.mark.parametrize("key", ["next", "reason"])
def test_no_route_where_there_is_no_choice(key):
    content = Content(summary="s", **{key: "done"})
    assert issues(PLAIN, content, {}, summary_needed=True) == [f"{key}: not allowed"]


def test_all_at_once_in_order():
    assert of('{"y": 1}', summary="", evidence=(), next=None, reason="") == [
        "summary: missing", "output.x: missing", "output.y: not declared", "evidence: file required",
        "evidence: link required", "next: required, one of plain, done", "reason: required",
    ]  # fmt: skip


def test_content_is_kept_with_hashes_and_comes_back():
    kept = with_hashes(Content(output={"x": True}, **GOOD), FILES)
    assert kept.evidence[0] == {"kind": "file", "ref": "f_1", "sha256": "1" * 64}
    assert kept.evidence[1] == LINK
    assert content_of(kept.as_json()) == kept
    assert Content().as_json() == {"output": {}, "evidence": []}
