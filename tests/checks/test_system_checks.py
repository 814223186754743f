import pytest
from django.core import checks as system_checks
from django.test import override_settings

from checks.system_checks import check_evaluator

SECRET = "sk-very-secret"
WELL = {
    "EVALUATOR": "system_one",
    "EVALUATOR_URL": "http://localhost:11434",
    "EVALUATOR_MODEL": "jev-latest",
    "EVALUATOR_KEY": "",
}
UNUSED = {"EVALUATOR_URL": "", "EVALUATOR_MODEL": ""}


def found(settings, **changes):
    for name, value in (WELL | changes).items():
        setattr(settings, name, value)
    return check_evaluator()


def test_it_is_registered():
    assert check_evaluator in system_checks.registry.registry.get_checks()


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"EVALUATOR_URL": "https://openrouter.ai/api", "EVALUATOR_KEY": SECRET},
        {"EVALUATOR_URL": "http://127.0.0.1:8080/api/", "EVALUATOR_KEY": SECRET},
        {"EVALUATOR_URL": "http://[::1]:8080", "EVALUATOR_KEY": SECRET},
        {"EVALUATOR_URL": "http://gateway.localhost", "EVALUATOR_KEY": SECRET},
        {"EVALUATOR_URL": "http://gateway"},
        {"EVALUATOR": "none", "EVALUATOR_URL": "", "EVALUATOR_MODEL": ""},
        {"EVALUATOR": "heuristic", **UNUSED},
        {"EVALUATOR": "ollama, ollama_chat", **UNUSED},
        {"EVALUATOR": "groq", "EVALUATOR_KEYS": {"EVALUATOR_KEY_GROQ": SECRET}, **UNUSED},
    ],
)
def test_right_combinations_are_quiet(settings, changes):
    assert found(settings, **changes) == []


@pytest.mark.parametrize(
    ("changes", "ids"),
    [
        ({"EVALUATOR": "oracle"}, ["E001"]),
        ({"EVALUATOR_URL": ""}, ["E002"]),
        ({"EVALUATOR_URL": "localhost:11434"}, ["E003"]),
        ({"EVALUATOR": "chat", "EVALUATOR_URL": "https://api.example.org/v1"}, []),
        ({"EVALUATOR": "chat", "EVALUATOR_URL": "https://api.example.org/v1/chat/completions"}, ["E005"]),
        ({"EVALUATOR": "decisions", "EVALUATOR_URL": "https://api.example.org/v1"}, ["E005"]),
        ({"EVALUATOR": "decisions", "EVALUATOR_MODEL": ""}, ["E006"]),
        ({"EVALUATOR_URL": "ftp://localhost"}, ["E003"]),
        ({"EVALUATOR_URL": "http://"}, ["E003"]),
        ({"EVALUATOR_URL": "http://[::1"}, ["E003"]),
        ({"EVALUATOR_URL": "http://localhost:99999"}, ["E003"]),
        ({"EVALUATOR_URL": "http://localhost:0"}, ["E003"]),
        ({"EVALUATOR_URL": "http://local host"}, ["E003"]),
        ({"EVALUATOR_URL": "http://localhost\n"}, ["E003"]),
        ({"EVALUATOR_URL": f"http://{SECRET}@localhost"}, ["E004"]),
        ({"EVALUATOR_URL": f"http://localhost/?key={SECRET}"}, ["E004"]),
        ({"EVALUATOR_URL": f"http://localhost/#{SECRET}"}, ["E004"]),
        ({"EVALUATOR_URL": "http://localhost:11434/v1/systemone"}, ["E005"]),
        ({"EVALUATOR_URL": "http://localhost:11434/api/v1/systemone/"}, ["E005"]),
        ({"EVALUATOR_URL": "http://localhost:11434/v1"}, ["E005"]),
        ({"EVALUATOR_MODEL": ""}, ["E006"]),
        ({"EVALUATOR_URL": "", "EVALUATOR_MODEL": ""}, ["E002", "E006"]),
        ({"EVALUATOR_KEY": f"{SECRET} x"}, ["E007"]),
        ({"EVALUATOR_KEY": f"{SECRET}\nx"}, ["E007"]),
        ({"EVALUATOR_KEY": f"{SECRET}é"}, ["E007"]),
        ({"EVALUATOR_URL": "http://10.0.0.5", "EVALUATOR_KEY": SECRET}, ["W002"]),
        ({"EVALUATOR_URL": "http://api.example.com", "EVALUATOR_KEY": SECRET}, ["W002"]),
        ({"EVALUATOR_URL": "http://localhost.example.com", "EVALUATOR_KEY": SECRET}, ["W002"]),
        ({"EVALUATOR": "none", "EVALUATOR_KEY": SECRET}, ["W001"]),
        ({"EVALUATOR": "", "EVALUATOR_URL": "", "EVALUATOR_MODEL": "m"}, ["W001"]),
        ({"EVALUATOR": "heuristic"}, ["W001"]),
        ({"EVALUATOR": "groq,oracle", **UNUSED}, ["E001"]),
        ({"EVALUATOR": ",", **UNUSED}, ["E001"]),
        ({"EVALUATOR": "groq,workers_ai", **UNUSED}, ["E008", "E008", "E009"]),
        ({"EVALUATOR": "groq", "EVALUATOR_KEYS": {"EVALUATOR_KEY_GROQ": SECRET}}, ["W001"]),
    ],
)
def test_wrong_combinations_are_named_with_a_way_out(settings, changes, ids):
    messages = found(settings, **changes)
    assert [message.id for message in messages] == [f"checks.{number}" for number in ids]
    for message in messages:
        assert message.hint
        assert SECRET not in f"{message.msg} {message.hint}"


def test_what_is_not_used_is_named(settings):
    (warning,) = found(settings, EVALUATOR="heuristic", EVALUATOR_URL="", EVALUATOR_KEY="")
    assert warning.msg == "EVALUATOR_MODEL is set, but EVALUATOR is heuristic and does not use it."


@pytest.mark.parametrize(
    "url", ["", "http://mainnet.base.org", "https://user:secret@base.example.com", "https://", "base"]
)
def test_a_chains_endpoint_is_https(url):
    from checks.facts.system_checks import check_endpoints

    with override_settings(BASE_RPC_URL=url):
        (found,) = check_endpoints()
    assert (found.id, "secret" in found.msg + found.hint) == ("checks.E020", False)
    assert check_endpoints() == []
