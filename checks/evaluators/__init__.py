"""Who answers a check's questions: a map of kinds, the one interface they share, the configured one.

A new kind is a module here plus one line in `EVALUATORS`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

from django.conf import settings
from django.utils.module_loading import import_string

from checks.questions import Answer, Question

NONE = "none"
# kind -> dotted path, loaded on first use. Each is built with `Config`.
EVALUATORS: dict[str, str] = {
    "heuristic": "checks.evaluators.heuristic.Heuristic",
    "system_one": "checks.evaluators.system_one.SystemOne",
}


class EvaluatorError(Exception):
    """The evaluator did not answer, or not in a way that can be used. The message is fit for a person.

    `permanent`: asking again can't help (wrong key, wrong address, a request that it refuses).
    """

    def __init__(self, message: str, *, permanent: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.permanent = permanent


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What an evaluator is built from (settings EVALUATOR_…). `base` without a slash at the end."""

    kind: str
    base: str = ""
    model: str = ""
    key: str = ""

    def __repr__(self) -> str:
        return f"Config(kind={self.kind!r}, model={self.model!r})"  # never the key, nor an address with one in it


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """One answer per question, in order; the model that gave all of them, in its own name."""

    model: str
    answers: tuple[Answer, ...]
    method: str
    input_tokens: int | None = None
    output_tokens: int | None = None


class Evaluator(Protocol):
    """Anything that answers the three kinds of questions. Safe to share between threads."""

    @property
    def name(self) -> str:
        """The kind, for people and verdicts."""
        ...

    @property
    def version(self) -> str:
        """Hex digest of kind, base, model and method: another version is another judge."""
        ...

    @property
    def is_model(self) -> bool:
        """False: say so wherever its answers are shown."""
        ...

    @property
    def method(self) -> str:
        """How probabilities are got."""
        ...

    def ask(
        self, material_state: dict[str, Any], questions: Sequence[Question], *, deadline: float
    ) -> Answers:
        """Answer every question about `material.state`. `deadline` is a `time.monotonic()` instant.

        Raises EvaluatorError, at the deadline at the latest.
        """
        ...


def configured() -> Evaluator | None:
    """The evaluator that the settings name, or None. No network; one instance per set of settings."""
    if settings.EVALUATOR in {"", NONE, None}:
        return None
    return _built(
        Config(
            kind=settings.EVALUATOR,
            base=settings.EVALUATOR_URL.rstrip("/"),
            model=settings.EVALUATOR_MODEL,
            key=settings.EVALUATOR_KEY,
        )
    )


@lru_cache(maxsize=8)
def _built(config: Config) -> Evaluator:
    evaluator: Evaluator = import_string(EVALUATORS[config.kind])(config)
    return evaluator
