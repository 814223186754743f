"""The admin's frame, which every screen of Countersign stands in."""

from typing import Any

from django.contrib.admin import AdminSite
from django.http import HttpRequest, HttpResponse

from approvals.signing_in import BoundedAdminForm, told


class CountersignAdminSite(AdminSite):
    site_header = "Countersign"
    site_title = "Countersign"
    index_title = "Settings"
    site_url = "/"
    enable_nav_sidebar = False
    login_form = BoundedAdminForm

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        response = super().login(request, extra_context)
        return told(response, (getattr(response, "context_data", None) or {}).get("form"))
