"""What cases demand, in the words that a reader of a failure sees. Each raises Failure."""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

from conformance import codec
from conformance.client import Data, Refusal
from conformance.failures import Failure

_SHOWN = 160


def demand(holds: object, otherwise: str) -> None:
    """`otherwise` says what is wrong when `holds` is not true."""
    if not holds:
        raise Failure(otherwise)


def equal(found: object, wanted: object, what: str) -> None:
    if found != wanted:
        raise Failure(f"{what} must be {shown(wanted)}, and is {shown(found)}")


def among(found: object, wanted: Collection[object], what: str) -> None:
    if found not in wanted:
        options = " or ".join(shown(option) for option in wanted)
        raise Failure(f"{what} must be {options}, and is {shown(found)}")


def names(refusal: Refusal, *words: str) -> None:
    """Each of these words (a field, a kind of evidence) is named by an issue of the refusal."""
    for word in words:
        if not any(word in issue for issue in refusal.issues):
            told = "; ".join(refusal.issues) or "none"
            raise Failure(f"an issue must name {word}; the issues are: {told}", refusal.exchange)


def exactly(refusal: Refusal, *lines: str) -> None:
    """The issues are these lines, in any order."""
    if sorted(refusal.issues) != sorted(lines):
        raise Failure(
            f"the issues must be {shown(sorted(lines))}, and are {shown(sorted(refusal.issues))}",
            refusal.exchange,
        )


def shown(value: object) -> str:
    plain = value is None or isinstance(value, dict | list | str | bool | codec.Number)
    text = codec.dumps(value) if plain else str(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


# Reading views.


def state_of(view: Data, step: str) -> str | None:
    """The state of a step; fails where the view has no such step."""
    found: str | None = entry_of(view, step)["state"]
    return found


def entry_of(view: Data, step: str) -> Data:
    """A step's entry in `steps`."""
    for entry in view["steps"]:
        if entry["id"] == step:
            found: Data = entry
            return found
    raise Failure(f"the view has no step {step}")


def states(view: Data, **wanted: str | None) -> None:
    """Each of these steps has this state."""
    for step, state in wanted.items():
        equal(state_of(view, step), state, f"the state of {step}")


def record_of(view: Data, step: str) -> Data:
    """What run data holds of a step; fails where it holds nothing."""
    found: Data | None = view["data"]["steps"].get(step)
    if found is None:
        raise Failure(f"run data must hold a record of {step}, and holds none")
    return found


def no_current(view: Data, step: str) -> None:
    """The step has no current value in run data (its history may be there)."""
    record = view["data"]["steps"].get(step, {})
    current = sorted(set(record) - {"history"})
    demand(not current, f"{step} must have no current value, and has {', '.join(current)}")


def item_of(view: Data, step: str) -> Data:
    """The open work item of a step in a run view; fails where there is none."""
    found: list[Data] = [item for item in view["workItems"] if item["stepId"] == step]
    demand(len(found) == 1, f"one work item must be open for {step}; there are {len(found)}")
    return found[0]


def outcome(view: Data, wanted: str | None, state: str = "ended") -> None:
    equal(view["run"]["state"], state, "the state of the run")
    equal(view["run"]["outcome"], wanted, "the outcome of the run")


def moment(text: str) -> datetime:
    """An RFC 3339 time as a server wrote it."""
    return datetime.fromisoformat(text.upper())


def same_but(one: Any, other: Any, ignoring: Iterable[str]) -> bool:
    """Whether two results are equal but for these keys at any depth."""
    return bool(_without(one, frozenset(ignoring)) == _without(other, frozenset(ignoring)))


def _without(value: Any, keys: frozenset[str]) -> Any:
    if isinstance(value, dict):
        return {key: _without(item, keys) for key, item in value.items() if key not in keys}
    if isinstance(value, list):
        return [_without(item, keys) for item in value]
    return value
