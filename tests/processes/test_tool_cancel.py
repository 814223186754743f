"""cancel: an operator ends a run with a reason."""

import pytest

from approvals.models import QueueEntry
from processes import contracts
from processes.callers import NOBODY, of_user
from processes.models import Attempt, HistoryEntry, Submission, WorkItem
from tests.processes.flows import DONE, cast, errand, signing, states
from tests.world import SCREENING

pytestmark = pytest.mark.django_db


def cancel(world, caller, run, reason="Ordered twice."):
    return world.call(caller, "cancel", runId=run["run"]["id"], reason=reason)


def refusal(world, caller, run, reason="r"):
    return world.refused(caller, "cancel", runId=run["run"]["id"], reason=reason)


def test_everything_unfinished_is_cancelled(world):
    c = cast(world)
    run = signing(world, c.agent)
    view = cancel(world, c.ops, run)
    assert contracts.result_issues("cancel", view) == []
    about = view["run"]
    assert (about["state"], about["outcome"]) == ("cancelled", None)
    assert (about["ended"]["by"], about["ended"]["note"]) == ("person:ops", "Ordered twice.")
    assert about["ended"]["at"] == about["updatedAt"]
    assert states(view) == {"fetch": "done", "sign": "cancelled", "done": None}
    assert view["workItems"] == [] and view["data"] == run["data"]
    assert WorkItem.objects.get().state == "removed" and not QueueEntry.objects.exists()
    assert HistoryEntry.objects.last().what == "cancelled"
    assert HistoryEntry.objects.last().note == "Ordered twice."


def test_claims_die_with_it(world):
    c = cast(world)
    run = errand(world, c.agent)
    token = world.claim(c.agent, run, "fetch")["token"]
    assert states(cancel(world, c.ops, run))["fetch"] == "cancelled"
    refused = world.refused(c.agent, "submit", token=token, **DONE)
    assert refused.issues == ["run_ended"]
    attempt = Attempt.objects.get()
    assert not attempt.live


def test_a_held_submission_is_void(world, evaluator):
    c = cast(world)
    world.publish(SCREENING, finance="finance")
    evaluator.script = [[0.7]]
    run = world.start(c.agent)
    world.submit(c.agent, world.claim(c.agent, run)["token"])
    view = cancel(world, c.ops, run)
    assert Submission.objects.get().state == "void"
    assert contracts.result_issues("cancel", view) == []


def test_a_superuser_and_a_group_with_the_permission_may(world):
    from django.contrib.auth.models import Permission

    c = cast(world)
    root = world.user("root", is_superuser=True)
    assert cancel(world, of_user(root), errand(world, c.agent))["run"]["state"] == "cancelled"
    world.group("operators").permissions.add(Permission.objects.get(codename="operate"))
    eve = world.person("eve", "operators")
    assert cancel(world, eve, errand(world, c.agent))["run"]["state"] == "cancelled"


# ---- refusals


def test_only_operators(world):
    c = cast(world)
    run = signing(world, c.agent)
    for caller in (c.agent, c.ada, c.ben, NOBODY):
        assert refusal(world, caller, run).code == "forbidden"
    assert world.view(c.agent, run)["run"]["state"] == "waiting"


def test_a_reason_is_needed(world):
    c = cast(world)
    run = errand(world, c.agent)
    for reason in ("", " \t"):
        refused = refusal(world, c.ops, run, reason)
        assert (refused.code, refused.issues) == ("invalid", ["reason: missing"])
    assert refusal(world, c.ops, run, None).issues == ["reason: expected string"]
    assert refusal(world, c.ops, run, "r" * 4001).code == "invalid"
    assert world.refused(c.ops, "cancel", reason="r").issues == ["runId: missing"]


def test_not_found(world):
    ops = world.person("ops", operator=True)
    assert world.refused(ops, "cancel", runId="r_none", reason="r").code == "not_found"


def test_run_ended_comes_first(world):
    c = cast(world)
    cancelled, ended = errand(world, c.agent), signing(world, c.agent)
    cancel(world, c.ops, cancelled)
    world.decide(c.ada, ended, "approved")
    for run in (cancelled, ended):
        for caller in (c.ops, c.ben, c.agent):
            refused = refusal(world, caller, run)
            assert (refused.code, refused.issues) == ("conflict", ["run_ended"])
