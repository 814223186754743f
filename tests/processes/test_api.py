"""REST: the envelope, statuses and headers, what bodies are taken, numbers as sent, file addresses."""

import json
import time
from unittest import mock

import pytest
from django.contrib.auth.models import User
from django.core.files.storage import default_storage
from django.test import Client

from checks import codec, keys
from processes import files
from processes.models import Upload
from processes.tools import TOOLS
from tests.processes.flows import ERRAND, cast, errand, signing
from tests.processes.http import Http
from tests.processes.test_tool_upload import given
from tests.world import SCREENING, rid

pytestmark = pytest.mark.django_db
NUMBERS = '{"a":0.1000000000000000055,"b":12345678901234567890,"c":1e400,"d":1.0,"e":-0.0,"f":1E+2}'


@pytest.fixture
def c(world):
    world.publish(ERRAND)
    return cast(world)


@pytest.fixture
def agent(world, c):
    return Http(key=world.keys[c.agent.id])


@pytest.fixture
def ada(c):
    return Http(user=User.objects.get(username="ada"))


# ---- envelope, statuses, headers


def test_a_result(agent):
    status, envelope = agent.post("get_work", {})
    assert (status, envelope) == (200, {"ok": True, "data": {"items": [], "nextCursor": None}})
    assert agent.response.headers["Content-Type"] == "application/json"


def test_a_refusal_has_code_message_and_issues(agent):
    status, envelope = agent.post("claim", {"runId": "r"})
    assert status == 400
    assert envelope["ok"] is False and set(envelope) == {"ok", "error"}
    assert set(envelope["error"]) == {"code", "message", "issues"}
    assert envelope["error"]["issues"] == ["requestId: missing", "stepId: missing"]
    status, envelope = agent.post("get_run", {"runId": "r"})
    assert (status, set(envelope["error"])) == (404, {"code", "message"})


def test_each_code_has_its_status(world, c, agent, ada, evaluator):
    world.publish(SCREENING, finance="finance")
    evaluator.script = ["down"]
    run = signing(world, c.agent)
    stale = {"runId": run["run"]["id"], "workItemId": run["workItems"][0]["id"], "snapshot": "old"}
    start = {"process": "errand", "inputs": {"what": "x"}}
    view = agent.data("start_run", {**start, "requestId": "one"})
    claim = agent.data("claim", {"runId": view["run"]["id"], "stepId": "fetch", "requestId": rid()})
    assert agent.refused("get_work", {"limit": 0}) == (400, "invalid")
    assert Http().refused("get_work", {}) == (401, "forbidden")
    assert agent.refused("cancel", {"runId": view["run"]["id"], "reason": "r", "requestId": rid()}) == (
        403,
        "forbidden",
    )
    assert agent.refused("get_run", {"runId": "r"}) == (404, "not_found")
    assert agent.refused("start_run", {**start, "mode": "test", "requestId": "one"}) == (409, "conflict")
    assert ada.refused("decide", {**stale, "decision": "approved", "requestId": rid()}) == (409, "stale")
    assert agent.refused(
        "submit", {"token": claim["token"], "output": {}, "summary": "s", "requestId": rid()}
    ) == (422, "not_accepted")
    screening = world.start(c.agent)
    token = world.claim(c.agent, screening)["token"]
    sent = {"token": token, "output": {"cleared": True, "finding": "x"}, "summary": "s", "next": "approve"}
    assert agent.refused("submit", {**sent, "reason": "r", "requestId": rid()}) == (503, "retry")
    assert agent.response.headers["Retry-After"] == "5"


def test_without_a_key_the_challenge_names_the_scheme():
    for tool in set(TOOLS) - {"describe"}:
        http = Http()
        assert http.refused(tool, {}) == (401, "forbidden")
        assert http.response.headers["WWW-Authenticate"] == 'Bearer realm="countersign"'
        assert "Retry-After" not in http.response.headers


@pytest.mark.parametrize("method", ["get", "put", "patch", "delete"])
def test_only_post(agent, method):
    response = getattr(agent.client, method)("/v1/describe")
    assert response.status_code == 405 and "POST" in response.headers["Allow"]
    error = json.loads(response.content)["error"]
    assert error["code"] == "invalid"


def test_an_unknown_tool(agent):
    for tool in ("unknown", "Claim", "describe2"):
        assert agent.refused(tool, {}) == (404, "not_found")
    assert Http().refused("unknown", {}) == (401, "forbidden")


def test_a_fault_inside_a_tool_shows_nothing_of_itself(agent, caplog):
    with mock.patch("processes.runs.load", side_effect=ZeroDivisionError("secret")):
        status, envelope = agent.post("get_run", {"runId": "r"})
    assert (status, envelope["error"]["code"]) == (503, "retry")
    assert agent.response.headers["Retry-After"] == "5"
    text = agent.response.content.decode()
    assert "secret" not in text and "Traceback" not in text and "ZeroDivision" not in text
    assert "secret" in caplog.text  # whoever runs the server finds it


def test_a_busy_database_is_told_as_retry(agent):
    from django.db import OperationalError

    with mock.patch("processes.runs.load", side_effect=OperationalError("locked")):
        assert agent.refused("get_run", {"runId": "r"}) == (503, "retry")
    assert "locked" not in agent.response.content.decode()


# ---- bodies


@pytest.mark.parametrize(
    ("body", "issue"),
    [
        ("{", "body: not JSON"),
        ("nonsense", "body: not JSON"),
        ('{"runId": "a", "runId": "b"}', "body: key 'runId' stands twice"),
        (b'{"runId": "\xff"}', "body: not UTF-8"),
        ('{"runId": "a\\u0000"}', "body: character U+0000"),
        ('{"runId": "\\ud800"}', "body: character U+D800"),
        ('{"limit": NaN}', "body: NaN"),
        ('{"limit": -Infinity}', "body: -Infinity"),
        ('{"limit": 1e100001}', "body: 1e100001 is out of range"),
        ('{"limit": ' + "1" * 1001 + "}", "body: a number of 1001 characters"),
        ('{"runId": ' + "[" * 66 + "]" * 66 + "}", "body: nested deeper than 64"),
        ("[" * 100_000, "body: nested deeper than 64"),
        ('{"a":' * 100_000, "body: nested deeper than 64"),
    ],
)
def test_bodies_that_no_tool_takes(agent, body, issue):
    status, envelope = agent.post("get_run", body)
    assert (status, envelope["error"]["code"]) == (400, "invalid")
    assert envelope["error"]["issues"][0].startswith(issue)


@pytest.mark.parametrize("body", ["[]", '"text"', "1", "null", "true"])
def test_arguments_are_an_object(agent, body):
    status, envelope = agent.post("get_work", body)
    assert (status, envelope["error"]["issues"]) == (400, ["arguments: expected object"])


def test_an_empty_body_is_no_arguments(agent):
    assert agent.post("get_work", b"")[0] == 200
    assert agent.refused("get_work", b" \n") == (400, "invalid")


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/xml", "x"]
)
def test_only_json(agent, ada, kind):
    for http in (agent, ada):
        assert http.refused("get_work", '{"limit": 1}', content_type=kind) == (415, "invalid")


@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8"])
def test_json_with_and_without_a_charset(agent, kind):
    assert agent.post("get_work", "{}", content_type=kind)[0] == 200


def test_large_bodies(agent, settings):
    """300 kB that no claim needs are read and refused by the contract; more than any call carries is not
    even read.
    """
    claim = {"runId": "r", "stepId": "s", "requestId": rid(), "more": "x" * 300_000}
    status, envelope = agent.post("claim", claim)
    assert (status, envelope["error"]["issues"]) == (400, ["more: not an argument of claim"])
    assert len(agent.response.content) < 500
    with mock.patch("processes.api.LosslessParser.parse", side_effect=AssertionError("it was read")):
        status, envelope = agent.post("claim", {**claim, "more": "x" * 600_000})
    assert (status, envelope["error"]["issues"]) == (400, ["body: at most 589824 bytes"])


def test_upload_may_weigh_what_a_file_weighs(agent, settings):
    assert agent.post("upload", {**given(b"x" * 600_000), "requestId": rid()})[0] == 200
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    status, envelope = agent.post("upload", {**given(b"x" * 900), "requestId": rid()})
    assert (status, envelope["error"]["issues"]) == (400, ["body: at most 1000 bytes"])


# ---- numbers come back as they were sent


def test_numbers_in_inputs_output_and_decisions(world, c, agent, ada):
    def sent(text: str) -> str:
        body = agent.response.content.decode()
        assert text in body
        return body

    more = '{"what":"x","more":' + NUMBERS + "}"
    agent.post("start_run", '{"process":"errand","requestId":"1","inputs":' + more + "}")
    run = json.loads(sent(f'"inputs":{more}'))["data"]["run"]["id"]
    agent.post("claim", {"runId": run, "stepId": "fetch", "requestId": "2"})
    token = json.loads(sent(f'"inputs":{more}'))["data"]["token"]
    output = '{"amount":1e400,"detail":' + NUMBERS + "}"
    agent.post("submit", '{"summary":"s","requestId":"3","token":"' + token + '","output":' + output + "}")
    sent(f'"output":{output}')
    agent.post("get_run", {"runId": run})
    assert f'"inputs":{more}' in sent(f'"output":{output}')
    agent.post("submit", '{"summary":"s","requestId":"3","token":"' + token + '","output":' + output + "}")
    assert '"replayed":true' in sent(f'"output":{output}')
    other = errand(world, c.agent)
    token = world.claim(c.agent, other, "fetch")["token"]
    world.call(c.agent, "escalate", token=token, note="n")
    ops = Http(user=User.objects.get(username="ops"))
    call = world.item(c.ops, other)["decide"]["arguments"]
    body = codec.dumps({**call, "decision": "completed", "requestId": "4"})
    ops.post("decide", body[:-1] + ',"output":' + output + "}")
    assert f'"output":{output}' in ops.response.content.decode()


# ---- sessions


def test_a_session_needs_its_csrf_token(c):
    http = Http(user=User.objects.get(username="ada"), csrf=False)
    assert http.refused("get_work", {}) == (403, "forbidden")
    assert "WWW-Authenticate" not in http.response.headers


def test_a_person_decides_with_session_and_token(world, c, ada):
    run = signing(world, c.agent)
    call = world.item(c.ada, run)["decide"]["arguments"]
    view = ada.data("decide", {**call, "decision": "approved", "requestId": rid()})
    assert (view["run"]["outcome"], view["data"]["steps"]["sign"]["by"]) == ("fetched", "person:ada")


# ---- files


@pytest.fixture
def stored(world, c):
    sent = given(b"<script>", fileName='é"x.html', contentType="text/html")
    return world.call(c.agent, "upload", **sent)["id"]


def path_of(ref: str) -> str:
    return files.url(ref).partition("8000")[2]


def test_a_signed_address_opens_the_file_as_an_attachment(stored):
    response = Client().get(path_of(stored))
    assert response.status_code == 200 and response.getvalue() == b"<script>"
    assert response.headers["Content-Disposition"].startswith("attachment;")
    assert "%C3%A9" in response.headers["Content-Disposition"]
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert response.headers["Cache-Control"] == "private, no-store"
    assert response.headers["Content-Type"] == "text/html"


def test_forged_addresses_open_nothing(stored):
    path = path_of(stored)
    other = path.replace(stored, "f_" + "0" * 32)
    for forged in (path[:-1], path + "A", other, f"/v1/files/{stored}", "/v1/files/%00", "/v1/files/é"):
        response = Client().get(forged)
        assert response.status_code == 404
        error = json.loads(response.content)["error"]
        assert error["code"] == "not_found" and "valid" not in error["message"]


def test_a_store_that_is_away_is_said_without_a_trace(stored, monkeypatch):
    def away(_):
        raise OSError("could not connect to the store at 10.0.0.9")

    monkeypatch.setattr(files.default_storage, "open", away)
    response = Client().get(path_of(stored))
    assert (response.status_code, response.headers["Retry-After"]) == (503, "5")
    error = json.loads(response.content)["error"]
    assert error["code"] == "retry" and "10.0.0.9" not in error["message"]


def test_an_address_grows_old(stored, settings):
    path = path_of(stored)
    with mock.patch("django.core.signing.time.time", return_value=time.time() + 599):
        assert Client().get(path).status_code == 200
    with mock.patch("django.core.signing.time.time", return_value=time.time() + 602):
        response = Client().get(path)
    assert response.status_code == 404
    assert response.json()["error"]["message"].endswith("Read the run again for a new one.")


def test_a_file_that_is_gone(stored):
    default_storage.delete(Upload.objects.get().path)
    response = Client().get(path_of(stored))
    assert response.status_code == 404
    assert "upload it again" in response.json()["error"]["message"]


def test_files_are_only_read(stored):
    assert Client().post(path_of(stored)).status_code == 405
    assert Client().head(path_of(stored)).status_code == 200


@pytest.mark.parametrize(
    "path", ["judge/", "get_work/", "runs/r_1", "runs/r_1/x", "no such tool", "a/b/c", "é"]
)
@pytest.mark.parametrize("method", ["get", "post"])
def test_where_there_is_nothing_machines_are_told_as_machines(path, method):
    response = getattr(Client(enforce_csrf_checks=True), method)(f"/v1/{path}")
    told = response.json()
    assert (response.status_code, told["error"]["code"]) == (404, "not_found")
    assert ("slash" in told["error"]["message"]) is path.endswith("/")


def test_health_is_asked_by_get():
    response = Client(enforce_csrf_checks=True).post("/v1/health")
    assert response.status_code == 405 and "GET" in response["Allow"]


def test_a_key_of_the_judge_is_told_that_it_opens_no_tool():
    headers = {"Authorization": f"Bearer {keys.issue('judge', for_judge=True)[1]}"}
    response = Client().post("/v1/get_work", "{}", content_type="application/json", headers=headers)
    assert response.status_code == 401 and "opens no tool" in response.json()["error"]["message"]
