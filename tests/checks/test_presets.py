"""What each preset sends and where, over a real socket where its quirks are."""

import time
from pathlib import Path

import pytest

from checks import material
from checks.evaluators import EVALUATORS, Config, EvaluatorError, built, transport
from checks.evaluators.envelope import Told, opened, trouble, trouble_in
from checks.evaluators.presets import ACCOUNT, PRESETS
from checks.system_checks import PATHS, split
from tests.checks.vendor import YES_NO
from tests.checks.vendor import material as example
from tests.servers.system_one import Reply, SystemOneServer

NOUL = {"model": "m", "answers": {"q0": {"type": "noul", "noul": 0.98}}, "usage": {"input_tokens": 9}}


def config(name, base):
    preset = PRESETS[name]
    return Config(
        kind=preset.wire, base=base, model=preset.model, logprobs=preset.logprobs, at_once=preset.at_once,
        extra=preset.extra, again=preset.again, path=preset.path, envelope=preset.envelope,
    )  # fmt: skip


def ask(name, server):
    return built(config(name, server.base_url)).ask(
        material.state(example()), (YES_NO,), deadline=time.monotonic() + 20
    )


@pytest.fixture(autouse=True)
def _fast(monkeypatch):
    monkeypatch.setattr(transport, "BACKOFF_SECONDS", 0.001)


@pytest.mark.parametrize("name", PRESETS)
def test_each_is_sound(name):
    preset = PRESETS[name]
    assert preset.wire in EVALUATORS and preset.model and preset.label
    base = preset.base_of("abc")
    assert split(base) is not None and ACCOUNT not in base and not base.endswith("/")
    assert preset.needs_account is (base != preset.base)
    if preset.path is None:  # the wire's own path is not there twice
        assert not base.endswith(PATHS[preset.wire])
        assert not (preset.wire != "chat" and base.endswith("/v1"))
    assert preset.needs_key is base.startswith("https:")


def test_clef_is_asked_at_its_model_and_answers_in_an_envelope():
    with SystemOneServer(Reply(body={"result": NOUL, "success": True, "errors": []})) as server:
        answers = ask("workers_ai_clef", server)
    assert server.requests[0].path == "/@cf/cloudflare/clef"
    assert (answers.answers[0].probability, answers.input_tokens) == (0.98, 9)


def test_an_answer_without_the_envelope_is_read_as_it_is():
    with SystemOneServer(Reply(body=NOUL)) as server:
        assert ask("workers_ai_clef", server).answers[0].probability == 0.98


@pytest.mark.parametrize(
    ("status", "body", "permanent", "requests"),
    [
        (200, {"result": NOUL, "success": False, "errors": [{"code": 7000, "message": "no"}]}, True, 1),
        (200, {"result": NOUL, "success": "true", "errors": []}, True, 1),
        (200, {"result": None, "success": True, "errors": []}, False, 1),
        (200, {"result": NOUL, "success": False, "errors": [{"code": 3040}]}, False, 3),
        (429, {"success": False, "errors": [{"code": 3040, "message": "no capacity"}]}, False, 3),
        (429, {"success": False, "errors": [{"code": 3036, "message": "neurons"}]}, True, 1),
        (429, {"success": False, "errors": [{"code": 4006, "message": "neurons"}]}, True, 1),
        (429, {"errors": [{"code": 4006}]}, True, 1),
        (429, {"success": False, "errors": "x"}, False, 3),
        (500, b"<html>", False, 3),
    ],
)
def test_what_an_envelope_says_went_wrong(status, body, permanent, requests):
    with SystemOneServer(Reply(status=status, body=body)) as server:
        with pytest.raises(EvaluatorError) as error:
            ask("workers_ai_clef", server)
        assert (error.value.permanent, len(server.requests)) == (permanent, requests)


def test_a_days_quota_is_used_up_for_everybody():
    spent = Reply(status=429, body={"success": False, "errors": [{"code": 3036}]})
    with SystemOneServer(spent) as server, pytest.raises(EvaluatorError) as error:
        ask("workers_ai", server)
    assert error.value.down and error.value.permanent


def test_groq_is_never_asked_for_logprobs_and_498_is_waited_out():
    said = {"model": "m", "choices": [{"message": {"content": '{"A": 0.9, "B": 0.1}'}}]}
    turned = {"model": "m", "choices": [{"message": {"content": '{"A": 0.1, "B": 0.9}'}}]}

    def reply(request):
        yes_first = "A. Yes." in request.json["messages"][-1]["content"]
        return Reply(status=498) if len(server.requests) == 1 else Reply(body=said if yes_first else turned)

    with SystemOneServer(reply) as server:
        answers = ask("groq", server)
    assert answers.answers[0].probability == pytest.approx(0.9)
    assert not any("logprobs" in request.json for request in server.requests)
    assert len(server.requests) == 3


def test_openrouter_is_told_to_keep_to_what_is_asked():
    with SystemOneServer(Reply(status=400)) as server, pytest.raises(EvaluatorError):
        ask("openrouter_chat", server)
    assert server.requests[0].json["provider"] == {"require_parameters": True}


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"success": True, "errors": [{"code": 3036}]}, None),
        ({"answers": {}}, None),
        ({"success": False}, Told.OTHER),
        ({"success": None}, Told.OTHER),
        ({"success": False, "errors": [None, {"code": "3036"}]}, Told.OTHER),
        ([], None),
    ],
)
def test_trouble(body, told):
    assert trouble(body) is told


def test_no_json_is_not_an_envelope():
    assert trouble_in(b"<html>") is None
    assert opened({"answers": {}}) == {"answers": {}}


def test_the_docs_list_them():
    text = (Path(__file__).resolve().parents[2] / "docs" / "evaluators.md").read_text()
    rows = [
        line
        for line in text.splitlines()
        if line.startswith(tuple(f"| `{name}` | {PRESETS[name].label} " for name in PRESETS))
    ]
    assert rows == [
        f"| `{name}` | {it.label} | `{it.base}` | `{it.model}` | {'yes' if it.needs_key else 'no'} |"
        for name, it in PRESETS.items()
    ]
