"""Where the evaluator is asked: a server's threads, a worker; and what the waiting call is told."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from unittest import mock
from uuid import UUID

import pytest
from django.db import connections
from django.utils import timezone

from processes import checking, evaluating
from processes.errors import ToolError
from processes.models import HistoryEntry, Request, Submission
from tests.world import GOOD, SCREENING, rid

pytestmark = pytest.mark.django_db(transaction=True)

SOON = 20.0  # seconds that no test here takes


@pytest.fixture
def stalled(world, evaluator):
    """An evaluator that answers when it is let go."""
    world.publish(SCREENING, finance="finance")
    gate = threading.Event()
    evaluator.before = lambda: gate.wait(SOON)
    yield gate
    gate.set()


@pytest.fixture
def serving(monkeypatch, settings):
    """As a server with two places for waiting calls."""
    settings.CHECK_WAIT_SECONDS = 0.2
    threads = evaluating.Threads(evaluating.Slots(2))
    monkeypatch.setattr(evaluating, "_asker", threads)
    yield threads
    threads._pool.shutdown(wait=True)


def claimed(world, agent):
    run = world.start(agent)
    return run, {"token": world.claim(agent, run)["token"], **GOOD, "requestId": rid()}


def until(condition):
    deadline = time.monotonic() + SOON
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)
    return found


# ---- a pool of threads


def test_a_quick_answer_comes_with_the_call(world, evaluator, serving, settings):
    settings.CHECK_WAIT_SECONDS = SOON
    world.publish(SCREENING, finance="finance")
    agent = world.agent()
    _, call = claimed(world, agent)
    view = world.call(agent, "submit", **call)
    assert view["data"]["steps"]["screen"]["check"]["verdict"] == "pass"
    evaluator.script = [[0.1]]
    _, call = claimed(world, agent)
    refused = world.refused(agent, "submit", **call)
    assert refused.code == "not_accepted" and refused.issues


def test_a_slow_answer_is_found_by_the_same_call(world, evaluator, stalled, serving, settings):
    agent = world.agent()
    _, call = claimed(world, agent)
    refused = world.refused(agent, "submit", **call)
    assert (refused.code, refused.retry_after) == ("retry", 2)
    assert Submission.objects.get().state == "checking"
    assert world.refused(agent, "submit", **{**call, "requestId": rid()}).code == "retry"
    with pytest.raises(ToolError) as other:
        world.call(agent, "submit", **{**call, "summary": "Something else."})
    assert (other.value.code, other.value.issues) == ("conflict", ["requestId: used before"])
    settings.CHECK_WAIT_SECONDS = SOON
    with ThreadPoolExecutor(1) as one:
        joined = one.submit(in_its_own_connection, world.call, agent, "submit", **call)
        time.sleep(0.1)
        stalled.set()
        view = joined.result(SOON)
    assert view["data"]["steps"]["screen"]["check"]["verdict"] == "pass"
    assert len(evaluator.asked) == 1
    assert world.call(agent, "submit", **call)["replayed"] is True
    whats = HistoryEntry.objects.filter(step="screen").order_by("number").values_list("what", flat=True)
    assert list(whats) == ["claimed", "submitted", "checked", "completed"]


def in_its_own_connection(call, *args, **kwargs):
    try:
        return call(*args, **kwargs)
    finally:
        connections.close_all()


def test_who_finds_no_place_to_wait_is_told_at_once_and_checked_all_the_same(
    world, evaluator, stalled, serving, settings
):
    settings.CHECK_WAIT_SECONDS = SOON
    agent = world.agent()
    calls = [claimed(world, agent)[1] for _ in range(4)]
    with ThreadPoolExecutor(2) as two:
        waiting = [
            two.submit(in_its_own_connection, world.call, agent, "submit", **call) for call in calls[:2]
        ]
        until(lambda: len(evaluator.asked) == 2)
        for call in calls[2:]:
            began = time.monotonic()
            assert world.refused(agent, "submit", **call).code == "retry"
            assert time.monotonic() - began < SOON / 2
        until(lambda: len(evaluator.asked) == 4)
        assert world.call(agent, "get_work")["items"] == []  # others are answered
        stalled.set()
        assert all(each.result(SOON)["data"]["steps"] for each in waiting)
    until(lambda: Request.objects.filter(tool="submit").count() == 4)
    assert all(world.call(agent, "submit", **call)["replayed"] for call in calls)


def test_a_persons_task_waits_and_is_joined_too(world, evaluator, serving, settings):
    from tests.processes.flows import CHECKED_TASK, cast

    gate = threading.Event()
    evaluator.before = lambda: gate.wait(SOON)
    world.publish(CHECKED_TASK, writers="finance")
    c = cast(world)
    run = world.call(c.agent, "start_run", process="checked-task", inputs={})
    item = world.item(c.ada, run)
    call = {
        "runId": run["run"]["id"], "workItemId": item["id"], "snapshot": item["snapshot"],
        "decision": "completed", "output": {"text": "Dear all"}, "requestId": rid(),
    }  # fmt: skip
    assert world.refused(c.ada, "decide", **call).code == "retry"
    failing = {key: call[key] for key in ("runId", "workItemId", "snapshot")}
    assert world.refused(c.ada, "decide", **failing, decision="failed", note="n").code == "retry"
    gate.set()
    settings.CHECK_WAIT_SECONDS = SOON
    until(lambda: Request.objects.filter(tool="decide").exists())
    assert world.call(c.ada, "decide", **call)["run"]["state"] == "ended"


FORK = """\
---
name: forked
description: A person's checked task beside an agent's step.
steps:
  - { id: both, parallel: [write, other], next: done }
  - { id: write, task: Write it., person: finance, check: Is it kind?, next: join }
  - { id: other, agent: Do the other., next: join }
  - { id: done, finish: done }
---
"""


def test_a_decision_under_way_is_not_stale_because_a_sibling_moved(
    world, evaluator, stalled, serving, settings
):
    world.publish(FORK)
    agent, ada = world.agent(), world.person("ada", "finance")
    run = world.call(agent, "start_run", process="forked", inputs={})
    call = {**world.item(ada, run)["decide"]["arguments"], "decision": "completed", "requestId": rid()}
    assert world.refused(ada, "decide", **call).code == "retry"
    token = world.claim(agent, run, "other")["token"]
    world.call(agent, "submit", token=token, output={}, summary="Done.")
    other = world.refused(ada, "decide", **{**call, "requestId": rid()})
    assert (world.refused(ada, "decide", **call).code, other.code) == ("retry", "stale")
    stalled.set()
    settings.CHECK_WAIT_SECONDS = SOON
    until(lambda: Request.objects.filter(tool="decide").exists())
    assert world.call(ada, "decide", **call)["run"]["outcome"] == "done"


def test_one_that_stood_behind_others_takes_its_fence_anew(world, evaluator, serving, settings, monkeypatch):
    settings.CHECK_WAIT_SECONDS = SOON
    world.publish(SCREENING, finance="finance")
    agent = world.agent()
    taken = []
    monkeypatch.setattr(checking, "waited", lambda _: True)
    take = checking.take_again
    monkeypatch.setattr(checking, "take_again", lambda asking: taken.append(asking) or take(asking))
    _, call = claimed(world, agent)
    assert world.call(agent, "submit", **call)["data"]["steps"]["screen"]["check"]["verdict"] == "pass"
    assert len(taken) == len(evaluator.asked) == 1


def test_many_who_are_sent_away_at_once_are_all_told_when_to_come_back():
    slots = evaluating.Slots(0)

    def turn(_):
        with pytest.raises(ToolError) as told, slots.one():
            pass
        return told.value.retry_after

    with ThreadPoolExecutor(8) as many:
        waits = list(many.map(turn, range(2000)))
    assert min(waits) == evaluating.LEAST_SECONDS and max(waits) == evaluating.MOST_SECONDS


# ---- a worker


@pytest.fixture
def job(world, evaluator, monkeypatch):
    """A submission that is recorded, and what a worker is sent about it."""
    world.publish(SCREENING, finance="finance")
    agent = world.agent()
    _, call = claimed(world, agent)
    sent = []

    def ask(self, call, asking):
        sent.append(evaluating.job_of(call, asking))
        raise checking.checking()

    monkeypatch.setattr(evaluating.Here, "ask", ask)
    assert world.refused(agent, "submit", **call).code == "retry"
    return agent, call, sent[0]


def test_a_worker_settles_for_the_call_that_waits(world, evaluator, job):
    agent, call, sent = job
    assert evaluating.evaluate(sent) == {}
    view = world.call(agent, "submit", **call)
    assert view["replayed"] and view["data"]["steps"]["screen"]["by"] == agent.id
    assert evaluating.evaluate(sent) == {}  # delivered twice
    assert len(evaluator.asked) == 1


def test_a_job_that_comes_again_while_it_is_asked_asks_nobody(world, evaluator, job):
    """A broker may deliver a task twice; the fence is taken once."""
    _, _, sent = job
    again = []

    def deliver() -> None:
        evaluator.before = None
        again.append(evaluating.evaluate(sent))

    evaluator.before = deliver
    assert evaluating.evaluate(sent) == {}
    assert again == [{}] and len(evaluator.asked) == 1
    assert Submission.objects.get().state == "accepted"


def test_a_worker_that_begins_late_has_a_whole_asking_before_it(world, evaluator, job, settings):
    _, _, sent = job
    late = timezone.now() + timedelta(seconds=2 * settings.EVALUATOR_SECONDS)
    with mock.patch("django.utils.timezone.now", return_value=late):
        asking = checking.take(
            sent.run, UUID(sent.submission), sent.fence, datetime.fromisoformat(sent.until)
        )
    until = late + timedelta(seconds=2 * settings.EVALUATOR_SECONDS)
    assert asking is not None and asking.submission.fence_until > until
    row = Submission.objects.select_related("attempt").get()
    assert row.fence_until > until and row.attempt.lease_until > until


def test_a_workers_refusal_travels_with_its_result(world, evaluator, job):
    _, _, sent = job
    evaluator.script = [[0.1]]
    outcome = evaluating.evaluate(sent)
    assert outcome["error"]["code"] == "not_accepted" and outcome["error"]["issues"]
    assert outcome["retryAfter"] is None


def test_a_worker_whose_fence_fell_asks_nobody(world, evaluator, job):
    _, _, sent = job
    assert evaluating.evaluate(replace(sent, fence=sent.fence + 1)) == {}
    Submission.objects.filter(pk=UUID(sent.submission)).update(fence_until="2020-01-01T00:00:00Z")
    assert evaluating.evaluate(sent) == {}
    assert evaluator.asked == []


def test_a_worker_finds_a_run_that_was_cancelled(world, evaluator, job):
    _, _, sent = job
    ops = world.person("ops", operator=True)
    world.call(ops, "cancel", runId=sent.run, reason="r")
    assert evaluating.evaluate(sent) == {}
    assert evaluator.asked == [] and Submission.objects.get().state == "void"


def test_a_job_carries_nothing_of_the_work(job):
    """A broker keeps its messages where we have no say."""
    _, call, sent = job
    message = json.dumps(asdict(sent))
    assert GOOD["summary"] not in message and GOOD["output"]["finding"] not in message
    assert call["token"] not in message


@pytest.mark.parametrize(("threads", "wait"), [(1, 1), (2, 1), (3, 1), (8, 4)])
def test_half_of_the_threads_wait_and_one_always_may(monkeypatch, settings, threads, wait):
    monkeypatch.setattr(evaluating, "_asker", evaluating.Here())
    settings.SERVER_THREADS, settings.CELERY_BROKER_URL = threads, ""
    evaluating.start()
    slots = evaluating._asker._slots
    with ExitStack() as waiting:
        for _ in range(wait):
            waiting.enter_context(slots.one())
        with pytest.raises(ToolError), slots.one():
            pass


def test_a_server_of_one_thread_waits_and_answers(monkeypatch, settings, world, evaluator):
    """Whoever waits does not hold up the check, which runs in a thread of its own."""
    world.publish(SCREENING, finance="finance")
    monkeypatch.setattr(evaluating, "_asker", evaluating.Here())
    settings.SERVER_THREADS, settings.CELERY_BROKER_URL = 1, ""
    evaluating.start()
    agent = world.agent()
    token = world.claim(agent, world.start(agent))["token"]
    assert world.submit(agent, token)["data"]["steps"]["screen"]["check"]["verdict"] == "pass"
