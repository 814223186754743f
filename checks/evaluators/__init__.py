"""Who answers a check's questions: a map of kinds, the one interface they share, the configured one.

A new kind is a module here plus one line in `EVALUATORS`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Any, Protocol

from django.conf import settings
from django.utils.module_loading import import_string

from checks.questions import Answer, Question

NONE = "none"
# kind -> dotted path, loaded on first use. Each is built with `Config`.
EVALUATORS: dict[str, str] = {
    "chat": "checks.evaluators.chat.Chat",
    "decisions": "checks.evaluators.decisions.Decisions",
    "heuristic": "checks.evaluators.heuristic.Heuristic",
    "system_one": "checks.evaluators.system_one.SystemOne",
}


class EvaluatorError(Exception):
    """The evaluator did not answer, or not in a way that can be used. The message is fit for a person.

    `permanent`: asking again can't help (wrong key, wrong address, a request that it refuses). `down`: the server
    is to blame, whatever it was asked: unreachable, overloaded, late, or it lets us in no more.
    """

    def __init__(self, message: str, *, permanent: bool = False, down: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.permanent = permanent
        self.down = down


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What an evaluator is built from (settings EVALUATOR_…). `base` without a slash at the end."""

    kind: str
    base: str = ""
    model: str = ""
    key: str = ""
    # chat: whether to ask for log-probabilities at all, how many requests at once, what else the server wants
    logprobs: bool = True
    at_once: int = 8
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    # statuses that are tried again beside the usual ones
    again: frozenset[int] = frozenset()
    # where the wire's own path is not what follows the base; `{model}` in it is the model's name
    path: str | None = None
    # answers stand in Cloudflare's envelope, see `checks.evaluators.envelope`
    envelope: bool = False
    # the base is somebody's entry, not the environment's: no private address unless a setting names its host
    guarded: bool = False

    def __repr__(self) -> str:
        return f"Config(kind={self.kind!r}, model={self.model!r})"  # never the key, nor an address with one in it


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """One answer per question, in order; the model that gave all of them, in its own name.

    `by`: which of several answered, where the evaluator is a chain.
    """

    model: str
    answers: tuple[Answer, ...]
    method: str
    input_tokens: int | None = None
    output_tokens: int | None = None
    requests: int = 1
    by: "By | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class By:
    """The one of a chain that answered. `stopgap`: no model, asked in place of one; it lets nothing pass."""

    name: str
    version: str
    is_model: bool
    stopgap: bool
    cost: Decimal | None


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
    """The evaluator in force: the chain that the admin keeps, else the one that the settings name, else None.

    No network; at most one statement, and none while what was read lately still holds (`checks.roster`).
    """
    from checks import roster

    return roster.current()


def known() -> Evaluator | None:
    """The same as last read, without asking the database."""
    from checks import roster

    return roster.known()


def of_settings() -> Evaluator | None:
    """The evaluator that the environment names, or None. One instance per set of settings."""
    if settings.EVALUATOR in {"", NONE, None}:
        return None
    if settings.EVALUATOR not in EVALUATORS:
        from checks.evaluators import named

        return named.chain()
    return built(
        Config(
            kind=settings.EVALUATOR,
            base=settings.EVALUATOR_URL.rstrip("/"),
            model=settings.EVALUATOR_MODEL,
            key=settings.EVALUATOR_KEY,
        )
    )


@lru_cache(maxsize=64)
def built(config: Config) -> Evaluator:
    evaluator: Evaluator = import_string(EVALUATORS[config.kind])(config)
    return evaluator
