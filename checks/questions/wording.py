"""A verdict in words and in the protocol's JSON: issue lines, the check's view, one sentence for a person.

Everything here takes a `Judged` or anything with the attributes of `Answered` (a stored answer's row has
them), so that a verdict reads the same before and after it was stored.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from checks.questions.results import outcome_of_level, outcome_of_name
from checks.questions.shapes import Judged, Kind, Question, Result


class Answered(Protocol):
    """One judged question, flat. `options`: [{name, text, leads, probability}], a rubric's names being "0", "1", …"""

    @property
    def ask(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def result(self) -> str: ...
    @property
    def probability(self) -> float | None: ...
    @property
    def name(self) -> str: ...
    @property
    def level(self) -> int | None: ...
    @property
    def confidence(self) -> float | None: ...
    @property
    def pass_at(self) -> float | None: ...
    @property
    def fail_below(self) -> float | None: ...
    @property
    def confidence_asked(self) -> float | None: ...
    @property
    def options(self) -> Sequence[Mapping[str, Any]]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Flat:
    """A `Judged` laid out as `Answered`; its fields are the columns of a stored answer."""

    ask: str
    kind: Kind
    result: Result
    probability: float | None
    name: str
    level: int | None
    confidence: float | None
    vendor_confidence: float | None
    pass_at: float | None
    fail_below: float | None
    confidence_asked: float | None
    # which of the thresholds the question gave itself, the rest being the server's: letters of p, f, c
    own: str
    options: list[dict[str, Any]]


def in_force(answer: Answered) -> dict[str, float]:
    """The thresholds that an answer was held to: those of `pass`, `fail` and `confidence` that its kind has."""
    found = {"pass": answer.pass_at, "fail": answer.fail_below, "confidence": answer.confidence_asked}
    return {name: value for name, value in found.items() if value is not None}


def flat(judged: Judged) -> Flat:
    """A judged question as the columns that are stored and the attributes that are worded."""
    question, answer, inforce = judged.question, judged.answer, judged.thresholds
    return Flat(
        ask=question.ask,
        kind=question.kind,
        result=judged.result,
        probability=answer.probability if question.kind is Kind.YES_NO else None,
        name=answer.name or "",
        level=answer.level,
        confidence=answer.confidence,
        vendor_confidence=answer.vendor_confidence,
        pass_at=inforce.pass_at,
        fail_below=inforce.fail_below,
        confidence_asked=inforce.confidence,
        own=own(question),
        options=_options(question, answer.probabilities or {}),
    )


def own(question: Question) -> str:
    """Which thresholds a question gives itself: letters of p, f, c."""
    given = {"p": question.pass_at, "f": question.fail_below, "c": question.confidence}
    return "".join(letter for letter, number in given.items() if number is not None)


def issue_line(judged: Judged | Answered) -> str:
    """`check: <ask> → <answer>`, the answer being `no (0.12)`, `hedges (0.9)` or `level 1: <text> (0.85)`."""
    it = _answered(judged)
    ask = " ".join(it.ask.split())  # an issue is one line, whatever the author's YAML folded
    if it.kind == Kind.YES_NO:
        probability = it.probability or 0.0
        word = "yes" if it.pass_at is not None and probability >= it.pass_at else "no"
        return f"check: {ask} → {word} ({number(probability, it.pass_at, it.fail_below)})"
    confidence = number(it.confidence or 0.0, it.confidence_asked)
    if it.kind == Kind.CHOICE:
        return f"check: {ask} → {it.name} ({confidence})"
    text = " ".join(str(it.options[it.level or 0]["text"]).split())
    return f"check: {ask} → level {it.level}: {text} ({confidence})"


def issue_lines(judged: Iterable[Judged | Answered], *, unsure: bool = False) -> list[str]:
    """The lines of the failed questions; with `unsure` those of every question that did not pass."""
    told = {Result.FAIL, Result.UNSURE} if unsure else {Result.FAIL}
    return [issue_line(item) for item in judged if item.result in told]


def verdict_view(
    *,
    verdict: str,
    advisory: bool,
    model: str,
    questions: Iterable[Judged | Answered],
    truncated: bool,
    at: datetime,
) -> dict[str, Any]:
    """The protocol's JSON of a check (schema check-verdict): `steps.<id>.check`, `handoff.check`.

    `at` is an aware datetime. `truncated` appears only when true, `confidence` only on choice and rubric.
    """
    view: dict[str, Any] = {
        "verdict": str(verdict),
        "advisory": advisory,
        "model": model,
        "questions": [_question_view(_answered(item)) for item in questions],
    }
    if truncated:
        view["truncated"] = True
    view["at"] = at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return view


def short_ask(ask: str, width: int = 40) -> str:
    """The question on one line, cut at a word to at most `width` characters with an ellipsis."""
    text = " ".join(ask.split())
    if len(text) <= width:
        return text
    head = text[:width]  # one more than fits beside the ellipsis: that one may be the space after a word
    cut = head.rpartition(" ")[0].rstrip(" ,;:.-") or text[: width - 1]
    return cut + "…"


def sentence(judged: Judged | Answered, *, is_model: bool = True) -> str:
    """The answer and the lines it is measured by, for a person.

    `is_model` False (the heuristic) says "Word match", because no model said anything.
    """
    it = _answered(judged)
    who = "Model says" if is_model else "Word match says"
    if it.kind == Kind.YES_NO:
        return f"{who} {_yes_no_words(it)}"
    confidence, asked = it.confidence or 0.0, it.confidence_asked or 0.0
    said = it.name if it.kind == Kind.CHOICE else f"level {it.level} of {len(it.options) - 1}"
    measured = f"at {number(confidence, asked, places=2)}; {number(asked, places=2)} is asked"
    if confidence < asked or it.result == Result.PASS:
        return f"{who} {said} {measured}."
    return f"{who} {said} {measured}, and {_consequence(it)}."


def number(value: float, *lines: float | None, places: int = 0) -> str:
    """A fraction to two decimals, more only where rounding would carry it across one of `lines`.

    Trailing zeros go, but for `places` of them: 0.12, 0.9, 1; 0.8996 with a line at 0.9 stays 0.8996.
    """
    known = [line for line in lines if line is not None]
    for digits in range(2, 17):
        text = f"{value:.{digits}f}"
        if all((float(text) >= line) == (value >= line) for line in known):
            whole, _, decimals = text.partition(".")
            decimals = decimals.rstrip("0").ljust(places, "0")
            return f"{whole}.{decimals}" if decimals else whole
    return repr(value)


def _percent(value: float, *lines: float | None) -> str:
    text = number(value, *lines)
    hundredth = f"{float(text) * 100:.{max(0, len(text.partition('.')[2]) - 2)}f}"
    return f"{hundredth} %"


def _yes_no_words(it: Answered) -> str:
    pass_at = it.pass_at or 0.0
    said = _percent(it.probability or 0.0, pass_at, it.fail_below)
    if it.fail_below is None or it.fail_below >= pass_at:
        return f"{said} yes; {_percent(pass_at)} skips you, anything less sends back."
    return f"{said} yes; {_percent(pass_at)} skips you, under {_percent(it.fail_below)} sends back."


def _consequence(it: Answered) -> str:
    if it.kind == Kind.CHOICE:
        return f"{it.name} {'comes to you' if it.result == Result.UNSURE else 'sends back'}"
    first = next((option["name"] for option in it.options if option["leads"] == Result.PASS), "0")
    return f"under level {first} sends back"


def _question_view(it: Answered) -> dict[str, Any]:
    view: dict[str, Any] = {"ask": it.ask, "kind": str(it.kind)}
    if it.kind == Kind.YES_NO:
        view["answer"] = it.probability
    else:
        view["answer"] = it.name if it.kind == Kind.CHOICE else it.level
        if it.confidence is not None:
            view["confidence"] = it.confidence
    return view | {"result": str(it.result)}


def _answered(judged: Judged | Answered) -> Answered:
    return flat(judged) if isinstance(judged, Judged) else judged


def _options(question: Question, probabilities: Mapping[str, float]) -> list[dict[str, Any]]:
    if question.kind is Kind.CHOICE:
        rows = [
            (name, text, outcome_of_name(question, name)) for name, text in (question.options or {}).items()
        ]
    else:
        rows = [
            (str(level), text, outcome_of_level(question, level))
            for level, text in enumerate(question.levels)
        ]
    return [
        {"name": name, "text": text, "leads": str(leads), "probability": probabilities.get(name)}
        for name, text, leads in rows
    ]
