import pytest
from django.urls import reverse

from checks import limits, verdicts
from checks.judging import judge
from checks.models import CheckLimits, Verdict
from checks.questions import Answer, Limits
from tests.checks.vendor import BOTH, QUESTIONS, STATES, Scripted, down
from tests.checks.vendor import material as example

pytestmark = pytest.mark.django_db

ADD = {
    "check_pass": "0.95",
    "check_fail": "0.4",
    "check_confidence": "0.7",
    "check_state_bytes": "2048",
    "why": "Too many passes were refused.",
}


@pytest.fixture
def verdict():
    answers = (Answer(probability=0.62), STATES, BOTH)
    return verdicts.record(judge(example(), QUESTIONS, Limits(), evaluator=Scripted(answers)))


class TestVerdicts:
    def test_are_listed_and_filtered(self, admin_client, verdict):
        verdicts.record(judge(example(), QUESTIONS, Limits(), evaluator=Scripted(down())))
        url = reverse("admin:checks_verdict_changelist")
        assert admin_client.get(url, {"verdict": "unsure"}).context["cl"].result_count == 1
        assert admin_client.get(url, {"evaluator": "scripted"}).context["cl"].result_count == 2
        assert admin_client.get(url, {"model": "scripted-1"}).context["cl"].result_count == 1
        assert admin_client.get(url, {"q": verdict.digest}).context["cl"].result_count == 2

    def test_a_list_takes_no_statement_per_row(self, admin_client, verdict, django_assert_max_num_queries):
        for _ in range(10):
            verdicts.record(judge(example(), QUESTIONS, Limits(), evaluator=Scripted(down())))
        with django_assert_max_num_queries(14):
            admin_client.get(reverse("admin:checks_verdict_changelist"))

    def test_show_every_answer_in_words(self, admin_client, verdict):
        page = admin_client.get(reverse("admin:checks_verdict_change", args=[verdict.pk]))
        assert "Model says 62 % yes; 90 % skips you, under 50 % sends back." in page.content.decode()

    def test_are_read_only(self, admin_client, verdict):
        change = reverse("admin:checks_verdict_change", args=[verdict.pk])
        assert admin_client.post(change, {"verdict": "pass"}).status_code == 403
        assert admin_client.get(reverse("admin:checks_verdict_add")).status_code == 403
        assert admin_client.post(reverse("admin:checks_verdict_delete", args=[verdict.pk])).status_code == 403
        page = admin_client.get(change).content.decode()
        assert 'name="_save"' not in page
        assert Verdict.objects.get().verdict == "unsure"

    def test_are_not_for_everybody(self, client, verdict):
        assert client.get(reverse("admin:checks_verdict_changelist")).status_code == 302


class TestLimits:
    url = "admin:checks_checklimits_add"

    def test_a_new_row_is_in_force_and_says_who_and_why(self, admin_client, admin_user):
        assert admin_client.post(reverse(self.url), ADD).status_code == 302
        row = CheckLimits.objects.get()
        assert (row.by, row.why) == (admin_user.get_username(), ADD["why"])
        assert limits.current() == Limits(
            check_pass=0.95, check_fail=0.4, check_confidence=0.7, check_state_bytes=2048
        )

    def test_the_form_starts_from_what_is_in_force(self, admin_client):
        CheckLimits.objects.create(check_pass=0.77, check_fail=0.33, why="a", by="ada")
        page = admin_client.get(reverse(self.url)).content.decode()
        assert 'value="0.77"' in page
        assert 'value="0.33"' in page

    @pytest.mark.parametrize(
        ("changes", "field", "words"),
        [
            ({"check_pass": "1.5"}, "check_pass", "from 0 to 1"),
            ({"check_pass": "-1"}, "check_pass", "from 0 to 1"),
            ({"check_pass": "nan"}, "check_pass", "number"),
            ({"check_pass": ""}, "check_pass", "required"),
            ({"check_fail": "2"}, "check_fail", "from 0 to 1"),
            ({"check_fail": "0.96"}, "check_fail", "above the pass threshold (0.95)"),
            ({"check_confidence": "80"}, "check_confidence", "from 0 to 1"),
            ({"check_state_bytes": "10"}, "check_state_bytes", "at least 1024"),
            ({"check_state_bytes": "-1"}, "check_state_bytes", ""),
            ({"why": " "}, "why", ""),
        ],
    )
    def test_refusals_are_in_words(self, admin_client, changes, field, words):
        page = admin_client.post(reverse(self.url), ADD | changes)
        assert page.status_code == 200
        errors = page.context["adminform"].form.errors
        assert list(errors) == [field]
        assert words in errors[field][0]
        assert CheckLimits.objects.count() == 0

    def test_history_is_kept(self, admin_client):
        row = CheckLimits.objects.create(why="a", by="ada")
        change = reverse("admin:checks_checklimits_change", args=[row.pk])
        assert admin_client.get(change).status_code == 200
        assert admin_client.post(change, ADD).status_code == 403
        assert admin_client.post(reverse("admin:checks_checklimits_delete", args=[row.pk])).status_code == 403
        assert limits.current() == Limits()

    def test_by_cannot_be_chosen(self, admin_client, admin_user):
        admin_client.post(reverse(self.url), ADD | {"by": "somebody else"})
        assert CheckLimits.objects.get().by == admin_user.get_username()
