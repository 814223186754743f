"""send_event: an agent or an operator delivers an event to one run. How waits go on: test_waits.py."""

import pytest

from checks import codec
from processes import contracts
from processes.callers import NOBODY
from processes.models import HeldEvent
from tests.processes.flows import cast, errand, signing, states

pytestmark = pytest.mark.django_db

WAITING = """\
---
name: waiting
description: Wait for two payments.
steps:
  - { id: first, wait_for: paid }
  - { id: look, agent: Look. }
  - { id: second, wait_for: paid }
  - { id: done, finish: paid }
---
"""


@pytest.fixture
def c(world):
    world.publish(WAITING)
    return cast(world)


def begun(world, c):
    return world.call(c.agent, "start_run", process="waiting", inputs={})


def send(world, caller, run, name="paid", **given):
    found = world.call(caller, "send_event", runId=run["run"]["id"], name=name, **given)
    assert contracts.result_issues("send_event", found) == []
    return found["consumedBy"]


def test_a_step_that_waits_takes_it(world, c):
    run = begun(world, c)
    data = codec.loads('{"amount":0.1000000000000000055}')
    assert send(world, c.agent, run, data=data) == "first"
    view = world.view(c.agent, run)
    assert states(view) == {"first": "done", "look": "ready", "second": None, "done": None}
    record = view["data"]["steps"]["first"]
    assert codec.dumps(record["output"]) == codec.dumps(data) and record["by"] == c.agent.id


def test_it_is_held_for_a_step_to_come_oldest_first(world, c):
    run = begun(world, c)
    assert [send(world, c.ops, run, data={"n": n}) for n in (1, 2, 3)] == ["first", None, None]
    token = world.claim(c.agent, run, "look")["token"]
    view = world.call(c.agent, "submit", token=token, output={}, summary="s")
    assert (view["run"]["outcome"], view["data"]["steps"]["second"]["output"]) == ("paid", {"n": 2})
    assert not HeldEvent.objects.exists()  # discarded with the run


def test_no_wait_at_all_holds_it_too(world, c):
    assert send(world, c.agent, signing(world, c.agent), "anything") is None


# ---- refusals


def test_who_may_send(world, c):
    run = begun(world, c)
    for caller in (c.ada, c.ben, NOBODY, world.agent(only=[])):
        refused = world.refused(caller, "send_event", runId=run["run"]["id"], name="paid")
        assert refused.code == "forbidden"
    assert states(world.view(c.agent, run))["first"] == "waiting"


@pytest.mark.parametrize("name", ["", "Paid", "1", "paid!", "p" * 65])
def test_names_that_no_step_can_wait_for(world, c, name):
    refused = world.refused(c.agent, "send_event", runId=begun(world, c)["run"]["id"], name=name)
    assert refused.code == "invalid"


def test_arguments(world, c):
    run = begun(world, c)["run"]["id"]
    assert world.refused(c.agent, "send_event", runId=run).issues == ["name: missing"]
    assert world.refused(c.agent, "send_event", runId=run, name="paid", data=[]).code == "invalid"
    assert world.refused(c.agent, "send_event", runId="r_none", name="paid").code == "not_found"


def test_data_that_the_run_could_not_hold(world, c, settings):
    run = begun(world, c)
    settings.RUN_DATA_BYTES = 1024
    large = {"text": "x" * 600}
    assert [send(world, c.agent, run), send(world, c.agent, run, data=large)] == ["first", None]
    refused = world.refused(c.agent, "send_event", runId=run["run"]["id"], name="paid", data=large)
    assert refused.code == "invalid" and refused.issues[0].startswith("data: ")


def test_run_ended(world, c):
    run = errand(world, c.agent)
    world.call(c.ops, "cancel", runId=run["run"]["id"], reason="r")
    refused = world.refused(c.agent, "send_event", runId=run["run"]["id"], name="paid")
    assert (refused.code, refused.issues) == ("conflict", ["run_ended"])
