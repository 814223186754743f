"""What the heuristic reads out of a submission: words, negations, hedging, contradictions. Pure, English, crude."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from checks import codec

MAX_CHARS = 20_000  # of the summary and of the output's text each: enough for a signal, a bound on the work
NEGATION_REACH = 3  # words that a negation reaches forward

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_SENTENCE = re.compile(r"(?<![.!?;:])[.!?;:]++(?:\s|$)|\n+")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:[,\u202f\u00a0']\d{3})*(?:\.\d+)?")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\-.]+")


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_STOP = _set(
    "a an the this that these those it its they them their there is are was were be been being am do does did has "
    "have had of to in on at by for from with and or as if than then so such into over per via will would shall "
    "should can what which who whom whose how when where why each every any all some"
)
_NEGATORS = _set(
    "not no never without neither nor none nothing cannot non lacks missing "
    # as they are typed in haste
    "isnt arent wasnt werent doesnt didnt dont cant couldnt wont wouldnt shouldnt hasnt havent hadnt mustnt neednt aint shant"
)
_APOSTROPHES = str.maketrans(dict.fromkeys("\u2019\u2018\u02bc\u00b4`\uff07", "'"))
_HEDGES = re.compile(
    r"\b(?:may(?! \d)|might|maybe|perhaps|possibly|probably|presumably|seems?|appears?|apparently|likely|unclear|uncertain|"
    r"unsure|not sure|not certain|not entirely|could not|couldn't|unable to|cannot (?:confirm|tell|say|determine)|"
    r"partial(?:ly)?|tentative(?:ly)?|roughly|more or less|should be fine|looks? (?:ok|okay|fine|good)|to be confirmed|"
    r"tbd|tbc|i think|i believe|as far as|further review|assum(?:e|ed|ing))\b"
)
# Words whose presence says the contrary of another's. Read both ways.
_OPPOSITES = (
    ("clear", "flag"),
    ("clear", "block"),
    ("clear", "hit"),
    ("approve", "decline"),
    ("approve", "reject"),
    ("approve", "deny"),
    ("approve", "refuse"),
    ("accept", "reject"),
    ("accept", "decline"),
    ("accept", "refuse"),
    ("pass", "fail"),
    ("complete", "incomplete"),
    ("valid", "invalid"),
    ("valid", "expire"),
    ("eligible", "ineligible"),
    ("match", "mismatch"),
    ("match", "differ"),
    ("paid", "unpaid"),
    ("open", "close"),
    ("resolve", "unresolve"),
)
# Number words meet their digits and near synonyms.
_SAME = {
    "both": "2", "two": "2", "second": "2", "one": "1", "single": "1", "only": "1", "three": "3", "four": "4",
    "five": "5", "vendor": "supplier", "screen": "check", "verify": "check",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What was read in one submission. Every figure is 0..1."""

    said: frozenset[str]  # stems that stand somewhere un-negated
    detail: float  # how much the summary says: 1 from a dozen content words on
    hedge: float  # 0.5 for one hedging expression, 1 for two
    contradiction: float  # share of the output's checkable claims that the summary denies


def read(submission: Mapping[str, Any]) -> Reading:
    """A `material.state` submission, `{output, summary, evidence}`, to its figures."""
    summary = str(submission.get("summary", ""))[:MAX_CHARS]
    output = submission.get("output")
    output = output if isinstance(output, Mapping) else {}
    text = f"{summary}\n{output_text(output)}"
    sentences = [words(part) for part in _SENTENCE.split(text)]
    said = {stem for sentence in sentences for stem, negated in polarity(sentence) if not negated}
    if submission.get("evidence"):
        said |= _PROOF
    hedges = len(_HEDGES.findall(text.lower()))
    return Reading(
        said=frozenset(said),
        detail=min(1.0, len(set(content(words(summary)))) / 12),
        hedge=min(1.0, hedges / 2),
        contradiction=_contradiction(output, summary),
    )


def words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text.translate(_APOSTROPHES))]


def negates(word: str) -> bool:
    """Whether a word as `words` gives it is a negation: one of the list, or any that ends in n't."""
    return word in _NEGATORS or word.endswith("n't")


def content(tokens: list[str]) -> list[str]:
    """The stems of the words that carry meaning; negations are no content."""
    return [stem(word) for word in tokens if word not in _STOP and not negates(word)]


def stem(word: str) -> str:
    """Endings off, so that `cleared`, `clears` and `clear` meet. Crude; numbers stay."""
    word = word.removesuffix("'s")
    for ending in ("ies", "ied", "ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) > 2:  # noqa: PLR2004 - a stem of three
            word = word.removesuffix(ending) + ("y" if ending in {"ies", "ied"} else "")
            break
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "ls":  # noqa: PLR2004 - flagged -> flag
        word = word[:-1]
    return _SAME_STEMS.get(word, word)


def reached(tokens: list[str]) -> Iterator[tuple[str, int | None]]:
    """Each content word of one sentence, and which negation (counted from 0) stands up to three words before it, if any does."""
    since, number = NEGATION_REACH, -1
    for word in tokens:
        if negates(word):
            since = 0
            number += 1
        elif word not in _STOP:
            yield stem(word), number if since < NEGATION_REACH else None
            since += 1


def polarity(tokens: list[str]) -> Iterator[tuple[str, bool]]:
    """Each content word of one sentence, and whether a negation reaches it."""
    for word, negation in reached(tokens):
        yield word, negation is not None


def output_text(output: Mapping[str, Any]) -> str:
    """The output's field names and texts, a field a line. Booleans and empty values say nothing here."""
    lines: list[str] = []
    room = MAX_CHARS
    for name, value in _leaves(output):
        if room <= 0:
            break
        if isinstance(value, bool) or value in ("", None):
            continue
        line = f"{' '.join(_CAMEL.split(name))} {value}"[:room]
        lines.append(line)
        room -= len(line)
    return "\n".join(lines)


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, str(key))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item, name)
    else:
        yield name, value


def _contradiction(output: Mapping[str, Any], summary: str) -> float:
    """Denied claims / (denied + confirmed): booleans, words with an opposite, and numbers named in the summary."""
    parts = [part for part in _SENTENCE.split(summary) if part.strip()]
    sentences = [(dict(polarity(words(part))), numbers_in(part)) for part in parts]
    denied = confirmed = 0
    for name, value in list(_leaves(output))[:200]:
        label = set(content(words(" ".join(_CAMEL.split(name)))))
        for stems, numbers in sentences:
            verdict = _agrees(label, value, stems, numbers)
            denied += verdict is False
            confirmed += verdict is True
    return denied / (denied + confirmed) if denied else 0.0


def _agrees(label: set[str], value: Any, stems: Mapping[str, bool], numbers: set[Decimal]) -> bool | None:
    """Whether one sentence confirms one output value; None when it says nothing of it."""
    if isinstance(value, bool):
        affirmed = _affirmed(label, stems)
        return None if affirmed is None else affirmed is value
    if codec.is_number(value):
        if not label or not label <= set(stems) or not numbers:
            return None
        return Decimal(str(value)) in numbers
    if isinstance(value, str) and len(told := content(words(value))) == 1 and told[0] in CONTRARY:
        return _affirmed(set(told), stems)
    return None


def _affirmed(label: set[str], stems: Mapping[str, bool]) -> bool | None:
    """Whether the words of a label stand in a sentence affirmed (True), negated or opposed (False), or not at all."""
    if label and label <= set(stems):
        return not any(stems[word] for word in label)
    opposed = [stems[other] for word in label for other in CONTRARY.get(word, ()) if other in stems]
    return all(opposed) if opposed else None


def numbers_in(text: str) -> set[Decimal]:
    found: set[Decimal] = set()
    for raw in _NUMBER.findall(text):
        try:
            found.add(Decimal(re.sub(r"[^\d.\-]", "", raw)))
        except InvalidOperation:
            continue
    return found


# What a submission with evidence says by having it.
_PROOF = _set("attach report file document evidence link proof")
_SAME_STEMS: dict[str, str] = {}
_SAME_STEMS.update({stem(word): stem(same) for word, same in _SAME.items()})
CONTRARY: dict[str, set[str]] = {}
for _one, _other in _OPPOSITES:
    CONTRARY.setdefault(stem(_one), set()).add(stem(_other))
    CONTRARY.setdefault(stem(_other), set()).add(stem(_one))
