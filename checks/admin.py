"""Verdicts to look at, limits to set. Both are records: a change of limits is a new row with its reason.

Keys are shown through the agents that hold them.
"""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import path

from checks import evaluator_admin, limits, verdicts
from checks.admin_records import ReadOnly, Written
from checks.judge import admin as judge_admin
from checks.models import Answer, CheckLimits, Verdict
from checks.questions import Limits, sentence
from checks.receipts import admin as receipts_admin
from checks.replay import LAST, replay, under

__all__ = ["evaluator_admin", "judge_admin", "receipts_admin"]  # which register their own


class AnswerInline(ReadOnly, admin.TabularInline):  # type: ignore[type-arg]  # generic in the stubs only
    model = Answer
    fields = ("ask", "kind", "result", "said")
    readonly_fields = fields
    extra = 0

    def get_queryset(self, request: HttpRequest) -> QuerySet[Answer]:
        """With the verdict, which each answer's sentence asks."""
        return super().get_queryset(request).select_related("verdict")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @admin.display(description="answer and lines")
    def said(self, answer: Answer) -> str:
        return sentence(answer, is_model=answer.verdict.is_model)


@admin.register(Verdict)
class VerdictAdmin(Written):
    # what a check took is added up on the page of costs; each verdict's own numbers stand on its page
    list_display = (
        "at", "verdict", "advisory", "addressed", "model", "evaluator", "rank", "milliseconds", "cost",
    )  # fmt: skip
    list_filter = ("verdict", "advisory", "addressed", "model", "evaluator", "at")
    search_fields = ("=id", "=digest")
    search_help_text = "A verdict's id or the digest of its material."
    inlines = (AnswerInline,)

    @admin.display(description="least sure", ordering="least_sure")
    def rank(self, verdict: Verdict) -> str | None:
        return None if verdict.least_sure is None else f"{verdict.least_sure:.2f}"


THRESHOLDS = ("check_pass", "check_fail", "check_confidence")


class CheckLimitsForm(forms.ModelForm):  # type: ignore[type-arg]  # generic in the stubs only
    """The limits in force to start from, and refusals in words before the database has to refuse."""

    class Meta:
        model = CheckLimits
        fields = ("check_pass", "check_fail", "check_confidence", "check_state_bytes", "why")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        now = limits.current()
        names = ("check_pass", "check_fail", "check_confidence", "check_state_bytes")
        kwargs["initial"] = {name: getattr(now, name) for name in names} | (kwargs.get("initial") or {})
        super().__init__(*args, **kwargs)
        for name in set(THRESHOLDS) & set(self.fields):  # a record that is looked at has none
            # what replay.js puts a slider beside, and where it stands while the field is empty
            self.fields[name].widget.attrs |= {"data-slider": getattr(now, name) or 0, "step": "any"}

    def clean(self) -> dict[str, Any]:
        found: dict[str, Any] = super().clean() or {}
        for name in THRESHOLDS:
            value = found.get(name)
            if value is not None and not 0 <= value <= 1:
                self.add_error(name, "Write a number from 0 to 1, e.g. 0.9 for 90 %.")
        passing, failing = found.get("check_pass"), found.get("check_fail")
        if passing is not None and failing is not None and 0 <= passing < failing <= 1:
            self.add_error(
                "check_fail", f"Is above the pass threshold ({passing:g}). Lower it, or leave it empty."
            )
        shown = found.get("check_state_bytes")
        if shown is not None and shown < 1024:  # noqa: PLR2004 - the column's own constraint
            self.add_error(
                "check_state_bytes", "Show at least 1024 bytes; the evaluator has to see something."
            )
        if "why" in found and not found["why"].strip():
            self.add_error("why", "Say why it changes; auditors read this beside the numbers.")
        return found


@admin.register(CheckLimits)
class CheckLimitsAdmin(ReadOnly, admin.ModelAdmin):  # type: ignore[type-arg]  # generic in the stubs only
    form = CheckLimitsForm
    change_form_template = "admin/checks/limits_form.html"
    list_display = ("at", "check_pass", "check_fail", "check_confidence", "check_state_bytes", "by", "why")
    readonly_fields = ("by", "at")
    list_display_links = ("at",)
    fieldsets = (
        (
            None,
            {
                "fields": ("check_pass", "check_fail", "check_confidence", "check_state_bytes", "why"),
                "description": "Apply to every question without a number of its own, from now on. "
                "The newest row is in force; verdicts keep the numbers they were made with.",
            },
        ),
    )

    def save_model(self, request: HttpRequest, obj: CheckLimits, form: Any, change: bool) -> None:  # noqa: FBT001 - Django's
        obj.by = request.user.get_username()
        super().save_model(request, obj, form, change)

    def get_urls(self) -> list[Any]:
        replay_page = self.admin_site.admin_view(self.replay_page)
        return [path("replay/", replay_page, name="checks_checklimits_replay"), *super().get_urls()]

    def replay_page(self, request: HttpRequest) -> HttpResponse:
        """How the last verdicts would have come out under the numbers of the form, which are not kept."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = CheckLimitsForm(request.POST or None)
        form.is_valid()
        wrong = [error for name in THRESHOLDS for error in form.errors.get(name, [])] if form.is_bound else []
        wanted = {name: form.cleaned_data[name] for name in THRESHOLDS} if form.is_bound and not wrong else {}
        replayed = replay(verdicts.last(), under(Limits(**wanted) if wanted else limits.current()))
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": f"The last {LAST} verdicts",
            "replays": [] if wrong else [("", replayed)],
            "wrong": wrong,
            "form": form,
        }
        return TemplateResponse(request, "admin/checks/replayed.html", context)

    def get_fieldsets(self, request: HttpRequest, obj: CheckLimits | None = None) -> Any:
        shown = super().get_fieldsets(request, obj)
        return [*shown, (None, {"fields": ("by", "at")})] if obj else shown
