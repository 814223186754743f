"""Middleware: a form that is larger than any page's is refused before its files are read, and so is an address of the admin
with a character that PostgreSQL has not.

The REST door bounds its own bodies, by tool, and the judge's views theirs (`bounds_its_body`); a page may take less than
others do (`form_bytes`). Whoever sent a form keeps the page with all that was typed.
"""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from rest_framework.views import APIView

from approvals.reading import words
from approvals.screens import frame
from checks import sizes


class Bodies:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self._get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: Any, kwargs: Any
    ) -> HttpResponse | None:
        if issubclass(getattr(view, "cls", object), APIView) or getattr(view, "bounds_its_body", False):
            return None
        # our own pages and doors look for themselves
        if request.path.startswith("/admin/") and _holds_nul(request):
            raise Http404("No address of the admin holds a NUL.")
        size = sizes.told(request.META)
        chunked = "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "").lower()
        most = min(settings.MAX_FORM_BYTES, getattr(view, "form_bytes", settings.MAX_FORM_BYTES))
        if not chunked and size is not None and size <= most:
            return None
        return _too_large(request, most)


def _holds_nul(request: HttpRequest) -> bool:
    return "\x00" in request.path or "%00" in request.META.get("QUERY_STRING", "")


def _too_large(request: HttpRequest, most: int) -> HttpResponse:
    advice = (
        "Attach fewer or smaller files." if most == settings.MAX_FORM_BYTES else "Shorten what you typed."
    )
    text = f"The form was larger than {words.size(most)} and was not sent. {advice}"
    if frame.htmx(request):
        return frame.toast(request, text)
    context = {"title": "Too large", "text": f"{text} Your browser's back button leads to what you typed."}
    return render(request, "refused.html", context, status=413)
