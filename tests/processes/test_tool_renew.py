"""renew: a new lease and token; the old token is dead at once."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from processes import contracts
from processes.callers import NOBODY, of_agent
from processes.models import Agent, HistoryEntry
from tests.processes.flows import DONE, cast, errand, expire, later
from tests.world import GOOD, SCREENING

pytestmark = pytest.mark.django_db


def test_a_new_token_and_a_fresh_lease(world):
    agent = world.agent()
    run = errand(world, agent)
    claim = world.claim(agent, run, "fetch")
    with later(seconds=500):
        renewed = world.call(agent, "renew", token=claim["token"])
        assert contracts.result_issues("renew", renewed) == []
        until = datetime.fromisoformat(renewed["expiresAt"])
        assert abs(until - timezone.now() - timedelta(seconds=600)) < timedelta(milliseconds=2)
    assert renewed["token"] != claim["token"]
    with later(seconds=1099):
        world.call(agent, "submit", token=renewed["token"], **DONE)


def test_the_old_token_is_dead_at_once(world):
    agent = world.agent()
    run = errand(world, agent)
    old = world.claim(agent, run, "fetch")["token"]
    world.call(agent, "renew", token=old)
    for tool, given in (("renew", {}), ("escalate", {"note": "n"}), ("submit", DONE)):
        assert world.refused(agent, tool, token=old, **given).code == "stale"


def test_the_latest_progress_is_kept_until_the_lease_ends(world):
    agent, other = world.agent(), world.agent()
    run = errand(world, agent)
    token = world.claim(agent, run, "fetch")["token"]
    for note in ("A quarter.", "Half."):
        token = world.call(agent, "renew", token=token, progress=note)["token"]
    world.call(agent, "renew", token=token)  # says nothing: the note stands
    expire(run)
    assert world.claim(other, run, "fetch")["handoff"] == {"progress": "Half."}


def test_renewing_is_nothing_that_happened_in_the_run(world):
    agent = world.agent()
    run = errand(world, agent)
    world.call(agent, "renew", token=world.claim(agent, run, "fetch")["token"])
    assert [entry.what for entry in HistoryEntry.objects.all()] == ["started", "claimed"]


# ---- refusals


def test_after_the_lease_ended_it_is_stale(world):
    agent = world.agent()
    run = errand(world, agent)
    token = world.claim(agent, run, "fetch")["token"]
    expire(run)
    assert world.refused(agent, "renew", token=token).code == "stale"


def test_a_token_of_another_agent_or_of_nobody_is_invalid(world):
    agent, other = world.agent(), world.agent()
    token = world.claim(agent, errand(world, agent), "fetch")["token"]
    for caller, shown in ((other, token), (agent, token[:-1]), (agent, ""), (agent, "é.ü"), (agent, "a.b")):
        refused = world.refused(caller, "renew", token=shown)
        assert (refused.code, refused.issues) == ("invalid", ["token: does not verify"])


def test_a_step_that_was_done_or_escalated_is_stale(world):
    agent = world.agent()
    run = errand(world, agent)
    token = world.claim(agent, run, "fetch")["token"]
    world.call(agent, "submit", token=token, **DONE)
    assert world.refused(agent, "renew", token=token).code == "stale"
    other = errand(world, agent)
    token = world.claim(agent, other, "fetch")["token"]
    world.call(agent, "escalate", token=token, note="n")
    assert world.refused(agent, "renew", token=token).code == "stale"


def test_run_ended(world):
    c = cast(world)
    run = errand(world, c.agent)
    token = world.claim(c.agent, run, "fetch")["token"]
    world.call(c.ops, "cancel", runId=run["run"]["id"], reason="r")
    refused = world.refused(c.agent, "renew", token=token)
    assert (refused.code, refused.issues) == ("conflict", ["run_ended"])
    assert world.refused(c.other, "renew", token=token).code == "invalid"


def test_people_hold_no_tokens(world):
    agent = world.agent()
    token = world.claim(agent, errand(world, agent), "fetch")["token"]
    for caller in (NOBODY, world.person("ada"), world.person("root", operator=True)):
        assert world.refused(caller, "renew", token=token).code == "forbidden"


@pytest.mark.parametrize(
    ("arguments", "issue"),
    [
        ({}, "token: missing"),
        ({"token": 1}, "token: expected string"),
        ({"token": "t" * 1001}, "token: 1001 characters are more than 1000"),
        ({"token": "t", "progress": "p" * 4001}, "progress: 4001 characters are more than 4000"),
        ({"token": "t", "note": "n"}, "note: not an argument of renew"),
    ],
)
def test_arguments(world, arguments, issue):
    refused = world.refused(world.agent(), "renew", **arguments)
    assert refused.code == "invalid" and issue in refused.issues


@pytest.mark.parametrize("tool", ["renew", "submit", "escalate"])
def test_an_agent_that_was_limited_since_its_claim_does_no_more_there(world, evaluator, tool):
    world.publish(SCREENING, finance="finance")
    worker = world.agent("worker")
    run = world.start(worker)
    token = world.claim(worker, run)["token"]
    Agent.objects.filter(name="worker").update(limited=True)
    limited = of_agent(world.keys[worker.id])
    given = {"submit": GOOD, "escalate": {"note": "n"}}.get(tool, {})
    refused = world.refused(limited, tool, token=token, **given)
    assert (refused.code, refused.message) == ("forbidden", "This key may not work screening any more.")
