"""The pages on which a process's text is imported, kept as a draft, and published."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse

from checks.receipts.keys import NoKeyError
from processes import published_proof
from processes.admin import pages
from processes.admin.forms import Entered, RolesForm, entered, is_crlf
from processes.admin.pages import Notice
from processes.models import Process, Version
from processes.publishing import (
    Examined,
    RefusedError,
    RoleMap,
    draft,
    examine,
    is_in_force,
    latest,
    proposal,
    publish,
)

NOTHING = Examined(document=None, issues=())
UNSOUND = Notice(text="Nothing was kept, since the text has issues.", more="It is all still here, below.")


def by(request: HttpRequest) -> str:
    """Who did it, as records say."""
    return f"person:{request.user.get_username()}"


def page_of(version: Version) -> str:
    return reverse("admin:processes_version", args=[version.process_id, version.pk])


class Editing(admin.ModelAdmin):  # type: ignore[type-arg]  # generic in the stubs only
    """The pages of the admin of processes that import, show, keep and publish a text."""

    def import_page(self, request: HttpRequest) -> HttpResponse:
        """A text that is pasted or uploaded, checked, and kept as a draft."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        if request.method != "POST":
            text = self._start(request)
            return self._show(request, None, None, text, examine(text.text) if text.text else NOTHING)
        text = entered(request)
        examined = examine(text.text) if text.text.strip() and "file" not in text.errors else NOTHING
        notice = None
        if not text.text.strip() and not text.errors:
            text.errors["text"] = "Paste a process file, or choose one."
        elif request.POST.get("action") == "save" and not text.errors:
            kept = self._keep(request, text, examined)
            if isinstance(kept, Version):
                return HttpResponseRedirect(page_of(kept))
            notice = kept
        return self._show(request, None, None, text, examined, notice=notice)

    def version_page(self, request: HttpRequest, process_id: int, version_id: int) -> HttpResponse:
        """A version: a draft to edit, map and publish; a published one to read."""
        if not self.has_view_or_change_permission(request):
            raise PermissionDenied
        version = get_object_or_404(
            published_proof.with_heads(Version.objects.select_related("process", "escalations")),
            pk=version_id,
            process=process_id,
        )
        if request.method == "POST":
            if not self.has_change_permission(request):
                raise PermissionDenied
            return self._act(request, version)
        text = Entered(
            text=version.text, change=version.change, seen=pages.stamp(version), crlf=is_crlf(version.text)
        )
        examined = examine(version.text)
        if version.published_at:  # what a server can't run any more is no issue of a text that is in use
            examined = Examined(document=examined.document, issues=())
        return self._show(request, version.process, version, text, examined, chosen=request.GET)

    def _start(self, request: HttpRequest) -> Entered:
        """An empty page, or the text of a version to go on from."""
        pk = request.GET.get("from", "")
        if not pk:
            return Entered()
        if not pk.isdecimal() or (version := Version.objects.filter(pk=pk).first()) is None:
            raise Http404("There is no such version.")
        return Entered(text=version.text, crlf=is_crlf(version.text))

    def _act(self, request: HttpRequest, version: Version) -> HttpResponse:
        """One of the three buttons of a draft's page."""
        text, process, action = entered(request), version.process, request.POST.get("action")
        examined = pages.named_otherwise(process, examine(text.text))
        done: Version | Notice | None = None
        if version.published_at:
            done = Notice(
                text=f"Version {version.number} was published meanwhile, so nothing was changed.",
                more="Your text is below. Keep it as the next draft with Import.",
                kind="stale",
            )
            return self._show(request, process, None, text, examined, notice=done, chosen=request.POST)
        if action == "save" and not text.errors:
            done = self._keep(request, text, examined)
        elif action == "publish":
            done = self._publish(request, version, text, examined)
        if isinstance(done, Version):
            chosen = {} if done.published_at else _chosen(request, examined)
            return HttpResponseRedirect(page_of(done) + (f"?{urlencode(chosen)}" if chosen else ""))
        posted = request.POST if action == "publish" else None
        return self._show(
            request, process, version, text, examined, notice=done, roles=posted, chosen=request.POST
        )

    def _keep(self, request: HttpRequest, text: Entered, examined: Examined) -> Version | Notice:
        """Keep a sound text as its process's draft; a notice where that can't be, or would replace a draft
        that was not on the page.
        """
        if examined.document is None:
            return UNSOUND
        with transaction.atomic():
            name = examined.document.name
            Process.objects.select_for_update().filter(name=name).first()
            there = pages.drafted(name)
            if there is not None and not self.has_change_permission(request):
                return not_yours(name)
            if pages.stamp(there) != text.seen:
                text.seen = pages.stamp(there)
                return _other_draft(there, name)
            kept = draft(text.text, by=by(request), change=text.change)
            if there is None and kept.process.versions.count() == 1:
                self.log_addition(request, kept.process, "Imported and kept as a draft.")
            else:
                self.log_change(request, kept.process, f"Kept a draft. {text.change}".strip())
        messages.success(request, f"The draft of {name} is kept.")
        return kept

    def _publish(
        self, request: HttpRequest, version: Version, text: Entered, examined: Examined
    ) -> Version | Notice | None:
        if text.seen != pages.stamp(version):
            return Notice(
                text="Somebody changed the draft meanwhile, so nothing was published.",
                more="Your text is below. Keeping it replaces the draft that is there now.",
                kind="stale",
            )
        if text.text != version.text or text.change != version.change:
            return Notice(
                text="You changed the text, so nothing was published.", more="Keep the draft first."
            )
        if examined.document is None:
            return None
        newest = latest(version.process)
        form = RolesForm(examined.document, proposal(examined.document, newest), request.POST)
        if not form.is_valid():
            more = " ".join(
                ["Choose a group for each role."] * any(name.startswith("role-") for name in form.errors)
                + ["Say whether the model may see its runs."] * ("consent" in form.errors)
            )
            return Notice(text="Nothing was published.", more=more or "Look at what is marked below.")
        mapping = form.mapping()
        if (same := is_in_force(newest, examined.document, mapping)) is not None:
            return Notice(
                text=f"Version {same.number} says the same already, with the same groups.",
                more="Publishing the draft would change nothing.",
            )
        return self._publish_with(request, version, mapping)

    def _publish_with(self, request: HttpRequest, version: Version, mapping: RoleMap) -> Version | Notice:
        try:
            with transaction.atomic():
                done = publish(version, mapping, by=by(request))
                self.log_change(request, version.process, f"Published version {done.number}.")
        except RefusedError as error:
            return Notice(text="Nothing was published.", more=" ".join(i.message for i in error.issues))
        except NoKeyError as error:
            return Notice(text="Nothing was published, for it can't be signed.", more=str(error))
        messages.success(request, f"Version {done.number} of {version.process} is published.")
        return done

    def _show(
        self,
        request: HttpRequest,
        process: Process | None,
        version: Version | None,
        text: Entered,
        examined: Examined,
        *,
        notice: Notice | None = None,
        roles: Any = None,
        chosen: Any = None,
    ) -> HttpResponse:
        """`roles`: a mapping that was posted and is judged; `chosen`: one that is only kept on the page."""
        known = {
            **self.admin_site.each_context(request),
            **pages.context(process, version, text, examined, roles=roles),
            "opts": self.opts,
            "title": process.name if process is not None else "Import a process",
            "notice": notice,
            "may_import": self.has_add_permission(request),
            "may_change": self.has_change_permission(request),
        }
        if chosen:
            groups = {
                name: chosen[name] for name in chosen if name.startswith("role-") or name == "escalations"
            }
            known["chosen"] = groups
            for name, made in known["roles"].fields.items() if known["roles"] is not None else ():
                made.initial = groups.get(name, made.initial)
        return TemplateResponse(request, "admin/processes/version.html", known)


def _chosen(request: HttpRequest, examined: Examined) -> dict[str, str]:
    """Groups that were chosen before the draft was kept, to be there on the next page too."""
    if examined.document is None:
        return {}
    names = [*(f"role-{role}" for role in examined.document.roles), "escalations"]
    return {name: request.POST[name] for name in names if name in request.POST}


def not_yours(name: str) -> Notice:
    return Notice(
        text=f"{name} has a draft, and you may not replace one. Nothing was kept.",
        more="Ask somebody who may change versions. Your text is below.",
    )


def _other_draft(there: Version | None, name: str) -> Notice:
    if there is None:
        return Notice(
            text=f"The draft of {name} is gone: it was published or replaced meanwhile.",
            more="Nothing was kept yet. Your text is below; keep it again to make a new draft.",
            kind="stale",
        )
    return Notice(
        text=f"{name} has a draft already, by {there.created_by} of {there.created_at:%d %B %Y, %H:%M} UTC.",
        more="Nothing was kept yet. Keep yours again to replace it.",
        kind="stale",
    )
