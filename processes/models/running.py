"""A run and what stands in it. `processes.runs` is the only writer."""

import uuid

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.db.models import Q
from django.utils import timezone

from checks import models as checks
from checks.records import Named
from processes.document import KINDS
from processes.models.ids import item_id, known, run_id
from processes.models.published import Agent, Version
from processes.states import STEP_LIVE, ItemState, RunState, StepState, SubmissionState

USER = settings.AUTH_USER_MODEL


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
    inputs = models.TextField(default="{}", help_text="as in `data`, for lists, which load no run data")
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
    # where the chain of its receipts ends, and what opens their commitments: null before the first, and once forgotten
    receipts = models.PositiveIntegerField(default=0)
    receipt_head = models.CharField(max_length=43, blank=True)
    salt = models.BinaryField(null=True)

    class Meta:
        ordering = ["-started_at"]
        indexes = [
            models.Index(fields=["state", "-started_at"], name="run_state_started"),
            models.Index(
                fields=["started_by"], condition=Q(state__in=["active", "waiting"]), name="run_live_by"
            ),
        ]
        constraints = [
            known("state", RunState, "run_state_known"),
            models.CheckConstraint(
                condition=Q(state__in=["active", "waiting"], ended_at__isnull=True)
                | Q(state__in=["ended", "cancelled"], ended_at__isnull=False),
                name="run_ended_when_over",
            ),
            models.CheckConstraint(
                condition=Q(state="ended") ^ Q(outcome=""), name="run_outcome_only_when_ended"
            ),
            models.CheckConstraint(
                condition=Q(receipts=0, receipt_head="") | Q(receipts__gte=1) & ~Q(receipt_head=""),
                name="run_head_of_its_receipts",
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
    overdue_told = models.BooleanField(default=False)
    wake_at = models.DateTimeField(null=True, help_text="when the server goes on by itself")
    # the order of completion within the run; rework takes back what was completed after its target
    completed = models.PositiveIntegerField(null=True)
    # the latest attempt is live while the step is open: one at most, by construction
    activations = models.PositiveIntegerField(default=0, help_text="the number of its latest attempt")

    class Meta:
        ordering = ["position"]
        indexes = [
            models.Index(
                fields=["ready_at", "id"], condition=Q(state__in=["ready", "claimed"]), name="step_work_first"
            ),
            models.Index(
                fields=["wake_at"], condition=Q(state="waiting", wake_at__isnull=False), name="step_wake"
            ),
            models.Index(
                fields=["due_at"],
                condition=Q(
                    state__in=["ready", "claimed", "waiting"], due_at__isnull=False, overdue_told=False
                ),
                name="step_overdue",
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=["run", "name"], name="step_once_per_run"),
            known("state", StepState, "step_state_known"),
            known("kind", KINDS, "step_kind_known"),
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
    opened_at = models.DateTimeField(default=timezone.now)
    # the claim: who, which generation of the token, until when
    claimed_by = models.ForeignKey(Agent, models.PROTECT, null=True, related_name="+", db_index=False)
    generation = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    progress = models.TextField(blank=True, help_text="the holder's note for whoever comes next")
    # what the next claim is told: {progress?, returned?, issues?, check?} as JSON, "" = nothing
    handoff = models.TextField(blank=True)

    class Meta:
        indexes = [
            # who holds what; and, first column alone, the foreign key's own
            models.Index(fields=["claimed_by", "lease_until"], name="attempt_held_by")
        ]
        constraints = [
            models.UniqueConstraint(fields=["step", "number"], name="attempt_number_once"),
            models.CheckConstraint(
                condition=Q(lease_until__isnull=True) | Q(claimed_by__isnull=False, generation__gte=1),
                name="attempt_lease_has_holder",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.step} attempt {self.number}"

    @property
    def live(self) -> bool:
        """Needs its step at hand."""
        return self.number == self.step.activations and self.step.state in STEP_LIVE


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
            known("state", SubmissionState, "submission_state_known"),
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
            known("state", ItemState, "item_state_known"),
            known("kind", ["agent", "task", "approve"], "item_kind_known"),
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
