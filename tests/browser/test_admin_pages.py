"""The admin's pages about processes in a real browser: usable without script, on a phone and in the dark."""

import pytest
from django.contrib.auth.models import User

from processes.models import Agent, Version
from tests.browser.looking import accessible
from tests.processes.test_admin_thresholds import REVIEW
from tests.world import SCREENING

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

BROKEN = SCREENING.replace("on_reject: screen", "on_reject: scren").replace("due: 2d", "due: two days")


@pytest.fixture
def author(world):
    world.group("finance")
    return User.objects.create_superuser("ada", "ada@example.org", "pass-word-1")


def signed_in(watched):
    page = watched.sign_in("ada")
    page.wait_for_url(lambda address: "sign-in" not in address)
    return page


def press(page, button):
    with page.expect_navigation():
        page.click(button if "=" in button else f"button[value={button}]")


@pytest.mark.parametrize(
    ("width", "dark", "script"), [(1440, False, True), (390, True, True), (1440, False, False)]
)
def test_from_a_broken_text_to_changed_thresholds(browse, author, evaluator, width, dark, script):
    look = accessible if script else (lambda _: None)
    watched = browse(width=width, dark=dark, script=script)
    page = signed_in(watched)
    page.goto(f"{watched.base}/admin/processes/process/add/")
    look(page)

    page.fill("#src", BROKEN)
    press(page, "check")
    look(page)
    assert page.locator(".issues li").count() == 2
    assert page.locator(".gutter .bad").all_inner_texts() == ["21", "22"]
    assert page.input_value("#src") == BROKEN

    page.fill("#src", SCREENING)
    press(page, "save")
    look(page)
    assert Version.objects.get().text == SCREENING

    press(page, "publish")  # the role's own group is proposed
    look(page)
    version = Version.objects.get()
    assert version.number == 1

    press(page, "text=Edit thresholds")
    page.fill("input[name=pass-0-screen]", "0.3")
    press(page, "text=Draft these numbers")
    look(page)
    assert page.locator("[aria-invalid=true]").count() == 1
    page.fill("input[name=fail-0-screen]", "0.2")
    press(page, "text=Draft these numbers")
    look(page)
    assert page.locator("#differences del code").all_inner_texts() == [
        "        pass: 0.9",
        "        fail: 0.5",
    ]
    press(page, "publish")
    assert Version.objects.get(number=2).text == SCREENING.replace("0.9\n", "0.3\n").replace("0.5\n", "0.2\n")


def test_the_editor_follows_what_is_typed_and_leads_to_issues(browse, author, evaluator):
    watched = browse()
    page = signed_in(watched)
    page.goto(f"{watched.base}/admin/processes/process/add/")
    page.fill("#src", BROKEN)
    page.focus("#src")
    with page.expect_navigation():
        page.keyboard.press("Control+Enter")
    lines = page.locator(".gutter li").count()
    page.click(".issues a >> nth=1")
    at = page.evaluate("document.getElementById('src').value.slice(0, document.activeElement.selectionStart)")
    assert at.count("\n") + 1 == 22
    page.keyboard.type("one\ntwo\n")
    assert page.locator(".gutter li").count() == lines + 2
    page.keyboard.press("Escape")
    page.locator(".issues a").first.focus()
    page.keyboard.press("n")
    assert page.evaluate("document.activeElement.dataset.line") == "22"


def test_what_was_typed_is_not_left_by_accident(browse, author):
    watched = browse()
    page = signed_in(watched)
    page.goto(f"{watched.base}/admin/processes/process/add/")
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    page.focus("#src")
    page.keyboard.type("mine")
    page.evaluate("location.href = '/admin/'")
    page.wait_for_timeout(500)
    assert asked == ["beforeunload"]
    assert page.input_value("#src") == "mine"


@pytest.mark.parametrize(("width", "dark"), [(1440, False), (390, True)])
def test_agents_and_records_are_accessible(browse, author, world, evaluator, width, dark):
    world.publish(REVIEW)
    agent = world.agent("reader")
    run = world.call(agent, "start_run", process="review", inputs={})
    watched = browse(width=width, dark=dark)
    page = signed_in(watched)
    page.goto(f"{watched.base}/admin/processes/agent/add/")
    accessible(page)
    page.fill("#id_name", "writer")
    press(page, "input[name=_save]")
    accessible(page)
    assert Agent.objects.get(name="writer").key.prefix in page.inner_text(".once >> nth=0")
    for name in (
        "agent",
        "run",
        "step",
        "attempt",
        "submission",
        "workitem",
        "historyentry",
        "upload",
        "request",
    ):
        page.goto(f"{watched.base}/admin/processes/{name}/")
        accessible(page)
    page.goto(f"{watched.base}/admin/processes/run/")
    press(page, f"text={run['run']['id']}")
    accessible(page)
