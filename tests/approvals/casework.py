"""Items as their forms see them, without a database."""

from approvals.choices import Case
from approvals.forms import Typed
from checks import codec
from processes.document import parse

TEXT = """---
name: supplier-screening
description: Screen a supplier.
steps:
  - id: check_vendor
    agent: Check it.
    output:
      cleared: boolean
      total: {type: number, description: in euro}
      terms: {type: string, optional: true}
      risk: {type: string, one_of: [low, high], optional: true}
      seen_on: {type: date, optional: true}
      seen_at: {type: datetime, optional: true}
      tags: {type: list, items: string, optional: true}
      amounts: {type: list, items: number, optional: true}
      rows: {type: list, items: object, optional: true}
      more: {type: object, optional: true}
      owner: {type: person, optional: true}
      "strange \\"name": {type: string, optional: true}
    evidence: [file, link]
    next:
      - {to: approve, when: it is cleared}
      - declined
  - id: approve
    approve: Approve it.
    person: finance
    on_reject: check_vendor
    next: account
  - id: account
    task: Open the account.
    person: procurement
    output: {number: string, grade: {type: number, one_of: [1, 2, 3, 4, 5, 6]}}
    next: sign
  - id: sign
    approve: Sign.
    person: finance
    next: onboarded
  - id: onboarded
    finish: onboarded
  - id: declined
    finish: declined
---
Body.
"""
HELD = codec.loads(
    """{"output": {"cleared": true, "total": 48000.10, "terms": "line one\\r\\nline two ", "tags": ["a", "b"],
    "more": {"b": 1.50, "a": [1, {}]}}, "evidence": [{"kind": "file", "ref": "f_0", "sha256": "x"},
    {"kind": "link", "ref": "https://example.org/r"}], "summary": "Done.", "next": "approve", "reason": "clear"}"""
)
FILES = {"f_0": "report.txt"}


def case(step="check_vendor", *, escalated=False, candidate=None, **more):
    parsed = parse(TEXT)
    assert parsed.document, parsed.issues
    return Case(
        document=parsed.document,
        step=parsed.document.steps[step],
        escalated=escalated,
        candidate=candidate,
        **more,
    )


def unsure(**more):
    return case(escalated=True, candidate=HELD, file_names=FILES, worker="screening-agent", **more)


def typed(stored=(), **texts):
    """Keyword `output__x` is `output.x`, `note_return` is `note-return`."""
    named = {key.replace("__", ".").replace("note_", "note-"): value for key, value in texts.items()}
    return Typed.of(
        ((key, value if isinstance(value, list) else [value]) for key, value in named.items()), tuple(stored)
    )


def right(**more):
    """What `changes` needs to be complete."""
    given = {
        "decision": "changes", "output__cleared": "true", "output__total": "1", "kept": ["0", "1"],
        "next": "approve", "reason": "clear",
    }  # fmt: skip
    return typed(**{**given, **more})
