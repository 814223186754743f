"""decide: wrong arguments, the order of errors, and who may."""

import pytest

from checks import codec
from processes.callers import NOBODY
from tests.processes.deciding_scene import call_of, escalated, loops, refusal, unsure
from tests.processes.flows import (
    cast,
    errand,
    expire,
    signing,
)

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("decision", "given", "issues"),
    [
        ("completed", {"note": "n"}, ["note: not with completed"]),
        ("approved", {"next": "done", "reason": "r"},
         ["next: only with completed", "reason: only with completed"]),
        ("approved", {"output": {}, "evidence": [], "summary": "s"},
         ["output: only with completed", "evidence: only with completed", "summary: only with completed"]),
        ("rejected", {"output": {}, "note": "n"}, ["output: only with completed"]),
        ("rejected", {}, ["note: required with rejected"]),
        ("rejected", {"note": " \n"}, ["note: required with rejected"]),
        ("returned", {"note": ""}, ["note: required with returned"]),
        ("returned", {"summary": "s"}, ["summary: only with completed", "note: required with returned"]),
        ("failed", {}, ["note: required with failed"]),
        ("failed", {"next": "x", "note": "n"}, ["next: only with completed"]),
        ("accepted", {}, ['decision: "accepted" is not one of completed, approved, rejected, returned, failed']),
    ],
)  # fmt: skip
def test_arguments_that_do_not_go_with_the_decision(world, decision, given, issues):
    c = cast(world)
    run = signing(world, c.agent)
    call = call_of(world, c.ada, run, decision, **given)
    for caller in (c.ada, c.ben, c.agent):
        refused = refusal(world, caller, **call)
        assert (refused.code, refused.issues) == ("invalid", issues)
    world.call(c.ops, "cancel", runId=run["run"]["id"], reason="r")
    assert refusal(world, c.ada, **call).code == "invalid"


@pytest.mark.parametrize(
    ("where", "decision", "given", "allowed"),
    [
        ("approve", "completed", {}, "approved, rejected, failed"),
        ("approve", "returned", {"note": "n"}, "approved, rejected, failed"),
        ("task", "approved", {}, "completed, failed"),
        ("task", "rejected", {"note": "n"}, "completed, failed"),
        ("task", "returned", {"note": "n"}, "completed, failed"),
        ("escalated", "approved", {}, "returned, completed, failed"),
        ("escalated", "rejected", {"note": "n"}, "returned, completed, failed"),
    ],
)
def test_decisions_that_the_item_does_not_take(world, where, decision, given, allowed):
    c = cast(world)
    run, person = {
        "task": lambda: (loops(world, c), c.ada),
        "approve": lambda: (signing(world, c.agent), c.ada),
        "escalated": lambda: (escalated(world, c), c.ops),
    }[where]()
    refused = refusal(world, person, **call_of(world, person, run, decision, **given))
    assert (refused.code, refused.issues) == ("invalid", [f"decision: one of {allowed}"])


@pytest.mark.parametrize("missing", ["runId", "workItemId", "snapshot", "decision"])
def test_missing_arguments(world, missing):
    call = {"runId": "r", "workItemId": "w", "snapshot": "s", "decision": "approved"}
    del call[missing]
    refused = refusal(world, world.person("ada"), **call)
    assert (refused.code, refused.issues) == ("invalid", [f"{missing}: missing"])


def test_run_ended_before_already_decided_and_not_found(world):
    c = cast(world)
    run = signing(world, c.agent)
    call = call_of(world, c.ada, run, "approved")
    world.call(c.ada, "decide", **call)
    for wrong in ({}, {"workItemId": "w_none"}, {"snapshot": "old"}):
        for caller in (c.ada, c.ben, c.agent):
            refused = refusal(world, caller, **{**call, **wrong})
            assert (refused.code, refused.issues) == ("conflict", ["run_ended"])


def test_already_decided_before_stale_and_forbidden(world):
    c = cast(world)
    run = loops(world, c)
    call = call_of(world, c.ada, run, "completed", output={"words": 1})
    world.call(c.ada, "decide", **call)
    for caller in (c.ada, c.ben, c.agent):
        for snapshot in (call["snapshot"], "old"):
            refused = refusal(world, caller, **{**call, "snapshot": snapshot})
            assert (refused.code, refused.issues) == ("conflict", ["already_decided"])
            assert "person:ada (completed)" in refused.message


def test_not_found_before_stale_and_forbidden(world):
    c = cast(world)
    run, other = signing(world, c.agent), signing(world, c.agent)
    call = call_of(world, c.ada, run, "approved")
    for wrong in ("w_none", "", world.item(c.ada, other)["id"]):
        for caller in (c.ada, c.ben, c.agent):
            refused = refusal(world, caller, **{**call, "workItemId": wrong, "snapshot": "old"})
            assert refused.code == "not_found"
    assert refusal(world, c.ada, **{**call, "runId": "r_none"}).code == "not_found"


def test_stale_before_forbidden(world):
    c = cast(world)
    call = {**call_of(world, c.ada, signing(world, c.agent), "approved"), "snapshot": "old"}
    for caller in (c.ada, c.ben, c.agent):
        assert refusal(world, caller, **call).code == "stale"


def test_forbidden_before_the_wrong_decision_and_not_accepted(world):
    c = cast(world)
    task = call_of(world, c.ada, loops(world, c), "completed", output={})
    approval = call_of(world, c.ada, signing(world, c.agent), "returned", note="n")
    for call in (task, approval):
        for caller in (c.ben, c.agent, c.ops):
            assert refusal(world, caller, **call).code == "forbidden"
    assert refusal(world, c.ada, **task).code == "not_accepted"
    assert refusal(world, c.ada, **approval).code == "invalid"
    assert refusal(world, NOBODY, **approval).code == "forbidden"


def test_an_agent_never_decides_whoever_vouches_for_it(world):
    c = cast(world)
    call = call_of(world, c.ada, signing(world, c.agent), "approved")
    for agent in (c.agent, c.other, world.agent(only=["errand"])):
        assert refusal(world, agent, **call).code == "forbidden"


def test_operators_decide_escalations_and_nothing_else(world, evaluator):
    c = cast(world)
    run = unsure(world, c, evaluator)
    assert refusal(world, c.ben, **call_of(world, c.ben, run, "completed")).code == "forbidden"
    assert world.decide(c.ops, run, "completed")["workItems"][0]["kind"] == "approve"
    assert refusal(world, c.ops, **call_of(world, c.ops, run, "approved")).code == "forbidden"


def test_groups_are_those_of_now(world):
    from processes.callers import of_user

    c = cast(world)
    call = call_of(world, c.ada, signing(world, c.agent), "approved")
    user = world.user("eve")
    assert refusal(world, of_user(user), **call).code == "forbidden"
    user.groups.add(world.group("finance"))
    assert world.call(of_user(user), "decide", **call)["run"]["outcome"] == "fetched"


def test_the_same_decision_again_with_a_fresh_snapshot(world):
    """A snapshot is of run data: work elsewhere in the run makes it stale, reading again mends it."""
    c = cast(world)
    run = loops(world, c)
    call = call_of(world, c.ada, run, "completed", output={"words": 1})
    world.call(c.ada, "decide", **call)
    second = call_of(world, c.ada, run, "approved")
    assert second["snapshot"] != call["snapshot"]
    assert refusal(world, c.ada, **{**second, "snapshot": call["snapshot"]}).code == "stale"
    world.call(c.ada, "decide", **second)


def test_numbers_are_kept_as_they_were_typed(world):
    c = cast(world)
    run = loops(world, c)
    text = '{"words":0.1000000000000000055}'
    view = world.decide(c.ada, run, "completed", output=codec.loads(text))
    assert codec.dumps(view["data"]["steps"]["edit"]["output"]) == text


def test_a_lease_that_ended_leaves_people_out_of_it(world):
    """An expired claim is ready work of agents, never an item."""
    c = cast(world)
    run = errand(world, c.agent)
    world.claim(c.agent, run, "fetch")
    expire(run)
    assert world.view(c.ops, run)["workItems"] == []
