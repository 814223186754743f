"""What others do to a run while one of its submissions is checked, and what its history tells of that."""

import pytest

from checks import codec
from processes.models import HistoryEntry
from tests.world import rid

pytestmark = pytest.mark.django_db(transaction=True)

FORK = """\
---
name: fork
description: Two parts, of which one is checked.
steps:
  - { id: both, parallel: [checked, plain], next: done }
  - { id: checked, agent: Do it., check: Is it done?, next: join }
  - { id: plain, agent: Do the other., next: join }
  - { id: done, finish: done }
---
"""
WORK = {"output": {}, "summary": "Done."}


def told(*, step: str) -> list[tuple[str, str]]:
    return list(HistoryEntry.objects.filter(step=step).order_by("number").values_list("what", "by"))


@pytest.fixture
def fork(world, evaluator):
    world.publish(FORK)
    agent = world.agent()
    return agent, world.start(agent, "fork")


def test_a_sibling_that_is_completed_meanwhile_is_not_lost(world, evaluator, fork):
    agent, run = fork
    other = world.claim(agent, run, "plain")["token"]

    def complete() -> None:
        evaluator.before = None
        world.call(agent, "submit", token=other, **WORK)

    evaluator.before = complete
    view = world.call(agent, "submit", token=world.claim(agent, run, "checked")["token"], **WORK)
    assert view["run"]["outcome"] == "done"
    assert set(view["data"]["steps"]) == {"checked", "plain"}
    assert codec.canonical(view) == codec.canonical(world.view(agent, run))
    numbers = list(HistoryEntry.objects.order_by("number").values_list("number", flat=True))
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_verdict_is_applied_to_the_run_as_it_then_is_when_nobody_moved_it(world, evaluator, fork):
    """Without reading it again; the next call finds in the database what this one answered."""
    agent, run = fork
    view = world.call(agent, "submit", token=world.claim(agent, run, "checked")["token"], **WORK)
    assert codec.canonical(view) == codec.canonical(world.view(agent, run))
    assert told(step="checked") == [
        ("claimed", agent.id), ("submitted", agent.id), ("checked", "check"), ("completed", agent.id),
    ]  # fmt: skip


def test_work_that_is_sent_again_after_an_error_was_submitted_once(world, evaluator, fork):
    agent, run = fork
    token = world.claim(agent, run, "checked")["token"]
    evaluator.script = ["silence", "silence", [0.99]]
    call = {"token": token, **WORK, "requestId": rid()}
    assert world.refused(agent, "submit", **call).code == "retry"
    assert world.refused(agent, "submit", **call).code == "retry"
    world.call(agent, "submit", **call)
    assert [what for what, _ in told(step="checked")] == ["claimed", "submitted", "checked", "completed"]


def test_limits_changed_between_two_checks_count_for_the_second(world, evaluator, fork):
    from checks.models import CheckLimits

    agent, run = fork
    token = world.claim(agent, run, "checked")["token"]
    CheckLimits.objects.create(
        check_pass=0.8, check_fail=0.4, check_confidence=0.5, check_state_bytes=10_000, why="w"
    )
    evaluator.script = [[0.85]]
    view = world.call(agent, "submit", token=token, **WORK)
    assert view["data"]["steps"]["checked"]["check"]["verdict"] == "pass"
