"""Timers of several processes at once, and while callers move the same runs: everything goes on once, and is
told once.
"""

import pytest
from django.db import IntegrityError, OperationalError, connection
from django.db.models import QuerySet

from processes import engine, runs, saving, timers, waking
from processes.models import HistoryEntry, Lease, Notice, Run, Step
from tests.concurrency.conftest import NO_LOCK, ON
from tests.concurrency.racing import overtaken, together, word
from tests.concurrency.wholeness import wrongs
from tests.processes.flows import errand, states

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]

PAUSED = """\
---
name: paused
description: Wait, then do it.
steps:
  - { id: pause, wait: 1h }
  - { id: act, agent: Do it. }
  - { id: done, finish: done }
---
"""
BESIDE = """\
---
name: beside
description: A person signs while a time goes by.
steps:
  - { id: both, parallel: [sign, pause], next: done }
  - { id: sign, approve: Sign it., person: finance, next: join }
  - { id: pause, wait: 1h, next: join }
  - { id: done, finish: done }
---
"""


@pytest.fixture
def unskipped(monkeypatch):
    """As on a database that can't skip what is locked."""
    return lambda: monkeypatch.setattr(type(connection.features), "has_select_for_update_skip_locked", False)


# ---- wake and wake


def test_two_timers_wake_one_run(world, c, clocks, stops, guards, unskipped):
    world.publish(PAUSED)
    run = world.start(c.agent, "paused")["run"]["id"]
    clocks.forward(hours=2)
    if guards != ON:
        unskipped()
    stop = stops(runs, "save")

    def wake():
        return waking.wake_run(run)  # `wake` itself logs what goes wrong with one run, and goes on

    first, second = overtaken(stop, stop.armed(wake), wake)
    if guards == ON:
        assert (first, second) == (1, 0)  # whoever comes second leaves it to the first, and goes on
    elif guards == NO_LOCK:
        assert isinstance(first, runs.LostLockError) and second == 1
    else:
        assert isinstance(first, IntegrityError) and second == 1  # a second attempt at the same activation
    assert not wrongs(run)
    assert HistoryEntry.objects.filter(run=run, what="waited").count() == 1
    assert Step.objects.get(run=run, name="act").activations == 1


def test_a_timer_and_a_reader_wake_one_run(world, c, clocks, stops):
    """The reader does not wait for the timer; it sees what was there before."""
    world.publish(PAUSED)
    run = world.start(c.agent, "paused")
    clocks.forward(hours=2)
    stop = stops(runs, "save")
    woken, seen = overtaken(stop, stop.armed(waking.wake), lambda: world.view(c.agent, run))
    assert woken == 1 and states(seen)["pause"] == "waiting"
    assert states(world.view(c.agent, run))["act"] == "ready" and not wrongs(run["run"]["id"])


# ---- wake and decide


@pytest.mark.parametrize("noticed", ["by the timer", "by the decision", "by nobody"])
def test_a_decision_on_what_was_there_before_the_time_came(world, c, clocks, monkeypatch, noticed):
    """The run is no longer what was seen, whoever notices it first."""
    if noticed == "by nobody":
        monkeypatch.setattr(
            runs, "go_on", lambda loaded: loaded.now.live and loaded.sleepers and engine.wake(loaded.now)
        )
    world.publish(BESIDE)
    run = world.start(c.agent, "beside")
    item = world.item(c.ada, run)
    clocks.forward(hours=2)
    if noticed == "by the timer":
        together(waking.wake)
    call = {"runId": run["run"]["id"], "workItemId": item["id"], "snapshot": item["snapshot"]}
    (told,) = together(lambda: world.call(c.ada, "decide", **call, decision="approved"))
    if noticed == "by nobody":
        assert word(told) == "ok"
    else:
        assert word(told) == "stale"
        assert world.decide(c.ada, run, "approved")["run"]["outcome"] == "done"


def test_a_decision_is_made_while_the_timer_comes(world, c, clocks, stops, guards, unskipped):
    world.publish(BESIDE)
    run = world.start(c.agent, "beside")
    item = world.item(c.ada, run)
    decision = {"runId": run["run"]["id"], "workItemId": item["id"], "decision": "approved"}
    if guards != ON:
        unskipped()
    stop = stops(runs, "save")
    decided, woken = overtaken(
        stop,
        stop.armed(lambda: world.call(c.ada, "decide", **decision, snapshot=item["snapshot"])),
        clocks.ahead(waking.wake, hours=2),
    )
    if guards == ON:
        assert (word(decided), woken) == ("ok", 0)
        clocks.forward(hours=2)
        assert waking.wake() == 1 and Run.objects.get().outcome == "done"
    elif guards == NO_LOCK:
        assert isinstance(decided, runs.LostLockError) and woken == 1
    else:
        assert (word(decided), woken) == ("ok", 1)
        assert "the run is stuck" in wrongs(run["run"]["id"])


# ---- overdue and overdue, and a call meanwhile


@pytest.mark.parametrize("skipping", [True, False], ids=["skips what is locked", "without"])
def test_two_timers_tell_of_one_step(world, c, clocks, stops, unskipped, skipping):
    if not skipping:
        unskipped()
    errand(world, c.agent)
    clocks.forward(days=2)
    stop = stops(waking, "_notices")
    assert overtaken(stop, stop.armed(waking.wake), waking.wake) == (1, 0)
    assert Notice.objects.count() == (1 if skipping else 2)


@pytest.fixture
def overdue(world, c, clocks, stops):
    """A step is claimed while the timers tell that it is overdue."""

    def race():
        run = errand(world, c.agent)
        clocks.forward(days=2)
        stop = stops(runs, "save")
        return overtaken(stop, stop.armed(lambda: world.claim(c.agent, run, "fetch")), waking.wake)

    return race


def test_a_step_is_claimed_while_it_is_told_to_be_overdue(overdue):
    claimed, told = overdue()
    assert (word(claimed), told) == ("ok", 1)
    assert waking.wake() == 0 and Notice.objects.count() == 1


def test_they_wait_for_each_other_in_a_circle_where_a_notice_waits_for_the_run(overdue, monkeypatch):
    """The notice names the run that the claim holds; the claim moves the step that the timers hold."""
    select = QuerySet.select_for_update
    monkeypatch.setattr(
        QuerySet, "select_for_update", lambda rows, **how: select(rows, **{**how, "no_key": False})
    )
    claimed, told = overdue()
    assert word(claimed) == "retry" or isinstance(told, OperationalError)


def test_it_is_told_twice_where_the_claim_writes_what_it_read(overdue, monkeypatch):
    monkeypatch.setattr(saving, "F", lambda _column: False)
    claimed, told = overdue()
    assert (word(claimed), told) == ("ok", 1)
    assert waking.wake() == 1 and Notice.objects.count() == 2


# ---- whose timers run


@pytest.mark.parametrize("once", [True, False], ids=["guarded", "without"])
def test_two_processes_take_the_timers_lease(stops, monkeypatch, once):
    stop = stops(Lease.objects, "create")
    if not once:
        monkeypatch.setattr(timers, "IntegrityError", KeyError)
    first, second = overtaken(
        stop, stop.armed(lambda: timers.hold("timers", "a")), lambda: timers.hold("timers", "b")
    )
    assert second is True and Lease.objects.get().holder == "b"
    assert first is False if once else isinstance(first, IntegrityError)
