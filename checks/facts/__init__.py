"""Facts: what a server checks itself before a model is asked. A map of kinds, their reading, their running.

A new kind is a module here plus one line in `FACTS`. What each reads, and of what its `evidence_hash` is made, is in
docs/judge.md; each module says it, too.
"""

import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.utils.module_loading import import_string

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
# what goes out over the network is few, and runs at the same time
MOST = {"url_contains": 3, "onchain": 5}

__all__ = ["FACTS", "MAX_CHECKS", "MOST", "Fact", "Outcome", "read", "run"]

_log = logging.getLogger(__name__)


def read(value: Any, path: str = "checks") -> tuple[tuple[Fact, ...], list[str]]:
    """A raw list of checks to facts, or to every problem with it. Never raises."""
    if not isinstance(value, list):
        return (), [f"{path}: expected a list"]
    if len(value) > MAX_CHECKS:
        return (), [f"{path}: {len(value)} checks; at most {MAX_CHECKS} are taken"]
    facts: list[Fact] = []
    problems: list[str] = []
    for index, raw in enumerate(value):
        fact, wrong = _read_one(raw, f"{path}[{index}]")
        problems += wrong
        if fact is not None:
            facts.append(fact)
    for kind, most in MOST.items():
        if (count := sum(isinstance(raw, Mapping) and raw.get("type") == kind for raw in value)) > most:
            problems.append(f"{path}: {count} of type {kind}; at most {most} are taken")
    return (() if problems else tuple(facts)), problems


def run(facts: Sequence[Fact], text: str) -> tuple[Outcome, ...]:
    """Check all, in order; those that go out over the network at the same time. Never raises."""
    outward = [fact for fact in facts if fact.network]
    if not outward:
        return tuple(_run_one(fact, text) for fact in facts)
    with ThreadPoolExecutor(len(outward), thread_name_prefix="facts") as pool:
        under_way = {id(fact): pool.submit(_run_one, fact, text) for fact in outward}
        return tuple(under_way[id(fact)].result() if fact.network else _run_one(fact, text) for fact in facts)


def _read_one(raw: Any, path: str) -> tuple[Fact | None, list[str]]:
    if not isinstance(raw, Mapping):
        return None, [f"{path}: expected an object"]
    kind = raw.get("type")
    if not isinstance(kind, str) or kind not in FACTS:
        return None, [f"{path}.type: not one of {', '.join(FACTS)}"]
    entry = Entry(raw, path)
    fact: Fact = import_string(FACTS[kind]).read(entry)
    entry.close()
    return fact, entry.problems


def _run_one(fact: Fact, text: str) -> Outcome:
    try:
        return fact.check(text)
    except Exception as error:  # noqa: BLE001 - a fault of ours must neither pass a fact nor break the call
        _log.exception("the fact %s failed", fact.type)
        detail = f"The check itself broke ({shown(type(error).__name__)}); it is logged."
        return Outcome(passed=False, detail=detail, evidence_hash=None, unreachable=True)
