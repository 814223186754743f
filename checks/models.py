"""What judging keeps: keys, the server's limits, verdicts with every answer and threshold.

Nothing here knows of runs or people: a verdict is about material, known by its digest.
"""

import uuid
from typing import Any

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from checks.questions import Kind, Result
from checks.questions import Verdict as Word
from checks.receipts.models import CallSalt, Checkpoint, CheckpointHead, SigningKey
from checks.records import AppendOnly, Named, Receipted, receipted

__all__ = [
    "Answer", "CallSalt", "CheckLimits", "Checkpoint", "CheckpointHead", "Evaluator", "FactResult", "JudgeCall", "Key",
    "Retained", "SigningKey", "Verdict",
]  # fmt: skip


def _one_of(column: str, words: list[str], name: str) -> models.CheckConstraint:
    return models.CheckConstraint(condition=Q(**{f"{column}__in": words}), name=name)


class Key(Named):
    """A bearer key: found by its prefix, proved by the SHA-256 of its random secret, never kept in plain text."""

    prefix = models.CharField(max_length=12, unique=True)
    digest = models.CharField(max_length=64)
    label = models.CharField(max_length=100)
    created_at = models.DateTimeField(default=timezone.now)
    revoked_at = models.DateTimeField(null=True, blank=True)
    # what it opens: the protocol's tools, the judge API
    for_agents = models.BooleanField(default=True)
    for_judge = models.BooleanField(default=False)
    judge_calls_per_day = models.PositiveIntegerField(null=True, help_text="null: the server's own bound")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(for_agents=True) | Q(for_judge=True), name="key_opens_something"
            ),
        ]

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


class Evaluator(Named):
    """One of the chain that answers checks. Without any row the environment's own evaluator is in force."""

    name = models.CharField(
        max_length=60, unique=True, help_text="How verdicts call it: small letters, digits, _ and -."
    )
    preset = models.CharField(max_length=40, blank=True)
    wire = models.CharField(max_length=20, blank=True, help_text="Without a preset: how it is spoken to.")
    account = models.CharField(
        "account id", max_length=100, blank=True, help_text="Where the preset's address has one in it."
    )
    base = models.CharField("address", max_length=500, blank=True, help_text="Empty: the preset's.")
    model = models.CharField(max_length=200, blank=True, help_text="Empty: the preset's.")
    # a key is a variable's name, never the key; it goes only to the place that it was chosen for
    key_variable = models.CharField("key", max_length=100, blank=True)
    key_origin = models.CharField(max_length=300, blank=True, editable=False)
    seconds = models.FloatField(
        default=20.0,
        validators=[MinValueValidator(0.1), MaxValueValidator(600)],
        help_text="The most that one asking of it takes. One that others follow also gets at most half of what is left.",
    )
    position = models.PositiveSmallIntegerField(default=1, help_text="The smallest is asked first.")
    enabled = models.BooleanField(default=True)
    at_once = models.PositiveSmallIntegerField(
        "requests at once",
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(64)],
        help_text="Chat only. Empty: the preset's, or 8.",
    )
    input_price = models.DecimalField(
        "price of input",
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text="Per million tokens.",
    )
    output_price = models.DecimalField(
        "price of output",
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text="Per million tokens.",
    )

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=~Q(preset="") & Q(wire="") | Q(preset="") & ~Q(wire=""),
                name="evaluator_preset_or_wire",
            ),
            models.CheckConstraint(
                condition=Q(key_variable="", key_origin="")
                | Q(key_variable__startswith="EVALUATOR_KEY_") & ~Q(key_origin=""),
                name="evaluator_key_is_bound",
            ),
            models.CheckConstraint(condition=Q(seconds__gt=0, seconds__lte=600), name="evaluator_takes_time"),
            models.CheckConstraint(
                condition=Q(at_once__isnull=True) | Q(at_once__range=(1, 64)), name="evaluator_asks_at_once"
            ),
            models.CheckConstraint(
                condition=(Q(input_price__isnull=True) | Q(input_price__gte=0))
                & (Q(output_price__isnull=True) | Q(output_price__gte=0)),
                name="evaluator_prices_not_negative",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        from checks import roster

        super().save(*args, **kwargs)
        roster.changed()

    def delete(self, *args: Any, **kwargs: Any) -> Any:
        from checks import roster

        deleted = super().delete(*args, **kwargs)
        roster.changed()
        return deleted


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
    addressed = models.BooleanField(default=False, help_text="the material speaks to whoever judges it")
    # 0 = at a threshold, 1 = as unsure as can be; null when no question is unsure
    least_sure = models.FloatField(null=True)
    error = models.CharField(max_length=500, blank=True)
    # word match, asked because no model answered: it lets nothing pass
    stopgap = models.BooleanField(default=False)
    asked = models.PositiveSmallIntegerField(default=1, help_text="times the whole check was asked")
    milliseconds = models.PositiveIntegerField(default=0)
    # of the asking that was answered; null where the server did not say, or no price was set
    requests = models.PositiveIntegerField(default=0, help_text="requests that the answers took")
    input_tokens = models.PositiveBigIntegerField(null=True)
    output_tokens = models.PositiveBigIntegerField(null=True)
    cost = models.DecimalField(max_digits=20, decimal_places=9, null=True)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-at", "-pk"]
        # the list, the replay and the costs ask for the latest, and nothing is ever thrown away
        indexes = [models.Index(fields=["at", "id"], name="verdict_by_time")]
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
    # which of them the question gave itself (letters of p, f, c); the rest were the server's
    own = models.CharField(max_length=3, blank=True)
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


class FactResult(AppendOnly):
    """What one fact of a piece of work came to. `about` is its owner's id for the work, which is nothing to us."""

    about = models.UUIDField()
    # facts that could not be reached are asked again: which asking, and which fact of it
    asked = models.PositiveSmallIntegerField(default=1)
    position = models.PositiveSmallIntegerField()
    type = models.CharField(max_length=40)
    path = models.CharField(max_length=300)
    passed = models.BooleanField()
    unreachable = models.BooleanField(default=False)
    detail = models.TextField()
    evidence_hash = models.CharField(max_length=64, null=True)  # noqa: DJ001 - null as on the wire: nothing was read
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["about", "asked", "position"]
        constraints = [
            models.UniqueConstraint(fields=["about", "asked", "position"], name="fact_result_once"),
            models.CheckConstraint(
                condition=Q(passed=False) | Q(unreachable=False), name="fact_unreachable_never_passed"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.path}: {'passed' if self.passed else 'not passed'}"


class JudgeCall(AppendOnly, Receipted):
    """That the judge API was called, and what came of it: counts, digests and words of ours, nothing that was sent."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    key = models.ForeignKey(Key, models.PROTECT, related_name="+")
    kind = models.CharField(max_length=9)
    # of the request as it was read, see docs/judge.md
    digest = models.CharField(max_length=64)
    verdict = models.CharField(max_length=5, blank=True)
    score = models.FloatField(null=True)
    verification = models.CharField(max_length=9, blank=True)
    engine = models.CharField(max_length=100)
    model = models.CharField(max_length=200, blank=True)
    supported = models.PositiveSmallIntegerField(default=0)
    contradicted = models.PositiveSmallIntegerField(default=0)
    unsupported = models.PositiveSmallIntegerField(default=0)
    # [{type, passed, evidence_hash}]
    facts = models.JSONField(default=list)
    milliseconds = models.PositiveIntegerField(default=0)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = "judge call"
        ordering = ["-at"]
        indexes = [models.Index(fields=["key", "at"], name="judge_call_by_key")]
        constraints = [
            models.CheckConstraint(
                # a comparison with null is no "no", so it is asked for by name
                condition=Q(kind="judge", verdict__in=["pass", "fail", "retry"])
                & Q(score__isnull=False, score__range=(0, 1))
                | Q(kind="consensus", verdict="", score__isnull=True),
                name="judge_call_fits_its_kind",
            ),
            *receipted("judge_call"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.verdict}".strip()


class Retained(models.Model):
    """What was sent and answered, where the caller asked to keep it; goes when its time is over."""

    call = models.OneToOneField(JudgeCall, models.PROTECT, related_name="retained")
    request = models.TextField()
    response = models.TextField()
    until = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"kept until {self.until:%Y-%m-%d}"
