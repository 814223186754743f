"""Branches of one fork that are finished at once: nothing is lost, and the last one joins, once."""

import pytest

from processes import runs, saving
from processes.models import HistoryEntry, WorkItem
from tests.concurrency.conftest import NO_LOCK, ON
from tests.concurrency.racing import halfway, overtaken, together, word
from tests.concurrency.wholeness import wrongs

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]

SIGNED = """\
---
name: signed
description: Two parts, of which a person does one.
steps:
  - { id: both, parallel: [sign, plain], next: review }
  - { id: sign, approve: Sign it., person: finance, next: join }
  - { id: plain, agent: Do it., next: join }
  - { id: review, approve: All of it?, person: finance }
  - { id: done, finish: done }
---
"""
CHECKED = """\
---
name: checked
description: Two parts, of which one is checked.
steps:
  - { id: both, parallel: [judged, plain], next: review }
  - { id: judged, agent: Do it., check: Is it done?, next: join }
  - { id: plain, agent: Do the other., next: join }
  - { id: review, approve: All of it?, person: finance }
  - { id: done, finish: done }
---
"""
WORK = {"output": {}, "summary": "Done."}
STUCK = "the run is stuck"


def forgotten(step):
    return f"{step} is done, of which run data knows nothing"


def joined(run):
    """How often, and whether the step after it is open once."""
    assert WorkItem.objects.filter(step__name="review", state="open").count() == 1
    return HistoryEntry.objects.filter(run=run["run"]["id"], what="joined").count()


# ---- decide and a sibling's completion


@pytest.fixture(params=["decide is overtaken", "decide overtakes"])
def decide_first(request):
    return request.param == "decide is overtaken"


def test_a_person_decides_while_a_sibling_is_completed(world, c, stops, guards, decide_first):
    world.publish(SIGNED)
    run = world.start(c.agent, "signed")
    token = world.claim(c.agent, run, "plain")["token"]
    item = world.item(c.ada, run)
    decision = {"runId": run["run"]["id"], "workItemId": item["id"], "decision": "approved"}

    def decide():
        return world.call(c.ada, "decide", **decision, snapshot=item["snapshot"])

    def submit():
        return world.call(c.agent, "submit", token=token, **WORK)

    stop, acts = stops(runs, "save"), (decide, submit) if decide_first else (submit, decide)
    first, second = overtaken(stop, stop.armed(acts[0]), acts[1])
    found = wrongs(run["run"]["id"])
    if guards == ON:
        # who decided saw the run as it no longer is
        assert (word(first), word(second)) == ("ok", "ok" if decide_first else "stale")
        if not decide_first:
            world.decide(c.ada, run, "approved")
        assert joined(run) == 1 and not wrongs(run["run"]["id"])
    elif guards == NO_LOCK:
        assert isinstance(first, runs.LostLockError) and word(second) == "ok" and not found
    else:
        lost = "plain" if decide_first else "sign"
        assert (word(first), word(second)) == ("ok", "ok") and found == [forgotten(lost), STUCK]


# ---- a verdict and a sibling's completion


@pytest.fixture
def fork(world, c, evaluator):
    """The run, and what finishes each of its branches."""
    world.publish(CHECKED)
    run = world.start(c.agent, "checked")
    tokens = {step: world.claim(c.agent, run, step)["token"] for step in ("judged", "plain")}
    return run, *(lambda t=t: world.call(c.agent, "submit", token=t, **WORK) for t in tokens.values())


def all_is_there(run, results):
    assert [word(result) for result in results] == ["ok", "ok"]
    assert joined(run) == 1 and not wrongs(run["run"]["id"])
    whats = HistoryEntry.objects.filter(step="judged").values_list("what", flat=True)
    assert sorted(whats) == ["checked", "claimed", "completed", "submitted"]


def test_a_sibling_is_completed_before_a_verdict_is_written(fork, evaluator, stops, guarded):
    """The verdict was to be applied to the run as it was left, which it no longer is."""
    run, judged, plain = fork
    stop = stops(runs, "save")
    evaluator.before = stop.arm
    results = overtaken(stop, judged, plain)
    if guarded:
        all_is_there(run, results)
    else:
        assert wrongs(run["run"]["id"]) == [forgotten("plain"), STUCK]


def test_a_verdict_waits_for_a_sibling_that_holds_the_lock(fork, evaluator, stops, guarded):
    run, judged, plain = fork
    settle = halfway(stops(evaluator, "ask"), judged)
    stop = stops(runs, "save")
    results = overtaken(stop, stop.armed(plain), settle)
    if guarded:
        all_is_there(run, results)
    else:
        assert STUCK in wrongs(run["run"]["id"])


def test_a_sibling_waits_for_a_verdict_that_is_being_written(fork, evaluator, stops, guarded):
    """No lock was taken for it but that of its own save."""
    run, judged, plain = fork
    stop = stops(saving, "save_steps")
    evaluator.before = stop.arm
    results = overtaken(stop, judged, plain)
    if guarded:
        all_is_there(run, results)
    else:
        assert wrongs(run["run"]["id"]) == [forgotten("judged"), STUCK]


# ---- a verdict that ends the run and a sibling's check


ENDING = """\
---
name: ending
description: Two parts; one names a person who may not be there.
steps:
  - { id: both, parallel: [names, other], next: done }
  - { id: names, agent: Name somebody., output: { boss: person }, check: Is it named?, next: sign }
  - { id: sign, approve: Sign it., person: steps.names.output.boss, next: join }
  - { id: other, agent: Do it., check: Is it done?, next: join }
  - { id: done, finish: done }
---
"""


class Died(BaseException):
    """The process of whoever asked is no more."""


def dies():
    raise Died


@pytest.mark.parametrize("voided", [True, False], ids=["with its end", "without"])
def test_a_verdict_ends_the_run_while_a_siblings_check_has_begun(
    world, c, evaluator, stops, monkeypatch, voided
):
    """That a check has begun moves no run, so the verdict knows nothing of it; and the sibling's asker dies, so
    that nobody comes back to it.
    """
    if not voided:
        monkeypatch.setattr(saving, "_void", lambda _: None)
    world.publish(ENDING)
    run = world.start(c.agent, "ending")
    names, other = (world.claim(c.agent, run, step)["token"] for step in ("names", "other"))
    nobody = {"output": {"boss": "nobody@example.org"}, "summary": "Named."}
    settle = halfway(stops(evaluator, "ask"), lambda: world.call(c.agent, "submit", token=names, **nobody))
    evaluator.before = dies
    assert isinstance(*together(lambda: world.call(c.agent, "submit", token=other, **WORK)), Died)
    evaluator.before = None
    assert settle()["run"]["outcome"] == "failed"
    left = ["a submission is being checked in a run that has ended"]
    assert wrongs(run["run"]["id"]) == ([] if voided else left)
