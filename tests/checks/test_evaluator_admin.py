"""The chain in the admin: what it refuses in words, where a key may go, and the trial."""

import pytest
from django.urls import reverse

from checks import evaluators
from checks.models import Evaluator
from tests.checks.test_presets import NOUL
from tests.servers.system_one import Reply, SystemOneServer, yes_to_everything

pytestmark = pytest.mark.django_db
KEY = "sk-very-secret-0123456789"
LIST, ADD = reverse("admin:checks_evaluator_changelist"), reverse("admin:checks_evaluator_add")
GROQ = {"name": "groq", "enabled": "on", "position": "1", "preset": "groq", "seconds": "20"}
OWN = {
    "name": "own", "enabled": "on", "position": "1", "wire": "chat", "base": "https://llm.example.org/v1",
    "model": "m", "seconds": "20",
}  # fmt: skip
BOUND = {"key_variable": "EVALUATOR_KEY_GROQ"}


@pytest.fixture(autouse=True)
def _environment(settings):
    settings.EVALUATOR = "none"
    settings.EVALUATOR_KEYS = {"EVALUATOR_KEY_GROQ": KEY, "EVALUATOR_KEY_OWN": KEY}
    settings.EVALUATOR_PRIVATE_HOSTS = []


def page_of(row):
    return reverse("admin:checks_evaluator_change", args=[row.pk])


def errors(page):
    assert page.status_code == 200
    return page.context["adminform"].form.errors


def test_one_is_made_and_in_force(admin_client):
    assert admin_client.post(ADD, GROQ | BOUND).status_code == 302
    row = Evaluator.objects.get()
    assert (row.key_variable, row.key_origin) == ("EVALUATOR_KEY_GROQ", "https://api.groq.com:443")
    assert [member.name for member in evaluators.configured().members] == ["groq"]


@pytest.mark.parametrize(
    ("sent", "field", "words"),
    [
        (GROQ | {"name": "Groq, ours"}, "name", "small letters"),
        (GROQ | {"preset": ""}, "preset", "Choose a preset"),
        (GROQ | {"preset": "nobody"}, "preset", "valid choice"),
        (GROQ | {"wire": "chat"}, "wire", "its own wire"),
        (GROQ | {"preset": "workers_ai"}, "account", "s id: letters"),
        (GROQ | {"preset": "workers_ai", "account": "../x"}, "account", "s id: letters"),
        (GROQ | {"preset": "ollama"}, "preset", "EVALUATOR_PRIVATE_HOSTS=localhost"),
        (GROQ | {"seconds": "0"}, "seconds", "greater than or equal to 0.1"),
        (GROQ | {"key_variable": "SECRET_KEY"}, "key_variable", "valid choice"),
        (OWN | {"model": ""}, "model", "Name the model"),
        (OWN | {"base": ""}, "base", "Write an http or https address"),
        (OWN | {"base": "ftp://llm.example.org"}, "base", "Write an http or https address"),
        (OWN | {"base": "https://key@llm.example.org"}, "base", "credentials"),
        (
            OWN | {"base": "https://llm.example.org/v1/chat/completions"},
            "base",
            "Leave out /chat/completions",
        ),
        (OWN | {"base": "https://llm.example.org/v1", "wire": "system_one"}, "base", "Leave out /v1"),
        (OWN | {"base": "http://169.254.169.254/v1"}, "base", "no public address"),
        (OWN | {"base": "http://[::ffff:10.0.0.1]/v1"}, "base", "no public address"),
        (OWN | {"base": "http://gateway:8000/v1"}, "base", "no public address"),
        (OWN | BOUND | {"base": "http://llm.example.org/v1"}, "key_variable", "plain http"),
        (OWN | {"wire": "heuristic", "base": ""}, "model", "asks no server"),
    ],
)
def test_refusals_are_in_words(admin_client, sent, field, words):
    found = errors(admin_client.post(ADD, sent))
    assert list(found) == [field]
    assert words in str(found[field])
    assert not Evaluator.objects.exists()


def test_whoever_runs_the_server_may_allow_a_private_host(admin_client, settings):
    settings.EVALUATOR_PRIVATE_HOSTS = ["gateway"]
    sent = OWN | BOUND | {"base": "http://gateway:8000/v1"}
    assert admin_client.post(ADD, sent).status_code == 302
    assert Evaluator.objects.get().key_origin == "http://gateway:8000"


def test_word_match_needs_nothing(admin_client):
    sent = {"name": "words", "enabled": "on", "position": "9", "wire": "heuristic", "seconds": "5"}
    assert admin_client.post(ADD, sent).status_code == 302
    assert evaluators.configured().is_model is False


class TestAKey:
    @pytest.fixture
    def row(self, admin_client):
        admin_client.post(ADD, OWN | {"key_variable": "EVALUATOR_KEY_OWN"})
        return Evaluator.objects.get()

    def sent(self, client, row, **changes):
        """The form as it is shown, with what is changed by hand."""
        form = client.get(page_of(row)).context["adminform"].form
        shown = {name: form[name].value() for name in form.fields}
        return {name: value for name, value in (shown | changes).items() if value not in {None, False}}

    def test_stays_where_the_address_does(self, admin_client, row):
        sent = self.sent(admin_client, row, model="n", base="https://llm.example.org/v2")
        assert admin_client.post(page_of(row), sent).status_code == 302
        row.refresh_from_db()
        assert (row.key_variable, row.key_origin) == ("EVALUATOR_KEY_OWN", "https://llm.example.org:443")

    def test_is_taken_off_when_the_address_changes(self, admin_client, row):
        sent = self.sent(admin_client, row, base="https://elsewhere.example.com/v1")
        page = admin_client.post(page_of(row), sent)
        assert "the key was taken off" in str(errors(page)["key_variable"])
        form = page.context["adminform"].form
        assert form["key_variable"].value() == ""
        row.refresh_from_db()
        assert row.base == OWN["base"]
        again = sent | {"key_variable": "", "key_for": form["key_for"].value()}
        assert admin_client.post(page_of(row), again).status_code == 302
        row.refresh_from_db()
        assert (row.key_variable, row.key_origin) == ("", "")

    def test_goes_to_the_new_one_when_it_is_chosen_again(self, admin_client, row):
        sent = self.sent(admin_client, row, base="https://elsewhere.example.com/v1")
        form = admin_client.post(page_of(row), sent).context["adminform"].form
        again = sent | {"key_variable": "EVALUATOR_KEY_OWN", "key_for": form["key_for"].value()}
        assert admin_client.post(page_of(row), again).status_code == 302
        row.refresh_from_db()
        assert row.key_origin == "https://elsewhere.example.com:443"

    def test_another_one_is_a_choice(self, admin_client, row):
        sent = self.sent(
            admin_client, row, base="https://elsewhere.example.com/v1", key_variable="EVALUATOR_KEY_GROQ"
        )
        assert admin_client.post(page_of(row), sent).status_code == 302

    def test_a_preset_is_an_address_too(self, admin_client, row):
        sent = self.sent(admin_client, row, preset="groq", wire="", base="", model="")
        assert "key_variable" in errors(admin_client.post(page_of(row), sent))

    def test_is_nowhere_on_the_pages(self, admin_client, row):
        for page in (LIST, page_of(row)):
            assert KEY not in admin_client.get(page).content.decode()

    def test_one_that_is_not_set_any_more_is_told(self, admin_client, row, settings):
        settings.EVALUATOR_KEYS = {}
        assert "EVALUATOR_KEY_OWN (not set)" in admin_client.get(LIST).content.decode()
        assert admin_client.post(page_of(row), self.sent(admin_client, row)).status_code == 302


class TestTrial:
    @pytest.fixture(autouse=True)
    def _near(self, settings):
        settings.EVALUATOR_PRIVATE_HOSTS = ["127.0.0.1"]

    def tried(self, client, *rows):
        sent = {"action": "try_it", "_selected_action": [row.pk for row in rows]}
        return client.post(LIST, sent).content.decode()

    def row(self, server, name="near", **columns):
        base = server if isinstance(server, str) else server.base_url
        return Evaluator.objects.create(name=name, wire="system_one", base=base, model="m", **columns)

    def test_shows_answers_latency_and_method(self, admin_client):
        with SystemOneServer(yes_to_everything) as server:
            page = self.tried(admin_client, self.row(server, input_price="0.5", output_price="0"))
        for words in (
            "97% yes",
            "states, confidence 100%",
            "level 2",
            "systemone",
            " ms",
            "120 in, 12 out",
            "0.00006",
        ):
            assert words in page, words
        assert len(server.requests) == 1

    def test_shows_what_went_wrong_and_the_others_all_the_same(self, admin_client):
        with (
            SystemOneServer(Reply(status=401, body="<b>who?</b>")) as shut,
            SystemOneServer(yes_to_everything) as well,
        ):
            page = self.tried(admin_client, self.row(shut, "shut"), self.row(well, "well"))
        assert "&lt;b&gt;who?&lt;/b&gt;" in page
        assert "97% yes" in page

    def test_half_an_answer_is_none(self, admin_client):
        with SystemOneServer(Reply(body=NOUL)) as server:
            assert "no answer to q1" in self.tried(admin_client, self.row(server))

    def test_not_many_at_once(self, admin_client):
        rows = [self.row("http://127.0.0.1:9", f"n{n}") for n in range(6)]
        sent = {"action": "try_it", "_selected_action": [row.pk for row in rows]}
        assert "Try at most 5" in admin_client.post(LIST, sent, follow=True).content.decode()

    def test_is_not_for_who_may_only_look(self, client, django_user_model):
        from django.contrib.auth.models import Permission

        looker = django_user_model.objects.create_user("looker", is_staff=True)
        looker.user_permissions.add(Permission.objects.get(codename="view_evaluator"))
        client.force_login(looker)
        with SystemOneServer(yes_to_everything) as server:
            self.tried(client, self.row(server))
        assert server.requests == []


def test_the_list_tells_who_failed_lately(admin_client):
    from checks import roster
    from checks.evaluators import EvaluatorError, breaker

    admin_client.post(ADD, GROQ)
    assert "failed, asked last" not in admin_client.get(LIST).content.decode()
    version = roster.member_of(Evaluator.objects.get()).evaluator.version
    breaker.failed(version, EvaluatorError("no", permanent=True, down=True))
    assert "failed, asked last" in admin_client.get(LIST).content.decode()


def test_one_that_is_deleted_from_the_list_is_asked_no_more(admin_client):
    admin_client.post(ADD, GROQ)
    assert evaluators.configured() is not None
    sent = {"action": "delete_selected", "_selected_action": [Evaluator.objects.get().pk], "post": "yes"}
    admin_client.post(LIST, sent)
    assert evaluators.configured() is None
