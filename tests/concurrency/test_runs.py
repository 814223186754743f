"""Two at once on one run: one wins, the other is told why. Each race is shown with its guard switched off, too."""

import pytest
from django.db import IntegrityError

from processes import runs
from processes.models import Attempt, HistoryEntry, Run, WorkItem
from tests.concurrency.racing import SURELY, drop_the_lock, meet_after_loading, together, told
from tests.processes.flows import DONE, LOOPS, cast, errand, work
from tests.world import GOOD, SCREENING

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]
FAULTS = (runs.LostLockError, IntegrityError)


@pytest.fixture(params=["with the lock", "without"])
def locked(request, monkeypatch):
    """Whether the guard is on. The race is on either way."""
    if request.param == "without":
        drop_the_lock(monkeypatch)
        meet_after_loading(monkeypatch, SURELY)
    else:
        meet_after_loading(monkeypatch)
    return request.param == "with the lock"


@pytest.fixture
def c(world):
    made = cast(world)
    made.eve = world.person("eve", "finance")
    return made


def judge(results, locked, expected):
    """With the lock a clean answer to each; without it the loser runs into a fault of ours, or is told
    something that is not so.
    """
    outcome = told(results)
    if locked:
        assert outcome == expected
    else:
        assert outcome != expected or any(isinstance(one, FAULTS) for one in outcome), outcome
    numbers = list(HistoryEntry.objects.order_by("run", "number").values_list("run", "number"))
    assert len(numbers) == len(set(numbers))
    for run in Run.objects.all():
        assert [n for pk, n in numbers if pk == run.pk] == list(range(1, run.history.count() + 1))


def test_two_agents_claim_at_once_and_one_has_a_token(world, c, locked):
    run = errand(world, c.agent)
    results = together(lambda: world.claim(c.agent, run, "fetch"), lambda: world.claim(c.other, run, "fetch"))
    judge(results, locked, ["conflict claimed_by_other", "ok"])
    assert Attempt.objects.get().generation == 1
    assert sum(isinstance(result, dict) for result in results) == 1


def test_two_approvers_decide_at_once(world, c, locked):
    world.publish(LOOPS, editors="finance", finance="finance", board="finance")
    run = world.call(c.agent, "start_run", process="loops", inputs={})
    work(world, c.agent, run, "draft", output={}, summary="s")
    world.decide(c.ada, run, "completed", output={"words": 1})
    item = world.item(c.ada, run)
    call = {"runId": run["run"]["id"], "workItemId": item["id"], "snapshot": item["snapshot"]}
    results = together(
        lambda: world.call(c.ada, "decide", **call, decision="approved"),
        lambda: world.call(c.eve, "decide", **call, decision="rejected", note="n"),
    )
    judge(results, locked, ["conflict already_decided", "ok"])
    decided = WorkItem.objects.get(pk=item["id"])
    (won,) = [result for result in results if isinstance(result, dict)]
    assert won["data"]["steps"]["first"]["by"] == decided.decided_by


def test_two_submissions_on_one_token(world, c, locked):
    run = errand(world, c.agent)
    token = world.claim(c.agent, run, "fetch")["token"]
    results = together(
        *(
            lambda n=n: world.call(c.agent, "submit", token=token, output={"amount": n}, summary="s")
            for n in (1, 2)
        )
    )
    judge(results, locked, ["ok", "stale"])
    assert Attempt.objects.get().submissions.count() == 1
    assert WorkItem.objects.count() == 1


def test_decide_and_cancel_at_once(world, c, locked):
    run = errand(world, c.agent)
    work(world, c.agent, run, "fetch", **DONE)
    call = world.item(c.ada, run)["decide"]["arguments"]
    call = {key: call[key] for key in ("runId", "workItemId", "snapshot")}
    results = together(
        lambda: world.call(c.ada, "decide", **call, decision="approved"),
        lambda: world.call(c.ops, "cancel", runId=run["run"]["id"], reason="r"),
    )
    judge(results, locked, ["conflict run_ended", "ok"])
    assert Run.objects.get().state in ("ended", "cancelled")
    assert not WorkItem.objects.filter(state="open").exists()


def test_submit_and_cancel_at_once(world, c, locked):
    """Both may win here, one after the other; the history stays whole (it is numbered under the lock)."""
    world.publish(LOOPS, editors="finance", finance="finance", board="finance")
    run = world.call(c.agent, "start_run", process="loops", inputs={})
    token = world.claim(c.agent, run, "draft")["token"]
    results = together(
        lambda: world.call(c.agent, "submit", token=token, output={}, summary="s"),
        lambda: world.call(c.ops, "cancel", runId=run["run"]["id"], reason="r"),
    )
    outcome = told(results)
    judge(results, locked, ["ok", "ok"] if outcome == ["ok", "ok"] else ["conflict run_ended", "ok"])
    if locked:
        assert Run.objects.get().state == "cancelled"


def test_two_submissions_with_a_check_ask_once(world, c, evaluator):
    """The second comes while the first is being asked about, and is told to come again."""
    world.publish(SCREENING, finance="finance")
    run = world.start(c.agent)
    token = world.claim(c.agent, run)["token"]
    results = []

    def meanwhile():
        evaluator.before = None
        results.extend(together(lambda: world.submit(c.agent, token), lambda: world.submit(c.agent, token)))

    evaluator.before = meanwhile
    assert world.submit(c.agent, token)["data"]["steps"]["screen"]["output"] == GOOD["output"]
    assert told(results) == ["retry", "retry"]
    assert len(evaluator.asked) == 1


def test_runs_never_wait_for_each_other(world, c):
    one, two = errand(world, c.agent), errand(world, c.agent)
    with runs.locked(one["run"]["id"]):
        (claim,) = together(lambda: world.claim(c.agent, two, "fetch"))
    assert claim["token"]
