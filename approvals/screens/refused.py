"""Refusals that concern no page in particular. Whoever had typed something keeps it, and is told how to send it."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from approvals.screens import frame

FORBIDDEN = 403


def csrf(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form whose token is of another session: mostly of before a new sign-in in another tab (`CSRF_FAILURE_VIEW`).
    The page gets the new token with the answer, so that sending again is enough.
    """
    if frame.htmx(request):
        text = "Not sent: you signed in anew since this page was opened. Send it once more."
        return frame.toast(request, text, status=FORBIDDEN, renew=True)
    text = (
        "Nothing was sent: you signed in anew since the page was opened, or your browser keeps no cookies. Your browser's "
        "back button leads to what you typed; copy it, reload the page, and send it again."
    )
    return render(request, "refused.html", {"title": "Not sent", "text": text}, status=FORBIDDEN)
