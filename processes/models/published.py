"""What can be run, and by which programs."""

from typing import Any, NoReturn

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.db.models import Q
from django.utils import timezone

from checks import models as checks
from checks.records import AppendOnlyError, Named, Receipted, receipted

USER = settings.AUTH_USER_MODEL


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


class Version(Named, Receipted):
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
    salt = models.BinaryField(null=True, editable=False, help_text="opens its receipt; null once forgotten")

    class Meta:
        ordering = ["process", "-number"]
        constraints = [
            *receipted("version"),
            models.UniqueConstraint(fields=["process", "number"], name="version_number_once"),
            models.UniqueConstraint(
                fields=["process"], condition=Q(published_at__isnull=True), name="version_one_draft"
            ),
            models.CheckConstraint(
                # a comparison with null is no "no": a check passes unless it is told
                condition=Q(number__isnull=True, published_at__isnull=True)
                | Q(number__isnull=False, number__gte=1, published_at__isnull=False),
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
