"""What is kept beside a run: its history, events, notices, files, and the requests that were answered."""

from collections.abc import Sequence

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.db.models import Q
from django.utils import timezone

from checks import models as checks
from checks.records import AppendOnly, Receipted, receipted
from processes.models.ids import upload_id
from processes.models.running import Run

USER = settings.AUTH_USER_MODEL


class HeldEvent(models.Model):
    """What `send_event` delivered before a step waited for it. Gone when it is consumed or the run ends."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="held")
    name = models.CharField(max_length=64)
    by = models.CharField(max_length=200)
    data = models.TextField(help_text="JSON")
    at = models.DateTimeField()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.run_id} {self.name}"


class RunInput(models.Model):
    """One input of a run by the digest of its value, so that runs are found by it exactly."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="found_by")
    field = models.CharField(max_length=200)
    digest = models.CharField(max_length=64)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "field"], name="run_input_once")]
        indexes = [models.Index(fields=["field", "digest", "run"], name="run_input_value")]

    def __str__(self) -> str:
        return f"{self.run_id} {self.field}"


class Notice(models.Model):
    """The outbox: what somebody is to be told, written with what it tells and sent after the commit."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="notices")
    step = models.CharField(max_length=64)
    what = models.CharField(max_length=20)
    group = models.ForeignKey(Group, models.CASCADE, null=True, related_name="+")
    person = models.ForeignKey(USER, models.CASCADE, null=True, related_name="+")
    at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["id"], condition=Q(sent_at__isnull=True), name="notice_unsent")]
        constraints = [
            models.CheckConstraint(
                condition=Q(group__isnull=True) | Q(person__isnull=True), name="notice_group_or_person"
            )
        ]

    def __str__(self) -> str:
        return f"{self.what} {self.run_id} {self.step}"


class HistoryEntry(AppendOnly, Receipted):
    """What happened in a run, in order; verdicts and decisions with their receipt (`processes.receipting`)."""

    run = models.ForeignKey(Run, models.PROTECT, related_name="history")
    number = models.PositiveIntegerField()
    at = models.DateTimeField()
    what = models.CharField(max_length=20)
    step = models.CharField(max_length=64, blank=True)
    by = models.CharField(max_length=200)
    attempt = models.PositiveIntegerField(null=True)
    note = models.TextField(blank=True)
    verdict = models.ForeignKey(checks.Verdict, models.PROTECT, null=True, related_name="+")
    # of a decision: the snapshot of the run that the person saw
    seen = models.CharField(max_length=64, blank=True)

    class Meta:
        verbose_name_plural = "history entries"
        ordering = ["run", "number"]
        constraints = [
            models.UniqueConstraint(fields=["run", "number"], name="history_number_once"),
            *receipted("history"),
        ]

    def __str__(self) -> str:
        return f"{self.run_id} #{self.number} {self.what}"


class Upload(AppendOnly):
    """A stored file: unguessable id, and the hash that its bytes must keep."""

    id = models.CharField(primary_key=True, max_length=40, default=upload_id, editable=False)
    file_name = models.CharField(max_length=255)
    content_type = models.CharField(max_length=160)
    path = models.CharField(max_length=300)
    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField()
    by = models.CharField(max_length=200)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [models.Index(fields=["by", "at"], name="upload_by_day")]

    def __str__(self) -> str:
        return f"{self.id} {self.file_name}"


class Request(AppendOnly):
    """A write that succeeded, by its `requestId`: the same call again gets the same result.

    `result` is compact: no body, no URLs, no token; those are refilled on replay. It is empty once it was
    forgotten, some days after the run's end (`processes.forgetting`).
    """

    request_id = models.CharField(primary_key=True, max_length=128)
    caller = models.CharField(max_length=200)
    tool = models.CharField(max_length=20)
    digest = models.CharField(max_length=64)
    run = models.ForeignKey(Run, models.PROTECT, null=True, related_name="requests")
    result = models.TextField()
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [
            models.Index(fields=["at"], name="request_at"),
            models.Index(
                fields=["at"], condition=~Q(result="") & Q(run__isnull=False), name="request_result_kept"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tool} {self.request_id}"

    @classmethod
    def forget_results(cls, requests: Sequence[str]) -> int:
        """The one change that a request may see: what it answered goes, that it was done stays."""
        rows: models.QuerySet[Request] = models.QuerySet(cls)
        return rows.filter(pk__in=requests).update(result="")


class Lease(models.Model):
    """Whoever does a thing that only one process should do at a time, and until when."""

    name = models.CharField(primary_key=True, max_length=40)
    holder = models.CharField(max_length=100)
    until = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name}: {self.holder}"


class Heartbeat(models.Model):
    """Whoever works for the server without being asked says that it is alive (see `processes.health`)."""

    name = models.CharField(primary_key=True, max_length=20)
    since = models.DateTimeField(help_text="of beats that did not stop in between")
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name} at {self.at:%Y-%m-%d %H:%M:%S}"
