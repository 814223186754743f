"""The form of `/try/`: what is typed, made into the body of a call and read by the same readers. Pure of requests.

Evidence is split at blank lines, criteria at line ends, answers at lines of `---` (a name after it says whose the
next one is). Each breach of a limit belongs to the field that it is about.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from checks import codec, facts
from checks.judge.requests import (
    MAX_BODY_BYTES,
    ConsensusRequest,
    JudgeRequest,
    read_consensus,
    read_judge,
)

JUDGE, CONSENSUS = "judge", "consensus"
KINDS = (JUDGE, CONSENSUS)
# what the largest call weighs as a form, each character as %XX; nothing larger is read
FORM_BYTES = 512 * 1024
_BLANK = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_PLACE = re.compile(r"(?P<name>\w+)(?:\[(?P<item>\d+)\])?(?:\.(?P<part>[^:]+))?: (?P<wrong>.*)", re.DOTALL)
_DASHES = re.compile(r"^---[ \t]*(.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    name: str
    label: str
    hint: str
    rows: int
    code: bool = False
    needed: bool = False


_TASK = Field(name="task", label="Task", hint="what was asked for", rows=2, needed=True)
_EVIDENCE = Field(name="evidence", label="Evidence", hint="a blank line between two pieces", rows=5)
FIELDS: Mapping[str, Sequence[Field]] = {
    JUDGE: (
        _TASK,
        Field(
            name="agent_output",
            label="Output",
            hint="what the agent handed in; it is split into claims",
            rows=5,
            needed=True,
        ),
        _EVIDENCE,
        Field(name="criteria", label="Criteria", hint="one a line", rows=2),
        Field(
            name="checks",
            label="Facts",
            hint="a JSON list of equals, regex, numeric or json_schema",
            rows=3,
            code=True,
        ),
    ),
    CONSENSUS: (
        _TASK,
        Field(
            name="answers",
            label="Answers",
            hint="a line of --- before each; a name after it says whose it is",
            rows=11,
            needed=True,
        ),
        _EVIDENCE,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """`asked` is None where there are problems: by the field that each is about, "" where it is about none."""

    body: dict[str, Any]
    asked: JudgeRequest | ConsensusRequest | None
    problems: Mapping[str, list[str]] = field(default_factory=dict)


def typed(kind: str, sent: Mapping[str, Any]) -> dict[str, str]:
    """Every field's text, with line ends as everywhere but in forms."""
    return {one.name: str(sent.get(one.name) or "").replace("\r\n", "\n") for one in FIELDS[kind]}


def read(kind: str, texts: Mapping[str, str]) -> Read:
    """Never raises."""
    body, problems = _body(kind, texts)
    if not problems:
        problems = _too_large(body)
    asked, wrong = (read_judge if kind == JUDGE else read_consensus)(body)
    problems += wrong
    if not problems:
        return Read(body=body, asked=asked)
    by_field: dict[str, list[str]] = {name: [] for name in ("", *(one.name for one in FIELDS[kind]))}
    for problem in problems:
        name, text = _told(kind, problem)
        by_field[name].append(text)
    told = {name: texts for name, texts in by_field.items() if texts}
    return Read(body=body, asked=None, problems=told)


@cache
def offered() -> tuple[str, ...]:
    """Kinds of facts that this form takes."""
    return tuple(name for name in facts.FACTS if name not in outward())


@cache
def outward() -> frozenset[str]:
    """Kinds of facts that are read from the network, which this form never does."""
    return frozenset(name for name in facts.FACTS if facts.kind_of(name).network)


def _body(kind: str, texts: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """What somebody would send who typed that; optional keys only where there is something in them."""
    problems: list[str] = []
    body: dict[str, Any] = {"task": texts["task"].strip()}
    if kind == JUDGE:
        body["agent_output"] = texts["agent_output"].strip()
    else:
        body["answers"] = _answers(texts["answers"])
    if evidence := _parts(_BLANK.split(texts["evidence"])):
        body["evidence"] = evidence
    if kind == JUDGE and (criteria := _parts(texts["criteria"].split("\n"))):
        body["criteria"] = criteria
    if kind == JUDGE and texts["checks"].strip():
        try:
            body["checks"] = codec.loads(texts["checks"])
        except codec.CodecError as error:
            problems.append(f"checks: {error}")
        else:
            problems += _reaching_out(body["checks"])
    return body, problems


def _parts(texts: Sequence[str]) -> list[str]:
    return [text.strip() for text in texts if text.strip()]


def _answers(text: str) -> list[dict[str, str]]:
    """`--- name`, then the answer. What stands before the first line of dashes is an answer of nobody."""
    first, *rest = _DASHES.split(text)
    pairs = [("", first), *zip(rest[::2], rest[1::2], strict=True)]
    found = []
    for name, output in pairs:
        if not output.strip() and not name.strip():
            continue
        answer = {"output": output.strip()}
        found.append({"agent_id": name.strip(), **answer} if name.strip() else answer)
    return found


def _reaching_out(checks: Any) -> list[str]:
    entries = checks if isinstance(checks, list) else []
    return [
        f"checks[{place}].type: {entry['type']} is read from the network, and this page never goes there; "
        "send it to /v1/judge with a key"
        for place, entry in enumerate(entries)
        if isinstance(entry, Mapping) and isinstance(entry.get("type"), str) and entry["type"] in outward()
    ]


def _too_large(body: dict[str, Any]) -> list[str]:
    try:
        codec.check(body)
    except codec.CodecError as error:
        return [str(error)]
    size = len(codec.dumps(body).encode())
    return [f"body: {size} bytes; at most {MAX_BODY_BYTES} are taken"] if size > MAX_BODY_BYTES else []


def _told(kind: str, problem: str) -> tuple[str, str]:
    """`checks[1].type: …` → checks, "Facts 2, type: …". What is about all of them says so; the rest stays as it is."""
    found = _PLACE.match(problem)
    if found and found["name"] == "body":
        return "", f"All fields together: {found['wrong']}"
    label = next((one.label for one in FIELDS[kind] if found and one.name == found["name"]), None)
    if found is None or label is None:
        return "", problem[:1].upper() + problem[1:]
    wrong = found["wrong"]
    if found["name"] == "checks" and found["part"] == "type" and wrong.startswith("not one of "):
        wrong = (
            f"not one of {', '.join(offered())}"  # what is read from the network would be refused here next
        )
    item = f" {int(found['item']) + 1}" if found["item"] else ""
    part = f", {found['part']}" if found["part"] else ""
    return found["name"], f"{label}{item}{part}: {wrong}"
