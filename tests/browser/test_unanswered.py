"""Requests that come to nothing: the page stays as it is, keeps what was typed, and says so."""

import pytest
from playwright.sync_api import expect

from tests.approvals.builders import UNSURE, Desk
from tests.browser.looking import accessible, settled

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGE = "<!DOCTYPE html><html><head><title>503</title></head><body><h1>Service Unavailable</h1></body></html>"
AGAIN = "All you typed is still here. Send it again: nothing is done twice."
LOGGED = ("Failed to load resource", "htmx", "Response Status Error", "503 ", "500 ")
NOTE = "Search again, with the terms."


@pytest.fixture
def desk(world, evaluator):
    made = Desk(world, evaluator)
    world.user("ada", "Finance", "Support", "Procurement")
    made.supplier("Marlow Paper", [0.7, ("states", 0.91), (2, 0.9)])
    made.supplier("Harbour Tooling", UNSURE)
    return made


@pytest.fixture
def watched(browse):
    """What browser and htmx write to the console is what these tests are about; anything else is a complaint."""
    opened = browse()
    yield opened
    opened.complaints[:] = [said for said in opened.complaints if not any(word in said for word in LOGGED)]


def typed(page):
    page.keyboard.press("r")
    page.keyboard.type(NOTE)
    page.keyboard.press("Control+Enter")


def sent_by(page):
    expect(page.locator("#work h1")).to_have_text("Marlow Paper")
    settled(page)
    return page


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"status": 500, "body": PAGE, "content_type": "text/html"}, f"The server could not do this. {AGAIN}"),
        ({"status": 503, "body": PAGE, "content_type": "text/html"}, f"The server could not do this. {AGAIN}"),
        ({"status": 503, "body": "no healthy upstream", "content_type": "text/plain"}, "The server could not do this."),
        ({"status": 413, "body": PAGE, "content_type": "text/html"}, "larger than the server takes. All you typed"),
        (None, f"The server did not answer. {AGAIN}"),
    ],
    ids=["fault", "proxy", "plain", "large", "network"],
)  # fmt: skip
def test_a_decision_that_is_not_answered_stays_typed(watched, desk, answer, said):
    page = sent_by(watched.sign_in("ada"))
    path = "**/items/*/decide/"
    page.route(path, lambda route: route.fulfill(**answer) if answer else route.abort())
    typed(page)
    expect(page.locator("#toasts .toast")).to_contain_text(said)
    expect(page.locator("#work h1")).to_have_text("Marlow Paper")
    expect(page.locator("#decision textarea:visible")).to_have_value(NOTE)
    accessible(page)
    page.unroute(path)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#work h1")).to_have_text("Harbour Tooling")
    expect(page.locator("#toasts")).to_contain_text("Returned to screening-agent.")


@pytest.mark.parametrize("status", [500, 404, 0])
def test_a_row_that_does_not_open(watched, desk, status):
    page = sent_by(watched.sign_in("ada"))
    page.route(
        "**/items/*/", lambda route: route.fulfill(status=status, body=PAGE) if status else route.abort()
    )
    page.get_by_role("link", name="Harbour Tooling").click()
    said = {
        500: "The server could not do this.",
        404: "Nothing is there any more.",
        0: "The server did not answer.",
    }
    expect(page.locator("#toasts .toast")).to_contain_text(f"{said[status]} Try again in a moment.")
    expect(page.locator("#work h1")).to_have_text("Marlow Paper")
    page.get_by_role("button", name="Close").click()
    expect(page.locator("#toasts .toast")).to_have_count(0)


def test_looking_for_news_fails_silently(watched, desk):
    page = sent_by(watched.sign_in("ada"))
    asked = page.locator(".list-new").get_attribute("hx-get")
    page.route(f"**{asked}", lambda route: route.fulfill(status=500, body=PAGE))
    # what htmx does every fifteen seconds, now
    page.evaluate("path => htmx.ajax('GET', path, {source: '.list-new'})", asked)
    settled(page)
    expect(page.locator(".list-new")).to_contain_text("Nothing new since")
    expect(page.locator("#toasts .toast")).to_have_count(0)
