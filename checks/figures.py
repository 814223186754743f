"""The figures of a text, whole: with their sign, scale, unit, and whatever else makes one another. Pure, English.

A figure is met by the same one only: `20 %` is no 20, `9 am` no `9 pm`, `101A` no `101B`; but `60 minutes` is one hour, and who
leaves the unit out says less, not something else.
"""

import re
import unicodedata
from dataclasses import dataclass, field
from decimal import Decimal

from checks.units import CLOCK, CLOCK_12, KINDS, MONEY, PERCENT, UNITS

_PRECISE = 28  # digits: a longer number is a name, and compared as one
_HALF_A_DAY = 720  # minutes

_MINUS = re.compile(r"(?<![\w)\]])[\u2212\u2013\u2010\u2011\ufe63\uff0d](?=[€$£¥]?\d)|\u2212")
_LED_MINUS = re.compile(r"(?<=[:=(])(\s*)-\s+(?=\d)")
_FRACTION = re.compile(r"(\d{1,9})?[ \u00a0\u202f]?([\u00bc-\u00be\u2150-\u215e])")


def _any(names: frozenset[str] | set[str] | dict[str, int]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


_ONES = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
}  # fmt: skip
_TEENS = {
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
    "eighteen": 18, "nineteen": 19,
}  # fmt: skip
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_SCALES = {
    "thousand": 3,
    "k": 3,
    "million": 6,
    "m": 6,
    "mn": 6,
    "billion": 9,
    "bn": 9,
    "b": 9,
    "trillion": 12,
    "hundred": 2,
}
NUMBER_WORDS = frozenset({*_ONES, *_TEENS, *_TENS})
_WORDS = {**_ONES, **_TEENS, **_TENS, "a": 1, "an": 1, "zero": 0}
_TO_99 = rf"(?:(?:{_any(_TENS)})(?:[\s-](?:{_any(_ONES)}))?|{_any(_TEENS)}|{_any(_ONES)})"
_TO_999 = rf"(?:(?:{_TO_99}|an?)\s+hundred(?:\s+(?:and\s+)?{_TO_99})?|{_TO_99})"
_WORDED = rf"(?:(?:{_TO_999}|an?)\s+(?:thousand|million|billion|trillion)(?:,?\s+(?:and\s+)?{_TO_999})?|{_TO_999}|zero)"
_PLAIN = r"(?:\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:[,'\u2019\u00a0\u202f\u2009 ]\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?)"
_CODES = _any({name.upper() for name in MONEY if name.isalpha()})
_FIGURE = re.compile(
    rf"""
      (?<![\w.,:])(?P<hour>[01]?\d|2[0-4])(?:[:.](?P<minute>[0-5]\d))?\s?(?P<half>[ap])\.?m\b\.?
    | (?<![\w.,:])(?P<hour24>[01]?\d|2[0-4]):(?P<minute24>[0-5]\d)(?![:.]?\d)
    | (?<![\w.])v?(?P<dotted>\d+(?:[.:]\d+){{2,}}|\d{{1,2}}/\d{{1,2}}/\d{{2,4}})(?![^\W_])
    | (?P<sign>(?<![\w.)])-)?(?:(?P<money>(?:US|[AC])?[$]|[€£¥₹]|\b(?:{_CODES})(?=[-\d\s]))\ ?(?P<inner>-)?|(?<![\w.]))
      (?P<number>{_PLAIN})(?P<ordinal>(?:st|nd|rd|th)\b)?
    | (?<![^\W_])(?P<worded>(?i:{_WORDED}))(?![^\W_])
    | (?<![^\W_])(?P<code>(?=[^\W_]*\d)(?=[^\W_]*[^\W\d_])[^\W_]+(?:\.\d+)*)
    """,
    re.VERBOSE,
)
_CODE = re.compile(r"[^\W_]+(?:\.\d+)*")
_SCALE = re.compile(
    r"\s?(hundred|thousand|million|billion|trillion|bn)\b|(k|mn?)\b(?!\s+(?:long|wide|deep|high|tall|away|apart|thick)\b)",
    re.IGNORECASE,
)
_SCALE_OF_MONEY = re.compile(r"\s?(k|mn?|b)\b", re.IGNORECASE)
_MONEY_AFTER = re.compile(rf"\s?(?:{_any(MONEY)})(?![^\W_])", re.IGNORECASE)
_UNIT = re.compile(
    rf"(?P<mark>[\s\u00a0\u202f-]?)(?P<unit>second(?![^\W_])|per\ cent|{_any(set(UNITS))})(?![^\W_])",
    re.IGNORECASE,
)
_OTHER_NAMES = {"per cent": "%", "second": "seconds"}
_NONE_OF = re.compile(r"\s+(?!(?:to|and|or|is|was|in|at|on|for|by|per|from|until|through)\b)[^\W\d_]")
_THOUSANDS = re.compile(r"\d{1,3}(?:\.\d{3}){2,}")
_NOT_A_DIGIT = re.compile(r"[,'\u2019\u00a0\u202f\u2009 ]")
_UNIT_WORD = re.compile(r"[^\W\d_]{2,}|[%€$£¥₹°]")


@dataclass(frozen=True, slots=True)
class Figure:
    """`value` in the unit's base; a text where it is no number. `written`: the bare number that stands there."""

    value: Decimal | str
    unit: str = ""
    written: Decimal | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Figures:
    """`rest`: the text without them; `units`: all that it names, by a figure or not."""

    all: frozenset[Figure]
    written: frozenset[Decimal]  # of those with a unit
    units: frozenset[str]
    rest: str


def plain(text: str) -> str:
    """Minus signs and fractions as everybody types them."""
    text = _FRACTION.sub(_fraction, _MINUS.sub("-", text))
    return _LED_MINUS.sub(r"\1-", text)


def read(text: str) -> Figures:
    """The figures of a text without its dates, as `plain` leaves it."""
    found: list[Figure] = []
    rest: list[str] = []
    at = 0
    while match := _FIGURE.search(text, at):
        figure, end, instead = _read(text, match)
        rest += [text[at : match.start()], instead]
        if figure is not None:
            found.append(figure)
        at = end
    rest.append(text[at:])
    bare = "".join(rest)
    named = {UNITS[word].base for word in map(str.lower, _UNIT_WORD.findall(bare)) if word in UNITS}
    written = {it.written for it in found if it.written is not None and it.unit not in {"", PERCENT}}
    return Figures(frozenset(found), frozenset(written), frozenset(named | {it.unit for it in found}), bare)


def meets(one: Figure, others: Figures, years: frozenset[Decimal] = frozenset()) -> bool:
    """Whether a figure stands among the others, or one that says more does."""
    if one in others.all:
        return True
    if one.unit == "":
        return one.value in others.written or one.value in years
    if one.unit == CLOCK_12 and isinstance(one.value, Decimal):
        return (
            Figure((one.value + _HALF_A_DAY) % (2 * _HALF_A_DAY), CLOCK) in others.all
            or Figure(one.value, CLOCK) in others.all
        )
    if one.unit == CLOCK:
        return Figure(one.value, CLOCK_12) in others.all
    return one.written is not None and one.unit in others.units and Figure(one.written) in others.all


def comparable(one: Figure, other: Figure) -> bool:
    """Whether two figures that are not the same can be told to be others of one kind."""
    if isinstance(one.value, str) or isinstance(other.value, str):
        return (
            isinstance(one.value, str)
            and isinstance(other.value, str)
            and _shape(one.value) == _shape(other.value)
        )
    kinds = {KINDS.get(one.unit, ""), KINDS.get(other.unit, "")}
    if kinds == {"clock"}:
        vague = CLOCK_12 in {one.unit, other.unit}
        return not vague or (one.value - other.value) % _HALF_A_DAY != 0
    if len(kinds) == 1:
        return True
    return "" in kinds and not kinds & {"clock", "percent"} and one.written != other.written


def _shape(text: str) -> str:
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", text))


def _read(text: str, match: re.Match[str]) -> tuple[Figure | None, int, str]:
    """A figure, where it ends, and what stands in its place for the words around it. None: it counts nothing."""
    end = match.end()
    if match["half"]:
        of_day = int(match["hour"]) % 12 + (12 if match["half"] == "p" else 0)
        return _clock(of_day, match["minute"], CLOCK), end, " "
    if hour := match["hour24"]:
        vague = len(hour) == 1 or hour in {"10", "11", "12"}
        return _clock(int(hour), match["minute24"], CLOCK_12 if vague else CLOCK), end, " "
    if match["dotted"]:
        return _dotted(match["dotted"]), end, " "
    if match["code"]:
        return Figure(match["code"].casefold()), end, " "
    if match["worded"] and match["worded"].lower() == "one":
        return None, end, " "  # it mostly says `a`
    return _numbered(text, match, _worded(match["worded"]) if match["worded"] else _number(match))


def _numbered(text: str, match: re.Match[str], number: Decimal | str) -> tuple[Figure | None, int, str]:
    """A number with its scale and unit."""
    if isinstance(number, str) or match["ordinal"]:
        return Figure(number), match.end(), " "
    scale, end = _scale(text, match.end(), money=bool(match["money"]))
    number = _tidy(number.scaleb(scale))
    if match["money"]:
        unit = UNITS[match["money"].lower()]
        return Figure(number, unit.base, number), end, " "
    if found := _unit(text, end):
        name = found["unit"].lower()
        unit = UNITS[_OTHER_NAMES.get(name, name)]
        return Figure(_tidy(number * unit.factor), unit.base, number), found.end(), " "
    if (glued := _CODE.match(text, match.start("number") if match["number"] else end)) and glued.end() > end:
        return Figure(glued.group().casefold()), glued.end(), " "
    if number == 0 and _NONE_OF.match(text, end):
        return None, end, " no "
    return Figure(number, "", number), end, " "


def _clock(hour: int, minute: str | None, unit: str) -> Figure:
    written = None if minute else Decimal(hour % 12 or 12)
    return Figure(Decimal(hour * 60 + int(minute or 0)), unit, written)


def _dotted(text: str) -> Figure:
    if _THOUSANDS.fullmatch(text):
        number = Decimal(text.replace(".", ""))
        return Figure(_tidy(number), "", _tidy(number))
    return Figure("/".join(part.lstrip("0") or "0" for part in text.split("/")) if "/" in text else text)


def _number(match: re.Match[str]) -> Decimal | str:
    raw = match["number"]
    if "." in raw and "," in raw and raw.rindex(",") > raw.rindex("."):
        raw = raw.replace(".", "").replace(",", ".")
    raw = _NOT_A_DIGIT.sub("", raw)
    if len(raw) > _PRECISE:
        return raw
    return Decimal(("-" if match["sign"] or match["inner"] else "") + raw)


def _worded(text: str) -> Decimal:
    total = now = 0
    for word in re.findall(r"[a-z]+", text.lower()):
        if word == "hundred":
            now *= 100
        elif word in _SCALES:
            total, now = total + now * 10 ** _SCALES[word], 0
        elif word != "and":
            now += _WORDS[word]
    return Decimal(total + now)


def _scale(text: str, at: int, *, money: bool) -> tuple[int, int]:
    """Powers of ten, and where they end. A lone k, m or b is one only where it is glued to the figure, or counts money."""
    match = _SCALE.match(text, at)
    if match is None and (short := _SCALE_OF_MONEY.match(text, at)):
        match = short if money or _MONEY_AFTER.match(text, short.end()) else None
    if match is None:
        return 0, at
    return _SCALES[next(filter(None, match.groups())).lower()], match.end()


def _unit(text: str, at: int) -> re.Match[str] | None:
    found = _UNIT.match(text, at)
    if found is None:
        return None
    name = found["unit"]
    if (len(name) == 1 and name.isupper()) or (name.lower() == "second" and found["mark"] != "-"):
        return None  # `5 S`, `two second homes`
    return found


def _fraction(match: re.Match[str]) -> str:
    part = Decimal(str(unicodedata.numeric(match[2])))
    return f" {Decimal(match[1] or 0) + part}"


def _tidy(number: Decimal) -> Decimal:
    return number.normalize() if number else Decimal(0)
