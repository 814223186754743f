"""Checkpoints: one signature over where every chain ends, on a schedule.

A chain alone could be signed anew from its beginning by whoever has the key; not once a checkpoint of it was handed out. Only heads that
moved are covered again: a chain that rests stays proved by the checkpoint that covered its last receipt.
"""

import logging
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, OperationalError, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from checks import memory
from checks.receipts import merkle, signing, sources
from checks.receipts.encoding import b64, digest
from checks.receipts.merkle import Leaf
from checks.receipts.models import Checkpoint, CheckpointHead
from checks.receipts.payload import CHECKPOINT, CHECKPOINTS, Draft
from checks.records import Receipted

# a receipt is signed a while before its transaction ends, and seen only then
LATE = timedelta(minutes=10)
MOST_HEADS = 5_000
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
_AGAIN_SECONDS = 60
_DUE = "receipts-swept"
_log = logging.getLogger(__name__)


def sweep_now_and_then() -> int:
    """For a clock that ticks more often than this is needed. How many checkpoints were made; what goes wrong is logged."""
    if not memory.take(_DUE, True, settings.RECEIPT_CHECKPOINT_SECONDS):
        return 0
    try:
        return sweep()
    except OperationalError:
        memory.forget(_DUE)
        raise  # the database is away: for the whole turn, and the next one comes
    except Exception:  # noqa: BLE001 - logged; without a key, for one, runs go on all the same
        _log.exception("no checkpoint could be made")
        memory.put(_DUE, True, _AGAIN_SECONDS)
        return 0


def sweep() -> int:
    """Cover every head that moved, some thousand a checkpoint. How many checkpoints that took: none where nothing moved.

    What moves meanwhile waits for the next sweep: under steady traffic there would be no end.
    """
    until, made, heads = timezone.now() - LATE, 0, MOST_HEADS
    while heads == MOST_HEADS:
        heads = _sweep_some(until)
        made += heads > 0
    return made


def _sweep_some(until: datetime) -> int:
    """One checkpoint; how many heads it covers. 0 where there is nothing to cover, or another sweeper was faster."""
    try:
        with transaction.atomic():
            last = Checkpoint.objects.order_by("-seq").first()
            since = last.covers_until if last else _LONG_AGO
            heads = moved(since, MOST_HEADS)
            if not heads:
                return 0
            # the last of a sweep covers whatever was signed before it; the ones before it only say that they are not the last
            _make(heads, last, since if len(heads) == MOST_HEADS else max(since, until))
    except IntegrityError:  # its place in the chain, or a head of it, is taken
        return 0
    return len(heads)


def moved(since: datetime, most: int) -> list[Leaf]:
    """Heads that no checkpoint covers, of what was signed since then; in the order of a tree. One statement a table."""
    found: list[Leaf] = []
    for model in sources.tables():
        rows = _uncovered(model, since).values_list("chain", "seq", "receipt")[: most - len(found)]
        found += [(chain, seq, digest(receipt)) for chain, seq, receipt in rows]
    return merkle.ordered(found)


def _uncovered(model: type[Receipted], since: datetime) -> QuerySet[Any]:
    rows = sources.rows(model)
    here = {"chain": OuterRef("chain"), "seq": OuterRef("seq")}
    return (
        rows.filter(signed_at__gte=since)
        .exclude(Exists(rows.filter(chain=OuterRef("chain"), seq=OuterRef("seq") + 1)))
        .exclude(Exists(CheckpointHead.objects.filter(**here)))
        .order_by("chain")
    )


def _make(heads: Sequence[Leaf], last: Checkpoint | None, covers_until: datetime) -> Checkpoint:
    it = Checkpoint(covers_until=covers_until)
    head = signing.Head(CHECKPOINTS)
    if last is not None:
        head = signing.Head(CHECKPOINTS, last.seq or 0, digest(last.receipt or ""))
    draft = Draft(
        kind=CHECKPOINT, subject=str(it.pk), actor="server", root=b64(merkle.root(heads)), heads=len(heads)
    )
    signing.put(it, signing.sign(draft, head))
    it.save(force_insert=True)
    CheckpointHead.objects.bulk_create(
        [CheckpointHead(checkpoint=it, chain=chain, seq=seq, hash=hash_) for chain, seq, hash_ in heads],
        batch_size=1000,
    )
    return it
