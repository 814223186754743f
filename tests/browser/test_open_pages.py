"""The pages that anybody may see: signing in, and the documentation of the API."""

import pytest
from playwright.sync_api import expect

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


@pytest.mark.parametrize("width", [1440, 820, 390, 320])
def test_try_and_dashboard_are_reached_from_the_queue(browse, world, width):
    world.user("ada", is_staff=True, is_superuser=True)
    page = browse(width=width, dark=width == 390).sign_in("ada")
    more = page.get_by_role("button", name="More")
    nav = page.get_by_role("navigation", name="Countersign")
    assert nav.evaluate("nav => nav.scrollWidth <= nav.clientWidth"), "nothing is cut off"
    for name in ("Try the judge", "Dashboard"):
        link = nav.get_by_role("link", name=name)
        if width < 832:
            expect(link).to_be_hidden()
            more.press("Enter")
            below = more.bounding_box()
            assert link.bounding_box()["y"] >= below["y"] + below["height"]
            assert link.bounding_box()["height"] >= 36
        accessible(page)
        link.click()
        expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()
        expect(nav.locator("[aria-current=page]")).to_have_text(name)
        expect(page.get_by_role("button", name="Log out")).to_be_visible()
        accessible(page)
