"""A Hypothesis strategy for valid process documents, and for values that fit their fields.

`documents()` gives a `Made`: the front matter as its author would write it, from which the reference model
works, and the text of the file. Every kind of step, every key and every way to go back occur.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

IDS = [
    "draft",
    "s1",
    "b_2",
    "c-3",
    "x",
    "yes",
    "on",
    "no",
    "null",
    "y2k",
    "z",
    "true",
    "k",
    "inputs",
    "m-",
    "v",
]
WORDS = [
    "Do it.", "yes", "12:30", "a: b", "# no", "null", "1e3", "é 😀", "- x", "two\nlines", "'", '"', "{}", "2026-01-01",
    "off", "|", "%", "&a", "*b", "!c", "[d", "@", " pad ", "\\",
]  # fmt: skip
DURATIONS = ["0m", "5m", "1h", "2d"]
EVENTS = ["paid", "sent", "go-on"]
ROLES = ["finance", "legal"]
FIELDS = ["a", "b", "a.b", "ü", "next", "number"]
OUTCOMES = ["ok", "sent back", "rejected", "failed", "0"]
BEFORE, AFTER = "2020-01-01T00:00:00Z", "2030-06-01T12:00:00.5+02:00"
VALUES: dict[str, list[Any]] = {
    "string": ["text", "", "é 😀"],
    "number": [0, -1.5, 12345678901234567890],
    "boolean": [True, False],
    "date": ["2024-02-29", "2030-01-31"],
    "datetime": [BEFORE, AFTER],
    "list": [[], [1, "a"]],
    "object": [{}, {"a": {"b": [None]}}],
    "person": ["ada@example.org", "BEN@example.org", "ada@example.org", "nobody@example.org"],
}
WRONG: dict[str, Any] = {
    "string": 1, "number": "1", "boolean": 1, "date": "2023-02-29", "datetime": "2030-01-01T00:00:00", "list": {},
    "object": [], "person": " ",
}  # fmt: skip
KINDS = ("agent", "task", "approve", "wait", "wait_until", "wait_for", "parallel", "finish")
MIN_BRANCHES = 2
LINE_KINDS = [*KINDS[:-2], "agent", "task", "approve", "approve", "wait_for"]

words = st.sampled_from(WORDS)
seldom = st.sampled_from([False, False, False, True])


def kind_of(step: Mapping[str, Any]) -> str:
    return next(kind for kind in KINDS if kind in step)


@dataclass(frozen=True)
class Made:
    front: dict[str, Any]
    body: str

    @property
    def text(self) -> str:
        """A line a key and a step, each value as JSON (which is YAML), so that a failing example reads."""
        lines = [f"{key}: {_json(value)}" for key, value in self.front.items() if key != "steps"]
        lines += ["steps:", *(f"  - {_json(step)}" for step in self.front["steps"])]
        return "\n".join(["---", *lines, "---", self.body])

    def __repr__(self) -> str:
        return f"\n{self.text}\n"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


# ---- fields


def declared(field: Any) -> dict[str, Any]:
    return {"type": field} if isinstance(field, str) else field


@st.composite
def fields(draw: Any) -> Any:
    kind = draw(st.sampled_from(sorted(VALUES)))
    if draw(st.booleans()):
        return kind
    field: dict[str, Any] = {"type": kind, "optional": draw(st.booleans())}
    if draw(seldom):
        field["description"] = draw(words)
    if kind == "list":
        field["items"] = draw(st.sampled_from(["string", {"type": "number", "one_of": [2, 0.5]}, "boolean"]))
    elif kind != "object" and draw(seldom):
        field["one_of"] = VALUES[kind][:2]
    return field


def fitting(field: Any) -> st.SearchStrategy[Any]:
    spec = declared(field)
    if "items" in spec:
        return st.lists(fitting(spec["items"]), max_size=2)
    return st.sampled_from(spec.get("one_of", VALUES[spec["type"]]))


@st.composite
def fillings(draw: Any, declarations: Mapping[str, Any]) -> dict[str, Any]:
    """Values for fields; optional ones are now and then left out."""
    return {
        name: draw(fitting(field))
        for name, field in declarations.items()
        if not (declared(field).get("optional") and draw(seldom))
    }


@st.composite
def spoilt(
    draw: Any, declarations: Mapping[str, Any], values: Mapping[str, Any], place: str
) -> tuple[Any, list[str]]:
    """Values that don't fit for one reason, and the issue that says so."""
    name = draw(st.sampled_from([*values, "stray"]))
    if name not in declarations:
        return {**values, name: 1}, [f"{place}.{name}: not declared"]
    spec = declared(declarations[name])
    if not spec.get("optional") and draw(st.booleans()):
        return {key: value for key, value in values.items() if key != name}, [f"{place}.{name}: missing"]
    if "items" in spec:
        kind = declared(spec["items"])["type"]
        return {**values, name: [WRONG[kind]]}, [f"{place}.{name}[0]: expected {kind}"]
    return {**values, name: WRONG[spec["type"]]}, [f"{place}.{name}: expected {spec['type']}"]


# ---- steps


@st.composite
def questions(draw: Any) -> Any:
    if draw(st.booleans()):
        return draw(words)
    yes_no = st.fixed_dictionaries(
        {"ask": words},
        optional={"pass": st.sampled_from([0.9, 1, 0.75]), "fail": st.sampled_from([0, 0.25, 0.75])},
    )
    choice = st.fixed_dictionaries(
        {"ask": words, "one_of": st.just({"good": "As asked.", "bad": "Not so.", "lost": "Can't tell."})}
        | {"pass": st.just(["good"])},
        optional={"unsure": st.just(["lost"]), "confidence": st.sampled_from([0, 0.75])},
    )
    rubric = st.fixed_dictionaries(
        {"ask": words, "levels": st.just(["None.", "Some.", "All."]), "pass": st.integers(0, 2)},
        optional={"confidence": st.sampled_from([0, 0.75])},
    )
    return draw(st.lists(st.one_of(yes_no, choice, rubric), min_size=1, max_size=2))


@st.composite
def bare_steps(draw: Any, name: str, kind: str) -> dict[str, Any]:
    """A step without what names others: next, branches, on_reject, on_timeout, paths."""
    step: dict[str, Any] = {"id": name}
    step[kind] = draw(
        {"wait": st.sampled_from(DURATIONS), "wait_for": st.sampled_from(EVENTS)}.get(kind, words)
    )
    if kind in ("agent", "task"):
        if draw(st.booleans()):
            step["output"] = draw(st.dictionaries(st.sampled_from(FIELDS), fields(), max_size=2))
        if draw(seldom):
            step["evidence"] = draw(st.sampled_from([["link"], ["file"], ["file", "link"], []]))
        if draw(st.booleans()):
            step["check"] = draw(questions())
            step |= draw(st.sampled_from([{}, {}, {"advisory": True}, {"advisory": False}]))
    if kind in ("agent", "task", "approve") and draw(seldom):
        step["due"] = draw(st.sampled_from(DURATIONS[1:]))
    if kind == "wait_for" and draw(st.booleans()):
        step["timeout"] = draw(st.sampled_from(DURATIONS))
    return step


@st.composite
def lines(draw: Any, names: Sequence[str], ends: Sequence[str], *, forks: bool) -> list[dict[str, Any]]:
    """Steps that lead on among themselves and at last to one of `ends`; with `forks` some are parallel."""
    steps = []
    for index, name in enumerate(names):
        later = [*names[index + 1 :], *ends]
        if forks and draw(seldom):
            step = {"id": name, "parallel": [], "next": later[0]}
        else:
            kind = draw(st.sampled_from(LINE_KINDS))
            step = draw(bare_steps(name, kind))
            step["next"] = draw(st.sampled_from([*later[:1] * 4, *later]))
            if kind in ("agent", "task") and len(later) > 1 and draw(st.booleans()):
                routes = draw(st.lists(st.sampled_from(later), min_size=2, max_size=3, unique=True))
                step["next"] = [{"to": r, "when": draw(words)} if draw(st.booleans()) else r for r in routes]
            if "timeout" in step and draw(st.booleans()):
                step["on_timeout"] = draw(st.sampled_from(later))
        steps.append(step)
    return steps


def leads_to(step: Mapping[str, Any], *keys: str) -> Iterator[str]:
    """The ids under these keys (of `next`, `on_timeout`, `on_reject`)."""
    for key in keys:
        value = step.get(key, [])
        for target in value if isinstance(value, list) else [value]:
            yield target if isinstance(target, str) else target["to"]


def _reached(steps: Sequence[dict[str, Any]], *keys: str) -> list[dict[str, Any]]:
    """The steps that the first leads to, in their order."""
    known = {step["id"]: step for step in steps}
    found, edge = set(), [steps[0]["id"]]
    while edge:
        name = edge.pop()
        if name in known and name not in found:
            found.add(name)
            edge += leads_to(known[name], *keys)
    return [step for step in steps if step["id"] in found]


@st.composite
def documents(draw: Any) -> Made:
    ids = draw(st.permutations(IDS))
    count, finishes = draw(st.sampled_from([4, 5, 6, 3, 2, 1])), draw(st.integers(1, 3))
    main, ends, spare = ids[:count], ids[count : count + finishes], list(ids[count + finishes :])
    steps = draw(lines(main, ends, forks=True))
    steps += [{"id": end, "finish": draw(st.sampled_from(OUTCOMES))} for end in ends]
    for step in steps:
        if "approve" in step and not draw(seldom):
            step["on_reject"] = draw(st.sampled_from([*main[:1] * 3, step["id"], *main, *ends]))
    steps = _reached(steps, "next", "on_timeout", "on_reject")
    inner = [step for fork in steps if "parallel" in fork for step in draw(branches(fork, spare))]
    every = [*steps, *inner]
    inputs = draw(st.dictionaries(st.sampled_from(FIELDS), fields(), max_size=2))
    for name, kind in (("owner", "person"), ("at", "datetime")):
        inputs[name] = draw(st.sampled_from([kind, {"type": kind, "optional": True}]))
    _name_paths(draw, inputs, every)
    if draw(st.booleans()):
        every = [every[0], *draw(st.permutations(every[1:]))]
    _leave_out_some_next(draw, every, {step["id"] for step in inner})
    front = {"name": draw(st.sampled_from(["alpha", "beta"])), "description": draw(words), "inputs": inputs}
    if draw(seldom):
        front["requires"] = {"systems": ["crm", "mail-2"]}
    body = draw(st.sampled_from(["", "# Body\n\nRead it.\n", "no end of line", "---"]))
    return Made({**front, "steps": every}, body)


@st.composite
def branches(draw: Any, fork: dict[str, Any], spare: list[str]) -> list[dict[str, Any]]:
    """The steps of a fork's branches, named with what ids are spare; with too few of them it is no fork."""
    found: list[dict[str, Any]] = []
    for _ in range(draw(st.integers(2, 3))):
        names = [spare.pop() for _ in range(draw(st.sampled_from([2, 1]))) if spare]
        if not names:
            break
        branch = _reached(draw(lines(names, ["join"], forks=False)), "next", "on_timeout")
        fork["parallel"].append(names[0])
        for step in branch:
            if "approve" in step and not draw(seldom):
                step["on_reject"] = draw(
                    st.sampled_from([branch[0]["id"], *(other["id"] for other in branch)])
                )
        found += branch
    if len(fork["parallel"]) < MIN_BRANCHES:
        del fork["parallel"]
        fork["agent"] = draw(words)
        return []
    return found


def _name_paths(draw: Any, inputs: Mapping[str, Any], steps: Sequence[dict[str, Any]]) -> None:
    """Whom person steps are for and what `wait_until` waits for."""
    for step in steps:
        if "wait_until" in step:
            step["wait_until"] = draw(st.sampled_from(_paths("datetime", inputs, steps)))
        elif "task" in step or "approve" in step:
            paths = _paths("person", inputs, steps)
            step["person"] = draw(st.sampled_from([*ROLES * 4, "initiator", *paths]))


def _paths(kind: str, inputs: Mapping[str, Any], steps: Sequence[dict[str, Any]]) -> list[str]:
    """Every path to a declared field of a type."""
    maps = {"inputs": inputs, **{f"steps.{step['id']}.output": step.get("output", {}) for step in steps}}
    return [
        f"{at}.{name}"
        for at, found in maps.items()
        for name in found
        if declared(found[name])["type"] == kind
    ]


def _leave_out_some_next(draw: Any, steps: Sequence[dict[str, Any]], inner: set[str]) -> None:
    for step, following in pairwise(steps):
        if step["id"] not in inner and step.get("next") == following["id"] and draw(st.booleans()):
            del step["next"]
