"""Processes, their versions, and what happens in a run.

`runs.py` is the only writer of Run, Step, Attempt, Submission and WorkItem; `publishing.py` of Process
and Version. Constraints that must hold whatever the code does are in the database.
"""

import secrets
import uuid
from typing import Any, NoReturn

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.db.models import Q
from django.utils import timezone

from checks import models as checks
from checks.records import AppendOnly, AppendOnlyError, Named
from processes.document import KINDS
from processes.states import ItemState, RunState, StepState, SubmissionState

USER = settings.AUTH_USER_MODEL


def _in(column: str, words: Any, name: str) -> models.CheckConstraint:
    return models.CheckConstraint(condition=Q(**{f"{column}__in": [str(word) for word in words]}), name=name)


def run_id() -> str:
    return f"r_{secrets.token_hex(10)}"


def item_id() -> str:
    return f"w_{secrets.token_hex(10)}"


def upload_id() -> str:
    return f"f_{secrets.token_hex(16)}"


class Process(Named):
    name = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(default=timezone.now)
    retired_at = models.DateTimeField(null=True, blank=True, help_text="No new runs; running ones go on.")

    class Meta:
        verbose_name_plural = "processes"
        ordering = ["name"]
        permissions = [("operate", "Can cancel runs, handle escalations and send events")]

    def __str__(self) -> str:
        return self.name


class Version(Named):
    """One text of a process. A draft may change; a published version never does."""

    process = models.ForeignKey(Process, models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField(null=True, editable=False, help_text="Given when it is published.")
    text = models.TextField()
    description = models.TextField(blank=True)
    content_hash = models.CharField(max_length=64, editable=False)
    change = models.CharField(max_length=300, blank=True, help_text="What this version changes, in a line.")
    escalations = models.ForeignKey(
        Group, models.PROTECT, null=True, blank=True, related_name="+",
        help_text="Who sees what the model is unsure of. Empty: the operators.",
    )  # fmt: skip
    created_by = models.CharField(max_length=200, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    published_by = models.CharField(max_length=200, blank=True, editable=False)
    published_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["process", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["process", "number"], name="version_number_once"),
            models.UniqueConstraint(
                fields=["process"], condition=Q(published_at__isnull=True), name="version_one_draft"
            ),
            models.CheckConstraint(
                condition=Q(number__isnull=True, published_at__isnull=True)
                | Q(number__gte=1, published_at__isnull=False),
                name="version_numbered_when_published",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.process.name} v{self.number}" if self.number else f"{self.process.name} draft"

    def save(self, *args: Any, **kwargs: Any) -> None:
        published = type(self).objects.filter(pk=self.pk, published_at__isnull=False)
        if not self._state.adding and published.exists():
            self._refuse()
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        if self.published_at:
            self._refuse()
        return super().delete(*args, **kwargs)

    def _refuse(self) -> NoReturn:
        raise AppendOnlyError(f"{self} is published and never changes; draft the next version instead")


class Role(models.Model):
    """A role name of a version, mapped to a group by whoever imported it."""

    version = models.ForeignKey(Version, models.CASCADE, related_name="roles")
    name = models.CharField(max_length=200)
    group = models.ForeignKey(Group, models.PROTECT, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["version", "name"], name="role_once_per_version")]

    def __str__(self) -> str:
        return f"{self.name} → {self.group}"


class Agent(Named):
    """A program that works steps: a name, and a key that is shown once."""

    name = models.SlugField(
        max_length=64, unique=True, help_text="Stands in every record, e.g. screening-agent."
    )
    key = models.OneToOneField(checks.Key, models.PROTECT, related_name="agent", editable=False)
    vouched_by = models.ForeignKey(
        USER, models.PROTECT, null=True, blank=True, related_name="+",
        help_text="The person this agent counts as, where a rule forbids deciding on one's own work.",
    )  # fmt: skip
    limited = models.BooleanField(default=False, help_text="May only work the processes chosen below.")
    processes = models.ManyToManyField(Process, blank=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Run(Named):
    """One run of a version. Its data is one JSON text with the hash of that text beside it."""

    id = models.CharField(primary_key=True, max_length=40, default=run_id, editable=False)
    version = models.ForeignKey(Version, models.PROTECT, related_name="runs")
    test = models.BooleanField(default=False)
    state = models.CharField(max_length=9, default=RunState.ACTIVE)
    outcome = models.CharField(max_length=200, blank=True)
    subject = models.CharField(
        max_length=200, blank=True, help_text="What it is about, from its first input."
    )
    data = models.TextField()
    snapshot = models.CharField(max_length=64)
    revision = models.PositiveIntegerField(default=1)
    started_by = models.CharField(max_length=200)
    initiator = models.ForeignKey(USER, models.PROTECT, null=True, related_name="+")
    started_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)
    ended_by = models.CharField(max_length=200, blank=True)
    ended_at = models.DateTimeField(null=True)
    ended_note = models.TextField(null=True)  # noqa: DJ001 - null on the wire means "no note"

    class Meta:
        ordering = ["-started_at"]
        indexes = [models.Index(fields=["state", "-started_at"], name="run_state_started")]
        constraints = [
            _in("state", RunState, "run_state_known"),
            models.CheckConstraint(
                condition=Q(state__in=["active", "waiting"], ended_at__isnull=True)
                | Q(state__in=["ended", "cancelled"], ended_at__isnull=False),
                name="run_ended_when_over",
            ),
            models.CheckConstraint(
                condition=Q(state="ended") ^ Q(outcome=""), name="run_outcome_only_when_ended"
            ),
        ]

    def __str__(self) -> str:
        return self.id


class Step(Named):
    """Where one step of a run stands. `name` is the step's id in its document."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="steps")
    name = models.CharField(max_length=64)
    position = models.PositiveIntegerField()
    kind = models.CharField(max_length=10)
    state = models.CharField(max_length=9, blank=True, default=StepState.NONE)
    ready_at = models.DateTimeField(null=True)
    due_at = models.DateTimeField(null=True)
    # the order of completion within the run; rework takes back what was completed after its target
    completed = models.PositiveIntegerField(null=True)

    class Meta:
        ordering = ["position"]
        indexes = [
            models.Index(
                fields=["ready_at", "id"], condition=Q(state__in=["ready", "claimed"]), name="step_work_first"
            )
        ]
        constraints = [
            models.UniqueConstraint(fields=["run", "name"], name="step_once_per_run"),
            _in("state", StepState, "step_state_known"),
            _in("kind", KINDS, "step_kind_known"),
            models.CheckConstraint(
                condition=~Q(state__in=["ready", "claimed", "waiting"]) | Q(ready_at__isnull=False),
                name="step_live_since",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run_id} {self.name}"


class Attempt(Named):
    """One activation of an agent or task step. It spans leases and returns; rework starts a new one."""

    step = models.ForeignKey(Step, models.CASCADE, related_name="attempts")
    number = models.PositiveIntegerField()
    live = models.BooleanField(default=True)
    opened_at = models.DateTimeField(default=timezone.now)
    # the claim: who, which generation of the token, until when
    claimed_by = models.ForeignKey(Agent, models.PROTECT, null=True, related_name="+")
    generation = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    progress = models.TextField(blank=True, help_text="the holder's note for whoever comes next")
    # what the next claim is told: {progress?, returned?, issues?, check?} as JSON, "" = nothing
    handoff = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["step"], condition=Q(live=True), name="attempt_one_live"),
            models.UniqueConstraint(fields=["step", "number"], name="attempt_number_once"),
            models.CheckConstraint(
                condition=Q(lease_until__isnull=True) | Q(claimed_by__isnull=False, generation__gte=1),
                name="attempt_lease_has_holder",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.step} attempt {self.number}"


class Submission(Named):
    """Work that was handed in on an attempt and met the objective rules; with a check, its verdict."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    attempt = models.ForeignKey(Attempt, models.CASCADE, related_name="submissions")
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=12, default=SubmissionState.CHECKING)
    request_id = models.CharField(max_length=128)
    by = models.CharField(max_length=200)
    # what was handed in: {output, evidence, summary?, next?, reason?} as JSON
    content = models.TextField()
    digest = models.CharField(max_length=64)
    verdict = models.ForeignKey(checks.Verdict, models.PROTECT, null=True, related_name="+")
    # one evaluation at a time, whoever resumes it: the fence says which, the time when it counts as dead
    fence = models.PositiveIntegerField(default=0)
    fence_until = models.DateTimeField(null=True)
    errors = models.PositiveSmallIntegerField(default=0, help_text="evaluator errors in a row")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["at"]
        constraints = [
            _in("state", SubmissionState, "submission_state_known"),
            models.UniqueConstraint(fields=["attempt", "number"], name="submission_number_once"),
            models.UniqueConstraint(
                fields=["attempt"], condition=Q(state="checking"), name="submission_one_checking"
            ),
            models.UniqueConstraint(
                fields=["attempt"], condition=Q(state="held"), name="submission_one_held"
            ),
            models.CheckConstraint(
                condition=~Q(state="checking") | Q(fence_until__isnull=False),
                name="submission_checking_fenced",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.attempt} submission {self.number}"


class WorkItem(Named):
    """What a person is asked to decide: a task, an approval, or an escalated step."""

    id = models.CharField(primary_key=True, max_length=40, default=item_id, editable=False)
    run = models.ForeignKey(Run, models.CASCADE, related_name="items")
    step = models.ForeignKey(Step, models.CASCADE, related_name="items")
    attempt = models.ForeignKey(Attempt, models.CASCADE, null=True, related_name="items")
    kind = models.CharField(max_length=7)
    state = models.CharField(max_length=7, default=ItemState.OPEN)
    # a group or a person; neither = the operators
    group = models.ForeignKey(Group, models.PROTECT, null=True, related_name="+")
    person = models.ForeignKey(USER, models.PROTECT, null=True, related_name="+")
    opened_at = models.DateTimeField(default=timezone.now)
    escalated = models.BooleanField(default=False)
    note = models.TextField(blank=True, help_text="of the escalation")
    by = models.CharField(max_length=200, blank=True, help_text="who escalated")
    candidate = models.ForeignKey(Submission, models.PROTECT, null=True, related_name="+")
    decision = models.CharField(max_length=9, blank=True)
    decided_by = models.CharField(max_length=200, blank=True)
    decided_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["opened_at"]
        indexes = [
            models.Index(fields=["opened_at", "id"], condition=Q(state="open"), name="item_open_oldest")
        ]
        constraints = [
            _in("state", ItemState, "item_state_known"),
            _in("kind", ["agent", "task", "approve"], "item_kind_known"),
            models.UniqueConstraint(
                fields=["step"], condition=Q(state="open"), name="item_one_open_per_step"
            ),
            models.CheckConstraint(
                condition=Q(group__isnull=True) | Q(person__isnull=True), name="item_group_or_person"
            ),
            models.CheckConstraint(
                condition=Q(state="decided", decided_at__isnull=False) & ~Q(decision="") & ~Q(decided_by="")
                | ~Q(state="decided") & Q(decided_at__isnull=True, decision="", decided_by=""),
                name="item_decided_by_someone",
            ),
            models.CheckConstraint(
                condition=Q(escalated=True)
                | Q(kind__in=["task", "approve"], candidate__isnull=True, note=""),
                name="item_agent_only_escalated",
            ),
        ]

    def __str__(self) -> str:
        return self.id


class HistoryEntry(AppendOnly):
    """What happened in a run, in order."""

    run = models.ForeignKey(Run, models.PROTECT, related_name="history")
    number = models.PositiveIntegerField()
    at = models.DateTimeField()
    what = models.CharField(max_length=20)
    step = models.CharField(max_length=64, blank=True)
    by = models.CharField(max_length=200)
    attempt = models.PositiveIntegerField(null=True)
    note = models.TextField(blank=True)
    verdict = models.ForeignKey(checks.Verdict, models.PROTECT, null=True, related_name="+")

    class Meta:
        verbose_name_plural = "history entries"
        ordering = ["run", "number"]
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="history_number_once")]

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

    def __str__(self) -> str:
        return f"{self.id} {self.file_name}"


class Request(AppendOnly):
    """A write that succeeded, by its `requestId`: the same call again gets the same result.

    `result` is compact: no body, no URLs, no token; those are refilled on replay.
    """

    request_id = models.CharField(primary_key=True, max_length=128)
    caller = models.CharField(max_length=200)
    tool = models.CharField(max_length=20)
    digest = models.CharField(max_length=64)
    run = models.ForeignKey(Run, models.PROTECT, null=True, related_name="requests")
    result = models.TextField()
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [models.Index(fields=["at"], name="request_at")]

    def __str__(self) -> str:
        return f"{self.tool} {self.request_id}"
