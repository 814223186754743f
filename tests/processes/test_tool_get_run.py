"""get_run: the run view."""

import base64
from datetime import datetime, timedelta

import pytest

from checks import codec
from processes import contracts
from processes.callers import NOBODY
from processes.models import Run
from tests.processes.flows import DONE, FILED, errand, expire, later, signing, states, work

pytestmark = pytest.mark.django_db


def test_anybody_of_the_organization_reads_the_whole_run(world):
    agent = world.agent()
    run = signing(world, agent)
    for caller in (agent, world.agent(), world.agent(only=["errand"]), world.person("ben")):
        view = world.view(caller, run)
        assert contracts.result_issues("get_run", view) == []
        assert {key: view[key] for key in ("run", "data", "steps", "workItems", "body")} == run
        assert "replayed" not in view
    step = view["data"]["steps"]["fetch"]
    assert step["output"] == DONE["output"] and step["summary"] == DONE["summary"]
    assert (step["by"], step["evidence"], step["history"]) == (agent.id, [], [])


def test_a_work_item_carries_the_exact_call(world):
    run = signing(world, world.agent())
    (item,) = run["workItems"]
    assert item["decide"] == {
        "tool": "decide",
        "arguments": {"runId": run["run"]["id"], "workItemId": item["id"],
                      "snapshot": Run.objects.get().snapshot, "requestId": "<new UUID>"},
        "decisions": ["approved", "rejected", "failed"],
    }  # fmt: skip
    assert (item["stepId"], item["kind"], item["text"]) == ("sign", "approve", "Sign what was fetched.")
    assert item["assignedTo"] == {"group": f"g_{world.group('finance').pk}"}
    nothing = ("output", "evidence", "next", "handoff", "escalation", "due")
    assert {key: item[key] for key in nothing} == dict.fromkeys(nothing)


def test_never_a_token(world):
    agent = world.agent()
    run = errand(world, agent)
    token = world.claim(agent, run, "fetch")["token"]
    text = codec.dumps(world.view(agent, run))
    assert token not in text and token.partition(".")[2] not in text and "token" not in text


def test_a_claim_whose_lease_ended_shows_as_ready(world):
    agent = world.agent()
    run = errand(world, agent)
    world.claim(agent, run, "fetch")
    assert states(world.view(agent, run))["fetch"] == "claimed"
    expire(run)
    assert states(world.view(agent, run))["fetch"] == "ready"


def test_due_and_overdue(world):
    agent = world.agent()
    run = errand(world, agent)
    (fetch, *_) = world.view(agent, run)["steps"]
    started = datetime.fromisoformat(run["run"]["startedAt"])
    assert datetime.fromisoformat(fetch["due"]) == started + timedelta(days=1)
    assert fetch["overdue"] is False
    with later(hours=25):
        assert world.view(agent, run)["steps"][0]["overdue"] is True
    work(world, agent, run, "fetch", **DONE)
    with later(hours=25):
        (fetch, sign, _) = world.view(agent, run)["steps"]
    assert fetch["overdue"] is False and "due" not in sign


def test_file_addresses_are_made_anew_at_each_read(world, settings):
    world.publish(FILED, readers="readers")
    agent = world.agent()
    run = world.call(agent, "start_run", process="filed", inputs={})
    file = world.call(
        agent, "upload", fileName="a.txt", contentType="text/plain",
        contentBase64=base64.b64encode(b"a").decode(),
    )  # fmt: skip
    evidence = [{"kind": "file", "ref": file["id"]}, {"kind": "link", "ref": "PO 17"}]
    work(world, agent, run, "report", output={}, summary="s", evidence=evidence)
    settings.SITE_URL = "https://countersign.example"
    stored, link = world.view(agent, run)["data"]["steps"]["report"]["evidence"]
    assert stored.pop("url").startswith(f"https://countersign.example/v1/files/{file['id']}:")
    assert stored == {"kind": "file", "ref": file["id"], "sha256": file["sha256"]}
    assert link == {"kind": "link", "ref": "PO 17"}
    assert "url" not in Run.objects.get().data and "/v1/files" not in Run.objects.get().data


def test_reading_changes_nothing(world):
    run = signing(world, world.agent())
    before = Run.objects.values().get()
    world.view(world.person("ben"), run)
    assert Run.objects.values().get() == before


def test_refusals(world):
    run = errand(world, world.agent())
    assert world.refused(world.agent(), "get_run", runId="r_none").code == "not_found"
    assert world.refused(world.agent(), "get_run", runId="").code == "not_found"
    assert world.refused(world.agent(only=[]), "get_run", runId=run["run"]["id"]).code == "forbidden"
    assert world.refused(NOBODY, "get_run", runId=run["run"]["id"]).code == "forbidden"
    assert world.refused(world.agent(), "get_run").issues == ["runId: missing"]
    assert world.refused(world.agent(), "get_run", runId=1).issues == ["runId: expected string"]
    assert world.refused(world.agent(), "get_run", runId="r" * 201).code == "invalid"
