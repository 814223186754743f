"""escalate: an agent can't finish; the step goes to people."""

import pytest

from processes import contracts
from processes.callers import NOBODY
from processes.models import Attempt, WorkItem
from tests.processes.flows import DONE, ERRAND, cast, errand, expire, states

pytestmark = pytest.mark.django_db


def claimed(world, agent, **arguments):
    run = errand(world, agent, **arguments)
    return run, world.claim(agent, run, "fetch")["token"]


def test_the_step_waits_on_the_operators_with_the_note(world):
    agent = world.agent("worker")
    run, token = claimed(world, agent)
    view = world.call(agent, "escalate", token=token, note="No price to be had.")
    assert contracts.result_issues("escalate", view) == []
    assert view["run"]["state"] == "waiting"
    assert states(view) == {"fetch": "waiting", "sign": None, "done": None}
    (item,) = view["workItems"]
    assert item["assignedTo"] == {"group": "g_operators"}
    assert item["decide"]["decisions"] == ["returned", "completed", "failed"]
    assert item["output"]["amount"] == "number" and item["due"] is not None
    escalation = item["escalation"]
    assert (escalation["note"], escalation["by"]) == ("No price to be had.", "agent:worker")
    assert set(escalation) == {"note", "by", "at"}
    assert view["data"] == run["data"]


def test_it_goes_to_the_group_that_was_mapped(world):
    world.publish(ERRAND, escalations="helpers")
    agent, eve = world.agent(), world.person("eve", "helpers")
    run, token = claimed(world, agent)
    view = world.call(agent, "escalate", token=token, note="n")
    assert view["workItems"][0]["assignedTo"] == {"group": f"g_{world.group('helpers').pk}"}
    assert world.decide(eve, run, "returned", note="Go on.")["run"]["state"] == "active"


def test_the_claim_is_lost_and_its_progress_with_it(world):
    agent = world.agent()
    _, token = claimed(world, agent)
    token = world.call(agent, "renew", token=token, progress="Half.")["token"]
    view = world.call(agent, "escalate", token=token, note="n")
    assert view["workItems"][0]["handoff"] is None
    for tool, given in (("renew", {}), ("submit", DONE), ("escalate", {"note": "again"})):
        assert world.refused(agent, tool, token=token, **given).code == "stale"
    assert world.call(agent, "get_work")["items"] == []
    assert Attempt.objects.get().lease_until is None


def test_a_test_run_says_so(world):
    agent = world.agent()
    _, token = claimed(world, agent, mode="test")
    view = world.call(agent, "escalate", token=token, note="n")
    assert view["workItems"][0]["mode"] == "test"


# ---- refusals


def test_a_note_is_needed(world):
    agent = world.agent()
    _, token = claimed(world, agent)
    for note in ("", "  \n"):
        refused = world.refused(agent, "escalate", token=token, note=note)
        assert (refused.code, refused.issues) == ("invalid", ["note: missing"])
    assert world.refused(agent, "escalate", token=token).issues == ["note: missing"]
    long = world.refused(agent, "escalate", token=token, note="n" * 4001)
    assert long.issues == ["note: 4001 characters are more than 4000"]
    assert not WorkItem.objects.exists()


def test_stale_and_invalid_tokens(world):
    agent, other = world.agent(), world.agent()
    run, token = claimed(world, agent)
    assert world.refused(other, "escalate", token=token, note="n").code == "invalid"
    assert world.refused(agent, "escalate", token=token + "x", note="n").code == "invalid"
    expire(run)
    assert world.refused(agent, "escalate", token=token, note="n").code == "stale"
    world.claim(other, run, "fetch")
    assert world.refused(agent, "escalate", token=token, note="n").code == "stale"


def test_run_ended(world):
    c = cast(world)
    run, token = claimed(world, c.agent)
    world.call(c.ops, "cancel", runId=run["run"]["id"], reason="r")
    refused = world.refused(c.agent, "escalate", token=token, note="n")
    assert (refused.code, refused.issues) == ("conflict", ["run_ended"])


def test_only_agents_escalate(world):
    agent = world.agent()
    _, token = claimed(world, agent)
    for caller in (NOBODY, world.person("ada", "finance"), world.person("ops", operator=True)):
        assert world.refused(caller, "escalate", token=token, note="n").code == "forbidden"
