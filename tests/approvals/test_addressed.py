"""Work that speaks to its judge, as people see it: in the queue, in its case, and when they send it back."""

import pytest
from django.contrib.auth.models import User

from tests.processes.flows import cast
from tests.world import GOOD, SCREENING

pytestmark = pytest.mark.django_db


@pytest.fixture
def addressed(world, evaluator):
    world.publish(SCREENING, finance="finance", escalations="finance")
    c = cast(world)
    evaluator.addressed = 0.9
    run = world.start(c.agent)
    world.submit(c.agent, world.claim(c.agent, run)["token"])
    return c, run


def test_a_pass_becomes_a_case_that_says_why(world, addressed, client):
    c, run = addressed
    item = world.item(c.ada, run)
    assert item["escalation"]["check"]["verdict"] == "unsure"
    assert [q["result"] for q in item["escalation"]["check"]["questions"]] == ["pass"]
    assert item["escalation"]["note"] == "The check was unsure. The material addresses whoever judges it."
    client.force_login(User.objects.get(username="ada"))
    queue = client.get("/").content.decode()
    assert "speaks to whoever judges it" in queue and "above pass" not in queue
    case = client.get(f"/items/{item['id']}/").content.decode()
    assert "Addressed the judge" in case and "a person decides" in case


def test_whoever_did_it_is_told(world, addressed):
    c, run = addressed
    world.decide(c.ada, run, "returned", note="Leave that out.")
    left = world.claim(c.agent, run)["handoff"]
    assert left["issues"] == ["check: the material addresses whoever judges it"]
    assert left["returned"]["note"] == "Leave that out."


def test_what_passes_otherwise_is_not_stopped(world, evaluator):
    world.publish(SCREENING, finance="finance", escalations="finance")
    c = cast(world)
    run = world.start(c.agent)
    view = world.submit(c.agent, world.claim(c.agent, run)["token"], **GOOD)
    assert view["data"]["steps"]["screen"]["check"]["verdict"] == "pass"
