"""get_work: what a caller can do now, oldest first, each with the exact call to make."""

import pytest

from checks import codec
from processes import contracts
from processes.callers import NOBODY
from tests.processes.flows import (
    ERRAND,
    LOOPS,
    PEOPLE,
    cast,
    errand,
    expire,
    later,
    signing,
    work,
)
from tests.world import SCREENING, rid

pytestmark = pytest.mark.django_db


def runs(found: dict) -> list[str]:
    return [item["runId"] for item in found["items"]]


def ids(*views: dict) -> list[str]:
    return [view["run"]["id"] for view in views]


# ---- agents


def test_ready_agent_steps_oldest_first_with_the_claim_call(world):
    agent = world.agent()
    first, second = errand(world, agent), errand(world, agent, mode="test")
    found = world.call(agent, "get_work")
    assert contracts.result_issues("get_work", found) == []
    assert runs(found) == ids(first, second)
    item = found["items"][0]
    assert item["claim"] == {
        "tool": "claim",
        "arguments": {"runId": first["run"]["id"], "stepId": "fetch", "requestId": "<new UUID>"},
    }
    assert (item["process"], item["version"], item["mode"]) == ("errand", 1, "live")
    assert (item["readySince"], item["handoff"]) == (first["run"]["startedAt"], None)
    assert item["due"] is not None and item["overdue"] is False
    assert found["items"][1]["mode"] == "test"
    world.call(agent, "claim", **{**item["claim"]["arguments"], "requestId": rid()})
    assert runs(world.call(agent, "get_work")) == ids(second)


def test_a_claim_whose_lease_ended_counts_as_ready_with_its_progress(world):
    agent = world.agent()
    run = errand(world, agent)
    token = world.claim(agent, run, "fetch")["token"]
    world.call(agent, "renew", token=token, progress="Half done.")
    assert world.call(agent, "get_work")["items"] == []
    expire(run)
    (item,) = world.call(world.agent(), "get_work")["items"]
    assert item["handoff"] == {"progress": "Half done."}
    assert item["readySince"] == run["run"]["startedAt"]


def test_overdue_work_says_so(world):
    agent = world.agent()
    errand(world, agent)
    with later(days=2):
        assert world.call(agent, "get_work")["items"][0]["overdue"] is True


def test_no_steps_of_people_and_of_ended_runs(world):
    agent, ops = world.agent(), world.person("ops", operator=True)
    signing(world, agent)
    gone = errand(world, agent)
    world.call(ops, "cancel", runId=gone["run"]["id"], reason="r")
    assert world.call(agent, "get_work")["items"] == []


def test_a_limited_agent_sees_only_what_it_may_claim(world):
    agent = world.agent()
    errand(world, agent)
    assert world.call(world.agent(only=[]), "get_work")["items"] == []
    assert len(world.call(world.agent(only=["errand"]), "get_work")["items"]) == 1


def test_only_of_one_process(world):
    world.publish(ERRAND.replace("errand", "other"))
    agent = world.agent()
    errand(world, agent)
    other = world.call(agent, "start_run", process="other", inputs={"what": "x"})
    assert runs(world.call(agent, "get_work", process="other")) == ids(other)
    assert world.call(agent, "get_work", process="unknown")["items"] == []


def test_pages_are_stable_while_work_comes_and_goes(world):
    agent = world.agent()
    views = [errand(world, agent) for _ in range(5)]
    first = world.call(agent, "get_work", limit=2)
    world.claim(agent, views[0], "fetch")
    errand(world, agent)
    second = world.call(agent, "get_work", limit=2, cursor=first["nextCursor"])
    third = world.call(agent, "get_work", limit=100, cursor=second["nextCursor"])
    assert runs(first) + runs(second) + runs(third)[:1] == ids(*views)
    assert third["nextCursor"] is None


# ---- people


def test_each_person_sees_their_own_items(world, evaluator):
    c = cast(world)
    world.publish(SCREENING, finance="finance")  # escalations go to the operators
    signed = signing(world, c.agent)
    evaluator.script = [[0.7]]
    unsure = world.start(c.agent)
    world.submit(c.agent, world.claim(c.agent, unsure)["token"])
    world.publish(PEOPLE)
    mine = world.call(c.ada, "start_run", process="people", inputs={"owner": "BEN@example.org"})
    assert runs(world.call(c.ada, "get_work")) == ids(signed)
    assert runs(world.call(c.ben, "get_work")) == ids(mine)
    assert runs(world.call(c.ops, "get_work")) == ids(unsure)
    assert world.call(world.person("cy"), "get_work")["items"] == []
    for person in (c.ada, c.ben, c.ops):
        found = world.call(person, "get_work")
        assert contracts.result_issues("get_work", found) == []
        (given,) = found["items"]
        (shown,) = world.call(person, "get_run", runId=given["runId"])["workItems"]
        assert codec.canonical(given["workItem"]) == codec.canonical(shown)


def test_an_operator_sees_escalations_of_every_group_but_not_their_other_work(world, evaluator):
    c = cast(world)
    world.publish(SCREENING, finance="finance", escalations="finance")
    evaluator.script = [[0.7]]
    run = world.start(c.agent)
    world.submit(c.agent, world.claim(c.agent, run)["token"])
    signing(world, c.agent)
    assert runs(world.call(c.ops, "get_work")) == ids(run)
    assert len(world.call(c.ada, "get_work")["items"]) == 2


def test_the_decide_call_works_as_it_is_given(world):
    c = cast(world)
    signing(world, c.agent)
    (given,) = world.call(c.ada, "get_work")["items"]
    call = given["workItem"]["decide"]
    view = world.call(
        c.ada, call["tool"], **{**call["arguments"], "requestId": rid(), "decision": "approved"}
    )
    assert view["run"]["outcome"] == "fetched"
    assert world.call(c.ada, "get_work")["items"] == []


def test_a_test_run_says_so_on_its_items(world):
    c = cast(world)
    signing(world, c.agent, mode="test")
    (given,) = world.call(c.ada, "get_work")["items"]
    assert (given["mode"], given["workItem"]["mode"]) == ("test", "test")


def test_people_page_and_filter_too(world):
    c = cast(world)
    views = [signing(world, c.agent) for _ in range(3)]
    first = world.call(c.ada, "get_work", limit=2)
    second = world.call(c.ada, "get_work", cursor=first["nextCursor"])
    assert runs(first) + runs(second) == ids(*views)
    assert world.call(c.ada, "get_work", process="none")["items"] == []
    assert len(world.call(c.ada, "get_work", process="errand")["items"]) == 3


def test_a_task_says_what_it_needs(world):
    world.publish(LOOPS, editors="editors", finance="finance", board="board")
    agent, eve = world.agent(), world.person("eve", "editors")
    run = world.call(agent, "start_run", process="loops", inputs={})
    work(world, agent, run, "draft", output={}, summary="s")
    (given,) = world.call(eve, "get_work")["items"]
    assert given["workItem"]["handoff"] is None
    assert given["workItem"]["output"] == {"words": "number"}
    assert given["workItem"]["due"] is not None


# ---- refusals


@pytest.mark.parametrize(
    ("arguments", "issue"),
    [
        ({"limit": 0}, "limit: 0 is less than 1"),
        ({"limit": 101}, "limit: 101 is more than 100"),
        ({"limit": "5"}, "limit: expected whole number"),
        ({"cursor": "abc"}, "cursor: unknown"),
        ({"process": None}, "process: expected string"),
        ({"state": "ready"}, "state: not an argument of get_work"),
    ],
)
def test_arguments(world, arguments, issue):
    for caller in (world.agent(), world.person("ada")):
        refused = world.refused(caller, "get_work", **arguments)
        assert (refused.code, refused.issues) == ("invalid", [issue])


def test_a_cursor_of_another_list_is_refused(world):
    c = cast(world)
    for _ in range(2):
        errand(world, c.agent)
        signing(world, c.agent)
    steps = world.call(c.agent, "get_work", limit=1)["nextCursor"]
    items = world.call(c.ada, "get_work", limit=1)["nextCursor"]
    assert world.refused(c.agent, "get_work", cursor=items).code == "invalid"
    assert world.refused(c.agent, "list_processes", cursor=steps).code == "invalid"


def test_nobody_has_no_work(world):
    assert world.refused(NOBODY, "get_work").code == "forbidden"
