"""What a mutant is: this server with one rule broken, and the cases that must fail on it.

A mutant is named on the functions below this folder and nowhere else; no part of the server knows of them.
"""

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from checks import codec
from processes import pipeline
from processes.callers import Caller
from processes.errors import ToolError
from tests.conformance_suite.inprocess import LONG_LEASE

Patch = Callable[[], AbstractContextManager[Any]]
Call = Callable[[Caller, Any], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """`wrong`: what this server does against the protocol. `cases`: each of them fails on it."""

    name: str
    wrong: str
    cases: tuple[str, ...]
    patch: Patch
    publishes: bool = False  # its cases publish files
    lease: int = LONG_LEASE


MUTANTS: dict[str, Mutant] = {}


def mutant(name: str, wrong: str, *cases: str, **how: Any) -> Callable[[Patch], Patch]:
    """Register a function that gives the context in which the server is wrong. `how`: what else a Mutant says."""

    def add(patch: Patch) -> Patch:
        assert name not in MUTANTS, name
        MUTANTS[name] = Mutant(name=name, wrong=wrong, cases=cases, patch=patch, **how)
        return patch

    return add


def at_the_door(
    tool: str, change: Callable[[Call, Caller, dict[str, Any]], Any]
) -> AbstractContextManager[Any]:
    """Every call of `tool` ("" = of any) goes to `change(call, caller, arguments)` instead; `call` is the real
    thing, to be called with `caller` and `arguments`.
    """
    real = pipeline.call

    def call(called: str, caller: Caller, arguments: Any) -> Any:
        if tool not in ("", called) or not isinstance(arguments, dict):
            return real(called, caller, arguments)
        return change(lambda who, given: real(called, who, given), caller, arguments)

    return mock.patch.object(pipeline, "call", call)


def forgiving(module: Any, name: str, issue: str) -> AbstractContextManager[Any]:
    """The function no longer refuses with this issue."""
    real = getattr(module, name)

    def call(*arguments: Any, **named: Any) -> Any:
        try:
            return real(*arguments, **named)
        except ToolError as error:
            if issue not in (error.issues or ()):
                raise

    return mock.patch.object(module, name, call)


def without(module: Any, name: str, *words: str) -> AbstractContextManager[Any]:
    """The function gives its list of issues without those that hold one of these words."""
    real = getattr(module, name)

    def call(*arguments: Any, **named: Any) -> list[str]:
        return [issue for issue in real(*arguments, **named) if not any(word in issue for word in words)]

    return mock.patch.object(module, name, call)


def after(module: Any, name: str, then: Callable[..., Any]) -> AbstractContextManager[Any]:
    """The function, and then `then` with its result and its arguments, whose result counts."""
    real = getattr(module, name)

    def call(*arguments: Any, **named: Any) -> Any:
        return then(real(*arguments, **named), *arguments, **named)

    return mock.patch.object(module, name, call)


def rounded(text: str) -> codec.Number:
    """The number as a float has it (one that no float holds stays)."""
    value = float(text)
    return codec.Number(repr(value)) if math.isfinite(value) else codec.Number(text)
