"""The pages that anybody may see: signing in, and the documentation of the API."""

import pytest

from tests.browser.looking import accessible

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390], ids=["wide", "phone"])
@pytest.mark.parametrize("path", ["/sign-in/", "/v1/docs"])
def test_they_are_accessible(browse, path, width, dark):
    watched = browse(width=width, dark=dark)
    page = watched.page()
    page.goto(watched.base + path)
    accessible(page)


def test_a_wrong_password_is_said_accessibly(browse):
    watched = browse()
    page = watched.page()
    page.goto(f"{watched.base}/sign-in/")
    page.fill("input[name=username]", "nobody")
    page.fill("input[name=password]", "wrong")
    page.keyboard.press("Enter")
    page.get_by_role("alert").wait_for()
    accessible(page)
