"""How much one caller may hold. A refusal says what to do, wrote nothing, and ends when there is room."""

import pytest

from processes.models import Run, Upload
from tests.processes.flows import ERRAND, cast, errand, expire, later
from tests.processes.http import Http
from tests.processes.test_tool_upload import given
from tests.world import rid

pytestmark = pytest.mark.django_db


@pytest.fixture
def c(world):
    return cast(world)


def told(error, words: str, issue: str) -> None:
    assert (error.code, error.bound) == ("retry", True)
    assert words in error.message and error.issues == [issue] and error.retry_after


def test_live_claims(world, c, settings):
    settings.LIVE_CLAIMS_PER_AGENT = 2
    runs = [errand(world, c.ada) for _ in range(3)]
    token = world.claim(c.agent, runs[0], "fetch")["token"]
    world.claim(c.agent, runs[1], "fetch")
    call = {"runId": runs[2]["run"]["id"], "stepId": "fetch", "requestId": rid()}
    told(world.refused(c.agent, "claim", **call), "Submit or escalate", "claims: at most 2 at a time")
    world.claim(c.other, runs[2], "fetch")  # another's are another's
    world.call(c.agent, "submit", token=token, output={"amount": 5}, summary="Fetched it.")
    world.claim(c.agent, errand(world, c.ada), "fetch")


def test_leases_that_ended_hold_nothing(world, c, settings):
    settings.LIVE_CLAIMS_PER_AGENT = 1
    first, second = errand(world, c.ada), errand(world, c.ada)
    world.claim(c.agent, first, "fetch")
    expire(first)
    world.claim(c.agent, second, "fetch")


def test_a_claim_that_succeeded_is_answered_again(world, c, settings):
    settings.LIVE_CLAIMS_PER_AGENT = 1
    call = {"runId": errand(world, c.ada)["run"]["id"], "stepId": "fetch", "requestId": rid()}
    once = world.call(c.agent, "claim", **call)
    assert world.call(c.agent, "claim", **call)["token"] == once["token"]


def test_what_is_wrong_with_a_claim_comes_first(world, c, settings):
    settings.LIVE_CLAIMS_PER_AGENT = 1
    run = errand(world, c.ada)
    world.claim(c.agent, run, "fetch")
    assert world.refused(c.agent, "claim", runId=run["run"]["id"], stepId="fetch").code == "conflict"


def test_live_runs(world, c, settings):
    settings.LIVE_RUNS_PER_CALLER = 2
    world.publish(ERRAND)
    first = errand(world, c.ops)
    errand(world, c.ops)
    start = {"process": "errand", "inputs": {"what": "x"}}
    told(world.refused(c.ops, "start_run", **start), "Work or cancel", "runs: at most 2 under way")
    assert Run.objects.count() == 2
    errand(world, c.ada)
    world.call(c.ops, "cancel", runId=first["run"]["id"], reason="r")
    errand(world, c.ops)


def test_files_in_a_day(world, c, settings):
    settings.UPLOADS_PER_DAY = 2
    call = {**given(), "requestId": rid()}
    once = world.call(c.agent, "upload", **call)
    world.call(c.agent, "upload", **given())
    told(world.refused(c.agent, "upload", **given()), "Cite what is stored", "files: at most 2 in 24 hours")
    assert Upload.objects.count() == 2
    assert world.call(c.agent, "upload", **call) == once
    world.call(c.ada, "upload", **given())
    with later(hours=25):
        world.call(c.agent, "upload", **given())


def test_bytes_in_a_day(world, c, settings):
    settings.UPLOAD_BYTES_PER_DAY = 10
    world.call(c.agent, "upload", **given(b"x" * 6))
    refused = world.refused(c.agent, "upload", **given(b"x" * 5))
    told(refused, "upload it later", "bytes: at most 10 in 24 hours")
    world.call(c.agent, "upload", **given(b"x" * 4))


def test_it_is_429_at_the_door(world, c, settings):
    settings.LIVE_RUNS_PER_CALLER = 1
    errand(world, c.agent)
    http = Http(key=world.keys[c.agent.id])
    call = {"process": "errand", "inputs": {"what": "x"}, "requestId": rid()}
    assert http.refused("start_run", call) == (429, "retry")
    assert http.response.headers["Retry-After"] == "60"


# ---- sizes, before anything is read


@pytest.mark.parametrize("tool", ["claim", "upload"])
def test_a_body_of_unknown_size_is_not_read(world, c, tool):
    http = Http(key=world.keys[c.agent.id])
    http.client.defaults["HTTP_TRANSFER_ENCODING"] = "chunked"
    status, envelope = http.post(tool, {})
    assert (status, envelope["error"]["issues"]) == (400, ["body: send it with a Content-Length"])
