"""Which entries of a run's history carry a receipt, and what it promises: work that is taken unjudged, verdicts on work, and
people's decisions.

Receipts are signed as the run is saved, each on its entry's own row, so that they cost no statement; the run's row holds
where its chain ends, under the run's lock. `parts` are the same when they are promised and when they are looked at
again (`processes.proofs`). docs/receipts.md tells what each promises.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from checks import codec
from checks.models import FactResult
from checks.models import Verdict as VerdictRow
from checks.questions import Answered, in_force
from checks.receipts import commitments, signing
from checks.receipts.encoding import digest
from checks.receipts.payload import Draft
from processes import facts
from processes.loaded import Loaded
from processes.models import HistoryEntry, Run, Submission, Version, WorkItem
from processes.states import HistoryEvent, ItemState
from processes.versions import Compiled

CHAIN, PROCESS_CHAIN = "run:", "process:"
WORK, VERDICT, DECISION, PUBLICATION = "work", "verdict", "decision", "publication"
PASS, FAIL = "pass", "fail"  # of facts alone

Parts = dict[str, Any]


def sign(loaded: Loaded, entries: Iterable[HistoryEntry], seen: str) -> None:
    """Put receipts on those entries that carry one, in their order. `seen`: the run's snapshot before this write."""
    row = loaded.row
    for entry in entries:
        made = _judged(loaded, entry) or _decided(loaded, entry, seen) or _taken(loaded, entry)
        if made is None:
            continue
        if row.salt is None:
            row.salt = commitments.new_salt()
        draft, parts = made
        head = signing.Head(chain_of(row), row.receipts, row.receipt_head or None)
        promised = commitments.commit(salt_of(row.salt, entry.number), parts)
        signed = signing.sign(replace(draft, commitments=promised), head)
        signing.put(entry, signed)
        entry.seen = seen if draft.kind == DECISION else ""
        row.receipts, row.receipt_head = signed.seq, signed.head.hash or ""


def chain_of(run: Run) -> str:
    return CHAIN + run.pk


def salt_of(run_salt: bytes | memoryview, number: int) -> bytes:
    """A subject's own salt: whoever is given it opens that one entry's receipt, and no other of the run."""
    return commitments.part_salt(bytes(run_salt), f"entry {number}")


def parts_of_work(about: Compiled, step: str, content: Mapping[str, Any], by: str) -> Parts:
    """`content`: what was handed in, `by` whom."""
    return {**_step(about, step), **_content(content), "by": by}


def parts_of_verdict(
    about: Compiled, step: str, answers: Sequence[Answered], content: Mapping[str, Any], by: str
) -> Parts:
    """The same, with the questions and what was answered to each."""
    return {
        **parts_of_work(about, step, content, by),
        "asked": [{name: getattr(answer, name) for name in _ASKED} for answer in answers],
        "answers": [{name: getattr(answer, name) for name in _ANSWERED} for answer in answers],
    }


def parts_of_decision(
    about: Compiled, step: str, content: Mapping[str, Any] | None, *, note: str, by: str, data: str
) -> Parts:
    """`content`: the work that was decided on, where there is one; `data`: the snapshot of the run as it was seen."""
    return {
        **_step(about, step),
        **(_content(content) if content is not None else {}),
        "note": note,
        "by": by,
        "data": data,
    }


# of a question, and of its answer; `options` holds what was offered, with the probability that each was given
_ASKED = ("ask", "kind", "options")
_ANSWERED = ("result", "probability", "name", "level", "confidence")


def _step(about: Compiled, step: str) -> Parts:
    """A step's instructions, and the file in which it stands with its questions and facts."""
    spec = about.document.steps.get(step)
    file = {"name": about.process, "version": about.number, "sha256": about.sha256}
    return {"task": spec.text if spec is not None else "", "process": file}


def _content(content: Mapping[str, Any]) -> Parts:
    rest = {key: value for key, value in content.items() if key != "evidence"}
    return {"output": rest, "evidence": list(content["evidence"])}


def parts_of_publication(version: Version, roles: Mapping[str, int]) -> Parts:
    """The file, who stands behind its roles and its escalations, and who published it as which version."""
    mapping = {"roles": dict(roles), "escalations": version.escalations_id}
    return {
        "process": {"name": version.process.name, "version": version.number},
        "output": version.text,
        "evidence": [mapping],
        "note": version.change,
        "by": version.published_by,
    }


def sign_publication(version: Version, roles: Mapping[str, int], before: Version | None) -> list[str]:
    """Put a receipt on a version that is being published, under its process's lock. The columns to save.

    `before`: the version published before it, where the chain ends; one from before there were receipts has none.
    """
    version.salt = commitments.new_salt()
    draft = Draft(
        kind=PUBLICATION,
        subject=f"version:{version.pk}",
        actor="person" if version.published_by.startswith("person:") else "server",
        commitments=commitments.commit(version.salt, parts_of_publication(version, roles)),
    )
    head = signing.Head(f"{PROCESS_CHAIN}{version.process_id}")
    if before is not None and before.receipt:
        head = signing.Head(head.chain, before.seq or 0, digest(before.receipt))
    signing.put(version, signing.sign(draft, head))
    return ["chain", "seq", "receipt", "signed_at", "salt"]


def checks_of(results: Iterable[FactResult]) -> list[dict[str, Any]]:
    """As a receipt tells facts: no detail, nothing of what was read."""
    return [
        {"type": result.type, "passed": result.passed, "evidence_hash": result.evidence_hash}
        for result in results
    ]


def _judged(loaded: Loaded, entry: HistoryEntry) -> tuple[Draft, Parts] | None:
    """Of a check's verdict; or of facts, where no check follows them in the same write."""
    if entry.what == HistoryEvent.CHECKED and entry.verdict is not None:
        submission = _with_verdict(loaded, entry.verdict)
        answers = loaded.answers[entry.step]
        return _verdict(loaded, entry.step, submission, entry.verdict, answers)
    if entry.what in {HistoryEvent.FACTS_HOLD, HistoryEvent.FACTS_FAIL} and entry.step not in loaded.verdicts:
        word = PASS if entry.what == HistoryEvent.FACTS_HOLD else FAIL
        return _verdict(loaded, entry.step, _with_facts(loaded, entry.step), None, (), word)
    return None


def _with_facts(loaded: Loaded, step: str) -> Submission:
    """The step's work that was looked at; one that it took the place of is written beside it."""
    attempt, looked_at = loaded.attempts[step].pk, {result.about for result in loaded.facts}
    handed_in = (each for each in loaded.submissions.values() if each.attempt_id == attempt)
    return next(each for each in handed_in if each.pk in looked_at)


def _with_verdict(loaded: Loaded, verdict: VerdictRow) -> Submission:
    return next(each for each in loaded.submissions.values() if each.verdict_id == verdict.pk)


def _verdict(
    loaded: Loaded,
    step: str,
    submission: Submission,
    row: VerdictRow | None,
    answers: Sequence[Answered],
    word: str = "",
) -> tuple[Draft, Parts]:
    draft = Draft(
        kind=VERDICT,
        subject=str(submission.pk),
        about=str(row.pk) if row is not None else None,
        actor="server",
        verdict=row.verdict if row is not None else word,
        checks=checks_of(result for result in loaded.facts if result.about == submission.pk),
        thresholds=[in_force(answer) for answer in answers],
        engine=row.evaluator if row is not None else facts.BY,
        model=(row.model or None) if row is not None else None,
    )
    content = codec.loads(submission.content)
    return draft, parts_of_verdict(loaded.compiled, step, answers, content, submission.by)


def _decided(loaded: Loaded, entry: HistoryEntry, seen: str) -> tuple[Draft, Parts] | None:
    """Of the entry that tells an item's decision."""
    item = next((each for each in loaded.closed if _tells(entry, each)), None)
    if item is None:
        return None
    work = loaded.handed if loaded.handed is not None and item.kind != "approve" else item.candidate
    draft = Draft(
        kind=DECISION,
        subject=item.pk,
        about=str(work.pk) if work is not None else None,
        actor="person",
        verdict=item.decision,
    )
    content = codec.loads(work.content) if work is not None else None
    parts = parts_of_decision(loaded.compiled, entry.step, content, note=entry.note, by=entry.by, data=seen)
    return draft, parts


def _taken(loaded: Loaded, entry: HistoryEntry) -> tuple[Draft, Parts] | None:
    """Of work that completes its step without a verdict or a decision on it: what comes after may rest on it."""
    work = loaded.handed
    if entry.what != HistoryEvent.COMPLETED or work is None or work.attempt.step.name != entry.step:
        return None
    if entry.step in loaded.verdicts or any(each.about == work.pk for each in loaded.facts):
        return None
    draft = Draft(
        kind=WORK, subject=str(work.pk), actor="person" if work.by.startswith("person:") else "agent"
    )
    return draft, parts_of_work(loaded.compiled, entry.step, codec.loads(work.content), work.by)


def _tells(entry: HistoryEntry, item: WorkItem) -> bool:
    return item.state == ItemState.DECIDED and (entry.step, entry.what, entry.by) == (
        item.step.name,
        item.decision,
        item.decided_by,
    )
