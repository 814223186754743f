"""Facts as a step of a process declares them: everything but the value, which only a submission brings. Pure.

An entry is that of the judge API with `value: output.<field>` beside it. What the field holds is the text that is
checked; of a page or a chain, it stands for the one key that the entry leaves out (`fills` of each kind).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from checks import codec
from checks.facts import FACTS, MAX_CHECKS, Fact, Outcome, kind_of, run_each, too_many
from checks.facts.shapes import Entry, shown

PREFIX = "output."
# stands in for a value while a declaration is read; every key that can be filled takes it
_SAMPLE = "1"
_TEXTS = frozenset({"string"})
_NUMBERS_TOO = frozenset({"string", "number"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """One fact to be checked of each submission. `field` is of its output; `fills` is "" where it is the text."""

    type: str
    field: str
    fills: str
    network: bool
    # the entry without `value`
    raw: Mapping[str, Any]

    @property
    def path(self) -> str:
        return PREFIX + self.field

    @property
    def takes(self) -> frozenset[str] | None:
        """The types of field that it can be about; None = any."""
        if not self.fills:
            return None
        return _NUMBERS_TOO if self.fills == "amount" else _TEXTS

    def as_json(self) -> dict[str, Any]:
        """The entry as its author wrote it."""
        return {**self.raw, "value": self.path}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a declared fact came to."""

    declared: Declared
    outcome: Outcome

    @property
    def failed(self) -> bool:
        return not self.outcome.passed and not self.outcome.unreachable


def read(value: Any) -> tuple[tuple[Declared | None, ...], list[tuple[int | None, str]]]:
    """A raw `facts:` to its declarations, entry by entry (None where it is so wrong that nothing more can be said of
    it), and to every problem with it: (its entry, None of the whole; a sentence's words without the full stop). Never raises.
    """
    if not isinstance(value, list) or not value:
        return (), [(None, "facts must be a list of one or more facts, each with a type and a value")]
    if len(value) > MAX_CHECKS:
        return (), [(None, f"facts holds {len(value)} facts; at most {MAX_CHECKS} are taken")]
    found: list[Declared | None] = []
    problems: list[tuple[int | None, str]] = []
    for index, raw in enumerate(value):
        declared, wrong = _read_one(raw)
        problems += [(index, message) for message in wrong]
        found.append(declared)
    problems += [(None, message) for message in too_many(value, "facts")]
    return tuple(found), problems


def check(facts: Sequence[Declared], output: Mapping[str, Any]) -> tuple[Found, ...]:
    """Each against what was handed in, in order. Never raises; may go out over the network."""
    bound = [_bind(declared, output) for declared in facts]
    outcomes = iter(run_each([ready for ready in bound if not isinstance(ready, Outcome)]))
    return tuple(
        Found(declared=declared, outcome=ready if isinstance(ready, Outcome) else next(outcomes))
        for declared, ready in zip(facts, bound, strict=True)
    )


def _read_one(raw: Any) -> tuple[Declared | None, list[str]]:
    if not isinstance(raw, Mapping):
        return None, ["a fact is a map with a type and a value"]
    name = raw.get("type")
    if not isinstance(name, str) or name not in FACTS:
        return None, [f"type is not one of {', '.join(FACTS)}"]
    path = raw.get("value")
    rest = {key: item for key, item in raw.items() if key != "value"}
    if not isinstance(path, str) or not path.startswith(PREFIX) or path == PREFIX:
        return None, ["value must name a field of this step's output, like value: output.total"]
    kind = kind_of(name)
    fills = next((key for key in kind.fills(rest) if key not in rest), None if kind.fills(rest) else "")
    if fills is None:
        given = " or ".join(kind.fills(rest))
        return None, [f"value stands for {given}; leave {'one of them' if ' or ' in given else 'it'} out"]
    entry = Entry({**rest, fills: _SAMPLE} if fills else rest, "")
    fact = kind.read(entry)
    entry.close()
    declared = Declared(
        type=name, field=path.removeprefix(PREFIX), fills=fills, network=fact.network, raw=rest
    )
    return declared, [problem.removeprefix(".") for problem in entry.problems]


def _bind(declared: Declared, output: Mapping[str, Any]) -> tuple[Fact, str] | Outcome:
    """The fact with its value, or why there can be none."""
    if declared.field not in output:
        return Outcome(passed=False, detail=f"{declared.path} was not handed in.", evidence_hash=None)
    value = output[declared.field]
    text = value if isinstance(value, str) else codec.canonical(value)
    entry = Entry({**declared.raw, **({declared.fills: text} if declared.fills else {})}, "")
    fact = kind_of(declared.type).read(entry)
    if entry.problems:
        problem = shown(entry.problems[0].removeprefix("."), 300)
        return Outcome(
            passed=False, detail=f"{declared.path} can't be checked: {problem}.", evidence_hash=None
        )
    return fact, text
