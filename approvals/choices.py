"""What a person may choose on an item, and what each choice says: its consequence and who reads its note. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from approvals.reading.words import title
from checks import codec
from processes.document import JOIN, Document, Step
from processes.states import Decision

# The four shapes of a decision. The stylesheet opens `.db-<shape>` under the radio with this value.
RETURN, CANDIDATE, CHANGES, FAIL = "return", "candidate", "changes", "fail"
SAID = 3  # values of the candidate that a sentence repeats
SHORT = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One work item as far as its form depends on it."""

    document: Document
    step: Step
    escalated: bool = False
    # what was handed in and held: {output, evidence, summary?, next?, reason?}
    candidate: Mapping[str, Any] | None = None
    file_names: Mapping[str, str] = field(default_factory=dict)
    worker: str = ""  # who worked the step, and gets it back when it is returned
    reworker: str = ""  # who worked the step that a rejection goes back to


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One radio and the panel that it opens."""

    value: str
    decision: Decision
    label: str
    rest: str = ""  # of the label, left out where there is little room
    short: str = ""  # instead of the label there
    key: str
    send: str
    say: str = ""
    note: str = ""  # the note's label, "" where none is taken
    reader: str = ""  # who will read the note
    note_needed: bool = True


def choices(case: Case) -> tuple[Choice, ...]:
    """In the order in which they are drawn; none comes chosen."""
    if case.escalated:
        whole = (_candidate(case), _changes(case)) if case.candidate is not None else (_complete(case),)
        return (_return(case), *whole, _fail("Fail", "the step"))
    if case.step.kind == "approve":
        return (_approve(case), _reject(case), _fail("Fail"))
    return (_complete(case), _fail("Fail", "the step"))


def onward(document: Document, name: str) -> str:
    """Where the run goes next, as a clause."""
    if name == JOIN or name not in document.steps:
        return "this branch is done"
    step = document.steps[name]
    return f"the run ends: {step.text}" if step.kind == "finish" else f"the run goes on to {title(name)}"


def _return(case: Case) -> Choice:
    reads = "the agent reads this and tries again"
    if case.step.kind != "agent":
        reads = "whoever has the task reads this with it"
    return Choice(
        value=RETURN,
        decision=Decision.RETURNED,
        label="Return",
        rest="with note",
        key="r",
        send=f"Return to {case.worker}",
        note=f"Note to {case.worker}",
        reader=f"{reads}, same attempt and due time",
    )


def _candidate(case: Case) -> Choice:
    held = case.candidate or {}
    goes = onward(case.document, held.get("next") or case.step.next)
    said = [f"{name} {short(value)}" for name, value in list(held["output"].items())[:SAID]]
    more = len(held["output"]) - SAID
    said += [f"{more} more"] if more > 0 else []
    files = len(held["evidence"])
    said += [f"{files} piece{'s' * (files > 1)} of evidence"] if files else []
    return Choice(
        value=CANDIDATE,
        decision=Decision.COMPLETED,
        label="Complete",
        rest="with candidate",
        key="a",
        send="Complete with candidate",
        say=f"{_sentence(goes)} with the submission as it is{': ' * bool(said)}{', '.join(said)}.",
    )


def _changes(case: Case) -> Choice:
    goes = _chosen_way(case)
    return Choice(
        value=CHANGES,
        decision=Decision.COMPLETED,
        label="",
        rest="Complete with changes",
        short="Change",
        key="c",
        send="Complete with changes",
        say=f"{_sentence(goes)} with what stands here; the candidate is set aside. It is not checked again.",
    )


def _complete(case: Case) -> Choice:
    goes = _chosen_way(case)
    then = ""
    if case.escalated:
        then = " It is not checked again."
    elif case.step.check and not case.step.advisory:
        then = " The check answers first; where it is unsure, another person looks."
    return Choice(
        value=CHANGES,
        decision=Decision.COMPLETED,
        label="Complete",
        key="a",
        send="Complete",
        say=f"{_sentence(goes)}.{then}",
    )


def _approve(case: Case) -> Choice:
    return Choice(
        value=CANDIDATE,
        decision=Decision.APPROVED,
        label="Approve",
        key="a",
        send="Approve",
        say=f"{_sentence(onward(case.document, case.step.next))}.",
        note="Note, if you want to leave one",
        reader="stands beside your approval in the run data; every later step can read it",
        note_needed=False,
    )


def _reject(case: Case) -> Choice:
    note, reader = "Why it is rejected", "stands in the run's data and history; the run ends rejected"
    if back := case.step.on_reject:
        note = "Note for the rework"
        target = case.document.steps[back]
        reader = f"{case.reworker} starts {title(back)} again and reads this in run data"
        if target.kind == "finish":
            note, reader = (
                "Why it is rejected",
                f"stands in the run's data and history; the run ends: {target.text}",
            )
        elif not case.reworker:
            reader = f"{title(back)} starts again, and whoever works it reads this in run data"
    return Choice(
        value=RETURN,
        decision=Decision.REJECTED,
        label="Reject",
        rest="with note",
        key="r",
        send="Reject",
        note=note,
        reader=reader,
    )


def _fail(label: str, rest: str = "") -> Choice:
    return Choice(
        value=FAIL,
        decision=Decision.FAILED,
        label=label,
        rest=rest,
        key="f",
        send="Fail the step",
        note="Why it fails",
        reader="stands in the run's data and history; the run ends failed",
    )


def _chosen_way(case: Case) -> str:
    return (
        "the run takes the route that you choose"
        if case.step.routes
        else onward(case.document, case.step.next)
    )


def short(value: Any) -> str:
    """A value in a few characters."""
    text = " ".join((value if isinstance(value, str) else codec.dumps(value)).split())
    return text if len(text) <= SHORT else text[:SHORT] + "…"


def _sentence(clause: str) -> str:
    return clause[:1].upper() + clause[1:]
