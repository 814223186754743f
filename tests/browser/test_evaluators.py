"""Evaluators, their costs and their thresholds in a real browser: sliders by keyboard, and all of it without script."""

import re

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from checks import verdicts
from checks.judging import judge
from checks.models import CheckLimits, Evaluator
from checks.questions import Answer, Kind, Limits, Question
from tests.browser.test_admin_pages import accessible
from tests.checks.vendor import Scripted, material
from tests.world import SCREENING

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LIMITS = "/admin/checks/checklimits/add/"


@pytest.fixture
def ada():
    for probability in (0.95, 0.85, 0.4):
        evaluator = Scripted((Answer(probability=probability),))
        question = Question(ask="Well done?", kind=Kind.YES_NO)
        verdicts.record(judge(material(), (question,), Limits(), evaluator=evaluator))
    return User.objects.create_superuser("ada", "ada@example.org", "pass-word-1")


def after(page):
    return expect(page.locator("#replay tbody tr").first.locator("td").last)


def passes(page):
    return page.locator("#replay tbody tr").first.locator("td").all_inner_texts()


@pytest.mark.parametrize(("width", "dark"), [(1440, False), (390, True)])
def test_a_slider_shows_what_a_threshold_would_have_done(browse, ada, width, dark):
    watched = browse(width=width, dark=dark)
    page = watched.sign_in("ada")
    page.goto(watched.base + LIMITS)
    accessible(page)
    slider = page.get_by_role("slider", name="Pass threshold")
    slider.focus()
    for _ in range(10):
        page.keyboard.press("ArrowLeft")
    assert page.input_value("#id_check_pass") == "0.8"
    page.wait_for_selector("#replay tbody")
    after(page).to_have_text(re.compile("^2"))
    assert passes(page)[0] == "1"
    page.fill("#id_check_pass", "0.3")
    after(page).to_have_text(re.compile("^3"))
    assert slider.input_value() == "0.3"
    accessible(page)
    assert not CheckLimits.objects.exists()


def test_without_script_the_button_shows_it(browse, ada):
    watched = browse(script=False)
    page = watched.sign_in("ada")
    page.goto(watched.base + LIMITS)
    page.fill("#id_check_pass", "0.8")
    with page.expect_navigation():
        page.click("button[data-replay]")
    assert passes(page) == ["1", "2 (more)"]
    page.go_back()
    assert page.input_value("#id_check_pass") == "0.8"


def test_the_thresholds_of_a_process(browse, ada, world, evaluator):
    version = world.publish(SCREENING, finance="finance", escalations="finance")
    agent = world.agent()
    for probability in (0.95, 0.85):
        evaluator.script = [[probability]]
        world.submit(agent, world.claim(agent, world.start(agent))["token"])
    watched = browse()
    page = watched.sign_in("ada")
    page.goto(
        f"{watched.base}/admin/processes/process/{version.process_id}/versions/{version.pk}/thresholds/"
    )
    accessible(page)
    page.click("button[data-replay]")
    page.wait_for_selector("#replay tbody")
    assert passes(page) == ["1", "1"]
    page.get_by_role("slider", name="pass from").focus()
    for _ in range(10):
        page.keyboard.press("ArrowLeft")
    after(page).to_have_text(re.compile("^2"))
    accessible(page)


@pytest.mark.parametrize("width", [1440, 390])
def test_evaluators_their_trial_and_what_checks_took(browse, ada, width):
    row = Evaluator.objects.create(name="words", wire="heuristic")
    Evaluator.objects.create(name="groq", preset="groq", position=2)
    watched = browse(width=width)
    page = watched.sign_in("ada")
    for address in ("", "add/", f"{row.pk}/change/"):
        page.goto(f"{watched.base}/admin/checks/evaluator/{address}")
        page.wait_for_selector("h1")
    page.goto(f"{watched.base}/admin/checks/evaluator/")
    page.check(f"input[name=_selected_action][value='{row.pk}']")
    page.select_option("select[name=action]", "try_it")
    with page.expect_navigation():
        page.click("button[name=index]")
    assert "word-match" in page.inner_text("#content")
    accessible(page)
    page.goto(f"{watched.base}/admin/processes/process/costs/")
    accessible(page)
    assert page.locator("table").count() == 3
