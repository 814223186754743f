"""Keys without their private parts, checkpoints with the heads that they cover, and salts, which may be forgotten."""

import uuid

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from checks.records import AppendOnly, Named, Receipted, receipted

HASH_CHARS = 43  # a SHA-256 in base64url


class SigningKey(Named):
    """The public part of a key that signs or signed receipts. It is published for good; only its dates are ever written."""

    kid = models.CharField(max_length=HASH_CHARS, unique=True, editable=False)  # the RFC 7638 thumbprint
    x = models.CharField("public key", max_length=HASH_CHARS, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    # from when on it signs nothing any more: a while after the next one was first used
    retired_at = models.DateTimeField(null=True, editable=False)
    revoked_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(retired_at__isnull=True) | Q(retired_at__gte=F("created_at")),
                name="signing_key_made_before_retired",
            ),
            models.CheckConstraint(
                condition=Q(revoked_at__isnull=True) | Q(revoked_at__gte=F("created_at")),
                name="signing_key_made_before_revoked",
            ),
        ]

    def __str__(self) -> str:
        return self.kid


class Checkpoint(AppendOnly, Receipted):
    """One signature over the heads of all chains that moved: what was there then can't be denied or made up later."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    # whatever was signed before then is covered by this checkpoint or an earlier one
    covers_until = models.DateTimeField()

    class Meta:
        ordering = ["-seq"]
        constraints = [
            *receipted("checkpoint"),
            models.CheckConstraint(condition=Q(receipt__isnull=False), name="checkpoint_is_signed"),
        ]

    def __str__(self) -> str:
        return f"checkpoint {self.seq}"


class CheckpointHead(AppendOnly):
    """A chain's last receipt when a checkpoint was made: a leaf of its tree."""

    checkpoint = models.ForeignKey(Checkpoint, models.PROTECT, related_name="heads")
    chain = models.CharField(max_length=100)
    seq = models.PositiveIntegerField()
    hash = models.CharField(max_length=HASH_CHARS)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["chain", "seq"], name="checkpoint_head_covered_once"),
        ]

    def __str__(self) -> str:
        return f"{self.chain} {self.seq}"


class CallSalt(models.Model):
    """What opens the commitments of a judge call's receipt. Deleted, nothing opens them, and the receipt verifies as before."""

    call = models.OneToOneField("checks.JudgeCall", models.PROTECT, related_name="salt")
    salt = models.BinaryField()

    def __str__(self) -> str:
        return f"salt of {self.call_id}"
