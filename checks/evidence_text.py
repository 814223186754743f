"""What the deterministic engine reads out of a statement: words with their negation, figures, dates, names. Pure, English.

Crude beside a model, but the same each time: see `checks.claims` for what is made of it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from checks import dates, figures
from checks.evaluators.heuristic_text import CONTRARY, content, reached, stem, words
from checks.figures import Figure, Figures


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# a capital there says nothing of a name
_PLAIN_CAPITALS = _set(
    "i the a an it its he she they we this that these those there in on at by from for however but and so all both each no not "
    "nothing one after before since when while as if his her their our monday tuesday wednesday thursday friday saturday sunday"
) | frozenset(dates.MONTHS)
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
    def _plain(self) -> str:
        return figures.plain(self.text)

    @cached_property
    def figures(self) -> Figures:
        return figures.read(dates.without(self._plain))

    @cached_property
    def negations(self) -> dict[str, int | None]:
        """Content words that are no figures: which negation of the statement reaches them, if any does."""
        return {
            word: negation
            for word, negation in reached(words(self.figures.rest))
            if not word.isdigit() and word not in _NUMBER_STEMS
        }

    @cached_property
    def stems(self) -> dict[str, bool]:
        """The same: whether they stand negated."""
        return {word: negation is not None for word, negation in self.negations.items()}

    @cached_property
    def dates(self) -> frozenset[str]:
        return frozenset(date for date, _ in dates.read(self._plain))

    @cached_property
    def numbers(self) -> frozenset[Decimal]:
        """The figures that are numbers, in the base of their units."""
        return frozenset(it.value for it in self.figures.all if isinstance(it.value, Decimal))

    @cached_property
    def years(self) -> frozenset[Decimal]:
        """The years of its dates: a year alone meets them."""
        return frozenset(Decimal(date[:4]).normalize() for date in self.dates if not date.startswith("-"))

    @cached_property
    def names(self) -> frozenset[str]:
        """Stems of capitalised words that do not open the statement, and of any that hold capitals within."""
        text = self.figures.rest
        found = set()
        for place, match in enumerate(_TOKEN.finditer(text)):
            word = match.group()
            inner = any(char.isupper() for char in word[1:])
            opens = place == 0 or text[: match.start()].rstrip()[-1:] in ".!?:;"
            if word[0].isupper() and word.lower() not in _PLAIN_CAPITALS and (inner or not opens):
                found |= set(content(words(word)))
        return frozenset(found & self.stems.keys()) - frozenset(_OPPOSED)

    def has(self, figure: Figure) -> bool:
        return figures.meets(figure, self.figures, self.years)

    def dated(self, date: str) -> bool:
        """Whether a date stands here, as exactly as it is given."""
        if date in self.dates:
            return True
        if date.startswith("-"):
            return any(found.endswith(date[1:]) for found in self.dates)
        return any(
            found.startswith(date) or (found.startswith("-") and date.endswith(found[1:]))
            for found in self.dates
        )


def told(text: str) -> Told:
    return Told(text)


def read_beside(one: Told, other: Told) -> Mapping[str, bool]:
    """The words of one as `stems` gives them, but that a negation which only turns a word into its contrary in the other is
    spent on that word: `did not reject the request` denies no request where the other accepts it.
    """
    spent = {
        negation
        for word, negation in one.negations.items()
        if negation is not None and same_by_contrary(word, True, other)
    }
    if not spent:
        return one.stems
    return {
        word: negation is not None and (negation not in spent or same_by_contrary(word, True, other))
        for word, negation in one.negations.items()
    }


def opposed(one: Told, other: Told) -> bool:
    """Whether a word of one is denied by the other: by a negation, or by its contrary in the same place."""
    here, there = read_beside(one, other), read_beside(other, one)
    shared = here.keys() & there.keys()
    if shared and sum(here[word] != there[word] for word in shared) * 2 >= len(shared):
        return True
    for word, negated in here.items():
        if word in there:
            continue
        for contrary in _OPPOSED.get(word, ()):
            if contrary in there and contrary not in here and there[contrary] == negated:
                return True
    return False


def contraries(word: str) -> frozenset[str]:
    return frozenset(_OPPOSED.get(word, ()))


def same_by_contrary(word: str, negated: bool, other: Told) -> bool:  # noqa: FBT001 - a pair as `stems` gives it
    """`not rejected` says `accepted`."""
    return any(other.stems.get(contrary) is (not negated) for contrary in _OPPOSED.get(word, ()))


# a number word that no figure was made of (`two-thirds` apart) says nothing as a word
_NUMBER_STEMS = frozenset(stem(word) for word in figures.NUMBER_WORDS)
