"""A run's receipts held against its records: each signature, the chain, what each promises, and what the rows say today.

Looks, and changes nothing. A fixed number of statements, whatever the run holds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db.models import F, OuterRef, Q, QuerySet, StringAgg, Subquery, Value

from checks import codec
from checks.models import Answer, CheckpointHead, FactResult
from checks.questions import in_force
from checks.receipts import anchoring, commitments, keys, verifying
from checks.receipts.encoding import b64, digest
from processes import agreement, facts, receipting
from processes.models import HistoryEntry, Run, Submission, WorkItem
from processes.states import HistoryEvent, SubmissionState
from processes.versions import BrokenVersionError, Compiled, compiled

EVERY = 500  # receipts that one page looks at


class Content(StrEnum):
    """What became of the promises of a receipt."""

    OPENS = "opens"
    ERASED = "erased"  # the salt is forgotten: nobody opens them, and nothing is wrong
    CHANGED = "changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """One receipt as it stands. `wrong`: a sentence for each thing that does not hold."""

    entry: HistoryEntry
    payload: Mapping[str, Any]
    content: Content
    wrong: Sequence[str]
    # what opens each of its promises alone, base64url by part; to be given to whoever is to look at that part
    opened_by: Mapping[str, str] = field(default_factory=dict)
    # what was promised, as it stands today
    parts: receipting.Parts = field(default_factory=dict)
    # of a receipt whose key was revoked later: the checkpoint that proves it all the same
    proved_by: int = 0

    @property
    def holds(self) -> bool:
        return not self.wrong


@dataclass(frozen=True, slots=True, kw_only=True)
class Proofs:
    """All of a run's. `covered`: up to which receipt the latest checkpoint covers the chain, 0 for none."""

    proofs: Sequence[Proof]
    wrong: Sequence[str] = field(default=())
    covered: int = 0
    more: bool = False

    @property
    def hold(self) -> bool:
        return not self.wrong and all(proof.holds for proof in self.proofs)

    @property
    def erased(self) -> bool:
        return any(proof.content is Content.ERASED for proof in self.proofs)

    @property
    def opens(self) -> bool:
        return any(proof.opened_by for proof in self.proofs)

    @property
    def revoked(self) -> bool:
        return any(proof.proved_by for proof in self.proofs)


def receipts_of(run: str) -> list[dict[str, Any]]:
    """Every receipt of a run in the order of its chain, for REST. One statement."""
    rows = HistoryEntry.objects.filter(run=run, receipt__isnull=False).order_by("seq")
    return [
        {"seq": row["seq"], "what": row["what"], "stepId": row["step"], "receipt": row["receipt"]}
        for row in rows.values("seq", "what", "step", "receipt")
    ]


def of_run(run: Run) -> Proofs:
    """Five statements at most, and two more for each key that was revoked."""
    entries = list(_entries(run)[: EVERY + 1])
    more, entries = len(entries) > EVERY, entries[:EVERY]
    published = keys.published()
    examined = [verifying.examine(entry.receipt or "", published) for entry in entries]
    try:
        records = _records(run, [each.payload or {} for each in examined])
    except BrokenVersionError:
        return Proofs(
            proofs=[],
            wrong=["The process's file can't be read, so nothing of the run can be held against it."],
        )
    chain = receipting.chain_of(run)
    reaches = {at: anchoring.reach(chain, at, published) for at in {each.revoked for each in examined}}
    proofs = []
    before: str | None = None
    for number, (entry, each) in enumerate(zip(entries, examined, strict=True), start=1):
        place = _Place(number, before, reaches[each.revoked].proves(number))
        proofs.append(_proof(entry, each, records, place))
        before = digest(entry.receipt or "")
    wrong, covered = _whole(run, entries, before, more=more)
    if run.salt is not None:  # once it is forgotten, the content may go, too
        accepted = (each for each in records.submissions.values() if each.state == SubmissionState.ACCEPTED)
        wrong += agreement.of(run, {each.step: each.content for each in accepted})
    return Proofs(proofs=proofs, wrong=wrong, covered=covered, more=more)


def _entries(run: Run) -> QuerySet[Any]:
    """Those with a receipt, each with the hash that a checkpoint covers in its place (`covered`), up to which receipt any
    checkpoint covers the chain (`reach`), and the `items` that were decided as it tells.
    """
    decided = WorkItem.objects.filter(
        run=run, step__name=OuterRef("step"), decision=OuterRef("what"), decided_by=OuterRef("by"), decided_at=OuterRef("at")
    )  # fmt: skip
    heads = CheckpointHead.objects.filter(chain=receipting.chain_of(run))
    found: QuerySet[Any] = (
        HistoryEntry.objects.filter(run=run, receipt__isnull=False)
        .annotate(
            covered=Subquery(heads.filter(seq=OuterRef("seq")).values("hash")[:1]),
            reach=Subquery(heads.order_by("-seq").values("seq")[:1]),
            items=Subquery(decided.values("run").annotate(all=StringAgg("pk", Value(","))).values("all")),
        )
        .select_related("verdict")
        .prefetch_related("verdict__answers")
        .order_by("seq")
    )
    return found


@dataclass(frozen=True, slots=True)
class _Place:
    seq: int
    prev: str | None
    proved_by: int  # of one whose key was revoked later: by which checkpoint all the same


@dataclass(frozen=True, slots=True, kw_only=True)
class _Records:
    """What the receipts are about, as it stands today."""

    run: Run
    submissions: Mapping[str, Any]  # submissions, each with its `step`, in order of their attempts
    facts: Sequence[FactResult]
    about: Compiled


def _records(run: Run, payloads: Sequence[Mapping[str, Any]]) -> _Records:
    named = {payload.get(key) for payload in payloads for key in ("subject", "about")}
    texts = [text for text in named if isinstance(text, str)]
    wanted = [UUID(text) for text in texts if _is_uuid(text)]
    # what they are about, and what stands
    rows = Submission.objects.filter(
        Q(pk__in=wanted) | Q(state=SubmissionState.ACCEPTED), attempt__step__run=run
    )
    ordered = rows.order_by("attempt__number", "number").annotate(step=F("attempt__step__name"))
    found = {str(each.pk): each for each in ordered}
    told = any(payload.get("checks") for payload in payloads)
    facts = FactResult.objects.filter(about__in=[each.pk for each in found.values()]) if told else []
    return _Records(run=run, submissions=found, facts=list(facts), about=compiled(run.version_id))


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def _proof(entry: HistoryEntry, examined: verifying.Examined, records: _Records, place: _Place) -> Proof:
    payload = examined.payload or {}
    wrong = [] if examined.valid or place.proved_by else [examined.reason]
    if not payload:
        return Proof(entry=entry, payload=payload, content=Content.CHANGED, wrong=wrong)
    if (payload["chain"], payload["seq"], payload["prev"]) != (
        receipting.chain_of(records.run), place.seq, place.prev
    ):  # fmt: skip
        wrong.append("It does not follow the receipt before it: one is missing, or out of its place.")
    parts, said = _as_recorded(entry, payload, records)
    wrong += said
    run_salt = records.run.salt
    salt = receipting.salt_of(run_salt, entry.number) if run_salt is not None else None
    content, changed = opened(payload, parts, salt, _NAMES)
    return Proof(
        entry=entry,
        payload=payload,
        content=content,
        wrong=[*wrong, *changed],
        opened_by=part_salts(salt, payload["commitments"]),
        parts=parts,
        proved_by=place.proved_by,
    )


def part_salts(salt: bytes | None, promised: Mapping[str, str]) -> dict[str, str]:
    """What opens each promise alone; nothing, once the salt is forgotten."""
    if salt is None:
        return {}
    return {part: b64(commitments.part_salt(salt, part)) for part in promised}


def _as_recorded(
    entry: HistoryEntry, payload: Mapping[str, Any], records: _Records
) -> tuple[receipting.Parts, list[str]]:
    """What would be promised today, and what the rows say otherwise than the receipt does in clear."""
    if payload["kind"] == receipting.DECISION:
        return _decision_today(entry, payload, records)
    submission = records.submissions.get(payload["subject"])
    wrong = _verdict_wrong(entry, payload) if payload["kind"] == receipting.VERDICT else []
    if submission is None:
        # once the salt is forgotten, the work may go, too
        return {}, wrong if records.run.salt is None else [*wrong, "The submission that it is about is gone."]
    content = _content_of(submission)
    if payload["kind"] == receipting.WORK:
        return receipting.parts_of_work(records.about, entry.step, content, submission.by), wrong
    if payload.get("checks") and not _same_facts(payload["checks"], submission, records.facts):
        wrong.append("The facts on record are not those that it tells.")
    parts = receipting.parts_of_verdict(records.about, entry.step, _answers(entry), content, submission.by)
    return parts, wrong


def _decision_today(
    entry: Any, payload: Mapping[str, Any], records: _Records
) -> tuple[receipting.Parts, list[str]]:
    work = records.submissions.get(payload.get("about") or "")
    content = _content_of(work) if work is not None else None
    parts = receipting.parts_of_decision(
        records.about, entry.step, content, note=entry.note, by=entry.by, data=entry.seen
    )
    wrong = [] if payload.get("verdict") == entry.what else [_otherwise("decision", payload, entry.what)]
    if payload["subject"] not in (entry.items or "").split(","):
        wrong.append(
            "The work item is gone, or tells another decision, or somebody else's, than the history."
        )
    return parts, wrong


def _verdict_wrong(entry: HistoryEntry, payload: Mapping[str, Any]) -> list[str]:
    row = entry.verdict
    word = row.verdict if row is not None else _WORDS.get(entry.what, "")
    wrong = [] if payload.get("verdict") == word else [_otherwise("verdict", payload, word)]
    judge = (row.evaluator, row.model or None, str(row.pk)) if row is not None else (facts.BY, None, None)
    if (payload.get("engine"), payload.get("model"), payload.get("about")) != judge:
        wrong.append("What judged is on record otherwise than it tells.")
    if not _same(payload.get("thresholds"), [in_force(answer) for answer in _answers(entry)]):
        wrong.append("The thresholds on record are not those that it tells.")
    return wrong


def _answers(entry: HistoryEntry) -> list[Answer]:
    return list(entry.verdict.answers.all()) if entry.verdict is not None else []


def _content_of(submission: Submission) -> Mapping[str, Any]:
    """Nothing, where somebody took it away or wrote over it: then it is not what was signed."""
    try:
        content = codec.loads(submission.content)
    except codec.CodecError:
        content = None
    readable = isinstance(content, Mapping) and isinstance(content.get("evidence"), list)
    return content if readable else {"evidence": []}


_WORDS: Mapping[str, str] = {
    HistoryEvent.FACTS_HOLD: receipting.PASS,
    HistoryEvent.FACTS_FAIL: receipting.FAIL,
}


def _otherwise(what: str, payload: Mapping[str, Any], recorded: str) -> str:
    return f"It tells the {what} {payload.get('verdict')}, and the record says {recorded or 'nothing'}."


def _same(told: Any, recorded: Any) -> bool:
    """Numbers as they are written: what was read back is no float."""
    return codec.canonical(told) == codec.canonical(recorded)


def _same_facts(told: Any, submission: Submission, facts: Sequence[FactResult]) -> bool:
    askings: dict[int, list[FactResult]] = {}
    for result in sorted(facts, key=lambda each: (each.asked, each.position)):
        if result.about == submission.pk:
            askings.setdefault(result.asked, []).append(result)
    return any(receipting.checks_of(results) == told for results in askings.values())


def opened(
    payload: Mapping[str, Any], parts: receipting.Parts, salt: bytes | None, called: Mapping[str, str]
) -> tuple[Content, list[str]]:
    """Each promise against what is on record. `called`: the parts' names in words."""
    if salt is None:
        return Content.ERASED, []
    promised, today = payload["commitments"], commitments.commit(salt, parts)
    changed = sorted(name for name in promised.keys() | today.keys() if promised.get(name) != today.get(name))
    if not changed:
        return Content.OPENS, []
    names = ", ".join(called.get(name, name) for name in changed)
    return Content.CHANGED, [f"What is on record is not what was signed: {names}."]


_NAMES = {
    "task": "the instructions", "process": "the process", "asked": "the questions", "answers": "the answers",
    "output": "the work", "evidence": "the evidence", "note": "the note", "by": "who did it",
    "data": "the run data that was seen",
}  # fmt: skip


def _whole(run: Run, entries: Sequence[Any], last: str | None, *, more: bool) -> tuple[list[str], int]:
    """What is wrong with the chain as a whole, and up to where checkpoints cover it. Its end is on the run's row."""
    wrong = []
    if not more and (run.receipts, run.receipt_head) != (len(entries), last or ""):
        wrong.append(f"The run's row tells of {run.receipts} receipts; {len(entries)} are on record.")
    wrong += [
        f"A checkpoint covers another receipt {entry.seq} than the one on record."
        for entry in entries
        if entry.covered is not None and entry.covered != digest(entry.receipt)
    ]
    reach: int = (entries[0].reach or 0) if entries else 0
    if not more and reach > len(entries):
        wrong.append(f"A checkpoint covers receipt {reach}, which is missing.")
    return wrong, reach
