"""What the read-only pages share: no button that changes anything, lists without payloads, filters, JSON."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import quote
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from checks import codec
from checks.admin_records import Written
from processes.models import Process

EMPTY = "–"


class Record(Written):
    """Rows of runs."""

    # look-ups from a run's page that Django would refuse as too far away
    far_lookups: tuple[str, ...] = ()
    empty_value_display = EMPTY

    class Media:
        css = {"all": ["countersign/records.css"]}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        found = super().get_queryset(request)
        related = self.list_select_related
        return found if isinstance(related, bool) else found.select_related(*related)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        return lookup in self.far_lookups or super().lookup_allowed(lookup, value, request)


def process_filter(lookup: str) -> type[admin.SimpleListFilter]:
    """By the name of the process that `lookup` leads to. Loads the names, and nothing else."""

    class ProcessFilter(admin.SimpleListFilter):
        title = "process"
        parameter_name = "process"

        def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
            return [(name, name) for name in Process.objects.order_by("name").values_list("name", flat=True)]

        def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
            return queryset.filter(**{lookup: self.value()}) if self.value() else queryset

    return ProcessFilter


def word_filter(column: str, words: Iterable[str], named: str = "") -> type[admin.SimpleListFilter]:
    """By one of the words that a column may hold. Asks the database nothing."""
    choices = [(str(word) or "none", str(word).replace("_", " ") or "not reached") for word in words]

    class WordFilter(admin.SimpleListFilter):
        title = named or column
        parameter_name = named or column

        def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
            return choices

        def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
            value = self.value()
            if value not in dict(choices):
                return queryset
            return queryset.filter(**{column: "" if value == "none" else value})

    return WordFilter


def value_filter(model: type[Model], column: str, lookup: str) -> type[admin.SimpleListFilter]:
    """By one of the values that a column holds, those that are empty left out."""

    class ValueFilter(admin.SimpleListFilter):
        title = column
        parameter_name = column

        def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
            rows: QuerySet[Any] = QuerySet(model)
            held = rows.exclude(**{column: ""}).order_by(column).values_list(column, flat=True)
            return [(value, value) for value in held.distinct()]

        def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
            return queryset.filter(**{lookup: self.value()}) if self.value() else queryset

    return ValueFilter


def link(record: Model | None, text: str = "") -> SafeString | str:
    """To a record's own page in the admin."""
    if record is None:
        return EMPTY
    name = f"admin:{record._meta.app_label}_{record._meta.model_name}_change"
    return format_html('<a href="{}">{}</a>', reverse(name, args=[quote(record.pk)]), text or str(record))


def list_link(model: type[Model], text: str, **query: str) -> SafeString:
    """To the rows of a model that belong to something."""
    address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist", query=query)
    return format_html('<a href="{}">{}</a>', address, text)


def case_link(item: str, text: str = "open as a case") -> SafeString | str:
    """To the page on which people see a work item, where that screen is installed."""
    try:
        return format_html('<a href="{}">{}</a>', reverse("case", args=[item]), text)
    except NoReverseMatch:
        return EMPTY


def whose(row: Any) -> str:
    """Who is asked: a group, a person, or else the operators."""
    return str(row.group or row.person or "the operators")


def payload(text: str) -> SafeString | str:
    """JSON as people read it; anything else as it is. Escaped either way."""
    if not text:
        return EMPTY
    with suppress(codec.CodecError):
        text = codec.pretty(codec.loads(text))
    return format_html('<pre class="payload">{}</pre>', text)
