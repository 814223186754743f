"""Who holds a claim when two want it: a lease that ends while its work is handed in or checked, a token that
is renewed while it is used.
"""

import threading

import pytest
from django.conf import settings

from processes import checking, runs
from processes.models import Submission
from tests.concurrency.conftest import NO_LOCK, ON
from tests.concurrency.racing import SURELY, drop_the_revision, overtaken, together, word
from tests.concurrency.wholeness import wrongs
from tests.processes.flows import DONE, errand
from tests.world import SCREENING

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]
FENCE = settings.EVALUATOR_SECONDS * 2 + 15  # seconds that an evaluation may take


@pytest.fixture(params=["submit is overtaken", "submit overtakes"])
def submit_first(request):
    return request.param == "submit is overtaken"


@pytest.fixture
def race(stops, submit_first):
    """What came of each, in the order (submit, other), and of whoever was overtaken."""

    def run(submit, other):
        stop = stops(runs, "save")
        acts = (submit, other) if submit_first else (other, submit)
        first, second = overtaken(stop, stop.armed(acts[0]), acts[1])
        told = (first, second) if submit_first else (second, first)
        return tuple(map(word, told)), first

    return run


# ---- submit and the end of the lease


def test_work_is_handed_in_while_its_lease_ends(world, c, clocks, guards, race, submit_first):
    """Another agent's clock says that the lease is over; the holder's does not yet."""
    run = errand(world, c.agent)
    token = world.claim(c.agent, run, "fetch")["token"]
    told, overtaken_one = race(
        lambda: world.call(c.agent, "submit", token=token, **DONE),
        clocks.ahead(lambda: world.claim(c.other, run, "fetch"), seconds=settings.LEASE_SECONDS + 1),
    )
    found = wrongs(run["run"]["id"])
    if guards == ON:
        assert told == (("ok", "conflict not_ready") if submit_first else ("stale", "ok")) and not found
    elif guards == NO_LOCK:
        assert isinstance(overtaken_one, runs.LostLockError) and "ok" in told and not found
    else:
        assert told == ("ok", "ok")  # two hold it
        assert found == ([] if submit_first else ["fetch is done, of which run data knows nothing"])


@pytest.mark.parametrize("fenced", [True, False], ids=["fenced", "without the fence"])
def test_a_lease_that_would_end_while_its_work_is_checked(world, c, clocks, evaluator, monkeypatch, fenced):
    """Nobody takes a step away from a check that is under way."""
    if not fenced:
        monkeypatch.setattr(checking, "ASKED_TWICE_AND_SPARE", (0, 0))
    world.publish(SCREENING, finance="finance")
    run = world.start(c.agent)
    token = world.claim(c.agent, run)["token"]
    claims = []

    def meanwhile():
        clocks.forward(seconds=10)
        claims.extend(together(lambda: world.claim(c.other, run)))

    clocks.forward(seconds=settings.LEASE_SECONDS - 5)
    evaluator.before = meanwhile
    (submitted,) = together(lambda: world.submit(c.agent, token))
    told = word(submitted), *map(word, claims)
    assert told == (("ok", "conflict claimed_by_other") if fenced else ("retry", "ok"))
    assert Submission.objects.get().state == ("accepted" if fenced else "void")
    assert not wrongs(run["run"]["id"])


@pytest.mark.parametrize("guarded", [True, False], ids=["guarded", "without the revision"])
def test_a_verdict_comes_while_another_claims_what_took_too_long(
    world, c, clocks, stops, evaluator, monkeypatch, guarded
):
    """The verdict was there in time; when it is about to be written, the fence has fallen and another holds
    the step. What was judged is kept, so that the same work isn't judged again.
    """
    if not guarded:
        drop_the_revision(monkeypatch)
    world.publish(SCREENING, finance="finance")
    run = world.start(c.agent)
    token = world.claim(c.agent, run)["token"]
    stop = stops(runs, "save")
    evaluator.before = stop.arm

    def claim():
        clocks.forward(seconds=settings.LEASE_SECONDS + FENCE)
        return world.claim(c.other, run)

    submitted, claimed = overtaken(stop, lambda: world.submit(c.agent, token), claim)
    assert word(claimed) == "ok"
    if not guarded:
        assert word(submitted) == "ok"  # the step is done under the one who holds it
        assert world.refused(c.other, "renew", token=claimed["token"]).code == "stale"
        return
    assert word(submitted) == "retry"
    assert Submission.objects.get().state == "void" and not wrongs(run["run"]["id"])
    view = world.submit(c.other, claimed["token"])
    assert view["data"]["steps"]["screen"]["by"] == c.other.id
    assert len(evaluator.asked) == 1


# ---- renew and submit


def test_a_token_is_renewed_while_it_is_used(world, c, guards, race, submit_first):
    run = errand(world, c.agent)
    token = world.claim(c.agent, run, "fetch")["token"]
    told, overtaken_one = race(
        lambda: world.call(c.agent, "submit", token=token, **DONE),
        lambda: world.call(c.agent, "renew", token=token, progress="Half of it."),
    )
    found = wrongs(run["run"]["id"])
    if guards == ON:
        assert told == (("ok", "stale") if submit_first else ("stale", "ok")) and not found
    elif guards == NO_LOCK:
        assert isinstance(overtaken_one, runs.LostLockError) and "ok" in told and not found
    else:
        assert told == ("ok", "ok")  # the new token is for nothing, or the work was taken on a dead one
        assert found == ([] if submit_first else ["fetch is done, of which run data knows nothing"])


def test_a_token_is_renewed_while_its_work_begins_to_be_checked(
    world, c, evaluator, guards, race, submit_first
):
    """That work is being checked moves no run, so that nothing but the lock keeps the two apart."""
    world.publish(SCREENING, finance="finance")
    run = world.start(c.agent)
    token = world.claim(c.agent, run)["token"]
    renewed = threading.Event()
    if submit_first:
        evaluator.before = lambda: renewed.wait(SURELY)

    def renew():
        try:
            return world.call(c.agent, "renew", token=token)
        finally:
            renewed.set()

    told, overtaken_one = race(lambda: world.submit(c.agent, token), renew)
    found = wrongs(run["run"]["id"])
    if guards == ON:
        assert told == (("ok", "retry") if submit_first else ("stale", "ok")) and not found
    elif guards == NO_LOCK and not submit_first:
        assert isinstance(overtaken_one, runs.LostLockError) and not found
    else:
        assert told == ("ok", "ok")
        assert found == ([] if submit_first else ["screen is done, of which run data knows nothing"])
