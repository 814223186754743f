"""What is kept of a call: counts, digests and our own words; what was sent only where the caller asks, and for a time."""

import hashlib
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from checks import codec, memory
from checks.claims import Status
from checks.consensus import Consensus
from checks.judge.asking import DETERMINISTIC, Judgement
from checks.models import JudgeCall, Key, Retained

PURGED_AT_ONCE = 1000
_PURGED_EVERY_SECONDS = 3600


def digest(body: Any) -> str:
    """SHA-256 of the canonical JSON of a request."""
    return hashlib.sha256(codec.canonical(body).encode("utf-8", "surrogatepass")).hexdigest()


def of_judgement(number: UUID, key: Key, body: Any, it: Judgement, milliseconds: int) -> JudgeCall:
    statuses = [claim.status for claim in it.found.claims]
    return JudgeCall(
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


def of_consensus(number: UUID, key: Key, body: Any, it: Consensus, milliseconds: int) -> JudgeCall:
    statuses = [claim.status for claim in it.claims]
    return JudgeCall(
        id=number,
        key=key,
        kind="consensus",
        digest=digest(body),
        engine=DETERMINISTIC,
        milliseconds=milliseconds,
        **{str(status): statuses.count(status) for status in Status},
    )


def keep(call: JudgeCall, body: Any, response: Any, *, retain: bool) -> None:
    with transaction.atomic():
        call.save(force_insert=True)
        if retain:
            until = call.at + timedelta(days=settings.RETAIN_DAYS)
            Retained.objects.create(
                call=call, request=codec.dumps(body), response=codec.dumps(response), until=until
            )


def purge() -> int:
    """Take away what has been kept for its time. How many calls that were."""
    due = Retained.objects.filter(until__lte=timezone.now()).order_by("until").values_list("pk", flat=True)
    return Retained.objects.filter(pk__in=list(due[:PURGED_AT_ONCE])).delete()[0]


def purge_now_and_then() -> int:
    """For a clock that ticks more often than this is needed."""
    return purge() if memory.take("retained-purged", True, _PURGED_EVERY_SECONDS) else 0
