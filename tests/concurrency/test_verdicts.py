"""A submission that is resumed while its first evaluation still runs: one verdict counts, whoever asked and
whenever the answers come.
"""

import threading
from dataclasses import replace

import pytest
from django.conf import settings
from django.db import IntegrityError

from checks import codec
from checks.models import Verdict
from processes import applying, checking, evaluating, runs
from processes.models import HistoryEntry, Submission
from processes.states import IllegalMoveError
from tests.concurrency.conftest import NO_LOCK, ON
from tests.concurrency.racing import SURELY, halfway, overtaken, sent_elsewhere, together, word
from tests.concurrency.wholeness import wrongs
from tests.world import SCREENING, rid

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]
FENCE = settings.EVALUATOR_SECONDS * 2 + 15  # seconds that an evaluation may take

LAST = """\
---
name: last
description: One step, which is checked.
steps:
  - { id: screen, agent: Do it., check: Is it done? }
  - { id: done, finish: done }
---
"""
WORK = {"output": {}, "summary": "Done."}
ONCE = ["claimed", "submitted", "checked", "completed"]


@pytest.fixture
def run(world, c, evaluator):
    world.publish(SCREENING, finance="finance")
    return world.start(c.agent)


@pytest.fixture
def submit(world, c, run):
    """The same call each time."""
    call = {"token": world.claim(c.agent, run)["token"], "requestId": rid()}
    return lambda: world.submit(c.agent, **call)


def whats():
    return list(HistoryEntry.objects.filter(step="screen").order_by("number").values_list("what", flat=True))


def same(*results):
    assert all(isinstance(result, dict) for result in results), results
    plain = [{key: value for key, value in each.items() if key != "replayed"} for each in results]
    return len({codec.canonical(each) for each in plain}) == 1


# ---- the first verdict was there in time, and is written after the fence fell


def test_the_same_call_resumes_before_the_first_verdict_is_written(run, submit, evaluator, clocks, stops):
    """Both callers get the one result."""
    stop = stops(runs, "save")
    evaluator.before, evaluator.script = stop.arm, [[0.99], [0.95]]

    def again():
        clocks.forward(seconds=FENCE)
        return submit()

    first, second = overtaken(stop, submit, again)
    assert same(first, second) and whats() == ONCE and not wrongs(run["run"]["id"])
    assert Verdict.objects.count() == 1 and Submission.objects.get().fence == 2


def test_another_resumes_before_the_first_verdict_is_written(
    world, c, run, submit, evaluator, clocks, stops, guarded
):
    """The lease ended with the fence, and its next holder hands in the very same work."""
    stop = stops(runs, "save")
    evaluator.before = stop.arm

    def resume():
        clocks.forward(seconds=settings.LEASE_SECONDS + FENCE)
        return world.submit(c.other, world.claim(c.other, run)["token"])

    first, second = overtaken(stop, submit, resume)
    assert word(second) == "ok"
    if guarded:
        assert word(first) == "retry" and not wrongs(run["run"]["id"])
        assert second["data"]["steps"]["screen"]["by"] == c.other.id == Submission.objects.get().by
    else:
        assert isinstance(first, IntegrityError)  # a second item for the same approval


# ---- the first verdict comes after the fence fell


class AnyFence(int):
    """Of an asker that looks at no fence."""

    __hash__ = int.__hash__

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False


@pytest.mark.parametrize("fenced", [True, False], ids=["fenced", "without the fence"])
def test_a_late_verdict_comes_while_the_work_is_judged_anew(
    run, submit, evaluator, clocks, stops, monkeypatch, fenced
):
    """Two are asked at a time then, and only the one that holds the fence is heard."""
    if not fenced:
        resolve = checking.resolve
        monkeypatch.setattr(checking, "resolve", lambda call, a: resolve(call, replace(a, fence=AnyFence())))
    late = halfway(stops(evaluator, "ask"), submit)
    clocks.forward(seconds=FENCE)
    resumed = halfway(stops(evaluator, "ask"), submit)
    evaluator.script = [[0.1], [0.95]]
    first = late()
    second = resumed()
    if fenced:
        assert (word(first), word(second)) == ("retry", "ok")
        assert whats() == ONCE and not wrongs(run["run"]["id"])
    else:
        assert word(first).startswith("not_accepted check:") and word(second) == "retry"


@pytest.mark.parametrize("guarded", ["by the fence", "by the table of moves alone", "not at all"])
def test_a_late_verdict_comes_after_the_run_has_ended(
    world, c, evaluator, clocks, stops, monkeypatch, guarded
):
    """What ended it keeps its own verdict."""
    if guarded != "by the fence":
        monkeypatch.setattr(checking, "_awaits", lambda *_: True)
    if guarded == "not at all":
        for module in (applying, checking):
            monkeypatch.setattr(module, "move", lambda _table, _old, new: new)
    world.publish(LAST)
    run = world.start(c.agent, "last")
    call = {"token": world.claim(c.agent, run)["token"], **WORK, "requestId": rid()}

    def submit():
        return world.call(c.agent, "submit", **call)

    late = halfway(stops(evaluator, "ask"), submit)
    clocks.forward(seconds=FENCE)
    evaluator.script = [[0.95], [0.1]]
    (resumed,) = together(submit)
    answer = late()
    assert resumed["run"]["outcome"] == "done"
    submission = Submission.objects.get()
    if guarded == "not at all":
        assert (submission.state, submission.verdict.verdict) == ("void", "fail")
        return
    assert (submission.state, submission.verdict.verdict) == ("accepted", "pass")
    assert Verdict.objects.count() == 1
    if guarded == "by the fence":
        assert same(answer, resumed)
    else:  # nothing is damaged, but whoever came late is told of a fault instead of what became of it
        assert isinstance(answer, IllegalMoveError)


# ---- two resume at once


def test_two_resume_what_a_dead_asker_left(run, submit, evaluator, clocks, stops, guards):
    def dies():
        raise SystemExit

    evaluator.before = dies
    together(submit)
    clocks.forward(seconds=FENCE)
    told = threading.Event()
    evaluator.before = (lambda: told.wait(SURELY)) if guards == ON else None

    def again():
        try:
            return submit()
        finally:
            told.set()

    stop = stops(runs, "save")
    first, second = overtaken(stop, stop.armed(submit), again)
    if guards == ON:
        assert (word(first), word(second)) == ("ok", "retry")
        assert len(evaluator.asked) == 2 and Submission.objects.get().fence == 2
        assert whats() == ONCE and not wrongs(run["run"]["id"])
    elif guards == NO_LOCK:
        assert isinstance(first, runs.LostLockError) and word(second) == "ok"
    else:
        assert len(evaluator.asked) == 3  # at once, and both would count
        assert wrongs(run["run"]["id"])


# ---- a job that is delivered twice


def test_a_job_is_done_by_two_workers_at_once(run, submit, evaluator, stops, monkeypatch, guarded):
    jobs = sent_elsewhere(monkeypatch)
    together(submit)

    def work():
        return evaluating.evaluate(*jobs)

    stop = stops(runs, "save")
    first, second = overtaken(stop, stop.armed(work), work)
    assert second == {}
    if guarded:
        assert first == {} and len(evaluator.asked) == 1  # the second finds the fence taken
        assert same(*together(submit), submit()) and whats() == ONCE and not wrongs(run["run"]["id"])
        assert Verdict.objects.count() == 1
    else:
        assert isinstance(first, IntegrityError)  # the call's record is there
