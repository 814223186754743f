"""A run's receipts held against its records: each signature, the chain, what each promises, and what the rows say today.

Looks, and changes nothing. A fixed number of statements, whatever the run holds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, QuerySet, Subquery

from checks import codec
from checks.models import CheckpointHead, FactResult
from checks.questions import in_force
from checks.receipts import commitments, keys, verifying
from checks.receipts.encoding import b64, digest
from processes import receipting
from processes.models import HistoryEntry, Run, Submission, Version
from processes.versions import compiled

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


def receipts_of(run: str) -> list[dict[str, Any]]:
    """Every receipt of a run in the order of its chain, for REST. One statement."""
    rows = HistoryEntry.objects.filter(run=run, receipt__isnull=False).order_by("seq")
    return [
        {"seq": row["seq"], "what": row["what"], "stepId": row["step"], "receipt": row["receipt"]}
        for row in rows.values("seq", "what", "step", "receipt")
    ]


def of_run(run: Run) -> Proofs:
    """Five statements at most."""
    entries = list(_entries(run)[: EVERY + 1])
    more, entries = len(entries) > EVERY, entries[:EVERY]
    published = keys.published()
    examined = [verifying.examine(entry.receipt or "", published) for entry in entries]
    records = _records(run, [each.payload or {} for each in examined])
    proofs = []
    before: str | None = None
    for number, (entry, each) in enumerate(zip(entries, examined, strict=True), start=1):
        proofs.append(_proof(entry, each, records, _Place(number, before)))
        before = digest(entry.receipt or "")
    wrong, covered = _whole(run, entries, before, more=more)
    return Proofs(proofs=proofs, wrong=wrong, covered=covered, more=more)


def _entries(run: Run) -> QuerySet[Any]:
    """Those with a receipt, each with the hash that a checkpoint covers in its place (`covered`), and up to which receipt any
    checkpoint covers the chain (`reach`).
    """
    heads = CheckpointHead.objects.filter(chain=receipting.chain_of(run))
    found: QuerySet[Any] = (
        HistoryEntry.objects.filter(run=run, receipt__isnull=False)
        .annotate(
            covered=Subquery(heads.filter(seq=OuterRef("seq")).values("hash")[:1]),
            reach=Subquery(heads.order_by("-seq").values("seq")[:1]),
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Records:
    """What the receipts are about, as it stands today."""

    run: Run
    submissions: Mapping[str, Submission]
    facts: Sequence[FactResult]

    def text(self, step: str) -> str:
        spec = compiled(self.run.version_id).document.steps.get(step)
        return spec.text if spec is not None else ""


def _records(run: Run, payloads: Sequence[Mapping[str, Any]]) -> _Records:
    named = {payload.get(key) for payload in payloads for key in ("subject", "about")}
    wanted = [UUID(text) for text in named if isinstance(text, str) and _is_uuid(text)]
    submissions = Submission.objects.filter(pk__in=wanted, attempt__step__run=run)
    found = {str(each.pk): each for each in submissions}
    facts = FactResult.objects.filter(about__in=[each.pk for each in found.values()]) if found else []
    return _Records(run=run, submissions=found, facts=list(facts))


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def _proof(entry: HistoryEntry, examined: verifying.Examined, records: _Records, place: _Place) -> Proof:
    payload = examined.payload or {}
    wrong = [] if examined.valid else [examined.reason]
    if not payload:
        return Proof(entry=entry, payload=payload, content=Content.CHANGED, wrong=wrong)
    if (payload["chain"], payload["seq"], payload["prev"]) != (
        receipting.chain_of(records.run), place.seq, place.prev
    ):  # fmt: skip
        wrong.append("It does not follow the receipt before it: one is missing, or out of its place.")
    parts, said = _as_recorded(entry, payload, records)
    wrong += said
    content, changed = _opened(entry, payload, parts, records.run.salt)
    return Proof(
        entry=entry,
        payload=payload,
        content=content,
        wrong=[*wrong, *changed],
        opened_by=_part_salts(records.run.salt, entry.number, payload["commitments"]),
    )


def _part_salts(run_salt: Any, number: int, promised: Mapping[str, str]) -> dict[str, str]:
    if run_salt is None:
        return {}
    salt = receipting.salt_of(run_salt, number)
    return {part: b64(commitments.part_salt(salt, part)) for part in promised}


def of_version(version: Version, roles: Mapping[str, int]) -> list[str] | None:
    """What of a publication's receipt does not hold; None where there is no receipt. One statement."""
    if not version.receipt:
        return None
    examined = verifying.examine(version.receipt, keys.published())
    wrong = [] if examined.valid else [examined.reason]
    if examined.payload is not None and version.salt is not None:
        today = commitments.commit(bytes(version.salt), receipting.parts_of_publication(version, roles))
        if today != examined.payload["commitments"]:
            wrong.append("The file, its roles or who published it are not what was signed.")
    return wrong


def _as_recorded(
    entry: HistoryEntry, payload: Mapping[str, Any], records: _Records
) -> tuple[receipting.Parts, list[str]]:
    """What would be promised today, and what the rows say otherwise than the receipt does in clear."""
    text = records.text(entry.step)
    if payload["kind"] == receipting.DECISION:
        work = records.submissions.get(payload.get("about") or "")
        content = codec.loads(work.content) if work is not None else None
        parts = receipting.parts_of_decision(text, content, note=entry.note, by=entry.by, data=entry.seen)
        wrong = [] if payload.get("verdict") == entry.what else [_otherwise("decision", payload, entry.what)]
        return parts, wrong
    submission = records.submissions.get(payload["subject"])
    answers = list(entry.verdict.answers.all()) if entry.verdict is not None else []
    word = entry.verdict.verdict if entry.verdict is not None else _WORDS.get(entry.what, "")
    wrong = [] if payload.get("verdict") == word else [_otherwise("verdict", payload, word)]
    if submission is None:
        return {}, [*wrong, "The submission that it is about is gone."]
    if payload.get("checks") and not _same_facts(payload["checks"], submission, records.facts):
        wrong.append("The facts on record are not those that it tells.")
    if not _same(payload.get("thresholds"), [in_force(answer) for answer in answers]):
        wrong.append("The thresholds on record are not those that it tells.")
    asks = [answer.ask for answer in answers]
    return receipting.parts_of_verdict(text, asks, codec.loads(submission.content), submission.by), wrong


_WORDS = {"facts_hold": receipting.PASS, "facts_fail": receipting.FAIL}


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


def _opened(
    entry: HistoryEntry, payload: Mapping[str, Any], parts: receipting.Parts, salt: Any
) -> tuple[Content, list[str]]:
    """Each promise against what is on record."""
    if salt is None:
        return Content.ERASED, []
    promised = payload["commitments"]
    today = commitments.commit(receipting.salt_of(salt, entry.number), parts)
    changed = sorted(name for name in promised.keys() | today.keys() if promised.get(name) != today.get(name))
    if not changed:
        return Content.OPENS, []
    names = ", ".join(_NAMES.get(name, name) for name in changed)
    return Content.CHANGED, [f"What is on record is not what was signed: {names}."]


_NAMES = {
    "task": "the instructions", "asked": "the questions", "output": "the work", "evidence": "the evidence",
    "note": "the note", "by": "who did it", "data": "the run data that was seen",
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
    if reach > run.receipts:
        wrong.append(f"A checkpoint covers receipt {reach}, which is missing.")
    return wrong, reach
