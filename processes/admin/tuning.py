"""The page on which a published process's thresholds are set. Saving drafts the next version."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse

from checks import limits
from checks.replay import Replayed
from processes import publishing
from processes.admin import pages, replays
from processes.admin.editing import Editing, by, not_yours, page_of
from processes.admin.forms import MAX_CHANGE, NumbersForm
from processes.admin.pages import Notice
from processes.document import Document
from processes.models import Process, Version
from processes.thresholds import Change, ThresholdsError, changes, edit


class Tuning(Editing):
    """The page of the admin of processes that sets thresholds."""

    def thresholds_page(self, request: HttpRequest, process_id: int, version_id: int) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        version = get_object_or_404(
            Version.objects.select_related("process"),
            pk=version_id,
            process=process_id,
            published_at__isnull=False,
        )
        document = publishing.examine(version.text).document
        if document is None or not any(step.check for step in document.steps.values()):
            raise Http404("This version has no questions.")
        posted = request.POST if request.method == "POST" else None
        server = limits.current()
        form = NumbersForm(document, server, posted)
        notice: Notice | None = None
        if posted is not None and posted.get("action") == "replay":
            found = (
                replays.of_process(version.process, document, form.wanted(), server)
                if form.is_valid()
                else []
            )
            return self._show_numbers(request, version, document, form, notice, found)
        if posted is not None and form.is_valid():
            done = self._draft_numbers(request, version, form)
            if isinstance(done, Version):
                return HttpResponseRedirect(f"{page_of(done)}#differences")
            notice = done
        return self._show_numbers(request, version, document, form, notice)

    def _draft_numbers(
        self, request: HttpRequest, version: Version, form: NumbersForm
    ) -> Version | Notice | None:
        """The next version's draft with these numbers, unless a draft is there that nobody said to replace."""
        try:
            found = changes(version.text, form.wanted())
            text = edit(version.text, form.wanted())
        except ThresholdsError as error:
            more = " ".join(issue.message for issue in error.issues)
            return Notice(text=str(error), more=more)
        if not found:
            return Notice(text="No number differs, so nothing was drafted.")
        with transaction.atomic():
            Process.objects.select_for_update().get(pk=version.process_id)
            there = pages.drafted(version.process)
            if there is not None and request.POST.get("replace") != pages.stamp(there):
                return None  # the page asks
            if there is not None and not self.has_change_permission(request):
                return not_yours(version.process.name)
            change = form.cleaned_data["change"] or _told(found)
            kept = publishing.draft(text, by=by(request), change=change)
            self.log_change(request, version.process, f"Drafted thresholds. {_told(found)}")
        messages.success(
            request,
            f"The draft with these numbers is kept; version {version.number} stays in use until it is published.",
        )
        return kept

    def _show_numbers(
        self,
        request: HttpRequest,
        version: Version,
        document: Document,
        form: NumbersForm,
        notice: Notice | None,
        found: list[tuple[str, Replayed]] | None = None,
    ) -> HttpResponse:
        """`found`: how the last verdicts would have come out, where that was asked."""
        there = pages.drafted(version.process)
        in_use = publishing.latest(version.process)
        known = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": f"Thresholds of {version.process.name}",
            "process": version.process,
            "version": version,
            "in_use": in_use,
            "form": form,
            "rows": list(form.rows()),
            "document": document,
            "draft": there,
            "draft_stamp": pages.stamp(there),
            "asks": there is not None
            and form.is_bound
            and form.is_valid()
            and notice is None
            and found is None,
            "replays": found or [],
            "notice": notice,
        }
        return TemplateResponse(request, "admin/processes/thresholds.html", known)


def _told(found: tuple[Change, ...]) -> str:
    text = "; ".join(map(str, found))
    return text if len(text) <= MAX_CHANGE else text[: MAX_CHANGE - 1] + "…"
