"""How stored verdicts would have come out under other numbers."""

from dataclasses import replace

import pytest
from django.urls import reverse

from checks import verdicts
from checks.judging import judge
from checks.models import CheckLimits
from checks.questions import Answer, Kind, Limits, Question, Result, Thresholds
from checks.replay import replay, result, under
from tests.checks.members import Told, chain, down
from tests.checks.vendor import BOTH, QUESTIONS, STATES, Scripted
from tests.checks.vendor import material as example

PLAIN = Question(ask="Well done?", kind=Kind.YES_NO)
pytestmark = pytest.mark.django_db


def keep(probability, *, question=PLAIN, limits=None, addressed=0.0):
    """A stored verdict on one question; `addressed`: what is said to the one about the material itself."""
    evaluator = Scripted((Answer(probability=probability),))
    evaluator.addressed = addressed
    return verdicts.record(judge(example(), (question,), limits or Limits(), evaluator=evaluator))


def replayed(**numbers):
    found = replay(verdicts.last(), under(Limits(**numbers)))
    return {word: after for word, _, after in found.rows}


def test_a_lower_bar_lets_more_pass():
    for probability in (0.95, 0.85, 0.6, 0.2):
        keep(probability)
    assert replayed() == {"pass": 1, "unsure": 0, "fail": 3}
    assert replayed(check_pass=0.8, check_fail=0.5) == {"pass": 2, "unsure": 1, "fail": 1}
    found = replay(verdicts.last(), under(Limits(check_pass=0.8, check_fail=0.5)))
    assert (found.count, found.moves) == (4, [("fail", "pass", 1), ("fail", "unsure", 1)])


def test_under_the_numbers_they_were_made_with_they_come_out_as_they_did():
    for probability in (0.95, 0.7, 0.2):
        keep(probability, limits=Limits(check_fail=0.5))
    found = replay(verdicts.last(), under(Limits(check_fail=0.5)))
    assert (found.moves, found.before, found.after) == ([], found.after, found.before)


def test_a_questions_own_number_stays():
    own = replace(PLAIN, pass_at=0.9, fail_below=0.5)
    keep(0.85, question=own)
    keep(0.85, question=replace(PLAIN, pass_at=0.9))
    assert replayed(check_pass=0.5, check_fail=0.1) == {"pass": 0, "unsure": 2, "fail": 0}


def test_a_fail_threshold_above_pass_lets_nothing_fail_that_passes():
    keep(0.6)
    assert replayed(check_pass=0.5, check_fail=0.9)["pass"] == 1


def test_confidence_counts_for_choice_and_rubric():
    evaluator = Scripted((Answer(probability=0.97), replace(STATES, confidence=0.6), BOTH))
    verdicts.record(judge(example(), QUESTIONS, Limits(), evaluator=evaluator))
    assert replayed()["unsure"] == 1
    assert replayed(check_confidence=0.5)["pass"] == 1


def test_what_no_threshold_held_back_stays_held_back():
    keep(0.95, addressed=1.0)
    words = chain(Told("a", down()), Told("words", (Answer(probability=0.95),), is_model=False))
    verdicts.record(judge(example(), (PLAIN,), Limits(), evaluator=words))
    assert replayed() == replayed(check_pass=0.1) == {"pass": 0, "unsure": 2, "fail": 0}
    assert replayed(check_pass=0.99)["fail"] == 2


def test_errors_are_left_out_and_only_the_last_count():
    verdicts.record(judge(example(), (PLAIN,), Limits(), evaluator=Scripted(down())))
    for _ in range(3):
        keep(0.95)
    assert replay(verdicts.last(), under(Limits())).count == 3
    assert len(verdicts.last(2)) == 2


def test_nothing_yet():
    found = replay([], under(Limits()))
    assert (found.count, found.rows, found.moves) == (
        0,
        [("pass", 0, 0), ("unsure", 0, 0), ("fail", 0, 0)],
        [],
    )


def test_a_rubric_under_another_level():
    evaluator = Scripted((Answer(probability=0.97), STATES, replace(BOTH, level=1)))
    row = verdicts.record(judge(example(), QUESTIONS, Limits(), evaluator=evaluator))
    rubric = row.answers.get(kind="rubric")
    thresholds = Thresholds(confidence=0.8)
    assert [result(rubric, thresholds, pass_level=level) for level in (None, 1, 2)] == [
        Result.FAIL, Result.PASS, Result.FAIL,
    ]  # fmt: skip


class TestTheLimitsForm:
    url = reverse("admin:checks_checklimits_replay")
    sent = {"check_pass": "0.8", "check_fail": "0.5", "check_confidence": "0.8", "check_state_bytes": "65536"}

    def test_shows_it_and_keeps_nothing(self, admin_client):
        for probability in (0.95, 0.85):
            keep(probability)
        page = admin_client.post(self.url, self.sent)
        ((_, found),) = page.context["replays"]
        assert found.rows == [("pass", 1, 2), ("unsure", 0, 0), ("fail", 1, 0)]
        assert '<div id="replay"' in page.content.decode()
        assert not CheckLimits.objects.exists()

    def test_wrong_numbers_are_told(self, admin_client):
        page = admin_client.post(self.url, self.sent | {"check_pass": "7"})
        assert page.context["replays"] == []
        assert "from 0 to 1" in page.content.decode()

    def test_its_button_is_on_the_form_after_saving(self, admin_client):
        page = admin_client.get(reverse("admin:checks_checklimits_add")).content.decode()
        assert page.index('name="_save"') < page.index("data-replay")
        assert 'data-slider="0.9"' in page

    def test_is_for_who_may_change_them(self, client, django_user_model):
        client.force_login(django_user_model.objects.create_user("looker", is_staff=True))
        assert client.post(self.url, self.sent).status_code == 403
