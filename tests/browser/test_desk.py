"""Queue and case in a real browser: at the desk, on a phone, without script, by keyboard alone."""

import pytest
from playwright.sync_api import expect

from tests.approvals.builders import PASSES, UNSURE, Desk
from tests.browser.looking import accessible, settled

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def desk(world, evaluator):
    made = Desk(world, evaluator)
    world.user("ada", "Finance", "Support", "Procurement")
    made.supplier("Marlow Paper", [0.7, ("states", 0.91), (2, 0.9)])
    made.supplier("Harbour Tooling", UNSURE)
    made.refund("Refund 48 213")
    return made


def focused(page, attribute="id"):
    return page.evaluate(f"document.activeElement.{attribute}")


@pytest.mark.parametrize(
    ("width", "dark"), [(1440, False), (1200, True), (768, False), (390, True), (320, False)]
)
def test_every_width_and_theme(browse, desk, world, width, dark):
    task = desk.supplier("Alder Logistics", PASSES)
    desk.decide(world.person("fin", "Finance"), task, "approved")
    watched = browse(width=width, dark=dark)
    page = watched.sign_in("ada")
    expect(page.locator(".row")).to_have_count(4)
    accessible(page)
    items = page.locator(".row-link").evaluate_all("links => links.map(link => link.href)")
    for item in items:
        page.goto(item)
        accessible(page)


def test_the_desk_opens_rows_beside_the_list(browse, desk):
    page = browse().sign_in("ada")
    expect(page.locator("#work h1")).to_have_text("Marlow Paper")
    expect(page.locator(".row-on .row-subject")).to_have_text("Marlow Paper")
    page.get_by_role("link", name="Harbour Tooling").click()
    expect(page.locator("#work h1")).to_have_text("Harbour Tooling")
    expect(page.locator("#side")).to_contain_text("screening-report.txt")
    expect(page.locator(".row-on .row-subject")).to_have_text("Harbour Tooling")
    page.wait_for_url("**/items/*/")
    assert page.title() == "Harbour Tooling, Check vendor | Countersign"
    accessible(page)
    page.reload()
    expect(page.locator(".two h1")).to_have_text("Harbour Tooling")


def test_by_keyboard_alone(browse, desk):
    page = browse().sign_in("ada")
    expect(page.locator(".row-on")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("#work h1")).to_have_text("Harbour Tooling")
    expect(page.locator("#work h1")).to_be_focused()
    for key, place in (("1", "q1"), ("3", "q3"), ("e", "evidence"), ("h", "history"), ("m", "map")):
        page.keyboard.press(key)
        assert focused(page) == place
    page.keyboard.press("Escape")
    assert focused(page, "className") == "row-link"
    page.keyboard.press("?")
    expect(page.locator("#cs-keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#cs-keys")).to_be_hidden()
    page.keyboard.press("/")
    page.keyboard.type("jr?")
    assert page.input_value("#q") == "jr?"
    expect(page.locator("input[name=decision]:checked")).to_have_count(0)


def test_a_decision_by_keys_leads_on_within_the_desk(browse, desk):
    page = browse().sign_in("ada")
    expect(page.locator("#work h1")).to_have_text("Marlow Paper")
    page.keyboard.press("r")
    assert focused(page, "tagName") == "TEXTAREA"
    page.keyboard.type("Search again, with the terms.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#work h1")).to_have_text("Harbour Tooling")
    expect(page.locator("#toasts")).to_contain_text("Returned to screening-agent.")
    expect(page.locator(".desk .row")).to_have_count(2)
    expect(page.locator("#waiting")).to_have_text("2")


def test_new_items_are_announced_and_nothing_moves(browse, desk):
    page = browse().sign_in("ada")
    expect(page.locator(".row-on")).to_be_visible()
    before = page.locator(".row").nth(1).bounding_box()
    desk.supplier("Quay Timber", UNSURE)
    # what htmx does every fifteen seconds, now
    page.evaluate("htmx.ajax('GET', document.querySelector('.list-new').getAttribute('hx-get'), '.list-new')")
    expect(page.locator("#show-new")).to_contain_text("Show 1 new item")
    assert page.locator(".row").nth(1).bounding_box() == before
    expect(page.locator(".row")).to_have_count(3)
    page.keyboard.press("u")
    expect(page.locator(".row")).to_have_count(4)
    expect(page.locator("#work h1")).to_have_text("Marlow Paper")
    expect(page.locator(".row-on .row-subject")).to_have_text("Marlow Paper")


def test_filters_keep_what_is_being_read(browse, desk):
    page = browse().sign_in("ada")
    expect(page.locator("#work h1")).to_have_text("Marlow Paper")
    page.click("#f-approvals")
    expect(page.locator(".row")).to_have_count(1)
    expect(page.locator("#work h1")).to_have_text("Marlow Paper")
    page.wait_for_url("**/?show=approvals")
    page.click("#f-open")
    expect(page.locator(".row")).to_have_count(3)
    settled(page)
    page.select_option("#fp", "refund-review")
    expect(page.locator(".row")).to_have_count(1)
    settled(page)
    page.click("#f-density")
    expect(page.locator(".row-q")).to_have_count(1)


def test_on_a_phone_a_row_leads_to_its_page(browse, desk):
    page = browse(width=390, height=844).sign_in("ada")
    page.locator(".row-link").first.click()
    page.wait_for_url("**/items/*/")
    expect(page.locator(".two h1")).to_have_text("Marlow Paper")
    page.get_by_role("link", name="Next").click()
    expect(page.locator(".two h1")).to_have_text("Harbour Tooling")
    page.get_by_role("link", name="‹ Queue").click()
    expect(page.locator(".row")).to_have_count(3)


@pytest.mark.parametrize("width", [1440, 390])
def test_without_script(browse, desk, width):
    page = browse(width=width, script=False).sign_in("ada")
    page.select_option("#fp", "supplier-screening")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".row")).to_have_count(2)
    page.click("#f-unsure")
    expect(page.locator(".row")).to_have_count(2)
    page.fill("#q", "harbour")
    page.locator("#q").press("Enter")
    expect(page.locator(".row")).to_have_count(1)
    page.locator(".row-link").click()
    expect(page.locator("h1")).to_have_text("Harbour Tooling")
    expect(page.locator("#decision input[name=decision]")).to_have_count(4)
    page.locator("#logout-form button").click()
    expect(page.locator("h1")).to_have_text("Sign in")


def test_the_themes_follow_the_admins_toggle(browse, desk):
    page = browse(dark=False).sign_in("ada")
    expect(page.locator(".row-on")).to_be_visible()
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    chip = "getComputedStyle(document.querySelector('.chip.v-unsure')).backgroundColor"
    tint = page.evaluate(chip)
    page.locator(".theme-toggle").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    assert page.evaluate(chip) != tint


LONG = """\
---
name: order-to-cash
description: Wider than its pane.
steps:
  - { id: read_it, agent: Read., output: { ok: boolean }, next: pack, check: [{ ask: It is read., pass: 0.9, fail: 0.5 }] }
  - { id: pack, task: Pack., person: warehouse, output: { ok: boolean }, next: ship }
  - { id: ship, task: Ship., person: warehouse, output: { ok: boolean }, next: invoice }
  - { id: invoice, agent: Invoice., output: { ok: boolean }, next: close }
  - { id: close, approve: Close., person: finance, next: done }
  - { id: done, finish: delivered }
---
"""


@pytest.mark.parametrize(("width", "dark"), [(1440, True), (390, False)])
def test_a_wide_map_scrolls_under_the_names_of_its_lanes(browse, desk, world, width, dark):
    world.publish(LONG, finance="Finance", warehouse="Procurement", escalations="Finance")
    run = world.call(desk.buyer, "start_run", process="order-to-cash", inputs={})
    desk.evaluator.script = [[0.7]]
    token = world.claim(desk.agent, run, "read_it")["token"]
    world.call(desk.agent, "submit", token=token, output={"ok": True}, summary="Read.")
    watched = browse(width=width, dark=dark)
    page = watched.sign_in("ada")
    page.goto(f"{watched.base}/items/{desk.item(run)}/")
    pane, names = page.locator(".map-scroll"), page.locator(".lane-names span")
    assert names.all_inner_texts() == ["Agent", "Warehouse", "Finance", "Server"]
    pane.evaluate("pane => { pane.scrollLeft = pane.scrollWidth; }")
    assert pane.evaluate("pane => pane.scrollLeft") > 0
    lanes = page.locator(".map .lane")
    for at in range(4):
        name, lane, all_of_it = (
            names.nth(at).bounding_box(),
            lanes.nth(at).bounding_box(),
            pane.bounding_box(),
        )
        assert (
            all_of_it["x"] <= name["x"] and name["x"] + name["width"] <= all_of_it["x"] + all_of_it["width"]
        )
        assert abs(name["y"] - lane["y"]) <= 6
    accessible(page)


def test_signed_out_meanwhile(browse, desk, client):
    watched = browse()
    page = watched.sign_in("ada")
    expect(page.locator(".row-on")).to_be_visible()
    watched.context.clear_cookies(name="sessionid")
    page.click("#f-unsure")
    page.wait_for_url("**/sign-in/?next=/**")
