"""list_runs: runs by process, state and inputs, newest first."""

import pytest

from checks import codec
from processes import contracts
from processes.callers import NOBODY
from tests.processes.flows import ERRAND, cast, errand, signing

pytestmark = pytest.mark.django_db


@pytest.fixture
def c(world):
    return cast(world)


def listed(world, caller, **arguments):
    found = world.call(caller, "list_runs", **arguments)
    assert contracts.result_issues("list_runs", found) == []
    return [item["id"] for item in found["items"]]


def test_newest_first_with_inputs_and_state(world, c):
    old, new = errand(world, c.agent, inputs={"what": "pens", "amount": 3}), signing(world, c.agent)
    world.decide(c.ada, new, "approved")
    found = world.call(c.ben, "list_runs")
    assert [item["id"] for item in found["items"]] == [new["run"]["id"], old["run"]["id"]]
    assert found["items"][0]["outcome"] == "fetched" and found["items"][0]["state"] == "ended"
    last = found["items"][1]
    assert last["inputs"] == {"what": "pens", "amount": 3}
    assert (last["process"], last["version"], last["startedAt"]) == ("errand", 1, old["run"]["startedAt"])


def test_by_process_state_and_inputs(world, c):
    world.publish(ERRAND.replace("errand", "other"))
    one = errand(world, c.agent, inputs={"what": "pens", "amount": codec.loads("1.50")})["run"]["id"]
    two = signing(world, c.agent, inputs={"what": "ink"})["run"]["id"]
    third = world.call(c.agent, "start_run", process="other", inputs={"what": "pens"})["run"]["id"]
    assert listed(world, c.agent, process="other") == [third]
    assert listed(world, c.agent, state="waiting") == [two]
    assert listed(world, c.agent, inputs={"what": "pens"}) == [third, one]
    assert listed(world, c.agent, inputs={"what": "pens", "amount": codec.loads("1.5")}) == [one]
    assert listed(world, c.agent, inputs={"amount": "1.5"}) == []
    assert listed(world, c.agent, inputs={"none": 1}) == []
    assert listed(world, c.agent, process="none") == []


def test_pages_are_stable_while_runs_start(world, c):
    ids = [errand(world, c.agent)["run"]["id"] for _ in range(5)]
    first = world.call(c.agent, "list_runs", limit=2)
    errand(world, c.agent)
    second = listed(world, c.agent, limit=100, cursor=first["nextCursor"])
    assert [item["id"] for item in first["items"]] + second == ids[::-1]


def test_a_limited_agent_sees_its_own(world, c):
    run = errand(world, c.agent)["run"]["id"]
    assert listed(world, world.agent(only=["errand"])) == [run]
    assert listed(world, world.agent(only=[])) == []


@pytest.mark.parametrize(
    ("arguments", "issue"),
    [
        ({"limit": 0}, "limit: 0 is less than 1"),
        ({"limit": 101}, "limit: 101 is more than 100"),
        ({"cursor": "x"}, "cursor: unknown"),
        ({"state": "done"}, 'state: "done" is not one of active, waiting, ended, cancelled'),
        ({"inputs": []}, "inputs: expected object"),
        ({"by": "me"}, "by: not an argument of list_runs"),
    ],
)
def test_arguments(world, c, arguments, issue):
    refused = world.refused(c.agent, "list_runs", **arguments)
    assert (refused.code, refused.issues) == ("invalid", [issue])


def test_nobody_lists_nothing(world):
    assert world.refused(NOBODY, "list_runs").code == "forbidden"
