"""What is kept of a call: counts, digests and our own words, and a receipt of them; what was sent only where the caller asks,
and for a time.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import models, transaction
from django.utils import timezone

from checks import codec, memory
from checks.claims import Status
from checks.consensus import Consensus
from checks.judge.asking import DETERMINISTIC, Judgement
from checks.models import CallSalt, JudgeCall, Key, Retained
from checks.questions import flat, in_force
from checks.receipts import commitments, signing
from checks.receipts.encoding import b64
from checks.receipts.payload import Draft

PURGED_AT_ONCE = 1000
_PURGED_EVERY_SECONDS = 3600


@dataclass(frozen=True, slots=True)
class Made:
    """A call to be kept, and what its receipt tells besides: the thresholds of each question, None where none was asked; of a
    consensus the risk as its verdict, the agreement as its score, and `parts`: what it promises beside what was sent.
    """

    call: JudgeCall
    thresholds: Sequence[Mapping[str, float]] | None = None
    verdict: str = ""
    score: float | None = None
    parts: Mapping[str, Any] = field(default_factory=dict)


def digest(body: Any) -> str:
    """SHA-256 of the canonical JSON of a request."""
    return hashlib.sha256(codec.canonical(body).encode("utf-8", "surrogatepass")).hexdigest()


def of_judgement(number: UUID, key: Key, body: Any, it: Judgement, milliseconds: int) -> Made:
    statuses = [claim.status for claim in it.found.claims]
    call = JudgeCall(
        id=number,
        key=key,
        kind="judge",
        digest=digest(body),
        verdict=it.decided.verdict,
        score=it.found.score,
        verification=it.found.verification,
        engine=it.engine,
        model=it.model,
        facts=[
            {"type": kind, "passed": outcome.passed, "evidence_hash": outcome.evidence_hash}
            for kind, outcome in it.found.checks
        ],
        milliseconds=milliseconds,
        **{str(status): statuses.count(status) for status in Status},
    )
    asked = [*it.found.criteria, *([it.found.task] if it.found.task is not None else [])]
    thresholds = [in_force(flat(judged)) for judged in asked]
    return Made(call, thresholds, it.decided.verdict, it.found.score)


def of_consensus(number: UUID, key: Key, body: Any, it: Consensus, milliseconds: int) -> Made:
    statuses = [claim.status for claim in it.claims]
    call = JudgeCall(
        id=number,
        key=key,
        kind="consensus",
        digest=digest(body),
        engine=DETERMINISTIC,
        milliseconds=milliseconds,
        **{str(status): statuses.count(status) for status in Status},
    )
    parts = {"answer": it.answer, "unsupported_agreement": it.unsupported_agreement}
    return Made(call, None, it.risk, it.agreement, parts)


def keep(made: Made, body: Any, response: Any, *, retain: bool) -> dict[str, str]:
    """Write it all, and answer with what the caller is told of it: `{receipt, receipt_salt}`."""
    call, salt = made.call, commitments.new_salt()
    draft = _draft(made, commitments.commit(salt, {**_parts(body, call.key), **made.parts}))
    with transaction.atomic():
        signing.put(call, signing.sign(draft, _head(call.key)))
        call.save(force_insert=True)
        CallSalt.objects.create(call=call, salt=salt)
        told = {"receipt": str(call.receipt)}
        if retain:
            until = call.at + timedelta(days=settings.RETAIN_DAYS)
            # without the salt: that is forgotten by itself
            kept = codec.dumps({**response, **told})
            Retained.objects.create(call=call, request=codec.dumps(body), response=kept, until=until)
    return {**told, "receipt_salt": b64(salt)}


def forget_salt(number: str) -> bool:
    """From now on nobody opens what the receipt of this call promised, nor finds it by its request: what was retained and the
    request's digest go, too. False where nothing of it was kept; ValueError on what is no id.
    """
    call = UUID(number)
    with transaction.atomic():
        forgotten = [rows.filter(call=call).delete()[0] for rows in (CallSalt.objects, Retained.objects)]
        # past the model's own refusal: a record may lose what tells of its content, and nothing else
        models.QuerySet(JudgeCall).filter(pk=call).update(digest="")
    return any(forgotten)


def purge() -> int:
    """Take away what has been kept for its time. How many calls that were."""
    due = Retained.objects.filter(until__lte=timezone.now()).order_by("until").values_list("pk", flat=True)
    return Retained.objects.filter(pk__in=list(due[:PURGED_AT_ONCE])).delete()[0]


def purge_now_and_then() -> int:
    """For a clock that ticks more often than this is needed."""
    return purge() if memory.take("retained-purged", True, _PURGED_EVERY_SECONDS) else 0


def _head(key: Key) -> signing.Head:
    """Where the key's chain ends. Its row is locked: of two calls at once the second one waits for its place."""
    list(Key.objects.select_for_update(no_key=True).filter(pk=key.pk).values_list("pk"))
    return signing.head_of(JudgeCall, f"key:{key.pk}")


def _draft(made: Made, committed: Mapping[str, str]) -> Draft:
    call = made.call
    return Draft(
        kind=call.kind,
        subject=str(call.id),
        actor="key",
        commitments=committed,
        verdict=made.verdict,
        score=made.score,
        claims={str(status): getattr(call, str(status)) for status in Status},
        checks=call.facts,
        thresholds=made.thresholds,
        engine=call.engine,
        model=call.model or None,
    )


def _parts(body: Any, key: Key) -> dict[str, Any]:
    """What a receipt promises: each as it was sent, and by which key."""
    consensus = "answers" in body
    return {
        "task": body["task"],
        "output": body["answers"] if consensus else body["agent_output"],
        "evidence": body.get("evidence", []),
        **({} if consensus else {"asked": {name: body.get(name, []) for name in ("criteria", "checks")}}),
        "by": key.prefix,
    }
