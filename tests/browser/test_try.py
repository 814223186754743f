"""`/try/` in a real browser: an example, one's own text, what is refused; by keyboard, on a phone, without script."""

import pytest
from playwright.sync_api import expect

from checks import rates
from checks.judge import examples
from checks.models import JudgeCall
from tests.browser.looking import accessible, roomy, settled

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
    roomy(page)


@pytest.mark.parametrize(("width", "dark"), [(1440, False), (390, True), (320, False)])
def test_what_an_empty_form_is_told_is_accessible(browse, width, dark):
    watched = browse(width=width, dark=dark)
    page = watched.page()
    page.goto(f"{watched.base}/try/")
    page.locator(".btn-send").click()
    expect(page.locator(".try-notice a")).to_have_count(2)
    refused(watched, 422)
    accessible(page)
    roomy(page)


def test_a_field_that_was_made_larger_stays_so(browse):
    watched = browse()
    page = watched.page()
    page.goto(f"{watched.base}/try/?example=supported")
    corner = page.locator("#f-agent_output").bounding_box()
    x, y = corner["x"] + corner["width"] - 4, corner["y"] + corner["height"] - 4
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y + 120)
    page.mouse.up()
    larger = page.locator("#f-agent_output").bounding_box()["height"]
    assert larger > corner["height"] + 80
    page.locator(".btn-send").click()
    expect(page.locator(".try-verdict")).to_be_visible()
    settled(page)
    assert page.locator("#f-agent_output").bounding_box()["height"] == larger


def test_targets_on_a_phone(browse):
    watched = browse(width=390)
    page = watched.page()
    page.goto(f"{watched.base}/try/?example=supported")
    page.locator(".btn-send").click()
    expect(page.locator(".try-verdict")).to_be_visible()
    for target in page.locator(".try-kinds a, .try-examples a, .try-call summary, .btn:visible").all():
        assert target.bounding_box()["height"] >= 40, target.inner_text()


def test_ones_own_text_by_keyboard_alone(browse):
    watched = browse()
    page = watched.page()
    page.goto(f"{watched.base}/try/")
    page.focus("#f-task")
    for text in ("When does it leave?", "It leaves at 8:10.", "The ferry leaves at 7:40."):
        page.keyboard.type(text)
        page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.locator(".btn-send kbd").first).to_be_visible()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Verdict: Fail")).to_be_focused()
    row = page.locator(".try-row").first
    expect(row).to_contain_text("Contradicted")
    expect(row).to_contain_text("The ferry leaves at 7:40.")
    assert page.input_value("#f-agent_output") == "It leaves at 8:10."
    accessible(page)
    # once more, without a reload
    page.fill("#f-agent_output", "The ferry leaves at 7:40.")
    page.locator("#f-agent_output").press("Meta+Enter")
    expect(page.get_by_role("heading", name="Verdict: Pass")).to_be_focused()
    page.locator(".btn-send").press("Enter")
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


PROXYS = "<!DOCTYPE html><html><head><title>502</title></head><body><h1>Bad Gateway</h1></body></html>"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "Nothing was judged: the server did not answer."),
        ({"status": 502, "body": PROXYS, "content_type": "text/html"}, "Nothing was judged: the server could not do this."),
        ({"status": 413, "body": PROXYS, "content_type": "text/html"}, "Nothing was judged: that is larger than the server takes."),
        ("never", "Nothing was judged: the server did not answer."),
    ],
    ids=["network", "proxy", "large", "never"],
)  # fmt: skip
def test_a_try_that_is_not_answered_takes_the_old_result_away(browse, answer, said):
    watched = browse()
    page = watched.page()
    page.goto(f"{watched.base}/try/?example=supported")
    page.locator(".btn-send").click()
    expect(page.locator(".try-verdict")).to_be_visible()
    held = []
    if answer == "never":
        assert page.evaluate("htmx.config.timeout") == 30_000
        page.evaluate("htmx.config.timeout = 300")
        page.route("**/try/", lambda route: held.append(route))  # noqa: PLW0108 - it marks what it is given
    else:
        page.route("**/try/", lambda route: route.fulfill(**answer) if answer else route.abort())
    page.fill("#f-agent_output", "The library is closed.")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".try-result h2")).to_have_text(said)
    expect(page.locator(".try-result p")).to_have_text("What you typed is still here.")
    expect(page.locator(".try-verdict")).to_have_count(0)
    expect(page.locator(".btn-send")).to_be_focused()
    expect(page.locator("#toasts .toast")).to_have_count(0)
    assert page.input_value("#f-agent_output") == "The library is closed."
    accessible(page)
    watched.complaints.clear()  # what browser and htmx write of it
    for route in held:
        route.abort()
    page.unroute("**/try/")
    page.locator(".btn-send").click()
    expect(page.get_by_role("heading", name="Verdict: Retry").or_(page.get_by_role("heading", name="Verdict: Fail"))).to_be_focused()  # fmt: skip


def test_a_form_that_is_too_large_or_has_no_cookie_is_told_so_in_the_same_place(browse):
    watched = browse()
    page = watched.page()
    page.goto(f"{watched.base}/try/?example=supported")
    page.fill("#f-task", "")
    page.locator(".btn-send").click()
    expect(page.locator("#e-task")).to_be_visible()
    refused(watched, 422)
    page.fill("#f-task", "Typed with care.")
    page.fill("#f-evidence", "x" * 600_000)
    page.locator(".btn-send").click()
    expect(page.locator(".try-result")).to_contain_text("The form was larger than 512 KB and was not sent.")
    expect(page.locator("#toasts .toast, #e-task, [aria-invalid]")).to_have_count(0)
    expect(page.locator(".btn-send")).to_be_focused()
    page.fill("#f-evidence", "")
    watched.context.clear_cookies()
    page.locator(".btn-send").click()
    expect(page.locator(".try-result")).to_contain_text("or this browser keeps no cookies. Send it once more")
    expect(page.locator("#toasts .toast")).to_have_count(0)
    refused(watched, 403)
    assert page.input_value("#f-task") == "Typed with care."
    page.locator(".btn-send").click()
    expect(page.locator(".try-verdict")).to_be_visible()


def test_what_is_typed_is_there_again_in_its_tab(browse):
    ours = "Object.keys(sessionStorage).filter((name) => name.startsWith('countersign'))"
    watched = browse()
    page = watched.page()
    page.goto(f"{watched.base}/try/")
    expect(page.locator(".try-kept")).to_be_hidden()
    page.fill("#f-task", "My own task.")
    page.get_by_role("link", name="A wrong date").click()
    page.fill("#f-evidence", "Another log.")
    page.locator(".btn-send").click()
    expect(page.locator(".try-verdict")).to_be_visible()
    page.fill("#f-task", "After the verdict.")
    page.get_by_role("link", name="Consensus", exact=True).click()
    assert page.input_value("#f-task") == ""
    page.go_back()
    expect(page.locator("#f-task")).to_have_value("After the verdict.")
    page.reload()
    expect(page.locator("#f-evidence")).to_have_value("Another log.")
    page.get_by_role("link", name="Your own").click()
    expect(page.locator("#f-task")).to_have_value("My own task.")
    elsewhere = watched.page()
    elsewhere.goto(f"{watched.base}/try/")
    assert elsewhere.input_value("#f-task") == ""
    accessible(page)
    page.get_by_role("button", name="Start over").click()
    expect(page.locator("#f-task")).to_have_value("")
    assert page.evaluate(ours) == ["countersign.try.judge.contradicted"]
    page.get_by_role("link", name="A wrong date").click()
    page.get_by_role("button", name="Start over").click()
    expect(page.locator("#f-task")).to_have_value("Summarise what was done on fermenter 4.")
    assert page.evaluate(ours) == []


def test_what_is_chosen_stands_out_in_forced_colours_and_by_keyboard(browse):
    watched = browse()
    page = watched.page()
    page.goto(f"{watched.base}/try/")
    on, off = page.locator(".try-kinds a").all()
    look = "element => [getComputedStyle(element).backgroundColor, getComputedStyle(element).color]"
    ring = "element => getComputedStyle(element).outlineColor"
    page.keyboard.press("Tab")
    on.focus()
    assert on.evaluate(ring) == on.evaluate(look)[1]
    page.emulate_media(forced_colors="active")
    assert on.evaluate(look)[0] != on.evaluate(look)[1]
    assert on.evaluate(look) != off.evaluate(look)


def test_without_script(browse):
    watched = browse(script=False)
    page = watched.page()
    page.goto(f"{watched.base}/try/?kind=consensus")
    page.get_by_role("link", name="A false consensus").click()
    expect(page.locator(".btn-send kbd").first).to_be_hidden()
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
