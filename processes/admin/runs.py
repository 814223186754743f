"""What happened: runs, steps, attempts, submissions, work items, history, uploads, requests. To read."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import F, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.template.loader import render_to_string
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from checks.models import FactResult, Verdict
from checks.questions import Verdict as Word
from processes.admin import receipts
from processes.admin.records import (
    EMPTY,
    Record,
    case_link,
    link,
    list_link,
    payload,
    process_filter,
    value_filter,
    whose,
    word_filter,
)
from processes.document import KINDS
from processes.models import (
    Attempt,
    HistoryEntry,
    Request,
    Run,
    Step,
    Submission,
    Upload,
    WorkItem,
)
from processes.states import (
    STEP_LIVE,
    Decision,
    HistoryEvent,
    ItemState,
    RunState,
    StepState,
    SubmissionState,
)
from processes.tools import TOOLS


def _case(item: WorkItem) -> Any:
    return case_link(item.pk) if item.state == ItemState.OPEN else None


class ModeFilter(admin.SimpleListFilter):
    title = "mode"
    parameter_name = "mode"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("live", "live"), ("test", "test")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Run]) -> QuerySet[Run]:
        return queryset.filter(test=self.value() == "test") if self.value() in {"live", "test"} else queryset


@admin.register(Run)
class RunAdmin(Record):
    list_display = ("id", "process", "subject", "state", "outcome", "mode", "started_by", "started_at")
    list_filter = (
        process_filter("version__process__name"),
        word_filter("state", RunState),
        value_filter(Run, "outcome", "outcome"),
        ModeFilter,
        "started_at",
    )
    list_select_related = ("version__process",)
    search_fields = ("=id", "subject", "=started_by")
    search_help_text = "A run's id, words of its subject, or who started it (agent:NAME, person:NAME)."
    payload = ("data", "inputs", "ended_note", "version__text")
    fields = readonly_fields = (
        "id", "process", "subject", "mode", "state", "outcome", "started_by", "started_at", "ended_by",
        "ended_at", "ended_note", "all_steps", "all_items", "more", "data_shown", "snapshot", "revision",
    )  # fmt: skip

    @admin.display(description="process", ordering="version__process__name")
    def process(self, run: Run) -> str:
        return str(run.version)

    @admin.display(description="mode", ordering="test")
    def mode(self, run: Run) -> str:
        return "test" if run.test else "live"

    @admin.display(description="data")
    def data_shown(self, run: Run) -> Any:
        return payload(run.data)

    @admin.display(description="steps")
    def all_steps(self, run: Run) -> SafeString:
        return render_to_string("admin/processes/_steps.html", {"steps": run.steps.all()})

    @admin.display(description="work items")
    def all_items(self, run: Run) -> SafeString:
        found = run.items.select_related("group", "person", "step").defer("note")
        items = [(item, whose(item), _case(item) or EMPTY) for item in found]
        return render_to_string("admin/processes/_items.html", {"items": items})

    @admin.display(description="see also")
    def more(self, run: Run) -> SafeString:
        version = run.version
        links = (
            format_html(
                '<a href="{}">{}</a>',
                reverse("admin:processes_version", args=[version.process_id, version.pk]),
                version,
            ),
            list_link(HistoryEntry, "history", run__id__exact=run.pk),
            list_link(Step, "steps", run__id__exact=run.pk),
            list_link(Attempt, "attempts", step__run__id__exact=run.pk),
            list_link(Submission, "submissions", attempt__step__run__id__exact=run.pk),
            list_link(WorkItem, "work items", run__id__exact=run.pk),
            list_link(Request, "requests", run__id__exact=run.pk),
            format_html(
                '<a href="{}">verify {}</a>',
                reverse("admin:processes_run_receipts", args=[run.pk]),
                f"{run.receipts} receipt{'' if run.receipts == 1 else 's'}",
            ),
        )
        return format_html_join(" · ", "{}", ((each,) for each in links))

    def get_urls(self) -> list[URLPattern]:
        return [
            path(
                "<str:pk>/receipts/", self.admin_site.admin_view(self.receipts), name="processes_run_receipts"
            ),
            path(
                "<str:pk>/receipts/export/",
                self.admin_site.admin_view(self.export),
                name="processes_run_receipts_export",
            ),
            path(
                "<str:pk>/receipts/openings/",
                self.admin_site.admin_view(self.openings),
                name="processes_run_receipts_openings",
            ),
            *super().get_urls(),
        ]

    def receipts(self, request: HttpRequest, pk: str) -> HttpResponse:
        return receipts.page(request, self.admin_site, self._seen(request, pk))

    def export(self, request: HttpRequest, pk: str) -> HttpResponseBase:
        return receipts.export(request, self._seen(request, pk))

    def openings(self, request: HttpRequest, pk: str) -> HttpResponseBase:
        return receipts.openings(self._seen(request, pk))

    def _seen(self, request: HttpRequest, pk: str) -> Run:
        run = Run.objects.filter(pk=pk).select_related("version__process").defer("inputs").first()
        if run is None:
            raise Http404("There is no such run.")
        if not self.has_view_permission(request, run):
            raise PermissionDenied
        return run


@admin.register(Step)
class StepAdmin(Record):
    list_display = ("name", "of_run", "process", "kind", "state", "ready_at", "due_at")
    list_filter = (
        word_filter("state", StepState),
        word_filter("kind", KINDS),
        process_filter("run__version__process__name"),
        "due_at",
    )
    list_select_related = ("run__version__process",)
    search_fields = ("=run__id", "=name")
    search_help_text = "A run's id, or a step's."
    ordering = ("-pk",)
    payload = ("run__data", "run__inputs", "run__ended_note", "run__version__text")
    fields = readonly_fields = (
        "name", "of_run", "process", "kind", "state", "ready_at", "due_at", "completed", "more",
    )  # fmt: skip

    @admin.display(description="run", ordering="run")
    def of_run(self, step: Step) -> Any:
        return link(step.run)

    @admin.display(description="process")
    def process(self, step: Step) -> str:
        return str(step.run.version)

    @admin.display(description="see also")
    def more(self, step: Step) -> SafeString:
        links = (
            list_link(Attempt, "attempts", step__id__exact=str(step.pk)),
            list_link(WorkItem, "work items", step__id__exact=str(step.pk)),
        )
        return format_html_join(" · ", "{}", ((each,) for each in links))


class LiveAttempts(admin.SimpleListFilter):
    title = "live"
    parameter_name = "live"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", "live"), ("no", "over")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Attempt]) -> QuerySet[Attempt]:
        live = Q(number=F("step__activations"), step__state__in=STEP_LIVE)
        return {"yes": queryset.filter(live), "no": queryset.exclude(live)}.get(self.value() or "", queryset)


@admin.register(Attempt)
class AttemptAdmin(Record):
    list_display = ("of_step", "of_run", "number", "live", "claimed_by", "lease_until", "opened_at")
    list_filter = (LiveAttempts, process_filter("step__run__version__process__name"), "opened_at")
    list_select_related = ("step__run", "claimed_by")
    search_fields = ("=step__run__id", "=claimed_by__name")
    search_help_text = "A run's id, or an agent's name."
    ordering = ("-pk",)
    payload = ("handoff", "progress", "step__run__data", "step__run__inputs", "step__run__ended_note")
    far_lookups = ("step__run__id__exact",)
    fields = readonly_fields = (
        "of_step", "of_run", "number", "live", "opened_at", "claimed_by", "generation", "lease_until",
        "progress", "handoff_shown", "more",
    )  # fmt: skip

    @admin.display(description="live", boolean=True)
    def live(self, attempt: Attempt) -> bool:
        return attempt.live

    @admin.display(description="step")
    def of_step(self, attempt: Attempt) -> str:
        return attempt.step.name

    @admin.display(description="run", ordering="step__run")
    def of_run(self, attempt: Attempt) -> Any:
        return link(attempt.step.run)

    @admin.display(description="handoff")
    def handoff_shown(self, attempt: Attempt) -> Any:
        return payload(attempt.handoff)

    @admin.display(description="see also")
    def more(self, attempt: Attempt) -> SafeString:
        return list_link(Submission, "submissions", attempt__id__exact=str(attempt.pk))


@admin.register(Submission)
class SubmissionAdmin(Record):
    list_display = ("at", "process", "of_step", "of_run", "attempt_number", "state", "said", "answered", "by")
    list_filter = (
        word_filter("state", SubmissionState),
        word_filter("verdict__verdict", Word, "verdict"),
        process_filter("attempt__step__run__version__process__name"),
        value_filter(Verdict, "model", "verdict__model"),
        "at",
    )
    list_select_related = ("attempt__step__run__version__process", "verdict")
    search_fields = ("=attempt__step__run__id", "=by", "=request_id", "=digest")
    search_help_text = "A run's id, who handed in, a requestId, or a digest."
    ordering = ("-at",)
    payload = (
        "content", "attempt__handoff", "attempt__progress", "attempt__step__run__data", "attempt__step__run__inputs",
        "attempt__step__run__ended_note", "attempt__step__run__version__text",
    )  # fmt: skip
    far_lookups = ("attempt__step__run__id__exact",)
    fields = readonly_fields = (
        "id", "at", "process", "of_run", "of_step", "attempt_number", "number", "state", "by", "said",
        "answered", "facts_shown", "content_shown", "digest", "request_id", "errors",
    )  # fmt: skip

    @admin.display(description="facts")
    def facts_shown(self, submission: Submission) -> SafeString | None:
        results = FactResult.objects.filter(about=submission.pk)
        return render_to_string("admin/processes/_facts.html", {"results": results}) if results else None

    @admin.display(description="process")
    def process(self, submission: Submission) -> str:
        return str(submission.attempt.step.run.version)

    @admin.display(description="step")
    def of_step(self, submission: Submission) -> str:
        return submission.attempt.step.name

    @admin.display(description="run")
    def of_run(self, submission: Submission) -> Any:
        return link(submission.attempt.step.run)

    @admin.display(description="attempt")
    def attempt_number(self, submission: Submission) -> Any:
        return link(submission.attempt, str(submission.attempt.number))

    @admin.display(description="verdict", ordering="verdict__verdict")
    def said(self, submission: Submission) -> Any:
        verdict = submission.verdict
        return link(verdict, verdict.verdict) if verdict is not None else None

    @admin.display(description="model", ordering="verdict__model")
    def answered(self, submission: Submission) -> Any:
        return submission.verdict.model if submission.verdict is not None else None

    @admin.display(description="content")
    def content_shown(self, submission: Submission) -> Any:
        return payload(submission.content)


@admin.register(WorkItem)
class WorkItemAdmin(Record):
    list_display = ("id", "process", "of_step", "kind", "state", "escalated", "whose", "opened_at", "case")
    list_filter = (
        word_filter("state", ItemState),
        word_filter("kind", ("agent", "task", "approve")),
        "escalated",
        word_filter("decision", Decision),
        process_filter("run__version__process__name"),
        "opened_at",
    )
    list_select_related = ("run__version__process", "step", "group", "person")
    search_fields = ("=id", "=run__id", "=decided_by")
    search_help_text = "An item's or a run's id, or who decided."
    ordering = ("-opened_at",)
    payload = ("note", "run__data", "run__inputs", "run__ended_note", "run__version__text")
    fields = readonly_fields = (
        "id", "case", "process", "of_run", "of_step", "kind", "state", "escalated", "by", "note", "whose",
        "opened_at", "handed_in", "decision", "decided_by", "decided_at",
    )  # fmt: skip

    @admin.display(description="process")
    def process(self, item: WorkItem) -> str:
        return str(item.run.version)

    @admin.display(description="step")
    def of_step(self, item: WorkItem) -> Any:
        return link(item.step, item.step.name)

    @admin.display(description="run")
    def of_run(self, item: WorkItem) -> Any:
        return link(item.run)

    @admin.display(description="for")
    def whose(self, item: WorkItem) -> str:
        return whose(item)

    @admin.display(description="case")
    def case(self, item: WorkItem) -> Any:
        return _case(item)

    @admin.display(description="candidate")
    def handed_in(self, item: WorkItem) -> Any:
        return link(item.candidate, "the submission") if item.candidate is not None else None


@admin.register(HistoryEntry)
class HistoryEntryAdmin(Record):
    list_display = ("at", "of_run", "number", "what", "step", "by", "attempt", "said")
    list_filter = (process_filter("run__version__process__name"), word_filter("what", HistoryEvent), "at")
    list_select_related = ("run", "verdict")
    search_fields = ("=run__id", "=by")
    search_help_text = "A run's id, or who did it."
    ordering = ("-pk",)
    payload = ("note", "receipt", "run__data", "run__inputs", "run__ended_note")
    fields = readonly_fields = ("of_run", "number", "at", "what", "step", "by", "attempt", "note", "said")

    @admin.display(description="run", ordering="run")
    def of_run(self, entry: HistoryEntry) -> Any:
        return link(entry.run)

    @admin.display(description="verdict")
    def said(self, entry: HistoryEntry) -> Any:
        return link(entry.verdict, entry.verdict.verdict) if entry.verdict is not None else None


@admin.register(Upload)
class UploadAdmin(Record):
    list_display = ("at", "file_name", "content_type", "size", "by")
    list_filter = ("at",)
    search_fields = ("=id", "=file_name", "=by", "=sha256")
    search_help_text = "A file's id, name or hash, or who uploaded it."
    ordering = ("-at",)
    fields = readonly_fields = ("id", "file_name", "content_type", "size", "sha256", "by", "at")


@admin.register(Request)
class RequestAdmin(Record):
    """Writes that succeeded. What they answered is not shown: it is kept for replays only."""

    list_display = ("at", "tool", "caller", "of_run", "request_id")
    list_filter = (word_filter("tool", [name for name, tool in TOOLS.items() if tool.writes]), "at")
    list_select_related = ("run",)
    search_fields = ("=request_id", "=run__id", "=caller")
    search_help_text = "A requestId, a run's id, or a caller."
    ordering = ("-at",)
    payload = ("result", "run__data", "run__inputs", "run__ended_note")
    fields = readonly_fields = ("request_id", "tool", "caller", "of_run", "digest", "at")

    @admin.display(description="run")
    def of_run(self, request: Request) -> Any:
        return link(request.run) if request.run is not None else None
