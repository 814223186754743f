"""The log: who did what to which run and how it came out; never what was sent, never a secret."""

import json
import logging
import re
import sys
import time
from types import SimpleNamespace
from unittest import mock

import pytest
from celery import signals
from django.contrib.auth.models import User
from django.test import Client

from processes import files, logs, tokens
from tests.processes.flows import cast, errand
from tests.processes.http import Http
from tests.processes.test_tool_upload import given
from tests.world import rid

ID = "deploy-check.0001"


def line_of(record: logging.LogRecord, kind: str = "json") -> str:
    return {"json": logs.Json, "text": logs.Text}[kind]().format(record)


def record(message: str = "hello", **extra) -> logging.LogRecord:
    made = logging.LogRecord("countersign", logging.INFO, __file__, 1, message, (), None)
    made.__dict__.update(extra)
    return made


@pytest.fixture
def written():
    """What the requests' logger writes, as JSON, formatted as it is written."""
    lines = []

    class Kept(logging.Handler):
        def emit(self, record):
            lines.append(logs.Json().format(record))

    handler, logger = Kept(), logging.getLogger("processes.requests")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel("INFO")
    yield lines
    logger.removeHandler(handler)
    logger.setLevel(level)


@pytest.fixture
def c(world):
    return cast(world)


# ---- lines


def test_a_line_is_one_object():
    with logs.about(request="r" * 8, run="r_1", agent=None):
        line = json.loads(line_of(record("two\nlines é")))
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00", line.pop("time"))
    assert line == {
        "level": "INFO",
        "logger": "countersign",
        "message": "two\nlines é",
        "request": "r" * 8,
        "run": "r_1",
    }
    assert "\n" not in line_of(record("two\nlines"))


def test_text_is_for_people():
    assert line_of(record(), "text") == "INFO countersign: hello"
    with logs.about(run="r_1"):
        assert line_of(record(), "text") == "INFO countersign: hello [run=r_1]"


def test_a_traceback_stays_in_its_line():
    try:
        int("Bearer " + "k" * 20)
    except ValueError:
        line = line_of(record(exc_info=sys.exc_info()))
    assert "ValueError" in json.loads(line)["exception"] and "kkkk" not in line


@pytest.mark.parametrize("kind", ["json", "text"])
def test_secrets_are_taken_out(kind):
    key = "cs_abcdefghij_" + "S" * 43
    token = tokens.derive(tokens.Claim("r_1", "fetch", 1, 1), 1)
    address = files.url("f_0123456789abcdef")
    for secret, part in (
        (key, "S" * 43),
        (token, token.partition(".")[2]),
        (address, address.rpartition(":")[2]),
        ("postgres://me:hunter2@host/db", "hunter2"),
        ("Authorization: Bearer abcdef", "abcdef"),
    ):
        assert part in secret
        assert part not in line_of(record(f"with {secret} in it"), kind)
        assert part not in line_of(record(call={"run": secret}), kind)


def test_scrubbing_takes_no_time_on_long_texts():
    started = time.perf_counter()
    for text in ("a" * 500_000, "a." * 250_000, "://a" * 125_000, "Bearer " * 70_000, "cs_" * 150_000):
        logs.scrubbed(text)
    assert time.perf_counter() - started < 3


def test_made_up_fields_are_cut():
    assert len(json.loads(line_of(record(call={"run": "x" * 100_000})))["run"]) == 100


# ---- requests


@pytest.mark.parametrize("given_id", [ID, "a1b2c3d4", "x" * 64])
def test_a_callers_id_is_taken(given_id):
    assert logs.request_id(given_id) == given_id


@pytest.mark.parametrize(
    "given_id", ["", "short", "x" * 65, "with space!", "a\nb-c-d-e-f", "-leading-dash", "é" * 9]
)
def test_or_one_is_made(given_id):
    assert re.fullmatch(r"[0-9a-f]{32}", logs.request_id(given_id))


@pytest.mark.django_db
def test_a_call(world, c, written):
    run = errand(world, c.ada)
    http = Http(key=world.keys[c.agent.id])
    call = {"runId": run["run"]["id"], "stepId": "fetch", "requestId": rid()}
    http.post("claim", call, **{"X-Request-ID": ID})
    assert http.response.headers["X-Request-ID"] == ID
    (line,) = map(json.loads, written)
    assert isinstance(line.pop("ms"), int) and line.pop("time")
    assert line == {
        "level": "INFO", "logger": "processes.requests", "message": "request", "request": ID, "tool": "claim",
        "caller": "agent:worker", "run": run["run"]["id"], "code": "ok", "method": "POST",
        "route": "v1/<slug:tool>", "status": 200,
    }  # fmt: skip


@pytest.mark.django_db
def test_refusals_tell_their_code_and_the_run(world, c, written):
    run = errand(world, c.ada)
    token = world.claim(c.agent, run, "fetch")["token"]
    http = Http(key=world.keys[c.agent.id])
    http.post("submit", {"token": token, "output": {"x": "payload"}, "summary": "words", "requestId": rid()})
    http.post("claim", {})
    Http().post("get_work", {})
    http.post("get_work", "payload", content_type="text/plain")
    lines = [json.loads(line) for line in written]
    assert [(line["code"], line["status"]) for line in lines] == [
        ("not_accepted", 422), ("invalid", 400), ("forbidden", 401), ("invalid", 415)
    ]  # fmt: skip
    assert (lines[0]["run"], lines[0]["caller"]) == (run["run"]["id"], "agent:worker")
    assert "caller" not in lines[2]
    for secret in ("payload", "words", token, world.keys[c.agent.id]):
        assert secret not in "".join(written)


@pytest.mark.django_db
def test_no_address_of_a_file(world, c, written):
    ref = world.call(c.agent, "upload", **given())["id"]
    path = files.url(ref).partition("8000")[2]
    assert Client().get(path).status_code == 200
    (line,) = written
    assert json.loads(line)["route"] == "v1/files/<str:signed>" and path not in line and ref not in line


@pytest.mark.django_db
def test_pages_tell_the_person_and_no_query(world, c, written):
    client = Client()
    client.force_login(User.objects.get(username="ada"))
    client.get("/?process=errand")
    line = json.loads(written[-1])
    assert (line["caller"], line["route"], line["status"]) == ("person:ada", "", 200)
    assert "errand" not in written[-1]


@pytest.mark.django_db
def test_one_call_tells_nothing_of_the_one_before(world, c, written):
    http = Http(key=world.keys[c.agent.id])
    http.post("get_run", {"runId": errand(world, c.ada)["run"]["id"]})
    Http().post("describe", {})
    line = json.loads(written[-1])
    assert "run" not in line and "caller" not in line
    assert logs.fields() == {}


@pytest.mark.django_db
def test_a_fault_is_found_by_the_requests_id(world, c, caplog):
    http = Http(key=world.keys[c.agent.id])
    lines = []
    with (
        mock.patch("processes.runs.load", side_effect=ZeroDivisionError),
        mock.patch.object(caplog.handler, "emit", lambda record: lines.append(line_of(record))),
    ):
        http.post("get_run", {"runId": "r_1"}, **{"X-Request-ID": ID})
    (line,) = [json.loads(line) for line in lines if "exception" in line]
    assert (line["request"], line["run"], line["tool"]) == (ID, "r_1", "get_run")


# ---- tasks


def test_a_workers_lines_carry_the_requests_id(written):
    headers = {}
    with logs.about(request=ID):
        signals.before_task_publish.send(sender="processes.evaluate", headers=headers, body=())
    assert headers == {"log_request": ID}
    task = SimpleNamespace(name="processes.evaluate", request=SimpleNamespace(is_eager=False, **headers))
    with logs.about():
        signals.task_prerun.send(sender=None, task_id="check-1", task=task)
        logs.note(run="r_1", caller="agent:a")
        signals.task_postrun.send(
            sender=None, task_id="check-1", task=task, state="SUCCESS", retval={"error": "payload"}
        )
    (line,) = map(json.loads, written)
    assert (line["request"], line["task"], line["tool"]) == (ID, "check-1", "processes.evaluate")
    assert (line["run"], line["caller"], line["code"]) == ("r_1", "agent:a", "success")
    assert "payload" not in written[0]


def test_a_wake_that_found_nothing_is_no_news(written):
    task = SimpleNamespace(name="processes.wake", request=SimpleNamespace(is_eager=False))
    with logs.about():
        signals.task_prerun.send(sender=None, task_id="1", task=task)
        signals.task_postrun.send(sender=None, task_id="1", task=task, state="SUCCESS", retval=0)
    assert written == []


# ---- what is configured


def test_request_lines_are_for_machines():
    levels = {
        kind: logs.configuration(kind, "INFO")["loggers"]["processes.requests"]["level"]
        for kind in ("json", "text")
    }
    assert levels == {"json": "INFO", "text": "WARNING"}
