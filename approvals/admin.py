"""The queue to look at, rules on who may decide (also on a group's own page), and people and groups, who stay."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, User
from django.http import HttpRequest

from approvals.models import GroupRule, QueueEntry
from processes.admin.records import Record, case_link, link, process_filter, whose, word_filter


@admin.register(QueueEntry)
class QueueEntryAdmin(Record):
    list_display = ("case", "band", "least_sure", "process", "step", "kind", "whose", "due_at", "opened_at")
    list_filter = (
        "band",
        process_filter("process"),
        word_filter("kind", ("unsure", "escalated", "approve", "task")),
        "test",
        "due_at",
    )
    list_display_links = None
    list_select_related = ("group", "person")
    search_fields = ("=item__id", "subject", "=submitted_by")
    search_help_text = "A work item's id, words of its subject, or who handed in."
    ordering = ("band", "-least_sure", "due_at", "opened_at")
    fields = readonly_fields = (
        "case", "of_item", "band", "least_sure", "process", "version", "step", "kind", "subject",
        "submitted_by", "test", "verdict", "whose", "due_at", "opened_at",
    )  # fmt: skip

    @admin.display(description="case")
    def case(self, entry: QueueEntry) -> Any:
        return case_link(entry.pk, entry.subject or entry.pk)

    @admin.display(description="work item")
    def of_item(self, entry: QueueEntry) -> Any:
        return link(entry.item)

    @admin.display(description="for")
    def whose(self, entry: QueueEntry) -> str:
        return whose(entry)


@admin.register(GroupRule)
class GroupRuleAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # generic in the stubs only
    list_display = ("group", "forbid_own_work")
    list_filter = ("forbid_own_work",)
    list_select_related = ("group",)
    search_fields = ("group__name",)


class GroupRuleInline(admin.StackedInline):  # type: ignore[type-arg]  # generic in the stubs only
    model = GroupRule
    verbose_name = verbose_name_plural = "rule for its members' decisions"


admin.site.unregister([Group, User])


class Kept:
    """Records name people (`person:NAME`) and groups (`g_7`): another that came by that name would inherit what
    they did, and the log of a person's changes would go with the row. So neither is deleted.
    """

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Group)
class GroupAdmin(Kept, DjangoGroupAdmin):
    """Django's own, with the rule beside it. One that is not needed is emptied, or renamed for another use."""

    inlines = (GroupRuleInline,)


@admin.register(User)
class UserAdmin(Kept, DjangoUserAdmin):  # type: ignore[type-arg]  # generic in the stubs only
    """Django's own. Whoever leaves is no longer active."""
