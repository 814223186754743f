"""How far checkpoints on record prove a chain whose key was revoked later; an export proves the same offline (`anchors`)."""

from collections.abc import Mapping
from datetime import datetime

from checks.receipts.keyset import PublicKey
from checks.receipts.models import Checkpoint, CheckpointHead
from checks.receipts.verifying import examine

LOOKED_AT = 100  # checkpoints before a revocation, newest first; a key that is changed first is found at once


def proved(chain: str, revoked: datetime, keys: Mapping[str, PublicKey]) -> tuple[int, int]:
    """Up to which receipt of the chain, and by which checkpoint: the last that a sound key signed before then, with all before
    it. (0, 0) where nothing is. Two statements.
    """
    anchor = _anchor(revoked, keys)
    if not anchor:
        return 0, 0
    heads = CheckpointHead.objects.filter(chain=chain, checkpoint__seq__lte=anchor)
    found = heads.order_by("-seq").values_list("seq", "checkpoint__seq").first()
    return found or (0, 0)


def _anchor(revoked: datetime, keys: Mapping[str, PublicKey]) -> int:
    rows = Checkpoint.objects.filter(signed_at__lt=revoked).order_by("-seq")
    for seq, receipt in rows.values_list("seq", "receipt")[:LOOKED_AT]:
        if examine(receipt or "", keys).valid:
            return int(seq or 0)
    return 0
