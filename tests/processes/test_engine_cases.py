"""What the state machine found, each as small as it can be shown."""

import pytest

from processes.models import HeldEvent
from tests.world import GOOD, SCREENING

pytestmark = pytest.mark.django_db

DOTS = """\
---
name: dots
description: Fields whose names hold dots.
inputs: { a.at: datetime, the.boss: person }
steps:
  - { id: pause, wait_until: inputs.a.at }
  - { id: name, person: inputs.the.boss, task: Name the next one., output: { next.one: person } }
  - { id: sign, person: steps.name.output.next.one, approve: Sign it. }
  - { id: done, finish: done }
---
"""
PLAIN = """\
---
name: plain
description: Waits for nothing.
steps:
  - { id: work, agent: Do it. }
  - { id: done, finish: done }
---
"""


def test_a_path_may_lead_to_a_field_with_dots_in_its_name(world):
    world.publish(DOTS)
    ada = world.person("ada")
    run = world.start(ada, "dots", **{"a.at": "2020-01-01T00:00:00Z", "the.boss": "ada@example.org"})
    view = world.decide(ada, run, "completed", output={"next.one": "ada@example.org"})
    assert [item["assignedTo"] for item in view["workItems"]] == [{"person": "ada@example.org"}]


def test_an_event_that_no_step_can_wait_for_is_not_kept(world):
    """It would never be taken, and at the run's end nothing looked for it."""
    world.publish(PLAIN)
    agent = world.agent()
    run = world.start(agent, "plain")
    assert world.call(agent, "send_event", runId=run["run"]["id"], name="stray") == {"consumedBy": None}
    assert not HeldEvent.objects.exists()


def test_a_run_that_has_ended_says_so_first_to_whoever_sends_an_event(world):
    world.publish(PLAIN)
    agent, ben = world.agent(), world.person("ben")
    run = world.start(agent, "plain")
    assert world.refused(ben, "send_event", runId=run["run"]["id"], name="late").code == "forbidden"
    world.call(agent, "submit", token=world.claim(agent, run, "work")["token"], output={}, summary="Done.")
    assert world.refused(ben, "send_event", runId=run["run"]["id"], name="late").issues == ["run_ended"]


FORWARD = """\
---
name: forward
description: A branch whose first step, rejected, goes on from a later one.
steps:
  - { id: both, parallel: [look, other], next: done }
  - { id: look, person: lead, approve: Is it good?, on_reject: mend, next: mend }
  - { id: mend, agent: Mend it., next: join }
  - { id: other, agent: Do the other part., next: join }
  - { id: done, finish: done }
---
"""


def test_a_branch_joins_though_a_rejection_led_past_its_first_step(world):
    world.publish(FORWARD)
    agent, lead = world.agent(), world.person("lee", "lead")
    run = world.start(agent, "forward")
    world.decide(lead, run, "rejected", note="Mend it.")
    for step in ("mend", "other"):
        token = world.claim(agent, run, step)["token"]
        view = world.call(agent, "submit", token=token, output={}, summary="Done.")
    assert view["run"]["outcome"] == "done"


def test_the_same_material_again_after_an_error_takes_the_new_route(world, evaluator):
    """The route and its reason are not what a check sees, so the material is the same; they are new all the same."""
    world.publish(SCREENING, finance="finance")
    agent = world.agent()
    run = world.start(agent)
    token = world.claim(agent, run)["token"]
    evaluator.script = ["silence", [0.95]]
    call = {"token": token, **GOOD}
    assert world.refused(agent, "submit", **call).code == "retry"
    view = world.call(agent, "submit", **{**call, "next": "declined", "reason": "A list has a match."})
    assert view["data"]["steps"]["screen"]["next"] == "declined"
    assert view["run"]["outcome"] == "declined"
