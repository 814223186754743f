"""What the state machine found, each as small as it can be shown."""

import pytest

from processes.models import HeldEvent

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
