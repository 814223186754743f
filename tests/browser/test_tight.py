"""Where room is scarce: low windows, small phones, letters twice as large, a session that ended. Nothing is out of reach."""

import itertools
import json

import pytest
from playwright.sync_api import expect

from tests.approvals.builders import UNSURE, Desk
from tests.browser.conftest import Watched
from tests.conftest import CHROMIUM

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def desk(world, evaluator):
    made = Desk(world, evaluator)
    world.user("ada", "Finance", "Support", "Procurement")
    made.supplier("Marlow Paper", UNSURE)
    return made


@pytest.fixture
def large(chromium, live_server, tmp_path):
    """A browser whose reader set the device's letters to twice their size; media queries in rem follow that."""
    preferences = tmp_path / "Default" / "Preferences"
    preferences.parent.mkdir()
    preferences.write_text(json.dumps({"webkit": {"webprefs": {"default_font_size": 32}}}))
    context = chromium.browser_type.launch_persistent_context(
        str(tmp_path), executable_path=CHROMIUM, reduced_motion="reduce"
    )
    watched = Watched(context=context, base=live_server.url)
    yield watched
    context.close()
    assert watched.complaints == []


def box(page, selector):
    return page.locator(selector).filter(visible=True).first.bounding_box()


def in_reach(page, width, height):
    """The decision's bar and its Send are in the window; some of the case is above the bar."""
    bar, send = box(page, "#decision"), box(page, "#decision .btn-send")
    assert bar["y"] >= 0.1 * height and bar["y"] + bar["height"] <= height + 1
    assert send["y"] >= bar["y"] and send["y"] + send["height"] <= height + 1
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (1280, 560), (1024, 640), (390, 844), (320, 568)])
def test_every_choice_can_be_sent(browse, desk, width, height):
    watched = browse(width=width, height=height)
    page = watched.sign_in("ada")
    if width < 1180:
        page.goto(page.locator(".row-link").first.evaluate("link => link.href"))
    expect(page.locator("#decision")).to_be_visible()
    for choice in ("return", "changes", "fail"):
        page.locator(f'#decision [value="{choice}"]').check(force=True)
        in_reach(page, width, height)
    page.locator('#decision [value="changes"]').check(force=True)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#decision-notice")).to_be_visible()
    in_reach(page, width, height)
    page.locator("#decision textarea:visible, #decision input[type=text]:visible").last.focus()
    in_reach(page, width, height)
    watched.complaints[:] = [text for text in watched.complaints if "422" not in text]  # the refusal it was


@pytest.mark.parametrize("width", [1440, 390])
def test_with_letters_twice_as_large(large, desk, width):
    page = large.page()
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{large.base}/sign-in/")
    page.fill("input[name=username]", "ada")
    page.fill("input[name=password]", "pass-word-1")
    page.keyboard.press("Enter")
    expect(page.locator(".row-subject")).to_have_text("Marlow Paper")
    subject = page.locator(".row-subject")
    assert subject.evaluate("e => e.scrollWidth <= e.clientWidth")  # whole
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    expect(page.locator("#side")).to_be_hidden()  # three panes have no room
    subject.click()
    page.wait_for_url("**/items/*/")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    choices = [choice.bounding_box() for choice in page.locator(".dk span:visible").all()]
    for one, other in itertools.pairwise(choices):
        beside = one["y"] == other["y"]
        assert not beside or one["x"] + one["width"] <= other["x"] + 1  # no word over another


def test_a_session_that_ended_keeps_what_was_typed(browse, desk):
    watched = browse()
    page = watched.sign_in("ada")
    expect(page.locator(".row-on")).to_be_visible()
    page.keyboard.press("r")
    page.keyboard.type("The list of terms is missing.")
    watched.context.clear_cookies(name="sessionid")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#toasts")).to_contain_text("you are signed out")
    with watched.context.expect_page() as opened:
        page.locator("#toasts a").click()
    other = opened.value
    other.fill("input[name=username]", "ada")
    other.fill("input[name=password]", "pass-word-1")
    other.keyboard.press("Enter")
    expect(other.locator(".row-on")).to_be_visible()
    page.bring_to_front()
    page.locator(".btn-send:visible").click()
    expect(page.locator("#toasts")).to_contain_text("Send it once more")
    expect(page.locator("#decision textarea:visible")).to_have_value("The list of terms is missing.")
    page.locator(".btn-send:visible").click()
    expect(page.locator("#toasts")).to_contain_text("Returned")
    watched.complaints[:] = [
        text for text in watched.complaints if "403" not in text
    ]  # the refusals they were


def test_the_sheet_of_keys_takes_the_focus_and_gives_it_back(browse, desk):
    page = browse().sign_in("ada")
    expect(page.locator(".row-on")).to_be_visible()
    page.locator(".row-link").focus()
    page.keyboard.press("?")
    expect(page.locator("#cs-keys button")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".row-link")).to_be_focused()
