"""One case: what is asked, what was handed in, what the check answered, what happened before, the decision.

`render_case` is the one way to draw it: as a page, or for htmx as the fragment that fills the desk's panes.
A bounded number of statements, whatever the run holds: see `approvals.screens.facts`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from approvals.reading import content, differences, maps, words
from approvals.reading.content import Row, Text
from approvals.reading.differences import Change
from approvals.screens import evidence, frame
from approvals.screens.answers import Asked, Chip, asked, chip, item_chips
from approvals.screens.evidence import File, Link
from approvals.screens.facts import Facts, read
from checks import codec
from checks.models import Answer, FactResult
from checks.questions import Result, issue_lines
from processes import files
from processes.callers import of_user
from processes.models import HistoryEntry, Submission, WorkItem
from processes.states import ItemState, SubmissionState

TOLD = 3  # failed questions of a check, in the history


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedIn:
    """A submission as it is read."""

    number: int
    attempt: int
    step: str
    by: str
    when: str
    at: str
    rows: list[Row]
    summary: Text | None
    next: str
    reason: Text | None
    chip: Chip | None
    state: str
    issues: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What was answered, by whom."""

    questions: list[Asked]
    under: str
    model: str
    is_model: bool
    advisory: bool
    truncated: bool
    addressed: bool
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One of the facts that the server checked itself."""

    chip: Chip
    type: str
    path: str
    detail: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    clock: str
    at: str
    by: str
    text: str
    note: Text | None
    told: list[str]  # of a check: what it found, in a line or a few
    chip: Chip | None
    is_model: bool


@require_safe
@frame.signed_in
@never_cache
@vary_on_headers("HX-Request", "HX-Target", "Cookie")
def case(request: HttpRequest, item: str) -> HttpResponseBase:
    return render_case(request, item)


@require_safe
@frame.signed_in
def evidence_file(request: HttpRequest, item: str, ref: str) -> HttpResponseBase:
    """To a file's signed address, made now: a page may stay open longer than such an address lives."""
    if not (item.isprintable() and ref.isprintable()) or not _cited(item, ref):
        raise Http404("There is no such item, or no submission of its run cites that file.")
    return redirect(files.url(ref))


def _cited(item: str, ref: str) -> bool:
    """By the evidence of a submission, where all that a run cites was handed in: an output field names what it likes.
    The database finds the few submissions that hold the id at all. One statement.
    """
    runs_of_item = WorkItem.objects.filter(pk=item).values("run")
    holding = Submission.objects.filter(attempt__step__run__in=runs_of_item, content__contains=f'"{ref}"')
    contents = holding.order_by().values_list("content", flat=True)
    return any(ref in files.refs(codec.loads(content)["evidence"]) for content in contents)


def render_case(
    request: HttpRequest,
    item: str,
    *,
    decision_override: Mapping[str, Any] | None = None,
    facts: Facts | None = None,
    status: int = 200,
) -> HttpResponse:
    """`decision_override`: a form that comes back, in the place of a fresh one; `facts`: where they are read already."""
    # deciding draws this page when it sends a form back, and so imports it
    from approvals.screens.decision import decision_context

    caller = of_user(frame.person(request))
    facts = facts or read(item, caller, frame.person(request))
    if facts is None:
        raise Http404("There is no such item.")
    context = {
        **frame.context(
            _title(facts), waiting=facts.place.total, sections=facts.place.sections, here="queue"
        ),
        **_context(facts),
        "decision": decision_override or decision_context(facts, caller),
    }
    fragment = frame.htmx(request) and frame.htmx(request).target == "work"
    name = f"approvals/case.html{'#fragment' if fragment else ''}"
    return render(request, name, {**context, "folds": fragment}, status=status)


# ---- what the template draws


def _title(facts: Facts) -> str:
    subject = facts.loaded.row.subject or words.title(facts.loaded.compiled.process)
    return f"{subject}, {words.title(facts.item.step.name)}"


def _context(facts: Facts) -> dict[str, Any]:
    loaded, about = facts.loaded, facts.about
    document = loaded.compiled.document
    held = codec.loads(about.content) if about is not None else {}
    found, links = evidence.gather(held.get("evidence", ()), facts.uploads)
    changes = _changes(facts, held)
    states = {name: standing.state for name, standing in loaded.now.steps.items()}
    return {
        "case": _head(facts),
        "place": facts.place,
        "check": _check(facts),
        "facts": [_fact(result) for result in facts.results],
        "instructions": content.prose(facts.spec.text),
        "body": content.prose(document.body),
        "inputs": content.rows(loaded.now.data.get("inputs", {}), document.inputs),
        "submission": _handed_in(about, facts) if about is not None else None,
        "proofs": _proofs(found),
        "changes": changes,
        "changed": differences.changed(changes),
        "changed_since": _since(facts),
        "earlier": [_handed_in(one, facts) for one in facts.earlier],
        "tree": content.run_tree(loaded.now.data, states),
        "snapshot": words.short_id(loaded.row.snapshot),
        "step_count": words.count(len(document.steps), "step"),
        "files": found,
        "links": links,
        "evidence_count": _evidence_count(found, links),
        "history": [_happening(entry, facts) for entry in facts.history],
        "history_more": max(0, loaded.entries - len(facts.history)),
        "map": maps.draw(document, states, facts.item.step.name, unsure=facts.kind == "unsure"),
    }


def _head(facts: Facts) -> dict[str, Any]:
    loaded, item, about = facts.loaded, facts.item, facts.about
    is_open = item.state == ItemState.OPEN
    return {
        "item": item,
        "kind": facts.kind,
        "subject": loaded.row.subject or words.title(loaded.compiled.process),
        "process": words.title(loaded.compiled.process),
        "version": loaded.compiled.number,
        "step": words.title(item.step.name),
        "run": loaded.row,
        "run_short": words.short_id(loaded.row.pk),
        "by": words.name(about.by if about is not None else item.by),
        "attempt": about.attempt.number if about is not None else None,
        "due": words.due(item.step.due_at, facts.now) if is_open else None,
        "chips": item_chips(facts.kind, facts.verdict, asked_by=item.by, test=loaded.row.test),
        "asked_by": words.name(item.by),
        "note": content.text(item.note) if item.note and facts.kind == "escalated" else None,
    }


def _check(facts: Facts) -> Check | None:
    verdict = facts.verdict
    if verdict is None:
        return None
    answers = list(verdict.answers.all())
    return Check(
        questions=asked(answers, verdict),
        under=_under(answers),
        model=verdict.model or verdict.evaluator,
        is_model=verdict.is_model,
        advisory=verdict.advisory,
        truncated=verdict.truncated,
        addressed=verdict.addressed,
        error=verdict.error,
    )


def _under(answers: Sequence[Answer]) -> str:
    under = sum(answer.result == Result.UNSURE for answer in answers)
    return f"{under} of {len(answers)} answers unsure" if under else ""


_STATES = {
    SubmissionState.CHECKING: "is being checked",
    SubmissionState.ERROR: "got no answer",
    SubmissionState.ACCEPTED: "accepted",
    SubmissionState.NOT_ACCEPTED: "not accepted",
    SubmissionState.HELD: "held for a person",
    SubmissionState.RETURNED: "returned",
    SubmissionState.VOID: "void",
}


def _fact(result: FactResult) -> Fact:
    verdict = "pass" if result.passed else "error" if result.unreachable else "fail"
    word = {"pass": "Holds", "fail": "Does not hold", "error": "Not reached"}[verdict]
    return Fact(
        chip=Chip(word=word, glyph=verdict, verdict=verdict),
        type=result.type,
        path=result.path,
        detail=result.detail,
        hash=words.fingerprint(result.evidence_hash) if result.evidence_hash else "",
    )


def _handed_in(submission: Submission, facts: Facts) -> HandedIn:
    held = codec.loads(submission.content)
    verdict = submission.verdict
    step = facts.loaded.steps
    name = next(name for name, row in step.items() if row.pk == submission.attempt.step_id)
    answers = verdict.answers.all() if verdict is not None else ()
    return HandedIn(
        number=submission.number,
        attempt=submission.attempt.number,
        step=words.title(name),
        by=words.name(submission.by),
        when=words.ago(submission.at, facts.now),
        at=words.stamp(submission.at),
        rows=content.rows(held["output"], facts.loaded.compiled.document.steps[name].output),
        summary=content.text(held["summary"]) if held.get("summary") else None,
        next=words.title(held["next"]) if held.get("next") else "",
        reason=content.text(held["reason"]) if held.get("reason") else None,
        chip=chip(verdict) if verdict is not None else None,
        state=_STATES[SubmissionState(submission.state)],
        issues=[line.removeprefix("check: ") for line in issue_lines(answers, unsure=True)],
    )


def _changes(facts: Facts, held: Mapping[str, Any]) -> list[Change]:
    """Against the submission before, of this attempt or the last one."""
    if facts.about is None or not facts.earlier:
        return []
    names = {ref: upload.file_name for ref, upload in facts.uploads.items()}
    return differences.between(codec.loads(facts.earlier[0].content), held, names)


def _since(facts: Facts) -> str:
    """`attempt 1`, or of the same attempt `submission 1`."""
    if facts.about is None or not facts.earlier:
        return ""
    last = facts.earlier[0]
    same = last.attempt_id == facts.about.attempt_id
    return f"submission {last.number}" if same else f"attempt {last.attempt.number}"


def _proofs(found: Sequence[File]) -> list[str]:
    """What was checked rather than judged. Every submission that is kept has met the objective rules."""
    proofs = ["all declared fields present and typed"]
    if found and all(file.state == "same" for file in found):
        proofs.insert(0, f"{words.count(len(found), 'file')}, stored bytes match their hashes")
    return proofs


def _evidence_count(found: Sequence[File], links: Sequence[Link]) -> str:
    parts = [words.count(len(found), "file")] if found else []
    return ", ".join([*parts, *([words.count(len(links), "link")] if links else [])])


def _happening(entry: HistoryEntry, facts: Facts) -> Happening:
    verdict = entry.verdict
    note = entry.note if entry.what not in {"checked", "finished"} else ""
    return Happening(
        clock=words.clock(entry.at, facts.now),
        at=words.stamp(entry.at),
        by=words.name(entry.by),
        text=words.happened(
            entry.what,
            step=entry.step,
            attempt=entry.attempt,
            verdict=verdict.verdict if verdict is not None else "",
        ),
        note=content.text(note) if note else None,
        told=_told(entry, facts),
        chip=chip(verdict) if verdict is not None else None,
        is_model=verdict is None or verdict.is_model,
    )


def _told(entry: HistoryEntry, facts: Facts) -> list[str]:
    """What a check found, where its submission is one of those that were read."""
    read = [facts.about, *facts.earlier] if facts.about is not None else facts.earlier
    verdict = next((one.verdict for one in read if one and one.verdict_id == entry.verdict_id), None)
    if verdict is None or entry.what != "checked":
        return []
    answers = list(verdict.answers.all())
    if verdict.verdict == Result.FAIL:
        return [line.removeprefix("check: ") for line in issue_lines(answers)][:TOLD]
    under = _under(answers)
    return [under] if under else []
