"""A claimed step and a task, each with a check."""

import pytest

from processes.errors import ToolError
from tests.processes.flows import ADVISORY, CHECKED_TASK, cast
from tests.world import SCREENING, rid

committed = pytest.mark.django_db(transaction=True)


@pytest.fixture
def c(world, evaluator):
    world.publish(SCREENING, finance="finance", escalations="finance")
    world.publish(CHECKED_TASK, writers="finance")
    world.publish(ADVISORY, finance="finance")
    return cast(world)


def claimed(world, c):
    run = world.start(c.agent)
    return run, world.claim(c.agent, run)["token"]


def during(evaluator, act):
    """Do something from inside the first evaluation; gives the list of what came of it."""
    results = []

    def once():
        evaluator.before = None
        try:
            results.append(act())
        except ToolError as refused:
            results.append(refused)

    evaluator.before = once
    return results


def task(world, c):
    run = world.call(c.agent, "start_run", process="checked-task", inputs={})
    item = world.item(c.ada, run)
    call = {"runId": run["run"]["id"], "workItemId": item["id"], "snapshot": item["snapshot"]}
    return run, {**call, "decision": "completed", "output": {"text": "Dear all"}, "requestId": rid()}
