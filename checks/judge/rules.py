"""From what was found to a verdict, in words. Pure.

- *fail*: a check failed, a claim is contradicted, a criterion is not met, or the output is not what the task asks.
- *retry*: else, where the judge can't tell: a criterion or the task is unsure, no model answered though one should
  have, the material speaks to whoever judges it, the score is under 0.7 with evidence given, or nothing was given to judge by.
- *pass*: else.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from checks.claims import Claim, Status
from checks.facts.shapes import Outcome, shown
from checks.questions import Judged, Result

PASS_SCORE = 0.7
PASS, FAIL, RETRY = "pass", "fail", "retry"
MAX_REASONS = 20


class Unanswered(StrEnum):
    """What a caller may do where no model answered."""

    FOR_NOW = "Send it again in a while."
    LASTING = "Tell whoever runs the server; its log says why."


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """All that a verdict is made of. `task` is None where nobody was asked about it."""

    checks: tuple[tuple[str, Outcome], ...]
    claims: tuple[Claim, ...]
    criteria: tuple[Judged, ...]
    task: Judged | None
    has_evidence: bool
    score: float
    by_model: bool
    stopgap: bool = False
    addressed: bool = False
    phrase: str | None = None  # which does, where words show it
    unanswered: Unanswered | None = None

    @property
    def verification(self) -> str:
        """What the verdict rests on."""
        if self.checks and all(outcome.passed for _, outcome in self.checks):
            return "verified"
        return "judged" if self.by_model else "heuristic"


@dataclass(frozen=True, slots=True)
class Decided:
    verdict: str
    reasons: tuple[str, ...]
    next_step: str


def decide(found: Found) -> Decided:
    against, mend = _against(found)
    doubts, change = _doubts(found)
    reasons = [*against, *doubts]
    if against:
        verdict, steps = FAIL, mend
    elif doubts:
        verdict, steps = RETRY, change
    else:
        verdict, steps = PASS, ["Use the output."]
        reasons = _for(found)
    return Decided(verdict, tuple(reasons[:MAX_REASONS]), " ".join(dict.fromkeys(steps)))


def criteria_view(criteria: Sequence[Judged], texts: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {"text": text, "result": str(judged.result), "probability": judged.answer.probability}
        for judged, text in zip(criteria, texts, strict=True)
    ]


def _against(found: Found) -> tuple[list[str], list[str]]:
    """Why it fails, and what to mend."""
    reasons, steps = [], []
    for number, (kind, outcome) in enumerate(found.checks, start=1):
        if not outcome.passed:
            reasons.append(f"Check {number} ({kind}) did not pass: {outcome.detail}")
            steps.append(
                "What a check reads could not be reached; send it again later."
                if outcome.unreachable
                else "Mend what the checks found."
            )
    for claim in found.claims:
        if claim.status is Status.CONTRADICTED:
            item = "the evidence" if claim.evidence is None else f"evidence {claim.evidence + 1}"
            reasons.append(f"“{shown(claim.text, 120)}” is contradicted by {item}.")
            steps.append("Correct the claims that the evidence contradicts.")
    for number, judged in enumerate(found.criteria, start=1):
        if judged.result is Result.FAIL:
            reasons.append(f"Criterion {number} is not met.")
            steps.append("Meet the criteria that are not met.")
    if found.task is not None and found.task.result is Result.FAIL:
        reasons.append("The output does not do what the task asks.")
        steps.append("Do what the task asks.")
    return reasons, steps


def _doubts(found: Found) -> tuple[list[str], list[str]]:
    """Why it can't be told, and what to change."""
    reasons, steps = [], []
    if found.unanswered is not None:
        reasons.append("No model answered.")
        steps.append(str(found.unanswered))
    elif found.stopgap:
        reasons.append("No model answered, and words compared in its place let nothing pass.")
        steps.append("Send it again in a while.")
    if found.addressed:
        quoted = f": “{shown(found.phrase, 120)}”." if found.phrase else "."
        reasons.append(f"The material addresses whoever judges it{quoted}")
        steps.append("Take out whatever speaks to a judge.")
    for number, judged in enumerate(found.criteria, start=1):
        if judged.result is Result.UNSURE:
            reasons.append(f"Whether criterion {number} is met can't be told.")
            steps.append("Say plainly how the criteria are met, or word them more closely.")
    if found.task is not None and found.task.result is Result.UNSURE:
        reasons.append("Whether the output does what the task asks can't be told.")
        steps.append("Say plainly what was done.")
    unsupported = [claim for claim in found.claims if claim.status is Status.UNSUPPORTED]
    if found.has_evidence and not found.claims:
        reasons.append("The output claims nothing that could be held against the evidence.")
        steps.append("Say what was found in full sentences.")
    elif found.has_evidence and unsupported and found.score < PASS_SCORE:
        reasons.append(f"{_share(len(unsupported), len(found.claims))} not supported by the evidence.")
        steps.append(f"Give evidence for what is not supported, or leave it out: {_last(unsupported[0])}")
    if not found.has_evidence and not found.checks and not found.criteria and found.task is None:
        reasons.append("There is nothing to judge by.")
        steps.append("Give evidence, criteria or checks.")
    return reasons, steps


def _for(found: Found) -> list[str]:
    """What speaks for it."""
    reasons = []
    if found.checks:
        count = len(found.checks)
        reasons.append("The check passed." if count == 1 else f"All {count} checks passed.")
    if found.has_evidence and found.claims:
        supported = sum(claim.status is Status.SUPPORTED for claim in found.claims)
        reasons.append(f"{_share(supported, len(found.claims))} supported, none is contradicted.")
    elif found.claims:
        reasons.append("No evidence was given, so no claim was held against any.")
    if found.criteria:
        reasons.append(
            "The criterion is met."
            if len(found.criteria) == 1
            else f"All {len(found.criteria)} criteria are met."
        )
    if found.task is not None:
        reasons.append("The output does what the task asks.")
    return reasons


def _share(count: int, of: int) -> str:
    """As a sentence begins: `1 of 2 claims is`, `The claim is`."""
    if of == 1:
        return "The claim is" if count else "No claim is"
    return f"{count} of {of} claims {'is' if count == 1 else 'are'}"


def _last(claim: Claim) -> str:
    """Quoted at a sentence's end, which one full stop is enough for."""
    text = shown(claim.text, 120)
    return f"“{text}”" if text.endswith((".", "!", "?")) else f"“{text}”."
