"""`EVALUATOR=groq,workers_ai`: a chain by the environment alone."""

import pytest

from checks import evaluators, roster
from checks.evaluators import Answers, EvaluatorError, named
from checks.evaluators.chain import Chain
from checks.questions import Answer, Kind, Question

ASK = (Question(ask="Is it so?", kind=Kind.YES_NO),)


@pytest.fixture
def environment(settings):
    settings.EVALUATOR = "groq, workers_ai"
    settings.EVALUATOR_KEYS = {"EVALUATOR_KEY_GROQ": "key-g", "EVALUATOR_KEY_WORKERS_AI": "key-w"}
    settings.EVALUATOR_ACCOUNT = "acc-1"
    return settings


def test_presets_are_asked_in_the_order_in_which_they_are_named(environment):
    it = evaluators.of_settings()
    assert isinstance(it, Chain) and it.is_model
    assert [member.name for member in it.members] == ["groq", "workers_ai"]
    assert it.hosts == ("api.groq.com", "api.cloudflare.com")
    assert evaluators.of_settings() is it
    environment.EVALUATOR = "workers_ai,groq"
    assert [member.name for member in evaluators.of_settings().members] == ["workers_ai", "groq"]


def test_each_is_built_with_its_own_key_address_and_quirks(environment, monkeypatch):
    built = []
    monkeypatch.setattr(named, "built", lambda config: (built.append(config), evaluators.built(config))[1])
    environment.EVALUATOR_ACCOUNT = "acc-2"
    evaluators.of_settings()
    assert [(config.key, config.base) for config in built] == [
        ("key-g", "https://api.groq.com/openai/v1"),
        ("key-w", "https://api.cloudflare.com/client/v4/accounts/acc-2/ai/v1"),
    ]
    assert [config.envelope for config in built] == [False, True]
    assert not any(config.guarded for config in built)


def test_the_second_answers_where_the_first_does_not(environment, monkeypatch):
    class Scripted:
        is_model, method, name = True, "scripted", "scripted"

        def __init__(self, config):
            self.version, self.groq = config.base, "groq" in config.base

        def ask(self, state, questions, *, deadline):
            if self.groq:
                raise EvaluatorError("overloaded", down=True)
            return Answers(model="m", answers=(Answer(probability=0.9),), method="scripted")

    monkeypatch.setattr(named, "built", Scripted)
    environment.EVALUATOR_ACCOUNT = "acc-3"
    answers = evaluators.of_settings().ask({}, ASK, deadline=float("inf"))
    assert answers.by.name == "workers_ai"


@pytest.mark.django_db
def test_it_is_in_force_while_the_admin_keeps_none(environment):
    roster.forget()
    assert evaluators.configured() is evaluators.of_settings()
    assert roster.hosts() == ("api.groq.com", "api.cloudflare.com")
