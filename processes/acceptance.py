"""Acceptance: the objective rules that a submission must meet, all issues at once. Pure.

Source: the protocol's core §6 rule 3; the issue strings are our rulings (`summary: missing`,
`output.x: expected boolean`, `evidence: file required`, `next: required, one of a, b`, …).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from processes.document import Step
from processes.fields import value_issues


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What is handed in. None = not given."""

    output: Mapping[str, Any] = field(default_factory=dict)
    evidence: tuple[Mapping[str, str], ...] = ()
    summary: str | None = None
    next: str | None = None
    reason: str | None = None

    def as_json(self) -> dict[str, Any]:
        """As it stands in run data: `{output, evidence, summary?, next?, reason?}`."""
        given = {"summary": self.summary, "next": self.next, "reason": self.reason}
        return {
            "output": dict(self.output),
            "evidence": [dict(item) for item in self.evidence],
            **{key: value for key, value in given.items() if value is not None},
        }


def content_of(stored: Mapping[str, Any]) -> Content:
    """The inverse of `as_json`."""
    return Content(
        output=stored["output"],
        evidence=tuple(stored["evidence"]),
        summary=stored.get("summary"),
        next=stored.get("next"),
        reason=stored.get("reason"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FileState:
    """A cited file: its recorded hash, and why it may not be cited (None = it may)."""

    sha256: str
    refusal: str | None = None


def issues(
    step: Step, content: Content, files: Mapping[str, FileState], *, summary_needed: bool
) -> list[str]:
    """Every issue in the order summary, output, evidence, route. `files`: what is known of cited refs."""
    found: list[str] = []
    if summary_needed and not (content.summary or "").strip():
        found.append("summary: missing")
    found += value_issues(step.output, content.output, "output")
    found += _evidence(step, content, files)
    found += _route(step, content)
    return found


def with_hashes(content: Content, files: Mapping[str, FileState]) -> Content:
    """The content as it is kept: each file beside the hash that its bytes were verified against."""
    kept = tuple(
        {"kind": item["kind"], "ref": item["ref"], "sha256": files[item["ref"]].sha256}
        if item["kind"] == "file"
        else {"kind": item["kind"], "ref": item["ref"]}
        for item in content.evidence
    )
    return Content(
        output=content.output,
        evidence=kept,
        summary=content.summary,
        next=content.next,
        reason=content.reason,
    )


def _evidence(step: Step, content: Content, files: Mapping[str, FileState]) -> list[str]:
    found = []
    kinds = set()
    for item in content.evidence:
        ref = item["ref"]
        if item["kind"] == "file":
            state = files.get(ref)
            refusal = "not found" if state is None else state.refusal
            if refusal is not None:
                found.append(f"evidence {ref[:60]}: {refusal}")
                continue
        kinds.add(item["kind"])
    found += [f"evidence: {kind} required" for kind in step.evidence if kind not in kinds]
    return found


def _route(step: Step, content: Content) -> list[str]:
    if not step.routes:
        given = {"next": content.next, "reason": content.reason}
        return [f"{key}: not allowed" for key, value in given.items() if value is not None]
    found = []
    names = [route.to for route in step.routes]
    if content.next not in names:
        found.append(f"next: required, one of {', '.join(names)}")
    if not (content.reason or "").strip():
        found.append("reason: required")
    return found
