"""What the deterministic engine reads out of a statement: words with their negation, figures, dates, names. Pure, English.

Crude beside a model, but the same each time: see `checks.claims` for what is made of it.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache

from checks.evaluators.heuristic_text import CONTRARY, content, numbers_in, polarity, stem, words


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MONTH_NAMES = """
january jan
february feb
march mar
april apr
may
june jun
july jul
august aug
september sept sep
october oct
november nov
december dec
"""
_MONTHS = {
    name: number
    for number, names in enumerate(_MONTH_NAMES.strip().splitlines(), start=1)
    for name in names.split()
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_ISO = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d)?)?\b")
_DAY_FIRST = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_MONTH})\b\.?,?(?:\s+(\d{{4}}))?", re.IGNORECASE
)
_MONTH_FIRST = re.compile(
    rf"\b({_MONTH})\b\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?!\s*\d)(?:,?\s+(\d{{4}}))?", re.IGNORECASE
)
_MONTH_ONLY = re.compile(rf"\b({_MONTH})\b\.?,?\s+(\d{{4}})\b", re.IGNORECASE)
_SCALED = re.compile(
    r"(?<![\d.,])(-?\d++(?:,\d{3})*(?:\.\d++)?)\s*+(k|m|bn|thousand|million|billion|trillion|hundred)\b",
    re.IGNORECASE,
)
_SCALES = {
    "k": 3, "thousand": 3, "m": 6, "million": 6, "bn": 9, "billion": 9, "trillion": 12, "hundred": 2,
}  # fmt: skip
_NUMBER_WORDS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
    "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
# a capital there says nothing of a name
_PLAIN_CAPITALS = _set(
    "i the a an it its he she they we this that these those there in on at by from for however but and so all both each no not "
    "nothing one after before since when while as if his her their our monday tuesday wednesday thursday friday saturday sunday"
) | frozenset(_MONTHS)
_TOKEN = re.compile(r"[^\W_]+(?:[-'\u2019][^\W_]+)*")
# pairs that say the contrary of each other, beside those of the heuristic
_MORE_CONTRARIES = (
    "increase/decrease", "rise/fall", "rose/fell", "grew/shrank", "grow/shrink", "higher/lower", "more/fewer", "more/less",
    "above/below", "before/after", "up/down", "success/failure", "succeed/fail", "enable/disable", "allow/forbid",
    "permit/prohibit", "include/exclude", "accept/reject", "win/lose", "won/lost", "true/false", "online/offline", "active/inactive",
    "first/last", "minimum/maximum", "profit/loss", "gain/loss", "hot/cold", "early/late", "available/unavailable",
    "male/female", "import/export", "legal/illegal", "safe/unsafe", "present/absent", "always/never", "arrive/depart", "buy/sell",
    "bought/sold", "start/end", "begin/end", "left/right", "north/south", "east/west", "free/paid", "public/private",
    "require/optional", "mandatory/optional", "operational/down", "healthy/unhealthy", "stable/unstable",
)  # fmt: skip
_OPPOSED: dict[str, set[str]] = {word: set(others) for word, others in CONTRARY.items()}
for _pair in _MORE_CONTRARIES:
    _one, _other = map(stem, _pair.split("/"))
    _OPPOSED.setdefault(_one, set()).add(_other)
    _OPPOSED.setdefault(_other, set()).add(_one)


@dataclass(frozen=True)
class Told:
    """One statement, read."""

    text: str

    @cached_property
    def stems(self) -> dict[str, bool]:
        """Content words that are no figures: whether they stand negated."""
        bare = _without_dates(self.text)
        found = {word: negated for word, negated in polarity(words(bare)) if not word.isdigit()}
        return {word: negated for word, negated in found.items() if word not in _NUMBER_STEMS}

    @cached_property
    def dates(self) -> frozenset[str]:
        """`2026-10-06`, `--10-06` where no year is given, `2026-10` where no day is."""
        return frozenset(date for date, _ in _dates(self.text))

    @cached_property
    def numbers(self) -> frozenset[Decimal]:
        text = _without_dates(self.text)
        scaled = {
            Decimal(raw.replace(",", "")).scaleb(_SCALES[unit.lower()]) for raw, unit in _SCALED.findall(text)
        }
        plain = numbers_in(_SCALED.sub(" ", text))
        worded = {Decimal(_NUMBER_WORDS[word]) for word in words(text) if word in _NUMBER_WORDS}
        return frozenset(number.normalize() for number in scaled | plain | worded)

    @cached_property
    def years(self) -> frozenset[Decimal]:
        """The years of its dates: a year alone meets them."""
        return frozenset(Decimal(date[:4]).normalize() for date in self.dates if not date.startswith("-"))

    @cached_property
    def names(self) -> frozenset[str]:
        """Stems of capitalised words that do not open the statement, and of any that hold capitals within."""
        tokens = list(_TOKEN.finditer(self.text))
        found = set()
        for place, match in enumerate(tokens):
            word = match.group()
            inner = any(char.isupper() for char in word[1:])
            opens = place == 0 or self.text[: match.start()].rstrip()[-1:] in ".!?:;"
            if word[0].isupper() and word.lower() not in _PLAIN_CAPITALS and (inner or not opens):
                found |= set(content(words(word)))
        return frozenset(found) - frozenset(_OPPOSED)


@lru_cache(maxsize=2048)
def told(text: str) -> Told:
    return Told(text)


def opposed(one: Told, other: Told) -> bool:
    """Whether a word of one is denied by the other: by a negation, or by its contrary in the same place."""
    shared = one.stems.keys() & other.stems.keys()
    if shared and sum(one.stems[word] != other.stems[word] for word in shared) * 2 >= len(shared):
        return True
    for word, negated in one.stems.items():
        if word in other.stems:
            continue
        for contrary in _OPPOSED.get(word, ()):
            if contrary in other.stems and contrary not in one.stems and other.stems[contrary] == negated:
                return True
    return False


def same_by_contrary(word: str, negated: bool, other: Told) -> bool:  # noqa: FBT001 - a pair as `stems` gives it
    """`not rejected` says `accepted`."""
    return any(other.stems.get(contrary) is (not negated) for contrary in _OPPOSED.get(word, ()))


def _dates(text: str) -> list[tuple[str, tuple[int, int]]]:
    found: list[tuple[str, tuple[int, int]]] = []

    def free(span: tuple[int, int]) -> bool:
        return all(span[1] <= other[0] or span[0] >= other[1] for _, other in found)

    found += [(f"{match[1]}-{match[2]}-{match[3]}", match.span()) for match in _ISO.finditer(text)]
    for pattern, day, month in ((_DAY_FIRST, 1, 2), (_MONTH_FIRST, 2, 1)):
        for match in pattern.finditer(text):
            if free(match.span()) and 1 <= int(match[day]) <= 31:  # noqa: PLR2004 - days of a month
                year = match[3] or "-"
                found.append(
                    (f"{year}-{_MONTHS[match[month].lower()]:02}-{int(match[day]):02}", match.span())
                )
    months = [match for match in _MONTH_ONLY.finditer(text) if free(match.span())]
    return found + [(f"{match[2]}-{_MONTHS[match[1].lower()]:02}", match.span()) for match in months]


def _without_dates(text: str) -> str:
    for _, (start, end) in sorted(_dates(text), key=lambda item: -item[1][0]):
        text = f"{text[:start]} {text[end:]}"
    return text


_NUMBER_STEMS = frozenset(stem(word) for word in _NUMBER_WORDS)
