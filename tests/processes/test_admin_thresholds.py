"""Editing thresholds in the admin: saving drafts the next version, and changes nothing but those numbers."""

import pytest
from django.urls import reverse

from checks.models import CheckLimits
from processes import publishing
from processes.models import Version
from processes.publishing import draft
from tests.processes.staff import AUTHOR, VIEW, logged, sign_in
from tests.processes.test_publishing import PLAIN
from tests.processes.test_publishing import published as publish_plain

pytestmark = pytest.mark.django_db

REVIEW = """---
name: review
description: Review a draft.   # by the desk
steps:
  - id: write
    agent: Write it.
    check:
      - ask: Is it complete?
        pass: 0.9   # since May
        fail: 0.5
      - ask: What does it do?
        one_of: {states: States it., hedges: Hedges.}
        pass: [states]
      - ask: How good is it?
        levels: [bad, fair, good]
        pass: 1
  - id: shorten
    agent: Shorten it.
    check: Is it short?
  - id: done
    finish: done
---
"""


@pytest.fixture
def version(world, evaluator):
    return world.publish(REVIEW)


@pytest.fixture
def author(client):
    return sign_in(client, *AUTHOR)


def page_of(version):
    return reverse("admin:processes_version_thresholds", args=[version.process_id, version.pk])


SAME = {
    "pass-0-write": "0.9", "fail-0-write": "0.5", "confidence-1-write": "", "pass-2-write": "1",
    "confidence-2-write": "", "pass-0-shorten": "", "fail-0-shorten": "", "change": "",
}  # fmt: skip


def test_the_form_shows_each_number_and_the_servers_beside_it(client, author, version):
    CheckLimits.objects.create(check_pass=0.8, check_confidence=0.7, why="test", by="test")
    response = client.get(page_of(version))
    form = response.context["form"]
    assert {name: str(form[name].value()) for name in SAME if name != "change"} == {
        name: value for name, value in SAME.items() if name != "change"
    }
    cells = [[(cell.default, cell.field is not None) for cell in row.cells] for row in form.rows()]
    assert cells == [
        [("0.8", True), ("whatever does not pass", True), ("", False)],
        [("", False), ("", False), ("0.7", True)],
        [("", True), ("", False), ("0.7", True)],
        [("0.8", True), ("whatever does not pass", True), ("", False)],
    ]
    html = response.content.decode()
    assert "placeholder" not in html and "empty: 0.8" in html and "2: good" in html


def test_saving_drafts_the_next_version_with_only_those_numbers_changed(client, author, version):
    sent = {
        **SAME,
        "pass-0-write": "0.95",
        "confidence-1-write": "0.6",
        "pass-2-write": "2",
        "fail-0-shorten": "0.2",
    }
    response = client.post(page_of(version), sent, follow=True)
    made = Version.objects.get(published_at__isnull=True)
    assert made.text == (
        REVIEW.replace("pass: 0.9   #", "pass: 0.95   #")
        .replace("pass: [states]\n", "pass: [states]\n        confidence: 0.6\n")
        .replace("pass: 1\n", "pass: 2\n")
        .replace("check: Is it short?\n", "check:\n      - ask: Is it short?\n        fail: 0.2\n")
    )
    assert made.change.startswith("pass of write, question 1: 0.9 to 0.95; confidence of write, question 2: ")
    assert publishing.latest("review") == version
    html = response.content.decode()
    assert response.redirect_chain[0][0].endswith("#differences")
    assert "<del>" in html and "Publish version 2" in html
    assert logged()[0].startswith("Drafted thresholds. pass of write, question 1: 0.9 to 0.95;")


def test_a_number_is_taken_out(client, author, version):
    client.post(
        page_of(version), {**SAME, "pass-0-write": "", "fail-0-write": "", "change": "back to the server's"}
    )
    made = Version.objects.get(published_at__isnull=True)
    assert made.text == REVIEW.replace(
        "        pass: 0.9   # since May\n        fail: 0.5\n", "        # since May\n"
    )
    assert made.change == "back to the server's"


def test_a_zero_has_no_sign(client, author, version):
    client.post(page_of(version), {**SAME, "fail-0-write": "-0"})
    text = Version.objects.get(published_at__isnull=True).text
    assert "fail: 0\n" in text and "-0" not in text


def test_nothing_changed_is_no_draft(client, author, version):
    html = client.post(page_of(version), {**SAME, "pass-0-write": "0.90"}).content.decode()
    assert "No number differs" in html
    assert not Version.objects.filter(published_at__isnull=True).exists() and logged() == []


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("pass-0-write", "1.5", "Write a number from 0 to 1."),
        ("pass-0-write", "-0.1", "Write a number from 0 to 1."),
        ("pass-0-write", "0,9", "Write a number from 0 to 1, e.g. 0.9."),
        ("pass-0-write", "NaN", "Write a number from 0 to 1, e.g. 0.9."),
        ("pass-0-write", "0.12345678901", "decimal places"),
        ("pass-0-write", "0.4", "Is above pass (0.4)."),
        ("pass-2-write", "3", "Select a valid choice"),
        ("pass-2-write", "", "This field is required"),
        ("confidence-1-write", "<b>", "Write a number from 0 to 1, e.g. 0.9."),
        ("change", "x" * 301, "at most 300 characters"),
    ],
)
def test_what_is_no_threshold_is_said_beside_its_field(client, author, version, name, value, words):
    html = client.post(page_of(version), {**SAME, name: value}).content.decode()
    assert words in html and "<b>" not in html
    assert not Version.objects.filter(published_at__isnull=True).exists()


def test_a_draft_is_replaced_only_when_asked(client, author, version):
    draft(REVIEW + "Theirs.", by="person:ben")
    assert "You will be asked before the draft is replaced." in client.get(page_of(version)).content.decode()
    sent = {**SAME, "pass-0-write": "0.95"}
    response = client.post(page_of(version), sent)
    html = response.content.decode()
    assert "review has a draft already, by person:ben" in html and "Replace the draft" in html
    assert 'value="0.95"' in html
    assert Version.objects.get(published_at__isnull=True).text == REVIEW + "Theirs."
    client.post(page_of(version), {**sent, "replace": response.context["draft_stamp"]})
    assert "pass: 0.95" in Version.objects.get(published_at__isnull=True).text


def test_a_draft_that_changed_since_the_question_is_not_replaced(client, author, version):
    draft(REVIEW + "Theirs.", by="person:ben")
    sent = {**SAME, "pass-0-write": "0.95"}
    stamp = client.post(page_of(version), sent).context["draft_stamp"]
    draft(REVIEW + "Newer.", by="person:ben")
    client.post(page_of(version), {**sent, "replace": stamp})
    assert Version.objects.get(published_at__isnull=True).text == REVIEW + "Newer."


def test_a_layout_that_can_not_be_touched_is_refused_in_words(client, author, world, evaluator):
    text = REVIEW.replace("        fail: 0.5\n", "        ? fail\n        : 0.5\n")
    version = world.publish(text)
    html = client.post(page_of(version), {**SAME, "fail-0-write": ""}).content.decode()
    assert "Change them in the text itself." in html
    assert not Version.objects.filter(published_at__isnull=True).exists()


def test_only_published_versions_with_questions_have_the_page(client, author, world, version):
    assert client.get(page_of(publish_plain(world))).status_code == 404
    assert client.get(page_of(draft(REVIEW + "More.", by="person:ada"))).status_code == 404
    plain = draft(PLAIN + "More.", by="person:ada")
    assert client.get(page_of(plain)).status_code == 404


@pytest.mark.parametrize("method", ["get", "post"])
def test_it_needs_the_permission_to_add_versions(client, version, method):
    sign_in(client, *VIEW, "change_version")
    assert getattr(client, method)(page_of(version), {**SAME, "pass-0-write": "0.95"}).status_code == 403
    assert not Version.objects.filter(published_at__isnull=True).exists()


def test_who_may_only_add_does_not_replace_a_draft(client, version):
    sign_in(client, *VIEW, "add_version")
    stamp = draft(REVIEW + "Theirs.", by="person:ben").created_at.isoformat()
    html = client.post(page_of(version), {**SAME, "pass-0-write": "0.95", "replace": stamp}).content.decode()
    assert "you may not replace one" in html
    assert Version.objects.get(published_at__isnull=True).text == REVIEW + "Theirs."


class TestReplay:
    """How the last verdicts would have come out; nothing is drafted."""

    @pytest.fixture
    def judged(self, world, evaluator):
        version = world.publish(REVIEW)
        agent = world.agent()
        for script in ([0.95, ("states", 0.9), (2, 0.9)], [0.85, ("states", 0.75), (1, 0.9)]):
            evaluator.script = [script]
            run = world.call(agent, "start_run", process="review", inputs={})
            token = world.claim(agent, run, "write")["token"]
            world.call(agent, "submit", token=token, output={}, summary="s")
        return version

    def replayed(self, client, version, **changes):
        page = client.post(page_of(version), {**SAME, **changes, "action": "replay"})
        assert page.status_code == 200 and not Version.objects.filter(published_at__isnull=True).exists()
        return {step: {word: after for word, _, after in it.rows} for step, it in page.context["replays"]}

    def test_as_the_numbers_are(self, client, author, judged):
        assert self.replayed(client, judged) == {
            "write": {"pass": 1, "unsure": 1, "fail": 0},
            "shorten": {"pass": 0, "unsure": 0, "fail": 0},
        }

    def test_under_others(self, client, author, judged):
        lower = {"pass-0-write": "0.8", "confidence-1-write": "0.7"}
        assert self.replayed(client, judged, **lower)["write"] == {"pass": 2, "unsure": 0, "fail": 0}
        level = {**lower, "pass-2-write": "2"}
        assert self.replayed(client, judged, **level)["write"] == {"pass": 1, "unsure": 0, "fail": 1}

    def test_only_verdicts_on_the_same_questions_count(self, client, author, judged, world):
        other = world.publish(REVIEW.replace("Is it complete?", "Is it whole?"))
        assert self.replayed(client, other)["write"] == {"pass": 0, "unsure": 0, "fail": 0}

    def test_wrong_numbers_are_told_and_nothing_else(self, client, author, judged):
        page = client.post(page_of(judged), {**SAME, "pass-0-write": "7", "action": "replay"})
        assert page.context["replays"] == [] and "from 0 to 1" in page.content.decode()
