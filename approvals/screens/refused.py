"""Refusals that concern no page in particular. Whoever had typed something keeps it, and is told how to send it."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from approvals.screens import frame

FORBIDDEN = 403


def csrf(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form whose token is of another session, mostly of before a new sign-in in another tab, or that came without the
    cookie (`CSRF_FAILURE_VIEW`). The page gets the new token with the answer: where there are cookies, sending again is enough.
    """
    if frame.htmx(request):
        text = (
            "Not sent: somebody signed in or out here since this page was opened, or this browser keeps no cookies. Send it "
            "once more; if it is refused again, allow cookies for this site."
        )
        return frame.toast(request, text, status=FORBIDDEN, renew=True)
    text = (
        "Nothing was sent: somebody signed in or out here since the page was opened, or this browser keeps no cookies. Your "
        "browser's back button leads to what you typed; copy it, allow cookies for this site, reload the page, and send it "
        "again."
    )
    return render(request, "refused.html", {"title": "Not sent", "text": text}, status=FORBIDDEN)
