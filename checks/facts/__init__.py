"""Facts: what a server checks itself before a model is asked. A map of kinds, their reading, their running.

A new kind is a module here plus one line in `FACTS`. What each reads, and of what its `evidence_hash` is made, is in
docs/judge.md; each module says it, too.
"""

import importlib
import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from checks.facts.shapes import Entry, Fact, Outcome, shown

# type -> dotted path, loaded on first use
FACTS: dict[str, str] = {
    "equals": "checks.facts.equals.Equals",
    "json_schema": "checks.facts.json_schema.JsonSchema",
    "numeric": "checks.facts.numeric.Numeric",
    "onchain": "checks.facts.onchain.OnChain",
    "regex": "checks.facts.regex.Regex",
    "url_contains": "checks.facts.url_contains.UrlContains",
}
MAX_CHECKS = 20
MAX_PROBLEMS = 100  # told; one entry can have thousands
# what goes out over the network is few, and runs at the same time
MOST = {"url_contains": 3, "onchain": 5}

__all__ = ["FACTS", "MAX_CHECKS", "MOST", "Fact", "Outcome", "kind_of", "read", "run", "run_each", "too_many"]

_log = logging.getLogger(__name__)


def read(value: Any, path: str = "checks") -> tuple[tuple[Fact, ...], list[str]]:
    """A raw list of checks to facts, or to every problem with it. Never raises."""
    if not isinstance(value, list):
        return (), [f"{path}: expected a list"]
    facts: list[Fact] = []
    problems: list[str] = []
    if len(value) > MAX_CHECKS:
        problems.append(f"{path}: {len(value)} checks; at most {MAX_CHECKS} are taken")
    # of too many, those that would be taken are read all the same, so that all is told at once
    for index, raw in enumerate(value[:MAX_CHECKS]):
        fact, wrong = _read_one(raw, f"{path}[{index}]")
        problems += wrong
        if fact is not None:
            facts.append(fact)
    problems += too_many(value, path)
    if len(problems) > MAX_PROBLEMS:
        problems[MAX_PROBLEMS:] = [f"{path}: {len(problems) - MAX_PROBLEMS} more problems"]
    return (() if problems else tuple(facts)), problems


def too_many(value: Sequence[Any], path: str) -> list[str]:
    """What goes out over the network, counted by its kind."""
    counts = {
        kind: sum(isinstance(raw, Mapping) and raw.get("type") == kind for raw in value) for kind in MOST
    }
    return [
        f"{path}: {count} of type {kind}; at most {MOST[kind]} are taken"
        for kind, count in counts.items()
        if count > MOST[kind]
    ]


def run(facts: Sequence[Fact], text: str) -> tuple[Outcome, ...]:
    """Check all against one text, in order. Never raises."""
    return run_each([(fact, text) for fact in facts])


def run_each(asked: Sequence[tuple[Fact, str]]) -> tuple[Outcome, ...]:
    """Check each against its text, in order; those that go out over the network at the same time. Never raises."""
    outward = sum(fact.network for fact, _ in asked)
    if not outward:
        return tuple(_run_one(fact, text) for fact, text in asked)
    with ThreadPoolExecutor(outward, thread_name_prefix="facts") as pool:
        under_way = [pool.submit(_run_one, fact, text) if fact.network else None for fact, text in asked]
        return tuple(
            future.result() if future is not None else _run_one(fact, text)
            for future, (fact, text) in zip(under_way, asked, strict=True)
        )


def kind_of(name: str) -> type[Fact]:
    module, _, kind = FACTS[name].rpartition(".")
    found: type[Fact] = getattr(importlib.import_module(module), kind)
    return found


def _read_one(raw: Any, path: str) -> tuple[Fact | None, list[str]]:
    if not isinstance(raw, Mapping):
        return None, [f"{path}: expected an object"]
    kind = raw.get("type")
    if not isinstance(kind, str) or kind not in FACTS:
        return None, [f"{path}.type: not one of {', '.join(FACTS)}"]
    entry = Entry(raw, path)
    fact = kind_of(kind).read(entry)
    entry.close()
    return fact, entry.problems


def _run_one(fact: Fact, text: str) -> Outcome:
    try:
        return fact.check(text)
    except Exception as error:  # noqa: BLE001 - a fault of ours must neither pass a fact nor break the call
        _log.exception("the fact %s failed", fact.type)
        detail = f"The check itself broke ({shown(type(error).__name__)}); it is logged."
        return Outcome(passed=False, detail=detail, evidence_hash=None, unreachable=True)
