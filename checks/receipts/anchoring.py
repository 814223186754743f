"""How far checkpoints on record prove a chain whose key was revoked later; an export proves the same offline (`anchors`)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from checks.receipts.keyset import PublicKey
from checks.receipts.models import Checkpoint, CheckpointHead
from checks.receipts.verifying import examine

LOOKED_AT = 100  # checkpoints before a revocation, newest first; a key that is changed first is found at once


@dataclass(frozen=True, slots=True)
class Reach:
    """Up to which receipt of a chain, and by which checkpoint; 0 where nothing is proved."""

    seq: int = 0
    checkpoint: int = 0

    def proves(self, seq: int) -> int:
        """By which checkpoint; 0 by none."""
        return self.checkpoint if seq <= self.seq else 0


def reach(chain: str, revoked: datetime | None, keys: Mapping[str, PublicKey]) -> Reach:
    """What the last checkpoint proves that a sound key signed before then, with all before it. Two statements; none where
    no key was revoked, for then nothing has to be proved so.
    """
    anchor = _anchor(revoked, keys) if revoked is not None else 0
    if not anchor:
        return Reach()
    heads = CheckpointHead.objects.filter(chain=chain, checkpoint__seq__lte=anchor)
    found = heads.order_by("-seq").values_list("seq", "checkpoint__seq").first()
    return Reach(*found) if found is not None else Reach()


def _anchor(revoked: datetime, keys: Mapping[str, PublicKey]) -> int:
    rows = Checkpoint.objects.filter(signed_at__lt=revoked).order_by("-seq")
    for seq, receipt in rows.values_list("seq", "receipt")[:LOOKED_AT]:
        if examine(receipt or "", keys).valid:
            return int(seq or 0)
    return 0
