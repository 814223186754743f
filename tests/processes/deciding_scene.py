"""Runs that wait for a decision."""

from tests.processes.flows import (
    LOOPS,
    errand,
    work,
)
from tests.world import SCREENING


def call_of(world, person, run, decision, **given):
    """The arguments of a decision on the run's only item."""
    item = world.item(person, run)
    call = {"runId": run["run"]["id"], "workItemId": item["id"], "snapshot": item["snapshot"]}
    return {**call, "decision": decision, **given}


def refusal(world, caller, **call):
    return world.refused(caller, "decide", **call)


def escalated(world, c, note="I can't."):
    run = errand(world, c.agent)
    token = world.claim(c.agent, run, "fetch")["token"]
    return world.call(c.agent, "escalate", token=token, note=note)


def unsure(world, c, evaluator, **given):
    """A screening whose submission waits for finance as a candidate."""
    world.publish(SCREENING, finance="finance", escalations="finance")
    evaluator.script = [[0.7]]
    run = world.start(c.agent)
    return world.submit(c.agent, world.claim(c.agent, run)["token"], **given)


def loops(world, c):
    """Ada may do all that people do in it."""
    world.publish(LOOPS, editors="finance", finance="finance", board="finance")
    run = world.call(c.agent, "start_run", process="loops", inputs={})
    return work(world, c.agent, run, "draft", output={}, summary="First draft.")
