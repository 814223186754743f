"""Claims: what an output asserts, each held against the evidence. Pure.

A model is asked one three-way choice about each claim, all in one request; the claims are numbered in the material, so that
no word of an agent stands in a question. The deterministic engine (`weigh`) compares words, figures, dates, negations and
names instead, and knows nothing:

- A claim is *contradicted* by a sentence of the evidence that is about the same (at least 0.6 of the claim's words stand
  in it) and denies it by a negation or a contrary word; or says another figure, date or name where the claim says its own,
  which stands nowhere in that item of the evidence. Where a sentence says all of the claim, no other of its item denies it,
  and of the other items only one that says the contrary with the same figures.
- It is *supported* by a sentence of the evidence that holds all of its figures and dates and at least 0.7 of its words, none of them
  denied; its names stand in that item.
- Else it is *unsupported*.

A sentence that opens with a pronoun (It, They, This) is read together with the last one before it that does not. A JSON object and a
row of a table are held against objects and rows field by field, so that a value belongs to what it belongs to. Of statements that
were put together into one claim each is weighed by itself; the claim has the status of the least good.

Its confidence is a measure of overlap and no probability: supported, the share of words found; contradicted, that share of
the sentence that denies it; unsupported, 1 less half of the best share.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from checks.comparing import (
    ABOUT,
    SUPPORT,
    Evidence,
    denied,
    denies_the_same,
    figures_found,
    nearest,
    read,
    share,
)
from checks.evidence_text import Told, told
from checks.questions import Answer, Kind, Question
from checks.sentences import Statement, split

MAX_CLAIMS = 40


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


def of(output: str) -> tuple[Statement, ...]:
    """The claims of an output, at most `MAX_CLAIMS`; one that was put together knows its parts."""
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
    held = read(evidence)
    found = []
    for text, answer in zip(claims, answers, strict=True):
        confidence = answer.confidence or 0.0
        status = Status(answer.name or "unsupported") if confidence >= least else Status.UNSUPPORTED
        place = None if status is Status.UNSUPPORTED else nearest(told(text), held)
        found.append(Claim(text=text, status=status, confidence=confidence, evidence=place))
    return tuple(found)


def weigh(claims: Sequence[str], evidence: Sequence[str]) -> tuple[Claim, ...]:
    """The deterministic engine."""
    held, known = read(evidence), dict[str, Claim]()
    return tuple(_weighed(claim, held, known) for claim in claims)


def score(claims: Sequence[Claim]) -> float:
    """(supported - contradicted) / all, at least 0: each contradiction takes one support back. 0 without claims."""
    if not claims:
        return 0.0
    points = {Status.SUPPORTED: 1, Status.CONTRADICTED: -1, Status.UNSUPPORTED: 0}
    return max(0.0, sum(points[claim.status] for claim in claims) / len(claims))


_LEAST_GOOD = (Status.CONTRADICTED, Status.UNSUPPORTED, Status.SUPPORTED)


def _weighed(claim: str, evidence: Evidence, known: dict[str, Claim]) -> Claim:
    """One that was put together of several has the status of the least good of them. `known`: a text that repeats itself is
    compared once.
    """
    parts = claim.parts if isinstance(claim, Statement) and claim.parts else (claim,)
    for part in parts:
        if part not in known:
            known[part] = _weighed_alone(part, evidence)
    return replace(_worst([known[part] for part in parts]), text=str(claim))


def _weighed_alone(claim: str, evidence: Evidence) -> Claim:
    if isinstance(claim, Statement) and len(claim.fields) > 1:
        return _of_record(claim, evidence)
    return _of_words(claim, evidence)


def _worst(found: Sequence[Claim]) -> Claim:
    """Sure of what is wrong as of the surest part, of what is right as of the least sure."""
    status = next(status for status in _LEAST_GOOD if any(claim.status is status for claim in found))
    of_it = [claim for claim in found if claim.status is status]
    if status is Status.SUPPORTED:
        return min(of_it, key=lambda claim: claim.confidence)
    return max(of_it, key=lambda claim: claim.confidence)


def _of_words(text: str, evidence: Evidence) -> Claim:
    claim = told(text)
    near = evidence.near(claim)
    shares = [share(claim, it.told) for it in near]
    partly = max(shares, default=0.0)
    best, denial = (0.0, -1), (0.0, -1)
    said = {it.place for it, met in zip(near, shares, strict=True) if met == 1}
    for it, met in zip(near, shares, strict=True):
        if met >= SUPPORT and met > best[0] and figures_found(claim, it):
            best = (met, it.place)
        # what one sentence says whole, another that reads like it says of something else
        if it.place in said or (said and not denies_the_same(claim, it.told)):
            continue
        against = denied(claim, it.told, it.whole)
        if against > denial[0]:
            denial = (against, it.place)
    if denial[0] >= ABOUT and denial[0] >= best[0]:
        return Claim(text=text, status=Status.CONTRADICTED, confidence=denial[0], evidence=denial[1])
    if best[0]:
        return Claim(text=text, status=Status.SUPPORTED, confidence=best[0], evidence=best[1])
    return _unsupported(text, partly)


def _unsupported(text: str, partly: float) -> Claim:
    return Claim(text=text, status=Status.UNSUPPORTED, confidence=1 - partly / 2, evidence=None)


def _of_record(claim: Statement, evidence: Evidence) -> Claim:
    """Which value belongs to what counts: all fields stand in one record or sentence of the evidence. Where the output is a
    single object and there is prose, its fields may stand in several sentences, as they would if the output were prose.
    """
    found = [_of_records(claim, evidence)]
    if evidence.prose.sentences:
        prose = evidence.prose
        found.append(_of_words(claim, prose))
        if not claim.listed:
            found.append(_worst([_of_words(field, prose) for field in claim.fields]))
    good = [it for it in found if it.status is Status.SUPPORTED]
    return good[0] if good else replace(_worst(found), text=str(claim))


def _of_records(claim: Statement, evidence: Evidence) -> Claim:
    """A record beside those of the evidence: supported by one that has all its fields, contradicted by one that shares the
    first and has another value in a field of the same name.
    """
    fields = tuple(map(told, claim.fields))
    denial, partly = (0.0, -1), 0.0
    for it in evidence.near(told(claim)):
        if it.record is None:
            continue
        met = [max(share(field, other) for other in it.fields) for field in fields]
        mean = sum(met) / len(met)
        partly = max(partly, mean)
        if min(met) == 1:
            return Claim(text=claim, status=Status.SUPPORTED, confidence=1.0, evidence=it.place)
        open_ = [field for field, part in zip(fields, met, strict=True) if part < 1]
        if met[0] == 1 and mean > denial[0] and any(_field_denied(field, it.fields) for field in open_):
            denial = (mean, it.place)
    if denial[0]:
        return Claim(text=claim, status=Status.CONTRADICTED, confidence=denial[0], evidence=denial[1])
    return _unsupported(claim, partly)


def _field_denied(field: Told, others: Sequence[Told]) -> bool:
    return any(denied(field, other, other) >= ABOUT for other in others)
