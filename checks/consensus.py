"""Agreement among answers, and whether it should be trusted. Pure, deterministic.

Answers are compared by the words that the task does not hold already, with their figures, dates and negations: two that
differ in one of those never fall together, however alike they read. Negations and contraries are compared sentence by sentence:
one that denies a sentence of the other parts the two, unless another sentence there says as much of it and agrees. Similarity is the larger of Dice's coefficient and
0.9 of the share of the shorter that stands in the longer. Answers are put together from the most alike down, as long as every pair
of a cluster has a similarity of at least 0.5.

`agreement_score`: the largest cluster's share of the answers. There is a consensus where that cluster holds two answers or
more and no other is as large; the answer is the one that is most like the others in it.

Risk of a false consensus: points, 0 = low, 1 = medium, 2 or more = high. Two where the evidence does not support the
shared answer (`unsupported_agreement`: fewer than half of its claims are supported, or one is contradicted); one where
there is no evidence to hold it against; one where answers that agree are near-copies, or come from the same agent (five-word runs
in common: at least 0.8 of all that the two have). Answers of fewer than five words are never near-copies: there are few ways to say
them, so that the same words tell nothing of whether one was taken from the other. The reasons say so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from checks import claims
from checks.comparing import ABOUT, Evidence, read
from checks.evaluators.heuristic_text import content, words
from checks.evidence_text import Told, contraries, opposed, told

SIMILAR = 0.5
NEAR_COPY = 0.8
_RUN = 5
LEVELS = ("low", "medium", "high")
SUPPORTED_SHARE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    output: str
    agent_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Consensus:
    answer: str | None
    agreement: float
    risk: str
    reasons: tuple[str, ...]
    clusters: tuple[tuple[int, ...], ...]  # places of the answers, the largest first
    representatives: tuple[int, ...]
    unsupported_agreement: bool
    claims: tuple[claims.Claim, ...]  # of the shared answer

    def view(self) -> dict[str, Any]:
        return {
            "consensus_answer": self.answer,
            "agreement_score": round(self.agreement, 4),
            "false_consensus_risk": self.risk,
            "reasons": list(self.reasons),
            "clusters": [
                {
                    "role": "clustering",
                    "answers": list(cluster),
                    "size": len(cluster),
                    "representative": first,
                }
                for cluster, first in zip(self.clusters, self.representatives, strict=True)
            ],
            "unsupported_agreement": self.unsupported_agreement,
            "claims": [claim.view() for claim in self.claims],
        }


def consensus(task: str, answers: Sequence[Given], evidence: Sequence[str]) -> Consensus:
    """What two or more answers agree on."""
    known = frozenset(content(words(task)))
    table = _similarities([answer.output for answer in answers], known)
    clusters = _clusters(len(answers), table)
    firsts = tuple(_representative(cluster, table) for cluster in clusters)
    most = len(clusters[0])
    agreed = most > 1 and (len(clusters) == 1 or len(clusters[1]) < most)
    shared = answers[firsts[0]].output if agreed else None
    weighed = claims.weigh(claims.of(shared), evidence) if shared is not None else ()
    unsupported = bool(evidence) and shared is not None and not _supported(weighed)
    points, reasons = _risk(
        [answers[place] for place in clusters[0]], bool(evidence), unsupported=unsupported
    )
    if not agreed:
        points, reasons = 0, ["The answers don't agree, so there is no consensus that could be false."]
    return Consensus(
        answer=shared,
        agreement=most / len(answers),
        risk=LEVELS[min(points, len(LEVELS) - 1)],
        reasons=tuple(reasons),
        clusters=clusters,
        representatives=firsts,
        unsupported_agreement=unsupported,
        claims=weighed,
    )


def _supported(weighed: Sequence[claims.Claim]) -> bool:
    statuses = [claim.status for claim in weighed]
    enough = statuses.count(claims.Status.SUPPORTED) >= SUPPORTED_SHARE * len(statuses)
    return bool(statuses) and enough and claims.Status.CONTRADICTED not in statuses


def _risk(agreeing: Sequence[Given], evidence: bool, *, unsupported: bool) -> tuple[int, list[str]]:  # noqa: FBT001 - of two kinds of one thing
    points, reasons = 0, []
    if unsupported:
        points += 2
        reasons.append("The answers agree, but the evidence does not support what they agree on.")
    if not evidence:
        points += 1
        reasons.append("No evidence was given to hold the shared answer against.")
    copies = sum(near_copies(one.output, other.output) for one, other in combinations(agreeing, 2))
    if copies:
        points += 1
        reasons.append(
            f"{copies} pair{'s' * (copies > 1)} of the answers that agree are near-copies of each other."
        )
    named = [answer.agent_id for answer in agreeing if answer.agent_id]
    if len(set(named)) < len(named):
        points += 1
        reasons.append("One agent gave several of the answers that agree.")
    short = any(_same_and_short(one.output, other.output) for one, other in combinations(agreeing, 2))
    if not reasons:
        own = "" if short else ", and the answers are worded in their own ways"
        reasons.append(f"The evidence supports the shared answer{own}.")
    if short:
        reasons.append(
            "Answers that agree are the same few words: they are too short to tell copies from agreement."
        )
    return points, reasons


def _same_and_short(one: str, other: str) -> bool:
    return words(one) == words(other) and len(words(one)) < _RUN


def near_copies(one: str, other: str) -> bool:
    """Whether two texts share most of their runs of words. Short texts are no copies: there is one way to say them."""
    runs = [_runs(words(one)), _runs(words(other))]
    if not all(runs):
        return False
    return len(runs[0] & runs[1]) >= NEAR_COPY * len(runs[0] | runs[1])


def _runs(tokens: list[str]) -> set[tuple[str, ...]]:
    return {tuple(tokens[at : at + _RUN]) for at in range(len(tokens) - _RUN + 1)}


def _similarities(texts: Sequence[str], known: frozenset[str]) -> dict[tuple[int, int], float]:
    answers = [_Answer(told(text), read([text])) for text in texts]
    return {
        (one, other): _similarity(answers[one], answers[other], known)
        for one, other in combinations(range(len(texts)), 2)
    }


@dataclass(frozen=True, slots=True)
class _Answer:
    whole: Told
    sentences: Evidence


def _similarity(one: _Answer, other: _Answer, known: frozenset[str]) -> float:
    if _same_text(one.whole.text, other.whole.text):
        return 1.0
    if _differ(one.whole, other.whole) or _denies(one, other) or _denies(other, one):
        return 0.0
    sets = [_says(it.whole) - known or _says(it.whole) for it in (one, other)]
    if not all(sets):
        return 0.0
    met = len(sets[0] & sets[1])
    dice = 2 * met / (len(sets[0]) + len(sets[1]))
    return max(dice, 0.9 * met / min(map(len, sets)))


def _same_text(one: str, other: str) -> bool:
    return " ".join(one.split()).casefold() == " ".join(other.split()).casefold()


def _says(it: Told) -> set[str]:
    """Words, figures, units and dates; figures and dates in a form that no word has."""
    units = {figure.unit for figure in it.figures.all} - {""}
    return {*it.stems, *(f"={figure.value} {figure.unit}" for figure in it.figures.all), *units, *it.dates}


def _differ(one: Told, other: Told) -> bool:
    """Each says a figure, or a date, that the other does not."""
    figures = [any(not b.has(figure) for figure in a.figures.all) for a, b in ((one, other), (other, one))]
    days = [any(not b.dated(date) for date in a.dates) for a, b in ((one, other), (other, one))]
    return all(figures) or all(days)


def _denies(one: _Answer, other: _Answer) -> bool:
    """Whether a sentence of one is denied by a sentence of the other that is about the same, and confirmed by none that is as
    much about it.
    """
    for it in one.sentences.sentences:
        if it.joined:
            continue
        about = [
            (shared, opposed(it.told, beside.told))
            for beside in other.sentences.near(it.told)
            if not beside.joined and (shared := _in_common(it.told, beside.told)) >= ABOUT
        ]
        if about and all(against for shared, against in about if shared == max(about)[0]):
            return True
    return False


def _in_common(one: Told, other: Told) -> float:
    """The share of the shorter one's words that stand in the other, or their contraries."""
    fewer, more = sorted((one, other), key=lambda it: len(it.stems))
    if not fewer.stems:
        return 0.0
    met = sum(word in more.stems or bool(contraries(word) & more.stems.keys()) for word in fewer.stems)
    return met / len(fewer.stems)


def _clusters(count: int, table: dict[tuple[int, int], float]) -> tuple[tuple[int, ...], ...]:
    """Complete linkage: the two clusters whose least alike pair is most alike, until that is not alike enough."""
    clusters = [[place] for place in range(count)]
    while len(clusters) > 1:
        linked = [
            (min(table[min(a, b), max(a, b)] for a in one for b in other), -place, -place_of_other)
            for (place, one), (place_of_other, other) in combinations(enumerate(clusters), 2)
        ]
        least, first, second = max(linked)
        if least < SIMILAR:
            break
        clusters[-first] = sorted(clusters[-first] + clusters[-second])
        del clusters[-second]
    return tuple(sorted(map(tuple, clusters), key=lambda cluster: (-len(cluster), cluster)))


def _representative(cluster: tuple[int, ...], table: dict[tuple[int, int], float]) -> int:
    """The one that is most like the others; of those, the first."""

    def likeness(place: int) -> float:
        return sum(table[min(place, other), max(place, other)] for other in cluster if other != place)

    return max(cluster, key=lambda place: (likeness(place), -place))
