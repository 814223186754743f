"""An event comes while a step gets ready to wait for it: it is taken at once or held, and never missed."""

import pytest

from processes import evaluating, runs, saving
from processes.models import HeldEvent
from tests.concurrency.conftest import NO_LOCK, ON
from tests.concurrency.racing import overtaken, sent_elsewhere, together, word
from tests.concurrency.wholeness import wrongs

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]

PAID = """\
---
name: paid
description: Send a bill, then wait for its payment.
steps:
  - id: bill
    agent: Send it.
    next: payment
  - { id: payment, wait_for: payment }
  - { id: done, finish: paid }
---
"""
CHECKED = PAID.replace("next:", "check: Is it sent?\n    next:")
WORK = {"output": {}, "summary": "Sent."}
MISSED = ["payment waits for an event that is there"]
FORGOTTEN = ["bill is done, of which run data knows nothing"]


@pytest.fixture
def acts(world, c):
    """The run of a text, and the acts: hand in the bill, send the payment."""

    def start(text):
        world.publish(text)
        run = world.start(c.agent, "paid")
        token = world.claim(c.agent, run, "bill")["token"]
        event = {"runId": run["run"]["id"], "name": "payment", "data": {"amount": 5}}
        return (
            run["run"]["id"],
            lambda: world.call(c.agent, "submit", token=token, **WORK),
            lambda: world.call(c.other, "send_event", **event),
        )

    return start


def is_paid(world, c, run):
    view = world.call(c.agent, "get_run", runId=run)
    assert (view["run"]["outcome"], view["data"]["steps"]["payment"]["by"]) == ("paid", c.other.id)
    assert view["data"]["steps"]["payment"]["output"] == {"amount": 5}
    assert not HeldEvent.objects.exists() and not wrongs(run)


@pytest.mark.parametrize("event_first", [True, False], ids=["the event is overtaken", "the event overtakes"])
def test_an_event_comes_as_its_step_gets_ready(world, c, acts, stops, guards, event_first):
    run, submit, send = acts(PAID)
    stop, order = stops(runs, "save"), (send, submit) if event_first else (submit, send)
    first, second = overtaken(stop, stop.armed(order[0]), order[1])
    if guards == ON:
        sent = first if event_first else second
        assert sent == {"consumedBy": None if event_first else "payment"}
        is_paid(world, c, run)
    elif guards == NO_LOCK:
        assert isinstance(first, runs.LostLockError) and word(second) == "ok" and not wrongs(run)
    else:
        assert (word(first), word(second)) == ("ok", "ok")
        assert wrongs(run) == (FORGOTTEN + MISSED if event_first else MISSED)


def test_an_event_comes_before_a_verdict_is_written(world, c, acts, stops, evaluator, guarded):
    """It is held, for nobody waits for it yet; the verdict knows of no event that is held."""
    run, submit, send = acts(CHECKED)
    stop = stops(runs, "save")
    evaluator.before = stop.arm
    submitted, sent = overtaken(stop, submit, send)
    assert word(submitted) == "ok" and sent == {"consumedBy": None}
    if guarded:
        is_paid(world, c, run)
    else:
        assert wrongs(run) == MISSED


def test_an_event_waits_for_a_verdict_that_is_being_written(world, c, acts, stops, evaluator, guarded):
    run, submit, send = acts(CHECKED)
    stop = stops(saving, "save_steps")
    evaluator.before = stop.arm
    submitted, sent = overtaken(stop, submit, send)
    assert word(submitted) == "ok"
    if guarded:
        assert sent == {"consumedBy": "payment"}
        is_paid(world, c, run)
    else:
        assert sent == {"consumedBy": None} and wrongs(run) == FORGOTTEN + MISSED


@pytest.mark.parametrize("told", [True, False], ids=["with its events", "without"])
def test_an_event_comes_before_a_worker_reads_what_it_asks_about(
    world, c, acts, evaluator, monkeypatch, told
):
    """Its verdict is applied to the run as it was when the worker began to ask, held events included."""
    load, jobs = runs.load, sent_elsewhere(monkeypatch)
    if not told:

        def forgetful(run, *, lock=False):
            loaded = load(run, lock=lock)
            loaded.now.held.clear()
            return loaded

        monkeypatch.setattr(runs, "load", forgetful)
    run, submit, send = acts(CHECKED)
    together(submit)
    assert together(send) == [{"consumedBy": None}]
    assert together(lambda: evaluating.evaluate(*jobs)) == [{}]
    if told:
        is_paid(world, c, run)
    else:
        assert wrongs(run) == MISSED
