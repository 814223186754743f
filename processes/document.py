"""PROCESS.md to a `Document`, or every issue with its line. Pure.

A file is a line `---`, YAML front matter, the next line that is exactly `---`, and the body. A byte order
mark before it all is dropped. Lines may end in LF or CRLF. The line break that ends the closing line
belongs to that line: the body begins right after it and is kept, and hashed, exactly as written, carriage
returns and blank lines included.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import rfc8785

from processes import yamlcore
from processes.branches import check_branches
from processes.fields import Field, read_fields
from processes.graph import Graph, check_ways
from processes.references import check_references
from processes.rules import Finding, Findings, Path, Rule, described, shown
from processes.steps import ID, JOIN, KINDS, Draft, Route, Step, read_step

__all__ = ["JOIN", "KINDS", "Document", "Field", "Issue", "Parsed", "Route", "Step", "parse"]

MAX_BYTES = 256 * 1024
MAX_NAME = 64
INITIATOR = "initiator"
KEYS = ("name", "description", "inputs", "requires", "steps")

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_FENCE = "---"
_CLOSING = re.compile(r"^---\r?(?:\n|\Z)", re.MULTILINE)
_NEARLY_CLOSING = re.compile(r"^---[ \t\r]+$", re.MULTILINE)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")  # what neither UTF-8 nor a PostgreSQL text holds


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """One thing wrong with a file: where, what, and how to mend it.

    `step` is a step's id (or `steps[2]` where it has none), "" for the file's own keys; `key` the path
    below it (`check[0].fail`); `line` 1-based in the whole text, None where unknown; `rule` a stable
    short name of what is broken (`id-twice`).
    """

    step: str
    key: str
    line: int | None
    message: str
    rule: str = ""

    def __str__(self) -> str:
        step = f"steps.{self.step}" if self.step and not self.step.startswith("steps[") else self.step
        place = ".".join(part for part in (step, self.key) if part)
        line = "" if self.line is None else f"line {self.line}"
        where = ", ".join(part for part in (line, place) if part)
        return f"{where}: {self.message}" if where else self.message


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    name: str
    description: str
    inputs: Mapping[str, Field]
    requires: Mapping[str, Any] | None
    steps: Mapping[str, Step]  # by id, in the file's order
    front: Mapping[str, Any]  # the parsed front matter; numbers are int or Decimal
    body: str
    content_hash: str  # hex SHA-256 of RFC 8785(front) + "\n" + body

    @property
    def roles(self) -> tuple[str, ...]:
        """Role names used by `person`, in the file's order, each once."""
        persons = (step.person for step in self.steps.values())
        roles = (person for person in persons if person and person != INITIATOR and "." not in person)
        return tuple(dict.fromkeys(roles))

    @property
    def waits_for_events(self) -> bool:
        return any(step.kind == "wait_for" for step in self.steps.values())

    @property
    def has_initiator(self) -> bool:
        """Whether a step is for whoever started the run, so that an agent can't start one."""
        return any(step.person == INITIATOR for step in self.steps.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """Either a document or issues (in the file's order), never both."""

    document: Document | None
    issues: tuple[Issue, ...]


def parse(text: str) -> Parsed:
    """Read the text of a PROCESS.md. Never raises: whatever is wrong is an issue."""
    findings = Findings()
    parts = _split(text, findings)
    if parts is None:
        return _refused(findings, {}, [])
    front, body = parts
    loaded = yamlcore.load(front, first_line=2)
    findings = Findings([*findings.all, *loaded.findings], loaded.lost)
    raw = loaded.value if isinstance(loaded.value, dict) else {}
    raw_steps = raw.get("steps")
    steps: list[Any] = raw_steps if isinstance(raw_steps, list) else []
    document = None
    if loaded.complete and not isinstance(loaded.value, dict):
        findings.add(Rule.NOT_KEYS, (), what=described(loaded.value))
    elif loaded.complete:
        document = _read(raw, steps, body, loaded.lines, findings)
    if document is None or findings.all:
        return _refused(findings, loaded.lines, steps)
    return Parsed(document=replace(document, content_hash=_content_hash(raw, body)), issues=())


def _split(text: str, findings: Findings) -> tuple[str, str] | None:
    """Front matter and body; None where there is no telling them apart."""
    # each character is a byte at least: a text of a gigabyte is not encoded to be measured
    if len(text) > MAX_BYTES or len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        findings.add(Rule.TOO_LARGE, (), limit=MAX_BYTES)
        return None
    text = text.removeprefix("\ufeff")
    first, _, rest = text.partition("\n")
    if first.removesuffix("\r") != _FENCE:
        findings.add(Rule.NO_OPENING, (), 1)
        return None
    closing = _CLOSING.search(rest)
    if closing is None:
        if nearly := _NEARLY_CLOSING.search(rest):
            findings.add(Rule.CLOSING_BLANKS, (), _line(rest, nearly.start()))
        else:
            findings.add(Rule.NO_CLOSING, (), 1)
        return None
    body = rest[closing.end() :]
    if found := _UNSTORABLE.search(body):
        line = _line(rest, closing.end() + found.start())
        findings.add(Rule.UNSTORABLE, (), line, char=f"U+{ord(found.group()):04X}")
    return rest[: closing.start()], body


def _line(rest: str, position: int) -> int:
    """The line in the file of a position in what follows its first line."""
    return 2 + rest.count("\n", 0, position)


# The front matter.


def _read(
    raw: dict[str, Any], steps: list[Any], body: str, lines: Mapping[Path, int], findings: Findings
) -> Document:
    """All that the front matter says, with a finding for whatever is wrong; the hash is still to come."""
    for key in raw:
        if key not in KEYS:
            hint = findings.hint(key, KEYS, "The keys are")
            findings.add(Rule.UNKNOWN_KEY, (key,), key=shown(key), owner="a process", hint=hint)
    name = _read_name(raw, findings)
    description = _read_description(raw, findings)
    inputs = read_fields(raw["inputs"], ("inputs",), findings) if "inputs" in raw else {}
    requires = _read_requires(raw, findings)
    drafts = _read_steps(raw, steps, lines, findings)
    if drafts:
        graph = Graph(drafts, findings)
        check_branches(graph, findings)
        check_ways(graph, findings)
        check_references(drafts, inputs, findings)
    return Document(
        name=name,
        description=description,
        inputs=inputs or {},
        requires=requires,
        steps={draft.step.id: draft.step for draft in drafts},
        front=raw,
        body=body,
        content_hash="",
    )


def _missing(raw: dict[str, Any], key: str, example: str, findings: Findings) -> bool:
    if key in raw:
        return False
    # `nmae: x` is told once, as the unknown key
    if not any(other not in KEYS and findings.near(other, [key]) for other in raw):
        findings.add(Rule.MISSING, (), key=key, example=example)
    return True


def _read_name(raw: dict[str, Any], findings: Findings) -> str:
    if _missing(raw, "name", "name: invoice-approval", findings):
        return ""
    value = raw["name"]
    if isinstance(value, str) and len(value) <= MAX_NAME and _NAME.fullmatch(value):
        return value
    words = re.findall(r"[a-z0-9]+", value.lower()) if isinstance(value, str) else []
    example = "-".join(words)[:MAX_NAME].strip("-") or "invoice-approval"
    findings.add(Rule.NAME, ("name",), value=shown(value), example=example)
    return ""


def _read_description(raw: dict[str, Any], findings: Findings) -> str:
    if _missing(raw, "description", "description: what it does and when to start it", findings):
        return ""
    value = raw["description"]
    if not isinstance(value, str):
        mend = "Text with a colon needs quotes." if isinstance(value, dict) else "Write a sentence or two."
        what = described(value)
        findings.add(Rule.NOT_TEXT, ("description",), key="description", what=what, mend=mend)
        return ""
    if not value.strip():
        findings.add(Rule.BLANK, ("description",), key="description")
    return value


def _read_requires(raw: dict[str, Any], findings: Findings) -> dict[str, Any] | None:
    if "requires" not in raw:
        return None
    value, path = raw["requires"], ("requires",)
    if not isinstance(value, dict):
        findings.add(Rule.REQUIRES, path, what=described(value))
        return None
    for key in value:
        if key != "systems":
            hint = findings.hint(key, ["systems"], "Its key is")
            findings.add(Rule.UNKNOWN_KEY, (*path, key), key=shown(key), owner="requires", hint=hint)
    systems = value.get("systems")
    if "systems" not in value:
        findings.add(Rule.MISSING, path, key="systems", example="systems: [crm]")
    elif not isinstance(systems, list) or not systems:
        findings.add(Rule.SYSTEMS, (*path, "systems"), what=described(systems))
    else:
        _check_systems(systems, (*path, "systems"), findings)
    return value


def _check_systems(systems: list[Any], path: Path, findings: Findings) -> None:
    seen: set[str] = set()
    for index, value in enumerate(systems):
        if not isinstance(value, str) or len(value) > MAX_NAME or not _NAME.fullmatch(value):
            findings.add(Rule.SYSTEM_NAME, (*path, index), value=shown(value))
        elif value in seen:
            findings.add(Rule.SYSTEM_TWICE, (*path, index), value=value)
        else:
            seen.add(value)


def _read_steps(
    raw: dict[str, Any], steps: list[Any], lines: Mapping[Path, int], findings: Findings
) -> list[Draft]:
    if _missing(raw, "steps", "steps: and under it a list of steps", findings):
        return []
    if not steps:
        findings.add(Rule.STEPS, ("steps",), what=described(raw["steps"]))
    drafts: list[Draft] = []
    first: dict[str, int] = {}
    for index, item in enumerate(steps):
        following = _written_id(steps, index + 1)
        line = lines.get(("steps", index), 0)
        draft = read_step(item, index, following, line, findings)
        if draft.step.id in first:
            path = (*draft.path, "id")
            findings.add(Rule.ID_TWICE, path, id=draft.step.id, first=first[draft.step.id])
            draft = replace(draft, step=replace(draft.step, id=""))
        elif draft.step.id:
            first[draft.step.id] = line
        drafts.append(draft)
    return drafts


def _written_id(steps: list[Any], index: int) -> str:
    """The id that the file gives a step; "" if it gives none that could be one."""
    value = steps[index].get("id") if index < len(steps) and isinstance(steps[index], dict) else None
    return value if isinstance(value, str) and ID.fullmatch(value) else ""


# Issues and the hash.


def _refused(findings: Findings, lines: Mapping[Path, int], steps: list[Any]) -> Parsed:
    issues = [_issue(finding, lines, steps) for finding in findings.all]
    issues.sort(key=lambda issue: issue.line or 0)
    return Parsed(document=None, issues=tuple(issues))


def _issue(finding: Finding, lines: Mapping[Path, int], steps: list[Any]) -> Issue:
    step, rest = "", finding.path
    if len(rest) > 1 and rest[0] == "steps" and isinstance(rest[1], int):
        step, rest = _written_id(steps, rest[1]) or f"steps[{rest[1]}]", rest[2:]
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in rest).removeprefix(".")
    line = finding.line
    if line is None:
        path = finding.path
        while path and path not in lines:
            path = path[:-1]
        line = lines.get(path)
    return Issue(step=step, key=key, line=line, message=finding.message, rule=finding.rule.code)


def _content_hash(front: dict[str, Any], body: str) -> str:
    return hashlib.sha256(rfc8785.dumps(_doubles(front)) + b"\n" + body.encode()).hexdigest()


def _doubles(value: Any) -> Any:
    """Decimals as doubles, exactly: the loader refuses any that a double can't carry as written."""
    if isinstance(value, dict):
        return {key: _doubles(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_doubles(item) for item in value]
    return float(value) if isinstance(value, Decimal) else value
