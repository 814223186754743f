"""claim: one agent takes a ready step under a lease."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from processes import contracts
from processes.callers import NOBODY
from processes.models import Attempt
from tests.processes.flows import (
    DONE,
    FILED,
    cast,
    errand,
    expire,
    later,
    signing,
    states,
)
from tests.world import SCREENING

pytestmark = pytest.mark.django_db


def test_a_ready_step_is_taken(world):
    agent = world.agent()
    run = errand(world, agent)
    claim = world.claim(agent, run, "fetch")
    assert contracts.result_issues("claim", claim) == []
    assert (claim["mode"], claim["handoff"], claim["body"]) == ("live", None, "The body.\n")
    assert claim["data"] == run["data"]
    left = datetime.fromisoformat(claim["expiresAt"]) - timezone.now()
    assert timedelta(seconds=590) < left <= timedelta(seconds=600)
    assert states(world.view(agent, run))["fetch"] == "claimed"
    step = claim["step"]
    assert (step["id"], step["instructions"]) == ("fetch", "Fetch it.")
    assert (step["evidence"], step["next"]) == (None, None)
    assert step["output"]["amount"] == "number"
    assert step["output"]["kind"] == {"type": "string", "one_of": ["small", "large"], "optional": True}


def test_routes_and_evidence_as_the_author_wrote_them(world, evaluator):
    world.publish(SCREENING, finance="finance")
    world.publish(FILED, readers="readers")
    agent = world.agent()
    claim = world.claim(agent, world.start(agent))
    assert claim["step"]["next"] == [
        {"to": "approve", "when": "No list has a match"},
        {"to": "declined", "when": "A list has a match"},
    ]
    filed = world.call(agent, "start_run", process="filed", inputs={})
    assert world.claim(agent, filed, "report")["step"]["evidence"] == ["file", "link"]


def test_a_test_run_says_so(world):
    agent = world.agent()
    assert world.claim(agent, errand(world, agent, mode="test"), "fetch")["mode"] == "test"


def test_who_holds_it(world):
    agent, other = world.agent(), world.agent()
    run = errand(world, agent)
    world.claim(agent, run, "fetch")
    refused = world.refused(agent, "claim", runId=run["run"]["id"], stepId="fetch")
    assert (refused.code, refused.issues) == ("conflict", ["claimed_by_you"])
    refused = world.refused(other, "claim", runId=run["run"]["id"], stepId="fetch")
    assert (refused.code, refused.issues) == ("conflict", ["claimed_by_other"])


def test_a_lease_that_ended_leaves_the_step_claimable_at_once(world):
    agent, other = world.agent(), world.agent()
    run = errand(world, agent)
    old = world.claim(agent, run, "fetch")["token"]
    with later(seconds=601):
        new = world.claim(other, run, "fetch")
        assert world.refused(agent, "submit", token=old, **DONE).code == "stale"
        world.call(other, "submit", token=new["token"], **DONE)
    assert Attempt.objects.get().generation == 2


def test_the_lease_holds_to_its_last_moment(world):
    agent, other = world.agent(), world.agent()
    run = errand(world, agent)
    world.claim(agent, run, "fetch")
    with later(seconds=590):
        assert world.refused(other, "claim", runId=run["run"]["id"], stepId="fetch").code == "conflict"


def test_the_same_agent_may_claim_again_after_its_lease(world):
    agent = world.agent()
    run = errand(world, agent)
    old = world.claim(agent, run, "fetch")["token"]
    expire(run)
    new = world.claim(agent, run, "fetch")["token"]
    assert new != old
    assert world.refused(agent, "renew", token=old).code == "stale"
    assert world.call(agent, "renew", token=new)["token"]


# ---- handoff


def test_handoff_of_progress_and_issues_and_again(world):
    agent = world.agent()
    run = errand(world, agent)
    token = world.claim(agent, run, "fetch")["token"]
    refused = world.refused(agent, "submit", token=token, output={}, summary="")
    token = world.call(agent, "renew", token=token, progress="Half done.")["token"]
    expire(run)
    claim = world.claim(world.agent(), run, "fetch")
    assert claim["handoff"] == {"progress": "Half done.", "issues": refused.issues}
    # a lease without a word of its own leaves what was there
    expire(run)
    assert world.claim(agent, run, "fetch")["handoff"] == claim["handoff"]


def test_progress_is_nobodys_while_the_lease_runs(world):
    agent = world.agent()
    run = errand(world, agent)
    claim = world.claim(agent, run, "fetch")
    world.call(agent, "renew", token=claim["token"], progress="Half done.")
    assert claim["handoff"] is None
    assert Attempt.objects.get().handoff == ""


def test_handoff_of_a_return_after_issues(world):
    c = cast(world)
    run = errand(world, c.agent)
    token = world.claim(c.agent, run, "fetch")["token"]
    refused = world.refused(c.agent, "submit", token=token, output={}, summary="s")
    world.call(c.agent, "escalate", token=token, note="No price to be had.")
    world.decide(c.ops, run, "returned", note="Ask by phone.")
    left = world.claim(c.other, run, "fetch")["handoff"]
    assert left["issues"] == refused.issues == ["output.amount: missing"]
    assert (left["returned"]["note"], left["returned"]["by"]) == ("Ask by phone.", "person:ops")


def test_handoff_of_a_check(world, evaluator):
    world.publish(SCREENING, finance="finance")
    agent = world.agent()
    run = world.start(agent)
    evaluator.script = [[0.12]]
    token = world.claim(agent, run)["token"]
    refused = world.refused(agent, "submit", token=token, **_good())
    expire(run)
    left = world.claim(agent, run)["handoff"]
    assert left["issues"] == refused.issues
    assert left["check"]["verdict"] == "fail"
    assert float(left["check"]["questions"][0]["answer"]) == 0.12
    assert "screen" not in world.view(agent, run)["data"]["steps"]


# ---- refusals


def test_not_ready(world):
    c = cast(world)
    run = signing(world, c.agent)
    refused = world.refused(c.agent, "claim", runId=run["run"]["id"], stepId="fetch")
    assert (refused.code, refused.issues) == ("conflict", ["not_ready"])
    other = errand(world, c.agent)
    world.call(c.agent, "escalate", token=world.claim(c.agent, other, "fetch")["token"], note="n")
    refused = world.refused(c.agent, "claim", runId=other["run"]["id"], stepId="fetch")
    assert (refused.code, refused.issues) == ("conflict", ["not_ready"])


@pytest.mark.parametrize("step", ["sign", "done"])
def test_a_step_that_is_no_agents_is_forbidden(world, step):
    agent = world.agent()
    run = errand(world, agent)
    assert world.refused(agent, "claim", runId=run["run"]["id"], stepId=step).code == "forbidden"


def test_not_found(world):
    agent = world.agent()
    run = errand(world, agent)
    assert world.refused(agent, "claim", runId="r_none", stepId="fetch").code == "not_found"
    assert world.refused(agent, "claim", runId=run["run"]["id"], stepId="none").code == "not_found"


def test_forbidden_callers(world):
    run = errand(world, world.agent())
    for caller in (world.person("ada"), world.person("ops", operator=True), NOBODY, world.agent(only=[])):
        refused = world.refused(caller, "claim", runId=run["run"]["id"], stepId="fetch")
        assert refused.code == "forbidden"
    assert states(world.view(world.agent(), run))["fetch"] == "ready"


def test_run_ended_comes_first(world):
    c = cast(world)
    run = errand(world, c.agent)
    world.call(c.ops, "cancel", runId=run["run"]["id"], reason="r")
    for caller, step in ((c.agent, "fetch"), (c.agent, "none"), (world.agent(only=[]), "sign")):
        refused = world.refused(caller, "claim", runId=run["run"]["id"], stepId=step)
        assert (refused.code, refused.issues) == ("conflict", ["run_ended"])


@pytest.mark.parametrize("missing", ["runId", "stepId", "requestId"])
def test_arguments(world, missing):
    arguments = {"runId": "r", "stepId": "s", "requestId": "q"}
    agent = world.agent()
    refused = world.refused(agent, "claim", **{**arguments, missing: None})
    assert (refused.code, refused.issues) == ("invalid", [f"{missing}: expected string"])
    assert world.refused(agent, "claim", **arguments, token="t").code == "invalid"


def _good():
    return {
        "output": {"cleared": True, "finding": "x"},
        "summary": "s",
        "next": "approve",
        "reason": "r",
    }


def test_a_claim_after_rework_is_a_fresh_attempt(world, evaluator):
    world.publish(SCREENING, finance="finance")
    agent, ada = world.agent(), world.person("ada", "finance")
    run = world.start(agent)
    evaluator.script = [[0.1], [0.95]]
    token = world.claim(agent, run)["token"]
    world.refused(agent, "submit", token=token, **_good())
    world.submit(agent, token)
    world.decide(ada, run, "rejected", note="Too thin.")
    claim = world.claim(agent, run)
    assert claim["handoff"] is None
    assert claim["data"]["steps"]["approve"]["note"] == "Too thin."
    assert [attempt.number for attempt in Attempt.objects.order_by("number")] == [1, 2]
    assert world.refused(agent, "submit", token=token, **_good()).code == "stale"
