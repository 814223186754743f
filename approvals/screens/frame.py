"""What every screen stands in: the admin's header with our sections, for people who may not enter the admin too."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, cast

from django.contrib import admin
from django.contrib.auth.models import AnonymousUser, Permission, User
from django.contrib.auth.views import redirect_to_login
from django.db.models import BooleanField, Exists, Q, Value
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

NAV = {"runs": "view_run", "processes": "view_process"}  # section → permission of the app `processes`


@dataclass(frozen=True, slots=True, kw_only=True)
class May:
    """Which sections of the admin this person may open."""

    runs: bool = False
    processes: bool = False
    settings: bool = False


def htmx(request: HttpRequest) -> HtmxDetails:
    """What HtmxMiddleware found out about the request."""
    return cast("HtmxDetails", request.htmx)  # type: ignore[attr-defined]


def person(request: HttpRequest) -> User:
    """Whoever is signed in; only for views behind `signed_in`."""
    return cast("User", request.user)


type View[**P] = Callable[Concatenate[HttpRequest, P], HttpResponseBase]


def signed_in[**P](view: View[P]) -> View[P]:
    """To the sign-in page and back. A fragment is never replaced by that page: htmx goes there instead. A form stays where
    it is, with what was typed.
    """

    @wraps(view)
    def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if request.user.is_authenticated:
            return view(request, *args, **kwargs)
        asked = htmx(request)
        if not asked:
            return redirect_to_login(request.get_full_path())
        if request.method == "POST":
            text = "Not sent: you are signed out. Sign in there, come back, and send it again; all you typed stays here."
            return toast(request, text, status=403, sign_in=True)
        here = asked.current_url_abs_path or "/"
        return HttpResponseClientRedirect(redirect_to_login(here).url)

    return guarded


def permissions(user: User | AnonymousUser) -> dict[str, Any]:
    """Annotations that tell which sections this person may open, to ride along on another statement."""
    if not user.is_staff or user.is_superuser:
        return {name: Value(bool(user.is_staff), output_field=BooleanField()) for name in NAV}
    theirs = Permission.objects.filter(
        Q(user=user) | Q(group__user=user), content_type__app_label="processes"
    )
    return {name: Exists(theirs.filter(codename=codename)) for name, codename in NAV.items()}


def may(user: User) -> May:
    """No statement, but one for staff who are no superusers."""
    if not user.is_staff or user.is_superuser:
        return May(runs=user.is_staff, processes=user.is_staff, settings=user.is_staff)
    found = User.objects.filter(pk=user.pk).annotate(**permissions(user)).values(*NAV).get()
    return May(**found, settings=True)


def context(title: str, *, waiting: int, sections: May, here: str = "") -> dict[str, Any]:
    """The frame's part of a page's context. `waiting`: what the queue holds; `here`: the section to mark."""
    return {
        "title": title,
        "site_header": admin.site.site_header,
        "site_title": admin.site.site_title,
        "has_permission": True,
        "waiting": waiting,
        "sections": sections,
        "here": here,
    }


def toast(request: HttpRequest, text: str, *, status: int = 200, **also: bool) -> HttpResponse:
    """For htmx: the page stays as it is, and says so. `also`: `sign_in` (a link to it), `renew` (the page's tokens)."""
    response = render(
        request, "approvals/_toasts.html", {"messages": [text], "stays": True, **also}, status=status
    )
    response.headers["HX-Retarget"], response.headers["HX-Reswap"] = "#toasts", "innerHTML"
    return response


def no_content() -> HttpResponse:
    return HttpResponse(status=204)
