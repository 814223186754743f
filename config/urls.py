from django.contrib import admin
from django.templatetags.static import static
from django.urls import include, path
from django.utils.functional import lazy
from django.views.generic import RedirectView

from checks.judge import pages
from checks.receipts import api as receipts

urlpatterns = [
    # before the protocol's, whose last pattern takes any name for a tool's
    path("v1/", include("checks.urls")),
    path("v1/", include("processes.urls")),
    path(".well-known/jwks.json", receipts.jwks, name="jwks"),
    path("try/", pages.try_it, name="try"),
    path("dashboard/", pages.dashboard, name="dashboard"),
    path("admin/", admin.site.urls),
    # browsers ask for it before they have read a page
    path("favicon.ico", RedirectView.as_view(url=lazy(static, str)("countersign/icon.svg"))),
    path("", include("approvals.urls")),
]
