"""One statement beside the statements of an item of evidence: how much they share, and whether one denies it. Pure."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from checks.evidence_text import Told, contraries, opposed, read_beside, same_by_contrary
from checks.figures import Figure, comparable
from checks.sentences import Statement, split
from checks.units import KINDS

SUPPORT, ABOUT = 0.7, 0.6
MAX_SENTENCES = 400  # of one item of evidence
MOST_NEAR = 30  # statements that a claim is compared with in full: those that have most of its words
_LEANS = re.compile(r"\W*(?:it|they|he|she|this|these|those)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Sentence:
    """A statement of the evidence, the item it stands in, and where it is a record, its fields."""

    told: Told
    place: int
    whole: Told
    record: Statement | None = None
    joined: bool = False  # with the sentence that it leans on

    @cached_property
    def fields(self) -> tuple[Told, ...]:
        return tuple(map(Told, self.record.fields)) if self.record is not None else ()


@dataclass(frozen=True)
class Evidence:
    """All items, read to be held against."""

    sentences: tuple[Sentence, ...]

    @cached_property
    def _places(self) -> Mapping[str, list[int]]:
        found: dict[str, list[int]] = {}
        for place, sentence in enumerate(self.sentences):
            for key in _keys(sentence.told):
                found.setdefault(key, []).append(place)
        return found

    def near(self, claim: Told) -> Sequence[Sentence]:
        """The statements that a claim is held against: all where they are few, else those that share most with it."""
        if len(self.sentences) <= MOST_NEAR:
            return self.sentences
        counts: Counter[int] = Counter()
        for key in {*_keys(claim), *(other for word in claim.stems for other in contraries(word))}:
            counts.update(self._places.get(key, ()))
        return [self.sentences[place] for place, _ in counts.most_common(MOST_NEAR)]

    @cached_property
    def prose(self) -> "Evidence":
        """What stands in no record."""
        return Evidence(tuple(it for it in self.sentences if it.record is None))


def read(items: Sequence[str]) -> Evidence:
    """Each statement once; one that leans on what stands before it once more, together with that."""
    found: list[Sentence] = []
    for place, text in enumerate(items):
        parts = split(text, MAX_SENTENCES) or (Statement(text),)
        whole = Told(text)
        found += [
            Sentence(Told(part), place, whole, part if part.fields else None) for part in dict.fromkeys(parts)
        ]
        found += [Sentence(Told(pair), place, whole, joined=True) for pair in _leaning(parts)]
    return Evidence(tuple(found))


def _leaning(parts: Sequence[str]) -> Iterator[str]:
    before = ""
    for part in parts:
        if not _LEANS.match(part):
            before = part
        elif before:
            yield f"{before} {part}"


def share(claim: Told, other: Told) -> float:
    """The share of a claim's words, figures and dates that stand in the other, none denied."""
    wanted = len(claim.stems) + sum(map(_weight, claim.figures.all)) + len(claim.dates)
    if not wanted:  # `So it is.` holds nothing that could be compared but itself
        return float(_same(claim) == _same(other))
    here, there = read_beside(claim, other), read_beside(other, claim)
    met = sum(
        there.get(word) is negated or same_by_contrary(word, claim.stems[word], other)
        for word, negated in here.items()
    )
    met += sum(_weight(figure) for figure in claim.figures.all if other.has(figure))
    return (met + sum(map(other.dated, claim.dates))) / wanted


def _same(it: Told) -> str:
    return " ".join(it.text.split()).casefold()


def _weight(figure: Figure) -> int:
    """A unit is a word more: `28 days` says two things."""
    return 1 if KINDS.get(figure.unit, "") in {"", "clock", "percent"} else 2


def figures_found(claim: Told, sentence: Sentence) -> bool:
    """Whether all figures and dates of a claim stand there, and its names in the item."""
    return figures_agree(claim, sentence.told) and claim.names <= sentence.whole.stems.keys()


def denied(claim: Told, sentence: Told, whole: Told) -> float:
    """How much a sentence is about the claim that it denies; 0 where it does not deny it."""
    topic = claim.stems.keys() - claim.names or claim.stems.keys()
    if not topic:
        return 0.0
    about = sum(word in sentence.stems or _contrary_in(word, claim, sentence) for word in topic) / len(topic)
    if about < ABOUT:
        return 0.0
    known = claim.names & whole.stems.keys()
    if opposed(claim, sentence) and claim.names <= known:
        return about
    if claim.names <= known and (
        _other_figure(claim, sentence, whole) or _other_date(claim, sentence, whole)
    ):
        return about
    # the same said of somebody else, where everything else agrees
    another = sentence.names - claim.names - claim.stems.keys()
    whole_topic = about == 1 and len(topic) > 1 and figures_agree(claim, sentence)
    return about if claim.names and another and not known and whole_topic else 0.0


def denies_the_same(claim: Told, sentence: Told) -> bool:
    """Whether a sentence says the contrary with the same figures: not of another case that reads like it."""
    return opposed(claim, sentence) and figures_agree(claim, sentence)


def nearest(claim: Told, evidence: Evidence) -> int | None:
    """The item that has a statement with most words in common."""
    shared = [(len(claim.stems.keys() & it.told.stems.keys()), -it.place) for it in evidence.near(claim)]
    most, place = max(shared, default=(0, 0))
    return -place if most else None


def _keys(it: Told) -> Iterator[str]:
    yield f"~{_same(it)}"
    yield from it.stems
    yield from (f"#{figure.value}" for figure in it.figures.all)
    for date in it.dates:
        yield from {f"={date}", f"={date[:7]}", f"={date[-5:]}"}


def _contrary_in(word: str, claim: Told, sentence: Told) -> bool:
    return any(same_by_contrary(word, negated, sentence) for negated in (True, False))


def _other_figure(claim: Told, sentence: Told, whole: Told) -> bool:
    missing = [figure for figure in claim.figures.all if not whole.has(figure)]
    if not missing:
        return False
    others = [figure for figure in sentence.figures.all if not claim.has(figure)]
    return any(comparable(one, other) for one in missing for other in others)


def _other_date(claim: Told, sentence: Told, whole: Told) -> bool:
    missing = any(not whole.dated(date) for date in claim.dates)
    return missing and any(not claim.dated(date) for date in sentence.dates)


def figures_agree(claim: Told, sentence: Told) -> bool:
    return all(map(sentence.has, claim.figures.all)) and all(map(sentence.dated, claim.dates))
