"""Verdicts and their answers as the pages draw them; the queue and the case use the same shapes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from approvals.reading import bars
from approvals.reading.bars import Bar
from checks.models import Answer, Verdict
from checks.questions import Kind, Result, sentence, short_ask
from processes.engine import SERVER

WORDS = {"pass": "Pass", "fail": "Fail", "unsure": "Unsure", "error": "No answer"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """A verdict in shape, fill and word; without a verdict a plain one."""

    word: str
    glyph: str
    verdict: str = ""
    advisory: bool = False


ADDRESSED = Chip(word="Addressed the judge", glyph="unsure")
NOT_A_MODEL = Chip(word="not a model", glyph="")
NO_ANSWER = Chip(word="No answer", glyph="error", verdict="error")
TEST_RUN = Chip(word="Test run", glyph="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """One question on a row of the queue."""

    ask: str
    bar: Bar
    word: str
    near: bool = False

    @property
    def value(self) -> str:
        return _value(self.bar, self.word)


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    name: str
    text: str
    leads: str
    probability: float | None
    shown: str
    chosen: bool
    passline: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question of a case."""

    number: int
    ask: str
    kind: str
    result: str
    chip: Chip
    bar: Bar
    word: str
    gap: str
    options: tuple[Option, ...]
    folded: bool

    @property
    def value(self) -> str:
        return _value(self.bar, self.word)


def _value(bar: Bar, word: str) -> str:
    """The number; beside a word without its leading zero, which saves a line a character."""
    return bar.value.removeprefix("0") if word else bar.value


def chip(verdict: Verdict) -> Chip:
    return Chip(
        word=WORDS[verdict.verdict], glyph=verdict.verdict, verdict=verdict.verdict, advisory=verdict.advisory
    )


def result_chip(result: str, *, advisory: bool) -> Chip:
    return Chip(word=WORDS[result], glyph=result, verdict=result, advisory=advisory)


PLAIN = {"approve": ("Approval", "approval"), "task": ("Task", "task"), "escalated": ("Escalated", "person")}


def item_chips(kind: str, verdict: Verdict | None, *, asked_by: str, test: bool) -> tuple[Chip, ...]:
    """The verdict, or what kind of item it is (`QueueEntry.kind`); then what must not be overlooked."""
    found = []
    if verdict is not None:
        found.append(chip(verdict))
        if not verdict.is_model:
            found.append(NOT_A_MODEL)
        if verdict.addressed:
            found.append(ADDRESSED)
    elif kind == "escalated" and asked_by == SERVER:
        found.append(NO_ANSWER)
    elif kind in PLAIN:
        word, glyph = PLAIN[kind]
        found.append(Chip(word=word, glyph=glyph))
    return (*found, TEST_RUN) if test else tuple(found)


def briefs(
    answers: Sequence[Answer], *, is_model: bool, most: int
) -> tuple[tuple[Brief, ...], Answer | None]:
    """The questions of a row and the one that decides its place. Answers come without their options."""
    deciding = bars.worst(answers)
    shown = answers if len(answers) <= most else sorted(answers, key=bars.severity)[:most]
    return tuple(
        Brief(
            ask=short_ask(answer.ask),
            bar=bars.draw(answer, spoken=f"{short_ask(answer.ask)}: {bars.say(answer, is_model=is_model)}"),
            word=bars.answered(answer),
            near=answer is deciding,
        )
        for answer in sorted(shown, key=lambda answer: answer.position)
    ), deciding


def asked(answers: Sequence[Answer], verdict: Verdict) -> list[Asked]:
    """Every question of a case, in the author's order. In the desk those that passed fold to a line,
    unless all passed or nothing hangs on them.
    """
    folds = not verdict.advisory and any(answer.result != Result.PASS for answer in answers)
    return [_asked(number, answer, verdict, folds=folds) for number, answer in enumerate(answers, start=1)]


def _asked(number: int, answer: Answer, verdict: Verdict, *, folds: bool) -> Asked:
    options = _options(answer)
    leads = next((option.leads for option in options if option.chosen), "")
    yes_no = answer.kind == Kind.YES_NO
    return Asked(
        number=number,
        ask=answer.ask,
        kind=answer.kind,
        result=answer.result,
        chip=result_chip(answer.result, advisory=verdict.advisory),
        bar=bars.draw(answer, spoken=sentence(answer, is_model=verdict.is_model), leads=leads),
        word=bars.answered(answer),
        gap=bars.gap(answer) if yes_no else bars.gap_asked(answer),
        options=options,
        folded=folds and answer.result == Result.PASS,
    )


def _options(answer: Answer) -> tuple[Option, ...]:
    chosen = answer.name if answer.kind == Kind.CHOICE else str(answer.level)
    found, passed = [], False
    for option in answer.options:
        passes = answer.kind == Kind.RUBRIC and option["leads"] == Result.PASS
        found.append(_option(option, chosen=option["name"] == chosen, passline=passes and not passed))
        passed = passed or passes
    return tuple(found)


def _option(option: Mapping[str, Any], *, chosen: bool, passline: bool) -> Option:
    probability = option.get("probability")
    return Option(
        name=option["name"],
        text=option["text"],
        leads=option["leads"],
        probability=probability,
        shown="" if probability is None else f"{probability:.2f}",
        chosen=chosen,
        passline=passline,
    )
