"""One run from start to end, through the tools."""

import pytest

from processes import contracts
from tests.world import GOOD, SCREENING

pytestmark = pytest.mark.django_db


def test_a_passing_submission_meets_no_person_before_the_approval(world, evaluator):
    world.publish(SCREENING, finance="finance", escalations="finance")
    agent, ada = world.agent(), world.person("ada", "finance")
    run = world.start(agent)
    assert [s["state"] for s in run["steps"]] == ["ready", None, None, None]
    claim = world.claim(agent, run)
    assert contracts.result_issues("claim", claim) == []
    done = world.submit(agent, claim["token"])
    assert contracts.result_issues("submit", done) == []
    assert done["run"]["state"] == "waiting"
    assert done["data"]["steps"]["screen"]["check"]["verdict"] == "pass"
    assert [i["kind"] for i in done["workItems"]] == ["approve"]
    end = world.decide(ada, run, "approved")
    assert end["run"]["outcome"] == "onboarded"
    assert contracts.result_issues("decide", end) == []


def test_unsure_is_held_returned_and_completed(world, evaluator):
    world.publish(SCREENING, finance="finance", escalations="finance")
    agent, ada = world.agent(), world.person("ada", "finance")
    run = world.start(agent)
    evaluator.script = [[0.7], [0.6]]
    view = world.submit(agent, world.claim(agent, run)["token"])
    (item,) = view["workItems"]
    assert item["escalation"]["check"]["verdict"] == "unsure"
    assert item["escalation"]["candidate"]["output"]["cleared"] is True
    assert contracts.result_issues("submit", view) == []
    back = world.decide(ada, run, "returned", note="Search again.")
    assert back["run"]["state"] == "active" and back["workItems"] == []
    assert "screen" not in back["data"]["steps"]
    again = world.claim(agent, run)
    assert again["handoff"]["returned"]["note"] == "Search again."
    assert again["handoff"]["issues"] == ["check: The finding supports the verdict. → no (0.7)"]
    assert contracts.result_issues("claim", again) == []
    world.submit(agent, again["token"], summary="Searched again.")
    end = world.decide(ada, run, "completed")
    assert end["data"]["steps"]["screen"]["by"] == "person:ada"
    assert end["data"]["steps"]["screen"]["check"]["verdict"] == "unsure"


def test_fail_bounces_with_issues(world, evaluator):
    world.publish(SCREENING, finance="finance")
    agent = world.agent()
    run = world.start(agent)
    evaluator.script = [[0.12], [0.95]]
    token = world.claim(agent, run)["token"]
    refused = world.refused(
        agent,
        "submit",
        token=token,
        output={"cleared": True, "finding": "x"},
        summary="s",
        next="approve",
        reason="r",
    )
    assert refused.code == "not_accepted"
    assert refused.issues == ["check: The finding supports the verdict. → no (0.12)"]
    # unchanged material is not judged again
    refused = world.refused(
        agent,
        "submit",
        token=token,
        output={"cleared": True, "finding": "x"},
        summary="s",
        next="approve",
        reason="r",
    )
    assert len(evaluator.asked) == 1
    assert world.submit(agent, token)["data"]["steps"]["screen"]["check"]["verdict"] == "pass"


def test_rejection_reworks(world, evaluator):
    world.publish(SCREENING, finance="finance")
    agent, ada = world.agent(), world.person("ada", "finance")
    run = world.start(agent)
    world.submit(agent, world.claim(agent, run)["token"])
    back = world.decide(ada, run, "rejected", note="Too thin.")
    assert back["data"]["steps"]["approve"]["decision"] == "rejected"
    assert back["data"]["steps"]["screen"]["history"][0]["summary"]
    claim = world.claim(agent, run)
    assert claim["handoff"] is None
    world.submit(agent, claim["token"], summary="Wider search.")
    end = world.decide(ada, run, "approved")
    assert end["run"]["outcome"] == "onboarded"
    assert end["data"]["steps"]["approve"]["history"][0]["note"] == "Too thin."


def test_errors_escalate_after_three(world, evaluator):
    world.publish(SCREENING, finance="finance")
    agent, ops = world.agent(), world.person("ops", operator=True)
    run = world.start(agent)
    evaluator.script = ["down"]
    token = world.claim(agent, run)["token"]
    given = {**GOOD, "token": token, "requestId": "same"}
    assert world.refused(agent, "submit", **given).code == "retry"
    assert world.refused(agent, "submit", **given).code == "retry"
    view = world.call(agent, "submit", **given)
    (item,) = view["workItems"]
    assert "did not answer" in item["escalation"]["note"]
    assert world.call(agent, "submit", **given)["replayed"] is True
    end = world.decide(ops, run, "completed")
    assert end["data"]["steps"]["screen"]["output"] == GOOD["output"]
    assert end["workItems"][0]["kind"] == "approve"
