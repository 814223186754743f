"""Keys and checkpoints, to look at. Keys are changed by `manage.py receipt_key`."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest

from checks.admin_records import Written
from checks.receipts.models import Checkpoint, SigningKey


@admin.register(SigningKey)
class SigningKeyAdmin(Written):
    list_display = ("kid", "created_at", "retired_at", "revoked_at")
    fields = ("kid", "x", "created_at", "retired_at", "revoked_at")
    readonly_fields = fields


@admin.register(Checkpoint)
class CheckpointAdmin(Written):
    list_display = ("seq", "signed_at", "covered")
    list_filter = ("signed_at",)
    payload = ("receipt",)
    fields = ("seq", "signed_at", "covered", "receipt")
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        found: QuerySet[Any] = super().get_queryset(request).annotate(count=Count("heads"))
        return found

    @admin.display(description="chains covered", ordering="count")
    def covered(self, checkpoint: Any) -> int:
        return int(checkpoint.count)
