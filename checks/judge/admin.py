"""Calls of the judge API, to look at. What was retained is shown nowhere: it is its caller's."""

from django.contrib import admin

from checks.admin_records import Written
from checks.models import JudgeCall


@admin.register(JudgeCall)
class JudgeCallAdmin(Written):
    list_display = ("at", "kind", "verdict", "score", "verification", "engine", "key", "milliseconds")
    list_filter = ("kind", "verdict", "verification", "engine", "at")
    list_select_related = ("key",)
    search_fields = ("=id", "=digest")
    search_help_text = "A request's id or digest."
    payload = ("receipt",)
    # read-only columns are shown where they are named
    readonly_fields = ("chain", "seq", "signed_at", "receipt")
