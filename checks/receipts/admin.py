"""Keys and checkpoints, to look at. Keys are changed by `manage.py receipt_key`."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from checks.receipts.models import Checkpoint, SigningKey


class _Records(admin.ModelAdmin):  # type: ignore[type-arg]  # generic at check time only
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(SigningKey)
class SigningKeyAdmin(_Records):
    list_display = ("kid", "created_at", "retired_at", "revoked_at")
    fields = ("kid", "x", "created_at", "retired_at", "revoked_at")
    readonly_fields = fields


@admin.register(Checkpoint)
class CheckpointAdmin(_Records):
    list_display = ("seq", "signed_at", "count", "root")
    list_filter = ("signed_at",)
    search_fields = ("=root",)
    search_help_text = "A checkpoint's root."
    fields = ("seq", "signed_at", "count", "root", "receipt")
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Lists show no receipt; a page asks for its own."""
        return super().get_queryset(request).defer("receipt")
