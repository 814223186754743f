"""Facts as a step of a process declares them: everything but the value, which only a submission brings. Pure.

An entry is that of the judge API with `value: output.<field>` beside it. What the field holds is the text that is
checked; of a page or a chain, it stands for the one key that the entry leaves out (`fills` of each kind).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from checks import codec
from checks.facts import FACTS, MAX_CHECKS, Fact, Outcome, kind_of, run_each, too_many
from checks.facts.numeric import written
from checks.facts.shapes import Entry, hash_of, shown

PREFIX = "output."
# stands in for a value while a declaration is read; every key that can be filled takes it
_SAMPLE = "1"
_TWO_WAYS = (
    "value stands for url where text or pattern is given, and for text where url is; give one of the three"
)

# where below `facts`: () of the whole, its entry, or a key of its entry
Place = tuple[int | str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """One fact to be checked of each submission. `field` is of its output; `fills` is "" where it is the text."""

    type: str
    field: str
    fills: str
    network: bool
    # the types of field that it can be about; None = any
    takes: frozenset[str] | None
    # what is asked of the value, for people: the rest of a sentence that begins with the field's name
    wanted: str
    # the entry without `value`
    raw: Mapping[str, Any]

    @property
    def path(self) -> str:
        return PREFIX + self.field

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


def read(value: Any) -> tuple[tuple[Declared | None, ...], list[tuple[Place, str]]]:
    """A raw `facts:` to its declarations, entry by entry (None where it is so wrong that nothing more can be said of
    it), and to every problem with it: (its place, a sentence's words without the full stop). Never raises.
    """
    if not isinstance(value, list) or not value:
        return (), [((), "Facts must be a list of one or more facts, each with a type and a value")]
    found: list[Declared | None] = []
    problems: list[tuple[Place, str]] = []
    if len(value) > MAX_CHECKS:
        problems.append(((), f"facts holds {len(value)} facts; at most {MAX_CHECKS} are taken"))
    # of too many, those that would be taken are read all the same, so that all is told at once
    for index, raw in enumerate(value[:MAX_CHECKS]):
        declared, wrong = _read_one(raw)
        problems += [((index, *key), message) for key, message in wrong]
        found.append(declared)
    problems += [((), message) for message in too_many(value, "facts")]
    return tuple(found), problems


def check(facts: Sequence[Declared], output: Mapping[str, Any]) -> tuple[Found, ...]:
    """Each against what was handed in, in order. Never raises; may go out over the network."""
    bound = [_bind(declared, output) for declared in facts]
    outcomes = iter(run_each([(ready.fact, ready.text) for ready in bound if not isinstance(ready, Outcome)]))
    return tuple(
        Found(declared=declared, outcome=ready if isinstance(ready, Outcome) else ready.told(next(outcomes)))
        for declared, ready in zip(facts, bound, strict=True)
    )


def _read_one(raw: Any) -> tuple[Declared | None, list[tuple[Place, str]]]:
    if not isinstance(raw, Mapping):
        return None, [((), "A fact is a map with a type and a value")]
    name = raw.get("type")
    if not isinstance(name, str) or name not in FACTS:
        return None, [((), f"type is not one of {', '.join(FACTS)}")]
    path = raw.get("value")
    rest = {key: item for key, item in raw.items() if key != "value"}
    if not isinstance(path, str) or not path.startswith(PREFIX) or path == PREFIX:
        return None, [((), "value must name a field of this step's output, like value: output.total")]
    kind = kind_of(name)
    if name == "url_contains" and not {"url", "text", "pattern"} & rest.keys():
        return None, [((), _TWO_WAYS)]
    fills = next((key for key in kind.fills(rest) if key not in rest), None if kind.fills(rest) else "")
    if fills is None:
        given = " or ".join(kind.fills(rest))
        return None, [
            ((), f"value stands for {given}; leave {'one of them' if ' or ' in given else 'it'} out")
        ]
    entry = Entry({**rest, fills: _SAMPLE} if fills else rest, "")
    fact = kind.read(entry)
    entry.close(filled=fills, also=["value"])
    problems: list[tuple[Place, str]] = [((), problem.removeprefix(".")) for problem in entry.problems]
    if not problems and (never := fact.never(fills)):
        key, why = never
        problems.append(((key,), f"{key} can never hold: {why}"))
    declared = Declared(
        type=name,
        field=path.removeprefix(PREFIX),
        fills=fills,
        network=fact.network,
        # without a key to fill, what goes out is so wrong that nothing can be said of its value
        takes=fact.takes(fills) if fills or not fact.network else None,
        wanted="" if problems else fact.wanted(fills),
        raw=rest,
    )
    return declared, problems


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bound:
    """A fact with its value. `handed_in` is the value as text; `text`, which is checked, may write a number another way."""

    fact: Fact
    handed_in: str
    text: str

    def told(self, outcome: Outcome) -> Outcome:
        """With the evidence of what was handed in, where the fact is about the text."""
        if self.text == self.handed_in or self.fact.network:
            return outcome
        return replace(outcome, evidence_hash=hash_of(self.handed_in))


def _bind(declared: Declared, output: Mapping[str, Any]) -> _Bound | Outcome:
    """The fact with its value, or why there can be none."""
    if declared.field not in output:
        return Outcome(passed=False, detail=f"{declared.path} was not handed in.", evidence_hash=None)
    value = output[declared.field]
    handed_in = text = value if isinstance(value, str) else codec.canonical(value)
    if declared.takes is not None and codec.is_number(value):
        # what reads digits reads no exponent; the number is the same
        text = written(value if isinstance(value, Decimal) else Decimal(str(value))) or text
    entry = Entry({**declared.raw, **({declared.fills: text} if declared.fills else {})}, "")
    fact = kind_of(declared.type).read(entry)
    if entry.problems:
        problem = shown(entry.problems[0].removeprefix("."), 300)
        return Outcome(
            passed=False, detail=f"{declared.path} can't be checked: {problem}.", evidence_hash=None
        )
    return _Bound(fact=fact, handed_in=handed_in, text=text)
