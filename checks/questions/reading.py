"""A raw `check:` value to questions, or everything that is wrong with it.

Source: check-1 §2 with the rulings of the protocol (three exclusive kinds, closed keys, thresholds in order).
"""

import difflib
import unicodedata
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from checks import codec
from checks.questions.shapes import Kind, Problem, Question

MAX_QUESTIONS = 64  # what one System One request carries
MAX_NAME_CHARS = 64
MIN_OPTIONS = 2
MIN_LEVELS, MAX_LEVELS = 2, 10
KEYS = ("ask", "pass", "fail", "one_of", "unsure", "levels", "confidence")
_BREAKING = {"Cc", "Zl", "Zp"}  # control characters and line separators

_NOT_FOR: dict[Kind, dict[str, str]] = {
    Kind.YES_NO: {
        "unsure": "belongs to a choice; add one_of, or use pass and fail for a yes/no question",
        "confidence": "belongs to a choice or a rubric; a yes/no question has pass and fail",
    },
    Kind.CHOICE: {"fail": "belongs to a yes/no question; a choice fails on every name not in pass or unsure"},
    Kind.RUBRIC: {
        "fail": "belongs to a yes/no question; a rubric fails on every level under pass",
        "unsure": "belongs to a choice; a rubric is unsure under its confidence",
    },
}


def read_check(value: object) -> tuple[tuple[Question, ...], list[Problem]]:
    """A step's `check:` value (parsed YAML or JSON) to its questions, or to every problem in file order.

    `value` is one question as text, or a list of maps; numbers are int or Decimal. A problem's path
    starts at the value: `()` is the value itself, `(1, "pass")` the second question's `pass`. With any
    problem there are no questions. Never raises.
    """
    if isinstance(value, str):
        if message := _text_problem(value):
            return (), [Problem(path=(), message=message)]
        return (Question(ask=value, kind=Kind.YES_NO),), []
    if not isinstance(value, list):
        return (), [Problem(path=(), message="must be one question as text, or a list of questions")]
    problems: list[Problem] = []
    if not value:
        problems.append(Problem(path=(), message="holds no question; write at least one or remove check"))
    if len(value) > MAX_QUESTIONS:
        text = (
            f"holds {len(value)} questions; at most {MAX_QUESTIONS} are taken, so move some to another step"
        )
        problems.append(Problem(path=(), message=text))
    questions: list[Question] = []
    for index, item in enumerate(value):
        if not isinstance(item, dict):
            text = "must be a map with at least the key ask; in a list write `- ask: …`"
            problems.append(Problem(path=(index,), message=text))
            continue
        reader = _Reader(index, item)
        questions.append(reader.question())
        problems.extend(reader.problems)
    return ((), problems) if problems else (tuple(questions), [])


class _Reader:
    """One question's map. Reads on after a problem, so that its author hears of all of them at once."""

    def __init__(self, index: int, source: Mapping[Any, Any]) -> None:
        self.index = index
        self.source = source
        self.problems: list[Problem] = []

    def wrong(self, message: str, *path: str | int) -> None:
        self.problems.append(Problem(path=(self.index, *path), message=message))

    def question(self) -> Question:
        """What could be read; worth something only while `problems` is empty."""
        ask = self.source.get("ask")
        if "ask" not in self.source:
            self.wrong("missing; write the question in plain language", "ask")
        elif message := _text_problem(ask):
            self.wrong(message, "ask")
        self.unknown_keys()
        ask = ask if isinstance(ask, str) else ""
        if "one_of" in self.source and "levels" in self.source:
            self.wrong("has both one_of and levels; keep one_of for a choice or levels for a rubric")
            self.options()
            self.levels()
            self.fraction("confidence")
            return Question(ask=ask, kind=Kind.CHOICE)
        if "one_of" in self.source:
            return self.choice(ask)
        if "levels" in self.source:
            return self.rubric(ask)
        return self.yes_no(ask)

    def unknown_keys(self) -> None:
        for key in self.source:
            if key in KEYS:
                continue
            name = _show(key)
            near = difflib.get_close_matches(name, KEYS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"a question takes {', '.join(KEYS)}"
            self.wrong(f"unknown key; {hint}", name)

    def foreign_keys(self, kind: Kind) -> None:
        for key, message in _NOT_FOR[kind].items():
            if key in self.source:
                self.wrong(message, key)

    def yes_no(self, ask: str) -> Question:
        self.foreign_keys(Kind.YES_NO)
        if isinstance(self.source.get("pass"), list):
            self.wrong("must be a number from 0 to 1; a list of names needs one_of", "pass")
            pass_at = None
        else:
            pass_at = self.fraction("pass")
        fail_below = self.fraction("fail")
        if pass_at is not None and fail_below is not None and fail_below > pass_at:
            self.wrong(f"{fail_below:g} is above pass ({pass_at:g}); lower fail or raise pass", "fail")
        return Question(ask=ask, kind=Kind.YES_NO, pass_at=pass_at, fail_below=fail_below)

    def choice(self, ask: str) -> Question:
        self.foreign_keys(Kind.CHOICE)
        options = self.options()
        passing = self.names("pass", options)
        unsure = self.names("unsure", options)
        if "pass" not in self.source:
            self.wrong("missing; list the names of one_of that pass", "pass")
        elif self.source["pass"] == []:
            self.wrong("is empty; list the names of one_of that pass", "pass")
        for name in unsure:
            if name in passing:
                self.wrong(f"{_show(name)} is in pass too; keep it in one of the two", "unsure")
        return Question(
            ask=ask,
            kind=Kind.CHOICE,
            options=options,
            pass_names=passing,
            unsure_names=unsure,
            confidence=self.fraction("confidence"),
        )

    def rubric(self, ask: str) -> Question:
        self.foreign_keys(Kind.RUBRIC)
        levels = self.levels()
        return Question(
            ask=ask,
            kind=Kind.RUBRIC,
            levels=levels,
            pass_level=self.pass_level(len(levels)),
            confidence=self.fraction("confidence"),
        )

    def fraction(self, key: str) -> float | None:
        """A number from 0 to 1; None where the key is absent or wrong."""
        if key not in self.source:
            return None
        value = self.source[key]
        if not _is_finite(value) or not 0 <= value <= 1:
            self.wrong("must be a number from 0 to 1", key)
            return None
        return float(value)

    def options(self) -> dict[str, str]:
        source = self.source["one_of"]
        if not isinstance(source, dict):
            self.wrong("must be a map of answer names to their descriptions", "one_of")
            return {}
        if len(source) < MIN_OPTIONS:
            self.wrong(f"needs at least {MIN_OPTIONS} names, each with a description", "one_of")
        options: dict[str, str] = {}
        for name, text in source.items():
            self.option(name, text)
            if isinstance(name, str) and isinstance(text, str):
                options[name] = text
        return options

    def option(self, name: object, text: object) -> None:
        shown = _show(name)
        if message := _text_problem(name):
            self.wrong(f"the name {message}", "one_of", shown)
        elif isinstance(name, str) and any(unicodedata.category(char) in _BREAKING for char in name):
            self.wrong("the name holds a control character; use letters, digits, - and _", "one_of", shown)
        elif isinstance(name, str) and len(name) > MAX_NAME_CHARS:
            self.wrong(f"the name is longer than {MAX_NAME_CHARS} characters", "one_of", shown)
        if message := _text_problem(text):
            self.wrong(f"the description {message}", "one_of", shown)

    def names(self, key: str, declared: Mapping[str, str]) -> tuple[str, ...]:
        """A list of declared names; what is no such list is a problem, an absent or empty one is ()."""
        listed = self.source.get(key, [])
        if not isinstance(listed, list):
            self.wrong("must be a list of names from one_of, written [name, …]", key)
            return ()
        known = self.source["one_of"] if isinstance(self.source["one_of"], dict) else declared
        for item in _once(listed, lambda twice: self.wrong(f"{_show(twice)} is listed twice", key)):
            if not isinstance(item, str):
                self.wrong("holds something that is no name; list names from one_of", key)
            elif item not in known:
                self.wrong(f"{_show(item)} is not declared in one_of ({_listing(known)})", key)
        return tuple(item for item in listed if isinstance(item, str))

    def levels(self) -> tuple[str, ...]:
        source = self.source["levels"]
        if not isinstance(source, list):
            self.wrong("must be a list of descriptions, worst level first", "levels")
            return ()
        if not MIN_LEVELS <= len(source) <= MAX_LEVELS:
            self.wrong(f"has {len(source)} levels; write {MIN_LEVELS} to {MAX_LEVELS}, worst first", "levels")
        for number, text in enumerate(source):
            if message := _text_problem(text):
                self.wrong(message, "levels", number)
            elif text in source[:number]:
                self.wrong(f"is the same text as level {source.index(text)}", "levels", number)
        return tuple(text for text in source if isinstance(text, str))

    def pass_level(self, count: int) -> int:
        if "pass" not in self.source:
            self.wrong("missing; write the level from which it passes, 0 being the worst", "pass")
            return 0
        value = self.source["pass"]
        if not _is_finite(value) or value != int(value):
            self.wrong("must be a whole number: the level from which it passes, 0 being the worst", "pass")
            return 0
        if count and not 0 <= value < count:
            self.wrong(f"is no level; levels go from 0 to {count - 1}", "pass")
        return int(value)


def _text_problem(value: object) -> str | None:
    if not isinstance(value, str):
        return "must be text"
    if not value.strip():
        return "is blank; write it out"
    try:
        codec.check(value)
    except codec.CodecError as error:
        return f"can't be kept: {error}"
    return None


def _is_finite(value: Any) -> bool:
    """A number that can be compared; neither a boolean nor NaN nor beyond what a float can hold."""
    if not codec.is_number(value):
        return False
    if isinstance(value, Decimal):
        return value.is_finite() and value.adjusted() < 300  # noqa: PLR2004 - int() of more costs memory
    return not isinstance(value, float) or value - value == 0


def _once(items: list[Any], twice: Callable[[Any], None]) -> list[Any]:
    found: list[Any] = []
    for item in items:
        if item in found:
            twice(item)
        else:
            found.append(item)
    return found


def _listing(names: Mapping[Any, Any]) -> str:
    shown = [_show(name) for name in list(names)[:8]]
    return ", ".join(shown) + (", …" if len(names) > len(shown) else "")


def _show(value: object) -> str:
    """An author's text inside a message: short and on one line. Anything but text is named by its type."""
    text = value if isinstance(value, str) else type(value).__name__
    text = text if text.isprintable() else ascii(text)[1:-1]
    return text if len(text) <= MAX_NAME_CHARS else text[: MAX_NAME_CHARS - 1] + "…"
