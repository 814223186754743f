"""The shapes of a check: a question, its thresholds, an answer, what was made of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    YES_NO = "yes_no"
    CHOICE = "choice"
    RUBRIC = "rubric"


class Result(StrEnum):
    """What one answer leads to. Worst first: unsure outranks fail, fail outranks pass."""

    UNSURE = "unsure"
    FAIL = "fail"
    PASS = "pass"  # noqa: S105 - a word of the protocol


class Verdict(StrEnum):
    """What a whole check leads to. `error`: the evaluator did not answer."""

    PASS = "pass"  # noqa: S105 - a word of the protocol
    FAIL = "fail"
    UNSURE = "unsure"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The server's defaults (`describe.limits`)."""

    check_pass: float = 0.9
    check_fail: float | None = None
    check_confidence: float = 0.8
    check_state_bytes: int = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question as its author wrote it; `None` = the server's default applies."""

    ask: str
    kind: Kind
    # yes/no: probability of yes from which it passes, and under which it fails
    pass_at: float | None = None
    fail_below: float | None = None
    # choice: name -> description, in the author's order
    options: Mapping[str, str] | None = None
    pass_names: tuple[str, ...] = ()
    unsure_names: tuple[str, ...] = ()
    # rubric: worst level first; the 0-based level from which it passes
    levels: tuple[str, ...] = ()
    pass_level: int = 0
    # choice and rubric: below it the answer is unsure, whatever it is
    confidence: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What an evaluator answered to one question.

    yes/no: `probability` of yes. choice: `name`. rubric: `level`. The latter two with a `confidence`
    recomputed from `probabilities` (option name, or level number as text, to probability) and the
    vendor's own number beside it where it gave one.
    """

    probability: float | None = None
    name: str | None = None
    level: int | None = None
    confidence: float | None = None
    probabilities: Mapping[str, float] | None = None
    vendor_confidence: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """The numbers that were in force for one question when it was judged.

    yes/no with `fail_below` None: whatever does not pass fails, nothing is unsure.
    """

    pass_at: float | None = None
    fail_below: float | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A question with its answer, the thresholds used and what they make of it."""

    question: Question
    answer: Answer
    thresholds: Thresholds
    result: Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing wrong with a `check:` value; `path` leads to it, e.g. `(1, "pass")`."""

    path: tuple[str | int, ...]
    message: str
