"""The chain of evaluators in the admin: in which order they are asked, and whether they answer."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from checks import roster
from checks.evaluator_form import FIELDS, EvaluatorForm
from checks.evaluators import breaker
from checks.evaluators.presets import PRESETS
from checks.models import Evaluator
from checks.trying import trial

MOST_TRIED = 5


@admin.register(Evaluator)
class EvaluatorAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # generic in the stubs only
    form = EvaluatorForm
    list_display = ("position", "name", "kind", "host", "asks_for", "key", "seconds", "enabled", "lately")
    list_display_links = ("name",)
    actions = ("try_it",)
    fieldsets = (
        (
            None,
            {
                "fields": (("name", "enabled"), "position", "preset", "account"),
                "description": "Evaluators are asked in this order; whoever answers first answers the whole check. "
                "While none is kept here, the environment's own (EVALUATOR) is asked. A host that is asked sees "
                "the material of every check.",
            },
        ),
        ("Without a preset, or other than it", {"fields": ("wire", "base", "model")}),
        ("Key", {"fields": ("key_variable", "key_for")}),
        ("Bounds and prices", {"fields": ("seconds", "at_once", "input_price", "output_price")}),
    )

    def save_model(self, request: HttpRequest, obj: Evaluator, form: Any, change: bool) -> None:  # noqa: FBT001 - Django's
        obj.save(**({"update_fields": [*FIELDS, "key_origin"]} if change else {}))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Evaluator]) -> None:
        super().delete_queryset(request, queryset)
        roster.changed()

    @admin.display(description="kind")
    def kind(self, row: Evaluator) -> str:
        preset = PRESETS.get(row.preset)
        return preset.label if preset else row.preset or row.wire

    @admin.display(description="host")
    def host(self, row: Evaluator) -> str:
        return roster.host(roster.base_of(row))

    @admin.display(description="model")
    def asks_for(self, row: Evaluator) -> str:
        preset = PRESETS.get(row.preset)
        return row.model or (preset.model if preset else "")

    @admin.display(description="key")
    def key(self, row: Evaluator) -> str:
        if not row.key_variable:
            return ""
        if row.key_variable not in settings.EVALUATOR_KEYS:
            return f"{row.key_variable} (not set)"
        bound = row.key_origin == roster.origin(roster.base_of(row))
        return row.key_variable if bound else f"{row.key_variable} (for another address)"

    @admin.display(description="lately")
    def lately(self, row: Evaluator) -> str:
        member = roster.member_of(row)
        if member is None:
            return "its preset is gone"
        return "failed, asked last" if breaker.is_open(member.evaluator.version) else ""

    @admin.action(description="Try it: one question of each kind", permissions=["change"])
    def try_it(self, request: HttpRequest, queryset: QuerySet[Evaluator]) -> HttpResponse | None:
        members = [member for row in queryset if (member := roster.member_of(row)) is not None]
        if len(members) > MOST_TRIED:
            self.message_user(request, f"Try at most {MOST_TRIED} at once.", messages.WARNING)
            return None
        with ThreadPoolExecutor(MOST_TRIED) as pool:
            trials = list(pool.map(trial, members))
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": "Evaluators, tried",
            "trials": trials,
        }
        return TemplateResponse(request, "admin/checks/tried.html", context)
