"""`/try/` in a real browser: an example, one's own text, what is refused; by keyboard, on a phone, without script."""

import pytest
from playwright.sync_api import expect

from checks import rates
from checks.judge import examples
from checks.models import JudgeCall
from tests.browser.looking import accessible

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def _unbounded(settings):
    rates._tallies.clear()
    settings.JUDGE_TRIES_PER_MINUTE = 0
    yield
    rates._tallies.clear()


def refused(watched, status):
    """Chromium writes every refusal to the console; it is one, and no more than that."""
    assert [f"status of {status}" in text for text in watched.complaints] == [True]
    watched.complaints.clear()


@pytest.mark.parametrize(("width", "dark"), [(1440, False), (1440, True), (390, False), (390, True)])
def test_every_example_is_judged_accessibly(browse, width, dark):
    watched = browse(width=width, dark=dark)
    page = watched.page()
    for example in examples.EXAMPLES:
        page.goto(f"{watched.base}/try/?kind={example.kind}")
        page.get_by_role("link", name=example.title, exact=True).click()
        expect(page.get_by_text(example.shows)).to_be_visible()
        page.locator(".btn-send").click()
        expect(page.locator(".try-verdict")).to_be_visible()
        page.locator(".try-call summary").click()
        accessible(page)
    assert not JudgeCall.objects.exists()


@pytest.mark.parametrize("width", [1440, 390, 320])
@pytest.mark.parametrize("kind", ["judge", "consensus"])
def test_the_empty_form_is_accessible(browse, kind, width):
    watched = browse(width=width)
    page = watched.page()
    page.goto(f"{watched.base}/try/?kind={kind}")
    accessible(page)


def test_ones_own_text_by_keyboard_alone(browse):
    watched = browse()
    page = watched.page()
    page.goto(f"{watched.base}/try/")
    page.focus("#f-task")
    for text in ("When does it leave?", "It leaves at 8:10.", "The ferry leaves at 7:40."):
        page.keyboard.type(text)
        page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Verdict: Fail")).to_be_focused()
    row = page.locator(".try-row").first
    expect(row).to_contain_text("Contradicted")
    expect(row).to_contain_text("The ferry leaves at 7:40.")
    assert page.input_value("#f-agent_output") == "It leaves at 8:10."
    accessible(page)
    # once more, without a reload
    page.fill("#f-agent_output", "The ferry leaves at 7:40.")
    page.locator(".btn-send").click()
    expect(page.get_by_role("heading", name="Verdict: Pass")).to_be_focused()


def test_what_is_refused_is_said_beside_the_form(browse):
    watched = browse(width=390, dark=True)
    page = watched.page()
    page.goto(f"{watched.base}/try/?kind=judge&example=failed-fact")
    page.fill("#f-checks", '[{"type": "url_contains", "url": "https://example.org/", "text": "x"}]')
    page.fill("#f-evidence", "y" * 4001)
    page.locator(".btn-send").click()
    expect(page.locator(".try-notice")).to_be_focused()
    refused(watched, 422)
    expect(page.locator("[aria-invalid=true]")).to_have_count(2)
    expect(page.locator("#e-checks")).to_contain_text(
        "is read from the network, and this page never goes there"
    )
    accessible(page)
    page.locator(".try-notice a").last.click()
    expect(page.locator("#f-checks")).to_be_focused()
    assert page.input_value("#f-evidence") == "y" * 4001


def test_too_many_tries_keep_what_was_typed(browse, settings):
    settings.JUDGE_TRIES_PER_MINUTE = 1
    watched = browse()
    page = watched.page()
    page.goto(f"{watched.base}/try/?example=contradicted")
    page.locator(".btn-send").click()
    expect(page.locator(".try-verdict")).to_be_visible()
    page.fill("#f-task", "Typed with care.")
    page.locator(".btn-send").click()
    expect(page.locator(".try-notice")).to_contain_text("Too many tries from your address")
    refused(watched, 429)
    assert page.input_value("#f-task") == "Typed with care."
    accessible(page)


def test_without_script(browse):
    watched = browse(script=False)
    page = watched.page()
    page.goto(f"{watched.base}/try/?kind=consensus")
    page.get_by_role("link", name="A false consensus").click()
    page.locator(".btn-send").click()
    expect(page.locator(".try-verdict")).to_contain_text("High risk")
    page.fill("#f-answers", "--- a\nOnly one.")
    page.locator(".btn-send").click()
    expect(page.locator("#e-answers")).to_contain_text("from 2 to 16 are taken")
    refused(watched, 422)
    assert page.input_value("#f-answers") == "--- a\nOnly one."


def test_markup_that_is_typed_is_shown_and_runs_nowhere(browse):
    attack = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    watched = browse()
    page = watched.page()
    page.on("dialog", lambda dialog: watched.complaints.append(dialog.message))
    page.goto(f"{watched.base}/try/")
    for name in ("task", "agent_output", "evidence", "criteria"):
        page.fill(f"#f-{name}", attack)
    page.locator(".btn-send").click()
    expect(page.locator(".try-said").first).to_contain_text("<img src=x")
    assert page.locator(".try-result img, .try-result script").count() == 0
