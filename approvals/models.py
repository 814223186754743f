"""What people need beside the protocol: the queue's own rows, and rules for who may decide what."""

from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.db.models import Q

from checks.models import Verdict
from processes.models import WorkItem


class Band(models.IntegerChoices):
    """What comes first in the queue."""

    UNSURE = 0, "unsure"
    DOUBTED = 1, "approvals after an unsure or failed advisory check"
    REST = 2, "the rest"


class QueueEntry(models.Model):
    """One open work item as the queue lists it: small, indexed, in the order that people see."""

    item = models.OneToOneField(WorkItem, models.CASCADE, primary_key=True, related_name="queued")
    band = models.PositiveSmallIntegerField(choices=Band)
    # 0 = all but sure, 1 = as unsure as can be; the least sure come first
    least_sure = models.FloatField(default=0)
    process = models.CharField(max_length=64)
    version = models.PositiveIntegerField()
    step = models.CharField(max_length=64)
    kind = models.CharField(max_length=9)  # unsure | escalated | approve | task
    subject = models.CharField(max_length=200, blank=True)
    submitted_by = models.CharField(max_length=200, blank=True)
    test = models.BooleanField(default=False)
    verdict = models.ForeignKey(Verdict, models.PROTECT, null=True, related_name="+")
    group = models.ForeignKey(Group, models.CASCADE, null=True, related_name="+")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="+")
    due_at = models.DateTimeField(null=True)
    opened_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "queue entries"
        indexes = [
            models.Index("band", models.F("least_sure").desc(), "due_at", "opened_at", name="queue_order")
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["unsure", "escalated", "approve", "task"]), name="queue_kind_known"
            ),
            models.CheckConstraint(condition=Q(least_sure__range=(0, 1)), name="queue_rank_in_range"),
        ]

    def __str__(self) -> str:
        return f"{self.process} › {self.step}: {self.subject}"


class GroupRule(models.Model):
    """What members of a group may not do when they decide."""

    group = models.OneToOneField(Group, models.CASCADE, related_name="rule")
    forbid_own_work = models.BooleanField(
        "never on one's own work",
        default=False,
        help_text="Members can't decide on what they, or an agent they vouch for, have worked. "
        "Where that leaves nobody of the group as an item opens, it goes to the operators.",
    )

    def __str__(self) -> str:
        return f"rule for {self.group}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        super().save(*args, **kwargs)
        self._tell()

    def delete(self, *args: Any, **kwargs: Any) -> Any:
        deleted = super().delete(*args, **kwargs)
        self._tell()
        return deleted

    def _tell(self) -> None:
        from approvals import rules

        rules.changed()
