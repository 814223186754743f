"""Waits, events and forks, through the tools."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db import OperationalError
from django.utils import timezone

from processes import waking
from processes.models import HeldEvent, Notice, Step

pytestmark = pytest.mark.django_db
AT = "2020-01-01T00:00:00Z"

WAITING = """\
---
name: waiting
description: Waits of every kind.
inputs: { at: datetime }
steps:
  - { id: pause, wait: 1h }
  - { id: until, wait_until: inputs.at }
  - { id: paid, wait_for: payment, timeout: 2d, on_timeout: late }
  - { id: done, finish: paid }
  - { id: late, finish: unpaid }
---
"""

FORK = """\
---
name: fork
description: Two branches and a review.
steps:
  - { id: both, parallel: [left, right], next: review }
  - { id: left, agent: Do the left part., next: leftcheck }
  - { id: leftcheck, person: lead, approve: Is it good?, on_reject: left, next: join }
  - { id: right, person: lead, task: Do the right part., due: 1h, next: join }
  - { id: review, person: lead, approve: Is all of it good?, on_reject: both }
  - { id: done, finish: done }
---
"""


def states(view):
    return {step["id"]: step["state"] for step in view["steps"]}


def later(monkeypatch, **delta):
    now = timezone.now() + timedelta(**delta)
    monkeypatch.setattr(timezone, "now", lambda: now)


def test_waits_go_on_by_themselves_and_an_event_ends_the_run(world, monkeypatch):
    world.publish(WAITING)
    agent = world.agent()
    at = (timezone.now() + timedelta(hours=3)).isoformat()
    run = world.start(agent, "waiting", at=at)
    assert run["run"]["state"] == "waiting"
    assert states(run)["pause"] == "waiting"
    assert waking.wake() == 0
    later(monkeypatch, hours=2)
    view = world.view(agent, run)  # reading is enough
    assert (states(view)["pause"], states(view)["until"]) == ("done", "waiting")
    assert view["data"]["steps"]["pause"]["by"] == "server"
    later(monkeypatch, hours=4)
    assert waking.wake() == 1
    assert waking.wake() == 0
    assert states(world.view(agent, run))["paid"] == "waiting"
    sent = world.call(agent, "send_event", runId=run["run"]["id"], name="payment", data={"amount": 5})
    assert sent == {"consumedBy": "paid"}
    end = world.view(agent, run)
    assert end["run"]["outcome"] == "paid"
    assert end["data"]["steps"]["paid"]["output"] == {"amount": 5}
    assert end["data"]["steps"]["paid"]["by"] == agent.id


def test_a_timeout_goes_its_own_way(world, monkeypatch):
    world.publish(WAITING)
    agent = world.agent()
    run = world.start(agent, "waiting", at="2020-01-01T00:00:00Z")
    later(monkeypatch, hours=2)
    assert states(world.view(agent, run))["paid"] == "waiting"  # the past time was over at once
    later(monkeypatch, days=4)
    assert world.view(agent, run)["run"]["outcome"] == "unpaid"


def test_events_are_held_oldest_first_and_discarded_at_the_end(world, monkeypatch):
    world.publish(WAITING)
    agent = world.agent()
    run = world.start(agent, "waiting", at="2020-01-01T00:00:00Z")
    for n in (1, 2):
        held = world.call(agent, "send_event", runId=run["run"]["id"], name="payment", data={"n": n})
        assert held == {"consumedBy": None}
    assert HeldEvent.objects.count() == 2
    later(monkeypatch, hours=2)
    end = world.view(agent, run)
    assert end["data"]["steps"]["paid"]["output"]["n"] == 1
    assert HeldEvent.objects.count() == 0


def test_a_fork_joins_and_is_reworked(world):
    world.publish(FORK)
    agent, lead = world.agent(), world.person("lee", "lead")
    run = world.start(agent, "fork")
    assert states(run) == {
        "both": "waiting", "left": "ready", "leftcheck": None, "right": "waiting", "review": None, "done": None,
    }  # fmt: skip

    def left():
        token = world.claim(agent, run, "left")["token"]
        world.call(agent, "submit", token=token, output={}, summary="s")

    def decide(step, decision, **given):
        view = world.view(lead, run)
        item = next(item for item in view["workItems"] if item["stepId"] == step)
        return world.call(
            lead, "decide", runId=run["run"]["id"], workItemId=item["id"], snapshot=item["snapshot"],
            decision=decision, **given,
        )  # fmt: skip

    left()
    decide("right", "completed", output={})
    view = decide("leftcheck", "rejected", note="Again.")
    assert (states(view)["left"], states(view)["right"]) == ("ready", "done")
    left()
    view = decide("leftcheck", "approved")
    assert (states(view)["both"], states(view)["review"]) == ("done", "waiting")
    view = decide("review", "rejected", note="All of it again.")
    assert states(view) == {
        "both": "waiting", "left": "ready", "leftcheck": None, "right": "waiting", "review": None, "done": None,
    }  # fmt: skip
    assert len(view["data"]["steps"]["left"]["history"]) == 2
    left()
    decide("leftcheck", "approved")
    decide("right", "completed", output={})
    assert decide("review", "approved")["run"]["outcome"] == "done"


def test_overdue_work_is_told_once(world, monkeypatch):
    world.publish(FORK)
    agent = world.agent()
    run = world.start(agent, "fork")
    world.call(agent, "start_run", process="fork", inputs={}, mode="test")
    later(monkeypatch, hours=2)
    assert waking.wake() == 2
    assert waking.wake() == 0
    told = sorted(n.group.name if n.group else "operators" for n in Notice.objects.all())
    assert told == ["lead", "operators"]  # of the live run; the test run tells nobody
    assert {n.run_id for n in Notice.objects.all()} == {run["run"]["id"]}
    assert Step.objects.filter(overdue_told=True).count() == 2
    right = next(s for s in world.view(agent, run)["steps"] if s["id"] == "right")
    assert right["overdue"] is True


def test_runs_are_found_by_exact_inputs(world):
    world.publish(
        WAITING.replace("{ at: datetime }", "{ at: datetime, n: { type: number, optional: true } }")
    )
    agent = world.agent()
    from checks.codec import Number

    run = world.start(agent, "waiting", at="2020-01-01T00:00:00Z", n=Number("12345678901234567890"))

    def found(n):
        return [item["id"] for item in world.call(agent, "list_runs", inputs={"n": Number(n)})["items"]]

    assert found("12345678901234567890") == found("1234567890123456789e1") == [run["run"]["id"]]
    assert found("12345678901234567891") == []
    assert world.call(agent, "list_runs", state="ended")["items"] == []


def test_a_run_that_can_not_go_on_stops_no_other(world, monkeypatch):
    world.publish(WAITING_BRIEFLY)
    agent = world.agent()
    runs_ = [world.start(agent, "briefly")["run"]["id"] for _ in range(3)]
    wake = waking.wake_run

    def broken(run):
        if run == runs_[0]:
            raise ValueError("its version is broken")
        return wake(run)

    monkeypatch.setattr(waking, "wake_run", broken)
    later(monkeypatch, hours=2)
    assert waking.wake() == 2
    assert [world.view(agent, {"run": {"id": run}})["run"]["state"] for run in runs_[1:]] == ["ended"] * 2


WAITING_BRIEFLY = """\
---
name: briefly
description: Waits an hour.
steps:
  - { id: pause, wait: 1h }
  - { id: done, finish: done }
---
"""


class TestARunThatCannotBeWoken:
    @pytest.fixture
    def poisoned(self, world, monkeypatch):
        """Five runs that can't be woken and one, due after them, that can; each try of one is counted."""
        world.publish(WAITING)
        agent = world.agent()
        bad = [world.start(agent, "waiting", at=AT)["run"]["id"] for _ in range(5)]
        good = world.start(agent, "waiting", at=AT)["run"]["id"]
        Step.objects.filter(run=good, name="pause").update(wake_at=timezone.now() + timedelta(minutes=61))
        tried, wake_run = [], waking.wake_run

        def wake(run):
            tried.append(run)
            if run in bad:
                raise KeyError(run)
            return wake_run(run)

        monkeypatch.setattr(waking, "wake_run", wake)
        later(monkeypatch, minutes=62)
        return SimpleNamespace(bad=bad, good=good, tried=tried)

    def test_does_not_keep_the_others_from_their_time(self, poisoned, caplog):
        assert [waking.wake_due(limit=2) for _ in range(4)] == [0, 0, 1, 0]
        assert sorted(poisoned.tried) == sorted([*poisoned.bad, poisoned.good])
        assert caplog.text.count("could not be woken") == 5

    def test_is_tried_again_later_and_later(self, poisoned, monkeypatch):
        waking.wake_due()
        for minutes in (1, 2, 4, 8, 16, 32, 60, 60):
            poisoned.tried.clear()
            later(monkeypatch, minutes=minutes, seconds=-1)
            assert waking.wake_due() == 0 and poisoned.tried == []
            later(monkeypatch, seconds=2)
            waking.wake_due()
            assert sorted(poisoned.tried) == sorted(poisoned.bad)

    def test_begins_anew_once_it_was_woken(self, poisoned, monkeypatch):
        waking.wake_due()
        mended = poisoned.bad.pop()
        later(monkeypatch, minutes=2)
        assert waking.wake_due() == 1
        assert mended not in waking.PutOff()._failed and len(waking.PutOff()._failed) == 4

    def test_is_put_off_too_where_the_database_refuses_that_one(self, poisoned, monkeypatch):
        def refuse(run):
            poisoned.tried.append(run)
            raise OperationalError("statement timeout")

        monkeypatch.setattr(waking, "wake_run", refuse)
        for _ in range(2):
            with pytest.raises(OperationalError):
                waking.wake_due()
        assert len(set(poisoned.tried)) == len(poisoned.tried) == 2

    def test_only_so_many_are_remembered(self, poisoned, monkeypatch):
        monkeypatch.setattr(waking, "MOST_PUT_OFF", 3)
        waking.wake_due()
        assert len(waking.PutOff().now()) == 3
