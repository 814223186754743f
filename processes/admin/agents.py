"""Agents: made with a key that is shown once, limited, revoked."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.widgets import RelatedFieldWidgetWrapper
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import path, reverse

from processes import agents
from processes.models import Agent


class AgentForm(forms.ModelForm):  # type: ignore[type-arg]  # generic in the stubs only
    class Meta:
        model = Agent
        fields = ("name", "vouched_by", "limited", "processes")
        widgets = {"processes": forms.CheckboxSelectMultiple}

    def clean(self) -> dict[str, Any]:
        found: dict[str, Any] = super().clean() or {}
        limited, chosen = found.get("limited"), found.get("processes")
        if limited and not chosen:
            self.add_error("processes", "A limited agent needs a process that it may work. Choose one.")
        elif chosen and not limited:
            self.add_error("limited", "Tick this, so that the processes below count, or choose none of them.")
        return found


class RevokedFilter(admin.SimpleListFilter):
    title = "key"
    parameter_name = "key"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("live", "live"), ("revoked", "revoked")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Agent]) -> QuerySet[Agent]:
        if self.value() in {"live", "revoked"}:
            return queryset.filter(key__revoked_at__isnull=self.value() == "live")
        return queryset


@admin.register(Agent)
class AgentAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # generic in the stubs only
    """What an agent did stays on record under its name, so that it is never deleted or renamed."""

    form = AgentForm
    list_display = ("name", "prefix", "created_at", "revoked", "limited", "vouched_by")
    list_filter = (RevokedFilter, "limited")
    list_select_related = ("key", "vouched_by")
    search_fields = ("name", "key__prefix")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_fields(self, request: HttpRequest, obj: Agent | None = None) -> tuple[str, ...]:
        asked = ("name", "vouched_by", "limited", "processes")
        return asked if obj is None else (*asked, "prefix", "created_at", "revoked")

    def get_readonly_fields(self, request: HttpRequest, obj: Agent | None = None) -> tuple[str, ...]:
        return () if obj is None else ("name", "prefix", "created_at", "revoked")

    @admin.display(description="key")
    def prefix(self, agent: Agent) -> str:
        return f"cs_{agent.key.prefix}_…"

    @admin.display(description="revoked", ordering="key__revoked_at")
    def revoked(self, agent: Agent) -> Any:
        return agent.key.revoked_at or "no"

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Without the buttons that would make or change users and processes from here."""
        found = super().formfield_for_dbfield(db_field, request, **kwargs)
        if isinstance(wrapper := getattr(found, "widget", None), RelatedFieldWidgetWrapper):
            wrapper.can_add_related = wrapper.can_change_related = False
            wrapper.can_delete_related = wrapper.can_view_related = False
        return found

    # making one

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:  # noqa: FBT001 - Django's signature
        if not change:
            made, obj.shown_once = agents.create(obj.name)
            obj.pk, obj.key, obj._state.adding = made.pk, made.key, False
        obj.save(update_fields=["vouched_by", "limited"])

    def response_add(
        self, request: HttpRequest, obj: Any, post_url_continue: str | None = None
    ) -> HttpResponse:
        """The key is in this answer and nowhere else: not stored, not in the session, not in a log."""
        return self._key_page(request, obj, obj.shown_once, title=f"Agent {obj.name} is made")

    def _key_page(self, request: HttpRequest, agent: Agent, key: str, *, title: str) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": title,
            "agent": agent,
            "key": key,
            "site": settings.SITE_URL,
            "tools": f"{settings.SITE_URL}/v1",
        }
        return TemplateResponse(request, "admin/processes/key.html", context)

    # revoking, and a new key

    def get_urls(self) -> list[Any]:
        wrap = self.admin_site.admin_view
        own = [
            path("<int:pk>/revoke/", wrap(self.revoke_page), name="processes_agent_revoke"),
            path("<int:pk>/new-key/", wrap(self.new_key_page), name="processes_agent_new_key"),
        ]
        return own + super().get_urls()

    def _agent(self, request: HttpRequest, pk: int) -> Agent:
        if not self.has_change_permission(request):
            raise PermissionDenied
        return get_object_or_404(Agent.objects.select_related("key"), pk=pk)

    def _confirm(self, request: HttpRequest, agent: Agent, title: str, told: str, verb: str) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": title,
            "agent": agent,
            "told": told,
            "verb": verb,
        }
        return TemplateResponse(request, "admin/processes/confirm.html", context)

    def revoke_page(self, request: HttpRequest, pk: int) -> HttpResponse:
        agent = self._agent(request, pk)
        if request.method != "POST":
            told = (
                "It can't call any more, at once and for good. What it did stays on record, and what it has "
                "claimed is free again when the lease ends. A new key would bring it back."
            )
            return self._confirm(request, agent, f"Revoke {agent.name}?", told, "Revoke")
        if agent.key.revoked_at is None:
            with transaction.atomic():
                agents.revoke(agent)
                self.log_change(request, agent, "Revoked.")
        messages.success(request, f"Agent {agent.name} is revoked.")
        return HttpResponseRedirect(reverse("admin:processes_agent_change", args=[pk]))

    def new_key_page(self, request: HttpRequest, pk: int) -> HttpResponse:
        agent = self._agent(request, pk)
        if request.method != "POST":
            told = f"The key cs_{agent.key.prefix}_… is dead at once, and the new one is shown once, on the next page."
            return self._confirm(request, agent, f"A new key for {agent.name}?", told, "Make a new key")
        with transaction.atomic():
            key = agents.new_key(agent)
            self.log_change(request, agent, "Gave it a new key; the old one is dead.")
        return self._key_page(request, agent, key, title=f"Agent {agent.name} has a new key")
