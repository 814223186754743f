"""The profile facts-1: what a step declares to be checked of its work by the server itself, before any model is asked.

Facts without a network are checked under the run's lock, right after acceptance; all of them together, with no lock
held, in the checking phase. What fails bounces the work like an issue of acceptance; what could not be reached is an
error, and after three in a row a person decides. Results are rows of their own, never run data. Source: our ruling
in the protocol's §6 that results stay out of run data; docs/process-files.md tells authors.
"""

from collections.abc import Sequence
from typing import Any

from checks.facts import declared
from checks.facts.declared import Found
from checks.models import FactResult
from processes import engine
from processes.acceptance import Content
from processes.document import Step as StepSpec
from processes.loaded import Loaded
from processes.models import Submission
from processes.states import HistoryEvent

BY = "facts"  # who says so in a run's history
MAX_DETAIL = 500


def at_hand(spec: StepSpec, content: Content) -> tuple[Found, ...]:
    """Those that need no network. Never raises."""
    return declared.check([fact for fact in spec.facts if not fact.network], content.output)


def all_of(spec: StepSpec, content: Content) -> tuple[Found, ...]:
    """Every one. Goes out over the network: no lock, no transaction. Never raises."""
    return declared.check(spec.facts, content.output)


def outward(spec: StepSpec) -> bool:
    return any(fact.network for fact in spec.facts)


def failed(found: Sequence[Found]) -> list[str]:
    """Issue lines of those that do not hold: `fact: output.total (numeric): The output comes to 3; …`."""
    return [_line(each) for each in found if each.failed]


def unreached(found: Sequence[Found]) -> list[str]:
    return [_line(each) for each in found if each.outcome.unreachable]


def keep(loaded: Loaded, submission: Submission, found: Sequence[Found]) -> None:
    """Record what was found, with the run. `asked` is the asking that found it."""
    loaded.facts += [
        FactResult(
            about=submission.pk,
            asked=max(1, submission.fence),
            position=position,
            type=each.declared.type,
            path=each.declared.path[:300],
            passed=each.outcome.passed,
            unreachable=each.outcome.unreachable,
            detail=each.outcome.detail[:MAX_DETAIL],
            evidence_hash=each.outcome.evidence_hash,
            at=loaded.at,
        )
        for position, each in enumerate(found, start=1)
    ]


def keep_again(loaded: Loaded, submission: Submission, earlier: Submission) -> None:
    """Of unchanged material: what was found when its verdict was asked for, for that is not asked again either."""
    spec, _ = loaded.now.step(submission.attempt.step.name)
    if not spec.facts:
        return
    found = FactResult.objects.filter(about=earlier.pk, asked=max(1, earlier.fence)).order_by("position")
    for result in found:
        result.pk, result._state.adding = None, True
        result.about, result.asked = submission.pk, 1
        loaded.facts.append(result)


def asked(spec: StepSpec) -> dict[str, Any]:
    """What an agent is told on its claim: the facts that its work will be held against, as the file has them."""
    return {"facts": [fact.as_json() for fact in spec.facts]}


def promised(spec: StepSpec) -> list[tuple[str, str]]:
    """What a person is told before sending a task: each field with what will be checked of it, in words."""
    return [(fact.field, fact.wanted) for fact in spec.facts]


def of_run(run: str) -> list[dict[str, Any]]:
    """Every result of a run's work, oldest first, for REST. Two statements; no payload is loaded."""
    submissions = {
        submission.pk: submission
        for submission in Submission.objects.filter(attempt__step__run=run)
        .select_related("attempt__step")
        .only("id", "number", "attempt__number", "attempt__step__name")
    }
    results = FactResult.objects.filter(about__in=list(submissions)).order_by(
        "at", "about", "asked", "position"
    )
    return [_shown(result, submissions[result.about]) for result in results]


def _shown(result: FactResult, submission: Submission) -> dict[str, Any]:
    return {
        "stepId": submission.attempt.step.name,
        "attempt": submission.attempt.number,
        "submission": submission.number,
        "asked": result.asked,
        "type": result.type,
        "value": result.path,
        "passed": result.passed,
        "unreachable": result.unreachable,
        "detail": result.detail,
        "evidenceHash": result.evidence_hash,
        "at": engine.stamp(result.at),
    }


def tell(loaded: Loaded, step: str, *, hold: bool) -> None:
    """To the run's history: whether they hold."""
    loaded.now.effects.append(
        engine.Happened(HistoryEvent.FACTS_HOLD if hold else HistoryEvent.FACTS_FAIL, step, BY)
    )


def _line(each: Found) -> str:
    return f"fact: {each.declared.path} ({each.declared.type}): {each.outcome.detail}"[:MAX_DETAIL]
