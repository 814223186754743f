"""Who is in force: the rows of the admin, else the environment; noticed everywhere, at no statement a call."""

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from checks import evaluators, kept, memory, roster
from checks.models import Evaluator

pytestmark = pytest.mark.django_db
KEY = "sk-very-secret-0123456789"


@pytest.fixture(autouse=True)
def _environment(settings):
    settings.EVALUATOR = "heuristic"
    settings.EVALUATOR_KEYS = {"EVALUATOR_KEY_GROQ": KEY}


def row(name="groq", **columns):
    return Evaluator.objects.create(name=name, **{"preset": "groq", **columns})


def names():
    it = evaluators.configured()
    return None if it is None else [member.name for member in it.members]


def test_an_empty_table_leaves_it_to_the_environment(settings):
    assert evaluators.configured().name == "heuristic"
    settings.EVALUATOR = "none"
    assert evaluators.configured() is None


def test_rows_take_its_place_in_their_order():
    row("second", position=2)
    row("first", position=1)
    row("off", position=0, enabled=False)
    assert names() == ["first", "second"]


def test_rows_that_are_all_off_are_nobody():
    row(enabled=False)
    assert evaluators.configured() is None


def test_a_change_counts_at_once():
    it = row()
    assert names() == ["groq"]
    it.name = "other"
    it.save(update_fields=["name"])
    assert names() == ["other"]
    before = evaluators.configured().version
    it.model = "m"
    it.save(update_fields=["model"])
    assert evaluators.configured().version != before
    it.delete()
    assert evaluators.configured().name == "heuristic"


def test_another_process_that_shares_the_cache_notices():
    it = row()
    assert names() == ["groq"]
    Evaluator.objects.filter(pk=it.pk).update(name="elsewhere")  # as if another process had saved it
    assert names() == ["groq"]
    memory.put("evaluators", "its stamp", 60)
    assert names() == ["elsewhere"]


def test_one_that_shares_none_notices_soon(monkeypatch):
    monkeypatch.setattr(kept, "SECONDS", 0)
    it = row()
    assert names() == ["groq"]
    Evaluator.objects.filter(pk=it.pk).update(name="elsewhere")
    assert names() == ["elsewhere"]


def test_asking_after_it_costs_no_statement():
    row()
    names()
    with CaptureQueriesContext(connection) as captured:
        for _ in range(5):
            names()
    assert len(captured) == 0


def test_what_is_known_is_asked_of_nobody():
    row()
    assert roster.known().name == "heuristic"  # not read yet
    names()
    with CaptureQueriesContext(connection) as captured:
        assert roster.known().name == "groq"
    assert len(captured) == 0


def test_the_same_rows_are_the_same_judge():
    row()
    version = evaluators.configured().version
    roster.forget()
    assert evaluators.configured().version == version


def test_who_comes_to_see_the_work(settings):
    assert roster.hosts() == ()
    settings.EVALUATOR, settings.EVALUATOR_URL, settings.EVALUATOR_MODEL = (
        "chat",
        "https://llm.example.org/v1",
        "m",
    )
    assert roster.hosts() == ("llm.example.org",)
    row()
    row("again", position=2)
    row("words", preset="", wire="heuristic", position=3)
    row("clef", preset="workers_ai_clef", account="a", position=4)
    assert roster.hosts() == ("api.groq.com", "api.cloudflare.com")


class TestConfig:
    def test_is_the_presets_but_for_what_is_entered(self):
        config = roster.config_of(row(model="m", at_once=3))
        assert (config.kind, config.base, config.model) == ("chat", "https://api.groq.com/openai/v1", "m")
        assert (config.at_once, config.logprobs, config.again) == (3, False, frozenset({498}))
        assert config.guarded

    def test_an_account_goes_into_the_address(self):
        config = roster.config_of(row(preset="workers_ai_clef", account="abc"))
        assert config.base == "https://api.cloudflare.com/client/v4/accounts/abc/ai/run"

    def test_a_preset_that_is_gone_is_left_out(self):
        row("old", preset="gone")
        row("new")
        assert names() == ["new"]

    def test_a_key_goes_where_it_was_chosen_for_and_nowhere_else(self):
        bound = {"key_variable": "EVALUATOR_KEY_GROQ", "key_origin": "https://api.groq.com:443"}
        it = row(**bound)
        assert roster.config_of(it).key == KEY
        Evaluator.objects.filter(pk=it.pk).update(base="https://elsewhere.example.org")
        it.refresh_from_db()
        assert roster.config_of(it).key == ""

    def test_a_variable_that_is_not_set_is_no_key(self, settings):
        settings.EVALUATOR_KEYS = {}
        it = row(key_variable="EVALUATOR_KEY_GROQ", key_origin="https://api.groq.com:443")
        assert roster.config_of(it).key == ""

    @pytest.mark.parametrize(
        ("base", "origin"),
        [("https://a.example/v1", "https://a.example:443"), ("http://A.example:80", "http://a.example:80"),
         ("https://a.example:8443/x", "https://a.example:8443"), ("nonsense", ""), ("http://[::1", ""), ("", "")],
    )  # fmt: skip
    def test_an_origin(self, base, origin):
        assert roster.origin(base) == origin


@pytest.mark.parametrize(
    "columns",
    [
        {"preset": "", "wire": ""},
        {"wire": "chat"},
        {"key_variable": "EVALUATOR_KEY_GROQ"},
        {"key_variable": "SECRET_KEY", "key_origin": "https://api.groq.com:443"},
        {"key_origin": "https://api.groq.com:443"},
        {"seconds": 0},
        {"seconds": 3600},
        {"at_once": 0},
        {"input_price": "-1"},
    ],
)
def test_the_database_refuses(columns):
    with pytest.raises(IntegrityError), transaction.atomic():
        row(**columns)


def test_a_name_is_taken_once():
    row()
    with pytest.raises(ValidationError):
        Evaluator(name="groq", preset="groq").validate_unique()
