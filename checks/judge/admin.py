"""Calls of the judge API, to look at. What was retained is shown nowhere: it is its caller's."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from checks.models import JudgeCall


@admin.register(JudgeCall)
class JudgeCallAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # generic at check time only
    list_display = ("at", "kind", "verdict", "score", "verification", "engine", "key", "milliseconds")
    list_filter = ("kind", "verdict", "verification", "engine", "at")
    list_select_related = ("key",)
    search_fields = ("=id", "=digest")
    search_help_text = "A request's id or digest."
    show_full_result_count = False
    # read-only columns are shown where they are named
    readonly_fields = ("chain", "seq", "signed_at", "receipt")

    def get_queryset(self, request: HttpRequest) -> QuerySet[JudgeCall]:
        """Lists show no receipt; a page asks for its own."""
        return super().get_queryset(request).defer("receipt")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
