"""Processes: the list, and the pages under it."""

from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, Max, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import path, reverse

from processes import publishing
from processes.admin import costs, pages
from processes.admin.tuning import Tuning
from processes.models import Process, Version


class InUseFilter(admin.SimpleListFilter):
    title = "standing"
    parameter_name = "standing"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("use", "in use"), ("draft", "with a draft"), ("retired", "retired")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        match self.value():
            case "use":
                return queryset.filter(retired_at__isnull=True, in_use__isnull=False)
            case "draft":
                return queryset.filter(has_draft=True)
            case "retired":
                return queryset.filter(retired_at__isnull=False)
        return queryset


@admin.register(Process)
class ProcessAdmin(Tuning):
    list_display = ("name", "version", "draft", "runs", "retired_at")
    list_filter = (InUseFilter,)
    search_fields = ("name",)
    actions = ("retire", "take_back")
    show_full_result_count = False

    # permissions: all of it is about versions

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("processes.add_version")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm("processes.change_version")

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        may = ("view_process", "view_version", "add_version", "change_version")
        return any(request.user.has_perm(f"processes.{name}") for name in may)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    # the list

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        drafts = Version.objects.filter(process=OuterRef("pk"), published_at__isnull=True)
        found: QuerySet[Any] = (
            super()
            .get_queryset(request)
            .annotate(
                in_use=Max("versions__number", filter=Q(versions__published_at__isnull=False)),
                has_draft=Exists(drafts),
                run_count=pages.runs_of("version__process"),
            )
        )
        return found

    @admin.display(description="version in use", ordering="in_use")
    def version(self, process: Any) -> Any:
        return process.in_use

    @admin.display(description="draft", boolean=True, ordering="has_draft")
    def draft(self, process: Any) -> bool:
        return bool(process.has_draft)

    @admin.display(description="runs", ordering="run_count")
    def runs(self, process: Any) -> int:
        return int(process.run_count)

    @admin.action(description="Retire: no new runs, running ones go on", permissions=["change"])
    def retire(self, request: HttpRequest, queryset: QuerySet[Process]) -> None:
        self._retire(request, queryset.filter(retired_at__isnull=True), retired=True)

    @admin.action(description="Take back into use", permissions=["change"])
    def take_back(self, request: HttpRequest, queryset: QuerySet[Process]) -> None:
        self._retire(request, queryset.filter(retired_at__isnull=False), retired=False)

    def _retire(self, request: HttpRequest, processes: QuerySet[Process], *, retired: bool) -> None:
        found = list(processes)
        publishing.retire(*found, retired=retired)
        done = "Retired." if retired else "Taken back into use."
        LogEntry.objects.log_actions(cast("User", request.user).pk, found, CHANGE, done)
        names = [process.name for process in found]
        said = "retired" if retired else "taken back into use"
        self.message_user(
            request,
            f"{', '.join(names)}: {said}." if names else "Nothing was changed.",
            messages.SUCCESS if names else messages.WARNING,
        )

    # the pages

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        return super().changelist_view(request, {"title": "Processes", **(extra_context or {})})

    def get_urls(self) -> list[Any]:
        wrap = self.admin_site.admin_view
        place = "<int:process_id>/versions/<int:version_id>/"
        own = [
            path("costs/", wrap(self.costs_page), name="processes_costs"),
            path(place, wrap(self.version_page), name="processes_version"),
            path(f"{place}thresholds/", wrap(self.thresholds_page), name="processes_version_thresholds"),
        ]
        return own + super().get_urls()

    def costs_page(self, request: HttpRequest) -> HttpResponse:
        return costs.page(request, self.admin_site, self.opts)

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        return self.import_page(request)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: Any = None,
    ) -> HttpResponse:
        """A process's page is that of its draft, else of the version in use."""
        if not self.has_view_or_change_permission(request):
            raise PermissionDenied
        process = get_object_or_404(Process, pk=object_id if object_id.isdecimal() else 0)
        version = pages.drafted(process) or publishing.latest(process)
        if version is None:
            return HttpResponseRedirect(reverse("admin:processes_process_add"))
        return HttpResponseRedirect(reverse("admin:processes_version", args=[process.pk, version.pk]))
