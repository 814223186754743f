"""What judging keeps: keys, the server's limits, verdicts with every answer and threshold.

Nothing here knows of runs or people: a verdict is about material, known by its digest.
"""

import uuid

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from checks.questions import Kind, Result
from checks.questions import Verdict as Word
from checks.records import AppendOnly, Named


def _one_of(column: str, words: list[str], name: str) -> models.CheckConstraint:
    return models.CheckConstraint(condition=Q(**{f"{column}__in": words}), name=name)


class Key(Named):
    """A bearer key: found by its prefix, proved by the SHA-256 of its random secret, never kept in plain text."""

    prefix = models.CharField(max_length=12, unique=True)
    digest = models.CharField(max_length=64)
    label = models.CharField(max_length=100)
    created_at = models.DateTimeField(default=timezone.now)
    revoked_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.label} ({self.prefix}…)"


class CheckLimits(AppendOnly):
    """The server's defaults for every question without its own. The newest row is in force; none = the profile's."""

    check_pass = models.FloatField(
        "pass threshold", default=0.9, help_text="Yes/no: probability of yes from which it passes, 0 to 1."
    )
    check_fail = models.FloatField(
        "fail threshold",
        null=True,
        blank=True,
        help_text="Yes/no: under it the answer fails; between the two it is unsure. "
        "Empty: whatever does not pass fails.",
    )
    check_confidence = models.FloatField(
        "confidence", default=0.8, help_text="Choice and rubric: under it the answer is unsure, 0 to 1."
    )
    check_state_bytes = models.PositiveIntegerField(
        "run data shown", default=65_536, help_text="How many bytes of run data the evaluator is shown."
    )
    why = models.CharField(max_length=300, help_text="Why it changes; kept beside the numbers.")
    by = models.CharField(max_length=200, editable=False)
    at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name = verbose_name_plural = "check limits"
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(check_pass__range=(0, 1)) & Q(check_confidence__range=(0, 1)),
                name="limits_between_0_and_1",
            ),
            models.CheckConstraint(
                condition=Q(check_fail__isnull=True) | Q(check_fail__gte=0, check_fail__lte=F("check_pass")),
                name="limits_fail_not_over_pass",
            ),
            models.CheckConstraint(condition=Q(check_state_bytes__gte=1024), name="limits_show_something"),
        ]

    def __str__(self) -> str:
        return f"limits of {self.at:%Y-%m-%d %H:%M}"


class Verdict(AppendOnly):
    """What a check of one piece of material came to, and everything that produced it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    verdict = models.CharField(max_length=6)
    advisory = models.BooleanField(default=False)
    # what answered: the model's own name as the wire gave it; the evaluator asked for it; how it was asked
    model = models.CharField(max_length=200, blank=True)
    evaluator = models.CharField(max_length=100)
    evaluator_version = models.CharField(max_length=64)
    method = models.CharField(max_length=60)
    is_model = models.BooleanField(default=True)
    # the same material, questions and evaluator get the same verdict: nobody re-rolls the dice
    digest = models.CharField(max_length=64, db_index=True)
    truncated = models.BooleanField(default=False)
    # 0 = at a threshold, 1 = as unsure as can be; null when no question is unsure
    least_sure = models.FloatField(null=True)
    error = models.CharField(max_length=500, blank=True)
    asked = models.PositiveSmallIntegerField(default=1, help_text="requests to the evaluator, retry included")
    milliseconds = models.PositiveIntegerField(default=0)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-at"]
        constraints = [
            _one_of("verdict", [str(word) for word in Word], "verdict_known"),
            models.CheckConstraint(
                condition=Q(least_sure__isnull=True) | Q(verdict="unsure"), name="verdict_rank_only_if_unsure"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.verdict} by {self.model or self.evaluator}"


class Answer(AppendOnly):
    """One question's answer within a verdict, with the thresholds that were in force."""

    verdict = models.ForeignKey(Verdict, models.CASCADE, related_name="answers")
    position = models.PositiveSmallIntegerField()
    ask = models.TextField()
    kind = models.CharField(max_length=6)
    result = models.CharField(max_length=6)
    # yes/no: probability; choice: name; rubric: level
    probability = models.FloatField(null=True)
    name = models.CharField(max_length=200, blank=True)
    level = models.PositiveSmallIntegerField(null=True)
    confidence = models.FloatField(null=True)
    vendor_confidence = models.FloatField(null=True)
    # the thresholds in force
    pass_at = models.FloatField(null=True)
    fail_below = models.FloatField(null=True)
    confidence_asked = models.FloatField(null=True)
    # choice and rubric: [{name, text, leads, probability}] in the author's order; never loaded by lists
    options = models.JSONField(default=list)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["verdict", "position"], name="answer_once_per_question"),
            _one_of("kind", [str(kind) for kind in Kind], "answer_kind_known"),
            _one_of("result", [str(result) for result in Result], "answer_result_known"),
            models.CheckConstraint(
                condition=Q(kind="yes_no", probability__isnull=False, level__isnull=True, name="")
                | Q(kind="choice", probability__isnull=True, level__isnull=True) & ~Q(name="")
                | Q(kind="rubric", probability__isnull=True, level__isnull=False, name=""),
                name="answer_fits_its_kind",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.ask[:60]}: {self.result}"
