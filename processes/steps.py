"""One step of a process file: its shape, and reading it with all that is wrong with it. Pure.

What takes more than one step to judge (whether a target exists, whether a path leads to a declared
field) is told by `processes.graph` and `processes.references`, from the `Draft` that is read here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from checks.facts import declared
from checks.facts.declared import Declared
from checks.questions import Question, read_check
from processes.fields import Field, read_fields
from processes.rules import Findings, Path, Rule, described, listed, shown

KINDS = ("agent", "task", "approve", "wait", "wait_until", "wait_for", "finish", "parallel")
JOIN = "join"

_WORKED = ("agent", "task")
_WORKED_OR_APPROVED = (*_WORKED, "approve")
# Every key beside `id` and the kinds, and where it may stand.
KEYS: Mapping[str, tuple[str, ...]] = {
    "output": _WORKED,
    "evidence": _WORKED,
    "next": tuple(kind for kind in KINDS if kind != "finish"),
    "person": ("task", "approve"),
    "on_reject": ("approve",),
    "due": _WORKED_OR_APPROVED,
    "timeout": ("wait_for",),
    "on_timeout": ("wait_for",),
    "check": _WORKED,
    "advisory": _WORKED,
    "facts": _WORKED,  # of our profile facts-1
}
EVIDENCE = ("file", "link")
ROUTE_KEYS = ("to", "when")
MIN_ROUTES = 2

ID = re.compile(r"[a-z][a-z0-9_-]{0,63}")  # of steps and events; always with fullmatch
_DURATION = re.compile(r"([0-9]{1,6})([mhd])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    to: str
    when: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step.

    `text` is the kind key's value: instructions, what is approved, a duration, a path, an event's name,
    the outcome word ("" for parallel).
    """

    id: str
    kind: str
    text: str
    output: Mapping[str, Field] = field(default_factory=dict)
    evidence: tuple[str, ...] = ()
    # exactly one of the two, both empty on a finish: where it goes, or what the actor chooses from.
    # `next` already holds the default (the following step).
    next: str = ""
    routes: tuple[Route, ...] = ()
    person: str = ""
    on_reject: str = ""
    due: timedelta | None = None
    timeout: timedelta | None = None
    on_timeout: str = ""
    check: tuple[Question, ...] = ()
    advisory: bool = False
    facts: tuple[Declared, ...] = ()
    branches: tuple[str, ...] = ()  # of a parallel step: the branches' entries
    line: int = 0


@dataclass(frozen=True, slots=True)
class Target:
    """A step that another names. `key` is the path below the naming step, `via` its first key."""

    key: Path
    to: str

    @property
    def via(self) -> str:
        return str(self.key[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A step as far as it could be read; in a file without issues simply the step.

    `step.id` and `step.kind` are "" where they are unusable, and such a step is not judged by what it
    lacks. `output_read` is False where `output` is no map, so that no path into it is called wrong.
    """

    index: int
    step: Step
    targets: tuple[Target, ...] = ()
    names_next: bool = False
    output_read: bool = True

    @property
    def path(self) -> Path:
        return ("steps", self.index)


def duration(text: str) -> timedelta | None:
    """`30m`, `4h`, `2d`; None for anything else."""
    found = _DURATION.fullmatch(text)
    return timedelta(**{_UNITS[found[2]]: int(found[1])}) if found else None


def read_step(raw: object, index: int, following: str, line: int, findings: Findings) -> Draft:
    """One item of `steps`. `following` is the id of the next one in the list, "" after the last."""
    path: Path = ("steps", index)
    if not isinstance(raw, dict):
        findings.add(Rule.STEP_SHAPE, path, what=described(raw))
        return Draft(index=index, step=Step(id="", kind="", text="", line=line))
    kind = _read_kind(raw, path, findings)
    _judge_keys(raw, kind, path, findings)
    reader = _Reader(raw, kind, path, findings)
    output, routes = reader.fields(), reader.routes()
    step = Step(
        id=reader.id(),
        kind=kind,
        text=reader.kind_text(),
        output=output or {},
        evidence=reader.evidence(),
        routes=routes,
        next="" if routes or kind == "finish" else reader.target("next") or following,
        person=reader.person(),
        on_reject=reader.target("on_reject"),
        due=reader.duration("due"),
        timeout=reader.duration("timeout"),
        on_timeout=reader.target("on_timeout"),
        check=reader.check(),
        advisory=reader.advisory(),
        facts=reader.facts(output),
        branches=reader.branches(),
        line=line,
    )
    return Draft(
        index=index,
        step=step,
        targets=tuple(reader.targets),
        names_next="next" in raw,
        output_read=output is not None,
    )


def _read_kind(raw: dict[str, Any], path: Path, findings: Findings) -> str:
    kinds = [key for key in raw if key in KINDS]
    if len(kinds) == 1:
        return kinds[0]
    if kinds:
        findings.add(Rule.TWO_KINDS, path, count=len(kinds), kinds=listed(kinds))
    # a mistyped kind is told once, as the unknown key
    elif not any(_unknown(key) and findings.near(key, KINDS) for key in raw):
        findings.add(Rule.NO_KIND, path, kinds=listed(KINDS, "or"))
    return ""


def _unknown(key: str) -> bool:
    return key != "id" and key not in KINDS and key not in KEYS


def _judge_keys(raw: dict[str, Any], kind: str, path: Path, findings: Findings) -> None:
    """Keys that no step has, that this kind has not, and that it has only together."""
    for key in raw:
        if _unknown(key):
            known = ("id", *KINDS, *KEYS)
            hint = findings.hint(key, known, "A step has an id, a kind and the keys")
            findings.add(Rule.UNKNOWN_KEY, (*path, key), key=shown(key), owner="a step", hint=hint)
        elif kind and key in KEYS and kind not in KEYS[key]:
            if (kind, key) == ("finish", "next"):
                findings.add(Rule.FINISH_NEXT, (*path, key))
            else:
                kinds = listed(KEYS[key])
                findings.add(Rule.KEY_ON_KIND, (*path, key), key=key, kinds=kinds, kind=_with_article(kind))
    if kind in KEYS["person"] and "person" not in raw:
        findings.add(Rule.PERSON_NEEDED, path, kind=kind)
    if "advisory" in raw and "check" not in raw and kind in {*KEYS["advisory"], ""}:
        findings.add(Rule.CHECK_NEEDED, (*path, "advisory"))
    if "on_timeout" in raw and "timeout" not in raw and kind in {*KEYS["on_timeout"], ""}:
        findings.add(Rule.TIMEOUT_NEEDED, (*path, "on_timeout"))


def _with_article(kind: str) -> str:
    return f"an {kind}" if kind[0] == "a" else f"a {kind}"


def _place(path: tuple[str | int, ...]) -> str:
    """`(1, "pass")` below `check` in an author's words: `pass in question 2`."""
    if not path:
        return "check"
    question = f"question {int(path[0]) + 1}"
    return f"{path[1]} in {question}" if len(path) > 1 else question


class _Reader:
    """Reads one step's values key by key; `targets` gathers the steps that it names."""

    def __init__(self, raw: dict[str, Any], kind: str, path: Path, findings: Findings) -> None:
        self.raw = raw
        self.kind = kind
        self.path = path
        self.findings = findings
        self.targets: list[Target] = []

    def _has(self, key: str) -> bool:
        """Whether the key is there to be read: a key that this kind has not is told already."""
        return key in self.raw and (not self.kind or self.kind in KEYS[key])

    def _add(self, rule: Rule, *key: str | int, **words: object) -> None:
        self.findings.add(rule, (*self.path, *key), **words)

    def text(self, key: str) -> str:
        value = self.raw[key]
        if not isinstance(value, str):
            colon = isinstance(value, dict)
            mend = "Text with a colon needs quotes." if colon else "Write it out, in quotes if need be."
            self._add(Rule.NOT_TEXT, key, key=key, what=described(value), mend=mend)
            return ""
        if not value.strip():
            self._add(Rule.BLANK, key, key=key)
        return value

    def id(self) -> str:
        value = self.raw.get("id")
        if "id" not in self.raw:
            self._add(Rule.MISSING, key="id", example="- id: check_invoice")
        elif not isinstance(value, str) or not ID.fullmatch(value):
            self._add(Rule.ID, "id", value=shown(value))
        else:
            return value
        return ""

    def kind_text(self) -> str:
        if self.kind in {"", "parallel"}:
            return ""
        value = self.raw[self.kind]
        if self.kind == "wait":
            self._duration(self.kind)
        elif self.kind == "wait_for" and not (isinstance(value, str) and ID.fullmatch(value)):
            self._add(Rule.EVENT, self.kind, value=shown(value))
        elif self.kind != "wait_for":
            return self.text(self.kind)
        return value if isinstance(value, str) else ""

    def fields(self) -> dict[str, Field] | None:
        if not self._has("output"):
            return {}
        return read_fields(self.raw["output"], (*self.path, "output"), self.findings)

    def evidence(self) -> tuple[str, ...]:
        if not self._has("evidence"):
            return ()
        value = self.raw["evidence"]
        if not isinstance(value, list):
            self._add(Rule.EVIDENCE, "evidence", what=described(value))
            return ()
        seen: list[str] = []
        for index, item in enumerate(value):
            if item not in EVIDENCE:
                self._add(Rule.EVIDENCE_KIND, "evidence", index, value=shown(item))
            elif item in seen:
                self._add(Rule.EVIDENCE_TWICE, "evidence", index, value=item)
            else:
                seen.append(item)
        return tuple(seen)

    def duration(self, key: str) -> timedelta | None:
        return self._duration(key) if self._has(key) else None

    def _duration(self, key: str) -> timedelta | None:
        value = self.raw[key]
        found = duration(value) if isinstance(value, str) else None
        if found is None:
            self._add(Rule.DURATION, key, key=key, value=shown(value))
        return found

    def person(self) -> str:
        return self.text("person") if self._has("person") else ""

    def target(self, key: str) -> str:
        """A key whose value is one step's id (of `next`: where it is not a list)."""
        if not self._has(key) or (key == "next" and isinstance(self.raw[key], list)):
            return ""
        return self._target(self.raw[key], key)

    def _target(self, value: object, *key: str | int) -> str:
        if isinstance(value, str):
            self.targets.append(Target(key, value))
            return value
        self._add(Rule.TARGET, *key, key=key[-1], what=described(value))
        return ""

    def routes(self) -> tuple[Route, ...]:
        if not self._has("next") or not isinstance(self.raw["next"], list):
            return ()
        if self.kind not in {*_WORKED, ""}:
            self._add(Rule.ROUTES_KIND, "next")
        elif len(self.raw["next"]) < MIN_ROUTES:
            self._add(Rule.ROUTES_FEW, "next")
        found: dict[str, Route] = {}
        for index, item in enumerate(self.raw["next"]):
            route = self._route(item, "next", index)
            if route and route.to in found:
                self._add(Rule.ROUTES_TWICE, "next", index, to=shown(route.to))
            elif route:
                found[route.to] = route
        return tuple(found.values())

    def _route(self, item: object, *key: str | int) -> Route | None:
        if isinstance(item, str):
            return Route(to=self._target(item, *key))
        if not isinstance(item, dict):
            self._add(Rule.ROUTE, *key, what=described(item))
            return None
        for name in item:
            if name not in ROUTE_KEYS:
                hint = self.findings.hint(name, ROUTE_KEYS, "A route has the keys")
                self._add(Rule.UNKNOWN_KEY, *key, name, key=shown(name), owner="a route", hint=hint)
        when = item.get("when", "-")
        if not isinstance(when, str):
            mend = "Text with a colon needs quotes." if isinstance(when, dict) else "Say when in words."
            self._add(Rule.NOT_TEXT, *key, "when", key="when", what=described(when), mend=mend)
        elif not when.strip():
            self._add(Rule.BLANK, *key, "when", key="when")
        if "to" not in item:
            self._add(Rule.MISSING, *key, key="to", example="to: the id of a step")
            return None
        to = self._target(item["to"], *key, "to")
        return Route(to=to, when=when if "when" in item and isinstance(when, str) else "") if to else None

    def check(self) -> tuple[Question, ...]:
        if not self._has("check"):
            return ()
        questions, problems = read_check(self.raw["check"])
        for problem in problems:
            self._add(Rule.CHECK, "check", *problem.path, place=_place(problem.path), message=problem.message)
        return questions

    def advisory(self) -> bool:
        value = self.raw["advisory"] if self._has("advisory") else False
        if isinstance(value, bool):
            return value
        self._add(Rule.NOT_BOOLEAN, "advisory", key="advisory", what=described(value))
        return False

    def facts(self, output: Mapping[str, Field] | None) -> tuple[Declared, ...]:
        """`output`: the step's own fields, None where they can't be read."""
        if not self._has("facts"):
            return ()
        facts, problems = declared.read(self.raw["facts"])
        for place, message in problems:
            self._add(Rule.FACT, "facts", *place, message=message)
        for index, fact in enumerate(facts if output is not None else ()):
            if fact is not None:
                self._judge_value(fact, output or {}, "facts", index, "value")
        return tuple(fact for fact in facts if fact is not None)

    def _judge_value(self, fact: Declared, output: Mapping[str, Field], *key: str | int) -> None:
        """Whether what a fact is about will be there, and of a type that it can be about."""
        field = output.get(fact.field)
        if field is None:
            paths = [declared.PREFIX + name for name in output]
            hint = self.findings.hint(fact.path, paths, "This step's fields are")
            self._add(Rule.PATH_FIELD, *key, value=shown(fact.path), hint=hint)
        elif field.optional:
            self._add(Rule.FACT_OPTIONAL, *key, value=shown(fact.path))
        elif fact.takes is not None and field.type and field.type not in fact.takes:
            wanted, key_of = listed(sorted(fact.takes, reverse=True), "or"), fact.fills or fact.type
            self._add(
                Rule.PATH_TYPE, *key, value=shown(fact.path), type=field.type, key=key_of, wanted=wanted
            )

    def branches(self) -> tuple[str, ...]:
        if "parallel" not in self.raw:
            return ()
        value = self.raw["parallel"]
        if not isinstance(value, list) or len(value) < MIN_ROUTES:
            what = "a list of one" if isinstance(value, list) and value else described(value)
            self._add(Rule.PARALLEL, "parallel", what=what)
        seen: list[str] = []
        for index, item in enumerate(value if isinstance(value, list) else ()):
            if not isinstance(item, str):
                self._add(Rule.ENTRY, "parallel", index, what=described(item))
            elif item in seen:
                self._add(Rule.ENTRY_TWICE, "parallel", index, to=shown(item))
            else:
                seen.append(self._target(item, "parallel", index))
        return tuple(seen)
