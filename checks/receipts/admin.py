"""Keys and checkpoints, to look at. Keys are changed by `manage.py receipt_key`."""

from django.contrib import admin

from checks.admin_records import Written
from checks.receipts.models import Checkpoint, SigningKey


@admin.register(SigningKey)
class SigningKeyAdmin(Written):
    list_display = ("kid", "created_at", "retired_at", "revoked_at")
    fields = ("kid", "x", "created_at", "retired_at", "revoked_at")
    readonly_fields = fields


@admin.register(Checkpoint)
class CheckpointAdmin(Written):
    list_display = ("seq", "signed_at", "count", "root")
    list_filter = ("signed_at",)
    search_fields = ("=root",)
    search_help_text = "A checkpoint's root."
    payload = ("receipt",)
    fields = ("seq", "signed_at", "count", "root", "receipt")
    readonly_fields = fields
