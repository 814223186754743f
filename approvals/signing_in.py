"""Signing in, with a bound on tries (`approvals.tries`), on our page and on the admin's."""

from typing import Any

from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.core.exceptions import ValidationError
from django.http import HttpResponse

from approvals.tries import Try
from checks.rates import address_of

TOO_MANY = 429
_MINUTES_FROM = 120


class BoundedForm(AuthenticationForm):
    """`wait`: seconds, where there were too many tries; the password was not looked at then."""

    wait = 0

    def clean(self) -> dict[str, Any]:
        account, password = self.cleaned_data.get("username"), self.cleaned_data.get("password")
        if self.request is None or not account or not password:
            return super().clean()
        tried = Try(account, address_of(self.request))
        self.wait = tried.begin()
        if self.wait:
            raise ValidationError(
                f"Too many tries. Wait {_words(self.wait)}, then sign in again.", code="wait"
            )
        cleaned = super().clean()
        tried.succeeded()
        return cleaned


class BoundedAdminForm(BoundedForm, AdminAuthenticationForm):
    """The same on the admin's own page."""


def _words(seconds: int) -> str:
    if seconds >= _MINUTES_FROM:
        return f"{-(-seconds // 60)} minutes"
    return "1 second" if seconds == 1 else f"{seconds} seconds"


def told(response: HttpResponse, form: Any) -> HttpResponse:
    """With the status of a refusal that time mends, where it is one."""
    if wait := getattr(form, "wait", 0):
        response.status_code = TOO_MANY
        response.headers["Retry-After"] = str(wait)
    return response


class SignIn(LoginView):
    authentication_form = BoundedForm
    redirect_authenticated_user = True
    extra_context = {"title": "Sign in"}

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        return told(super().form_invalid(form), form)
