"""Servers that are deliberately wrong, one rule each: proof that the suite can fail."""

from tests.conformance_suite.mutants import (  # noqa: F401 - each registers its own
    acceptance,
    actors,
    answers,
    decisions,
    judging,
    movement,
    publication,
)
from tests.conformance_suite.mutants.registry import MUTANTS, Mutant

__all__ = ["MUTANTS", "Mutant"]
