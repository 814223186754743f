"""Claims: what an output asserts, each held against the evidence. Pure.

A model is asked one three-way choice about each claim, all in one request; the claims are numbered in the material, so that
no word of an agent stands in a question. The deterministic engine (`weigh`) compares words, figures, dates, negations and
names instead, and knows nothing:

- A claim is *contradicted* by a sentence of the evidence that is about the same (at least 0.6 of the claim's words stand
  in it) and denies it by a negation or a contrary word; or says another figure, date or name where the claim says its own,
  which stands nowhere in that item of the evidence.
- It is *supported* by an item of the evidence that holds all of its figures, dates and names, and in which one sentence holds
  at least 0.7 of its words, none of them denied.
- Else it is *unsupported*.

A sentence that opens with a pronoun (It, They, This) is read together with the last one before it that does not.

Its confidence is a measure of overlap and no probability: supported, the share of words found; contradicted, that share of
the sentence that denies it; unsupported, 1 less half of the best share.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from checks.evidence_text import Told, opposed, same_by_contrary, told
from checks.questions import Answer, Kind, Question
from checks.sentences import split

MAX_CLAIMS = 40
SUPPORT, ABOUT = 0.7, 0.6
MAX_SENTENCES = 400  # of one item of evidence
_LEANS = re.compile(r"\W*(?:it|they|he|she|this|these|those)\b", re.IGNORECASE)


class Status(StrEnum):
    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """`evidence`: the item that speaks most of it, counted from 0; None where none does."""

    text: str
    status: Status
    confidence: float
    evidence: int | None

    def view(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "status": str(self.status),
            "confidence": round(self.confidence, 4),
            "evidence": self.evidence,
        }


OPTIONS: Mapping[str, str] = {
    "supported": "The evidence says so, or it follows from what the evidence says.",
    "contradicted": "The evidence says something that can't be true together with it.",
    "unsupported": "The evidence says neither.",
}


def of(output: str) -> tuple[str, ...]:
    """The claims of an output, at most `MAX_CLAIMS`."""
    return split(output, MAX_CLAIMS)


def questions(claims: Sequence[str]) -> tuple[Question, ...]:
    """One question about each; `numbered` is what they speak of."""
    return tuple(
        Question(
            ask=f"What does the evidence say of claim {number}? Judge by the items under evidence alone: "
            "what the output or another claim says proves nothing.",
            kind=Kind.CHOICE,
            options=OPTIONS,
            pass_names=("supported",),
            unsure_names=("unsupported",),
        )
        for number in range(1, len(claims) + 1)
    )


def numbered(texts: Sequence[str]) -> list[dict[str, Any]]:
    return [{"number": number, "text": text} for number, text in enumerate(texts, start=1)]


def answered(
    claims: Sequence[str], answers: Sequence[Answer], evidence: Sequence[str], *, least: float
) -> tuple[Claim, ...]:
    """What a model said of each. An answer under the confidence asked counts for nothing: the claim is unsupported.

    The model is not asked for the item; it is the one that shares most words with the claim.
    """
    items = [_item(text) for text in evidence]
    found = []
    for text, answer in zip(claims, answers, strict=True):
        confidence = answer.confidence or 0.0
        status = Status(answer.name or "unsupported") if confidence >= least else Status.UNSUPPORTED
        place = None if status is Status.UNSUPPORTED else _nearest(told(text), items)
        found.append(Claim(text=text, status=status, confidence=confidence, evidence=place))
    return tuple(found)


def weigh(claims: Sequence[str], evidence: Sequence[str]) -> tuple[Claim, ...]:
    """The deterministic engine."""
    items = [_item(text) for text in evidence]
    return tuple(_weighed(text, items) for text in claims)


def score(claims: Sequence[Claim]) -> float:
    """(supported - contradicted) / all, at least 0: each contradiction takes one support back. 0 without claims."""
    if not claims:
        return 0.0
    points = {Status.SUPPORTED: 1, Status.CONTRADICTED: -1, Status.UNSUPPORTED: 0}
    return max(0.0, sum(points[claim.status] for claim in claims) / len(claims))


@dataclass(frozen=True, slots=True)
class _Item:
    whole: Told
    sentences: tuple[Told, ...]


def _item(text: str) -> _Item:
    parts = split(text, MAX_SENTENCES) or (text,)
    before, pairs = "", []
    for part in parts:
        if not _LEANS.match(part):
            before = part
        elif before:
            pairs.append(f"{before} {part}")
    return _Item(told(text), tuple(map(told, [*parts, *pairs])))


def _weighed(text: str, items: Sequence[_Item]) -> Claim:
    claim = told(text)
    best, denial = (0.0, -1), (0.0, -1)
    partly = 0.0
    for place, item in enumerate(items):
        denied = max((_denied(claim, sentence, item) for sentence in item.sentences), default=0.0)
        if denied > denial[0]:
            denial = (denied, place)
        share = max((_share(claim, sentence) for sentence in item.sentences), default=0.0)
        partly = max(partly, share)
        if share >= SUPPORT and _figures_found(claim, item.whole) and share > best[0]:
            best = (share, place)
    if denial[0] >= ABOUT and denial[0] >= best[0]:
        return Claim(text=text, status=Status.CONTRADICTED, confidence=denial[0], evidence=denial[1])
    if best[0]:
        return Claim(text=text, status=Status.SUPPORTED, confidence=best[0], evidence=best[1])
    return Claim(text=text, status=Status.UNSUPPORTED, confidence=1 - partly / 2, evidence=None)


def _share(claim: Told, other: Told) -> float:
    """The share of a claim's words, figures and dates that stand in the other, none denied."""
    wanted = len(claim.stems) + len(claim.numbers) + len(claim.dates)
    if not wanted:
        return 0.0
    met = sum(
        other.stems.get(word) is negated or same_by_contrary(word, negated, other)
        for word, negated in claim.stems.items()
    )
    met += len(claim.numbers & (other.numbers | other.years)) + sum(
        _dated(date, other) for date in claim.dates
    )
    return met / wanted


def _figures_found(claim: Told, whole: Told) -> bool:
    numbers = claim.numbers <= whole.numbers | whole.years
    return numbers and all(_dated(date, whole) for date in claim.dates) and claim.names <= whole.stems.keys()


def _denied(claim: Told, sentence: Told, item: _Item) -> float:
    """How much a sentence is about the claim that it denies; 0 where it does not deny it."""
    topic = claim.stems.keys() - claim.names or claim.stems.keys()
    if not topic:
        return 0.0
    about = sum(word in sentence.stems or _contrary_in(word, claim, sentence) for word in topic) / len(topic)
    if about < ABOUT:
        return 0.0
    known = claim.names & item.whole.stems.keys()
    if opposed(claim, sentence) and claim.names <= known:
        return about
    if claim.names <= known and (_other_number(claim, sentence, item) or _other_date(claim, sentence, item)):
        return about
    # the same said of somebody else, where everything else agrees
    another = sentence.names - claim.names - claim.stems.keys()
    whole_topic = about == 1 and len(topic) > 1 and _figures_agree(claim, sentence)
    return about if claim.names and another and not known and whole_topic else 0.0


def _contrary_in(word: str, claim: Told, sentence: Told) -> bool:
    return same_by_contrary(word, not claim.stems[word], sentence) or same_by_contrary(
        word, claim.stems[word], sentence
    )


def _other_number(claim: Told, sentence: Told, item: _Item) -> bool:
    missing = claim.numbers - item.whole.numbers - item.whole.years
    return bool(missing) and bool(sentence.numbers - claim.numbers)


def _other_date(claim: Told, sentence: Told, item: _Item) -> bool:
    missing = [date for date in claim.dates if not _dated(date, item.whole)]
    return bool(missing) and any(not _dated(date, claim) for date in sentence.dates)


def _figures_agree(claim: Told, sentence: Told) -> bool:
    return claim.numbers <= sentence.numbers | sentence.years and all(
        _dated(date, sentence) for date in claim.dates
    )


def _dated(date: str, other: Told) -> bool:
    """Whether a date stands there, as exactly as it is given."""
    if date in other.dates:
        return True
    if date.startswith("-"):
        return any(found.endswith(date[1:]) for found in other.dates)
    return any(
        found.startswith(date) or (found.startswith("-") and date.endswith(found[1:]))
        for found in other.dates
    )


def _nearest(claim: Told, items: Sequence[_Item]) -> int | None:
    shares = [
        max((len(claim.stems.keys() & sentence.stems.keys()) for sentence in item.sentences), default=0)
        for item in items
    ]
    most = max(shares, default=0)
    return shares.index(most) if most else None
