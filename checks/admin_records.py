"""What the admin's pages of records share: nobody changes them here, whatever the permissions, and lists load no payload."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest


class ReadOnly:
    """Nobody changes or deletes a record here."""

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class Written(ReadOnly, admin.ModelAdmin):  # type: ignore[type-arg]  # generic in the stubs only
    """Rows that the server alone writes. To be looked at with the view permission."""

    # columns that lists never load; a page asks for its own
    payload: tuple[str, ...] = ()
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        found: QuerySet[Any] = super().get_queryset(request)
        return found.defer(*self.payload) if self.payload else found
