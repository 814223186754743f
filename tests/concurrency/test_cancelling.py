"""A run is cancelled while its work is checked: cancel wins, the late verdict is kept and has no effect."""

from contextlib import contextmanager

import pytest
from django.db import transaction
from django.utils import timezone

from processes import runs, saving
from processes.models import Run, Submission
from tests.concurrency.racing import halfway, overtaken, together, word
from tests.concurrency.wholeness import wrongs
from tests.world import SCREENING, rid

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]

HALF_OF_EACH = [
    "screen is done, of which run data knows nothing", "approve is waiting in a run that has ended",
]  # fmt: skip


@pytest.fixture
def checked(world, c, evaluator):
    """The run, and the acts: hand in its work, cancel it."""
    world.publish(SCREENING, finance="finance")
    run = world.start(c.agent)
    call = {"token": world.claim(c.agent, run)["token"], "requestId": rid()}
    return (
        run,
        lambda: world.submit(c.agent, **call),
        lambda: world.call(c.ops, "cancel", runId=run["run"]["id"], reason="Not needed."),
    )


def cancel_won(run, submitted, cancelled):
    assert (word(submitted), word(cancelled)) == ("conflict run_ended", "ok")
    late = Submission.objects.get()
    assert (late.state, late.verdict.verdict) == ("void", "pass")
    row = Run.objects.get()
    assert (row.state, row.ended_by) == ("cancelled", "person:ops")
    assert "screen" not in cancelled["data"]["steps"] and not wrongs(row.pk)


def resurrected(run, submitted, cancelled):
    """Both were told that it went well, and the cancelled run goes on."""
    assert (word(submitted), word(cancelled)) == ("ok", "ok")
    assert Run.objects.get().state == "waiting" and Run.objects.get().ended_at is None


def test_a_run_is_cancelled_while_the_evaluator_is_asked(checked, evaluator, guarded):
    run, submit, cancel = checked
    cancelled = []
    evaluator.before = lambda: cancelled.extend(together(cancel))
    (submitted,) = together(submit)
    (cancel_won if guarded else resurrected)(run, submitted, *cancelled)
    if guarded:  # and the same call again is told the same
        assert [word(result) for result in together(submit)] == ["conflict run_ended"]


def test_a_run_is_cancelled_before_its_verdict_is_written(checked, evaluator, stops, guarded):
    run, submit, cancel = checked
    stop = stops(runs, "save")
    evaluator.before = stop.arm
    results = overtaken(stop, submit, cancel)
    (cancel_won if guarded else resurrected)(run, *results)


def test_a_verdict_waits_for_a_cancel_that_holds_the_lock(checked, evaluator, stops, guarded):
    run, submit, cancel = checked
    settle = halfway(stops(evaluator, "ask"), submit)
    stop = stops(runs, "save")
    cancelled, submitted = overtaken(stop, stop.armed(cancel), settle)
    if guarded:
        cancel_won(run, submitted, cancelled)
    else:
        assert (word(submitted), word(cancelled)) == ("ok", "ok")
        assert wrongs(run["run"]["id"]) == HALF_OF_EACH


def test_a_cancel_waits_for_a_verdict_that_is_being_written(checked, evaluator, stops, guarded):
    """Then the work was done, and the run is cancelled after it."""
    run, submit, cancel = checked
    stop = stops(saving, "save_steps")
    evaluator.before = stop.arm
    submitted, cancelled = overtaken(stop, submit, cancel)
    assert (word(submitted), word(cancelled)) == ("ok", "ok")
    assert Run.objects.get().state == "cancelled" and Submission.objects.get().state == "accepted"
    if guarded:
        assert cancelled["data"]["steps"]["screen"]["check"]["verdict"] == "pass"
        assert not wrongs(run["run"]["id"])
    else:
        assert wrongs(run["run"]["id"]) == HALF_OF_EACH


# ---- and the time comes, too

LIMITED = """\
---
name: limited
description: Work with a time limit, after which a person must be asked who may not be there.
inputs: { boss: { type: person, optional: true } }
steps:
  - { id: both, parallel: [work, limit], next: done }
  - { id: work, agent: Do it., check: Is it done?, next: join }
  - { id: limit, wait: 1m, next: ask }
  - { id: ask, approve: Give it more time?, person: inputs.boss, next: join }
  - { id: done, finish: done }
---
"""


@contextmanager
def resumed_whatever_the_time_did(loaded):
    with transaction.atomic(durable=True):
        loaded.now.at = timezone.now()
        runs.go_on(loaded)
        yield loaded


@pytest.mark.parametrize("guarded", [True, False], ids=["guarded", "without"])
def test_a_run_is_cancelled_while_the_time_ends_it_under_a_verdict(
    world, c, evaluator, clocks, stops, monkeypatch, guarded
):
    """Whoever writes to a run's parts before they hold the run waits for the other in a circle."""
    if not guarded:
        monkeypatch.setattr(runs, "resumed", resumed_whatever_the_time_did)
    world.publish(LIMITED)
    run = world.start(c.agent, "limited")
    work = {"token": world.claim(c.agent, run, "work")["token"], "output": {}, "summary": "Done."}
    settle = halfway(stops(evaluator, "ask"), lambda: world.call(c.agent, "submit", **work))
    stop = stops(runs, "save")
    cancelled, submitted = overtaken(
        stop,
        stop.armed(lambda: world.call(c.ops, "cancel", runId=run["run"]["id"], reason="r")),
        lambda: (clocks.forward(seconds=90), settle())[1],
    )
    if guarded:
        assert (word(submitted), word(cancelled)) == ("conflict run_ended", "ok")
        assert Submission.objects.get().verdict.verdict == "pass"
    else:
        assert "retry" in (word(submitted), word(cancelled))  # the database saw the circle
    assert Submission.objects.get().state == "void" and not wrongs(run["run"]["id"])
