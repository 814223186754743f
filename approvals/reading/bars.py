"""An answer as a bar: positions as percentages for SVG attributes, its gap in words, its value. Pure.

One grammar for the three kinds. Yes/no: the axis is the probability of yes. Choice and rubric: the axis is
the confidence, and the zone beyond the line is what the chosen option leads to.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from checks.questions import Answered, Kind, Result, number, sentence

# What a label of the large bar takes, as a share of the narrowest bar that is drawn (270 px).
_CHAR = 5.8 / 270
_ROOM = 0.02
_EDGE = 0.04  # a value nearer to an end of the bar is not centred on its marker


@dataclass(frozen=True, slots=True, kw_only=True)
class Zone:
    kind: str  # fail | pass | unsure
    x: str
    width: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    x: str
    anchor: str  # start | middle | end
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """`spoken` is the whole sentence, for whoever does not see the drawing."""

    zones: tuple[Zone, ...]
    ticks: tuple[str, ...]
    at: str
    anchor: str
    result: str
    value: str
    spoken: str
    labels: tuple[Label, ...] = ()


def draw(answer: Answered, *, spoken: str, leads: str = "") -> Bar:
    """`leads`: what the chosen option leads to, where it is known."""
    place = position(answer)
    if answer.kind == Kind.YES_NO:
        pass_at, fail_below = _lines(answer)
        zones = [_zone("fail", 0.0, fail_below), _zone("pass", pass_at, 1.0)]
        ticks = sorted({fail_below, pass_at} - {0.0})
        labels = _labels(fail_below, pass_at)
    else:
        asked = answer.confidence_asked or 0.0
        zones = [_zone(leads or _beyond(answer), asked, 1.0)]
        ticks, labels = [asked], ()
    return Bar(
        zones=tuple(zone for zone in zones if zone is not None),
        ticks=tuple(percent(tick) for tick in ticks),
        at=percent(place),
        anchor="start" if place < _EDGE else "end" if place > 1 - _EDGE else "middle",
        result=str(answer.result),
        value=shown(answer),
        spoken=spoken,
        labels=labels,
    )


def position(answer: Answered) -> float:
    """Where on its axis an answer stands."""
    value = answer.probability if answer.kind == Kind.YES_NO else answer.confidence
    return min(1.0, max(0.0, value or 0.0))


def percent(place: float) -> str:
    return f"{place * 100:.1f}%"


def shown(answer: Answered) -> str:
    """The number that decided, never rounded across one of its lines."""
    if answer.kind == Kind.YES_NO:
        return number(position(answer), answer.pass_at, answer.fail_below, places=2)
    return number(position(answer), answer.confidence_asked, places=2)


def answered(answer: Answered) -> str:
    """What was answered, in a word: a choice's name or a rubric's level; nothing for yes/no."""
    if answer.kind == Kind.CHOICE:
        return answer.name
    return f"level {answer.level}" if answer.kind == Kind.RUBRIC else ""


def gap(answer: Answered) -> str:
    """How far it is from the line that decided: "0.01 short of pass"."""
    if answer.kind != Kind.YES_NO:
        return _asked_gap(answer, number(answer.confidence_asked or 0.0, places=2))
    place = position(answer)
    pass_at, fail_below = _lines(answer)
    if answer.result == Result.PASS:
        return _away(place - pass_at, "above pass", "just at pass")
    if answer.result == Result.FAIL:
        if fail_below >= pass_at:
            return _away(pass_at - place, "short of pass", "just short of pass")
        return _away(fail_below - place, "below fail", "just below fail")
    if pass_at - place <= place - fail_below:
        return _away(pass_at - place, "short of pass", "just short of pass")
    return _away(place - fail_below, "above fail", "just at fail")


def gap_asked(answer: Answered) -> str:
    """The same of a choice or a rubric, in full: "0.14 short of the 0.80 asked"."""
    return _asked_gap(answer, f"the {number(answer.confidence_asked or 0.0, places=2)} asked")


def say(answer: Answered, *, is_model: bool) -> str:
    """The answer and its lines in one sentence, without its options: a list does not load them."""
    if answer.kind != Kind.RUBRIC:
        return sentence(answer, is_model=is_model)
    who = "Model says" if is_model else "Word match says"
    asked = number(answer.confidence_asked or 0.0, places=2)
    ends = ", and that level sends back" if answer.result == Result.FAIL else ""
    return f"{who} level {answer.level} at {shown(answer)}; {asked} is asked{ends}."


def worst(answers: Sequence[Any]) -> Any | None:
    """The question that decides where its verdict stands in the queue: the least sure of the unsure ones;
    else the failed, else the passed one that is nearest to its line.
    """
    return min(answers, key=severity, default=None)


def rank(answer: Answered) -> float:
    """How unsure an unsure answer is: 0 at a line, 1 as unsure as can be (the queue's formula)."""
    place = position(answer)
    if answer.kind == Kind.YES_NO:
        pass_at, fail_below = _lines(answer)
        return 2 * min(place - fail_below, pass_at - place) / (pass_at - fail_below or 1.0)
    asked = answer.confidence_asked or 0.0
    return (asked - place) / asked if place < asked else place


def severity(answer: Answered) -> tuple[int, float]:
    """Sorts the worst first."""
    if answer.result == Result.UNSURE:
        return 0, -rank(answer)
    place = position(answer)
    lines = _lines(answer) if answer.kind == Kind.YES_NO else (answer.confidence_asked or 0.0,)
    return 1 + (answer.result == Result.PASS), min(abs(place - line) for line in lines)


def _lines(answer: Answered) -> tuple[float, float]:
    """Pass and fail of a yes/no question; without a fail line whatever does not pass fails."""
    pass_at = 1.0 if answer.pass_at is None else answer.pass_at
    return pass_at, pass_at if answer.fail_below is None else min(answer.fail_below, pass_at)


def _beyond(answer: Answered) -> str:
    """An answer over its line shows by its result what its option leads to; under it nobody here knows."""
    return str(answer.result) if position(answer) >= (answer.confidence_asked or 0.0) else "unsure"


def _zone(kind: str, start: float, end: float) -> Zone | None:
    return Zone(kind=kind, x=percent(start), width=percent(end - start)) if end > start else None


def _asked_gap(answer: Answered, asked: str) -> str:
    distance = position(answer) - (answer.confidence_asked or 0.0)
    if distance < 0:
        return _away(-distance, f"short of {asked}", f"just short of {asked}")
    return _away(distance, f"above {asked}", f"just at {asked}")


def _away(distance: float, words: str, at_once: str) -> str:
    if distance < 1e-9:  # noqa: PLR2004 - what is left of a difference of equal floats
        return at_once
    text = number(distance, places=2)
    return f"{text if float(text) else f'{distance:.1g}'} {words}"


# ---- the labels under the large bar, without running into each other


def _labels(fail_below: float, pass_at: float) -> tuple[Label, ...]:
    passes = f"pass from {number(pass_at, places=2)}"
    if fail_below >= pass_at or fail_below <= 0:
        placed = [_centred(pass_at, passes)]
    else:
        fails = f"fail below {number(fail_below, places=2)}"
        last = _centred(pass_at, passes)
        candidates = [_centred(fail_below, fails), (fail_below - _wide(fails), fail_below, "end", fails)]
        first = next((label for label in candidates if label[0] >= 0 and label[1] + _ROOM <= last[0]), None)
        placed = [first, last] if first is not None else [_centred(1.0, f"{fails}, {passes}")]
    zero = (0.0, _wide("0 no"), "start", "0 no")
    if placed[0][0] >= zero[1] + _ROOM:
        placed.insert(0, zero)
    return tuple(_label(label) for label in placed)


_Placed = tuple[float, float, str, str]  # from, to, anchor, text


def _wide(text: str) -> float:
    return len(text) * _CHAR


def _centred(place: float, text: str) -> _Placed:
    half = _wide(text) / 2
    if place + half > 1:
        return 1 - 2 * half, 1.0, "end", text
    if place - half < 0:
        return 0.0, 2 * half, "start", text
    return place - half, place + half, "middle", text


def _label(placed: _Placed) -> Label:
    start, end, anchor, text = placed
    x = {"start": start, "middle": (start + end) / 2, "end": end}[anchor]
    return Label(x=percent(x), anchor=anchor, text=text)
