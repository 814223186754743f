"""What a call answered is kept for its run's time and some days; that it was done is kept for good."""

from datetime import timedelta

import pytest
from django.db import connection, models
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from checks.records import AppendOnlyError
from processes import forgetting, waking
from processes.models import Request, Run
from tests.processes.flows import cast, errand, signing
from tests.processes.test_tool_upload import given

pytestmark = pytest.mark.django_db


@pytest.fixture
def c(world):
    return cast(world)


def ended(world, c, *, days, **arguments):
    """An errand that was called off, and all its requests, so many days ago."""
    run = errand(world, c.agent, **arguments)["run"]["id"]
    world.call(c.ops, "cancel", runId=run, reason="r")
    at = timezone.now() - timedelta(days=days)
    Run.objects.filter(pk=run).update(ended_at=at)
    models.QuerySet.update(Request.objects.filter(run=run), at=at)
    return run


def kept(run):
    return Request.objects.filter(run=run).exclude(result="").count()


def test_the_results_of_runs_that_ended_long_ago_go(world, c, settings):
    old, new = ended(world, c, days=30), ended(world, c, days=29)
    live = signing(world, c.agent)["run"]["id"]
    models.QuerySet.update(Request.objects.filter(run=live), at=timezone.now() - timedelta(days=300))
    before = list(Request.objects.order_by("pk").values_list("pk", "caller", "tool", "digest", "run"))
    assert forgetting.forget_results() == 2
    assert (kept(old), kept(new), kept(live)) == (0, 2, 3)
    assert forgetting.forget_results() == 0
    assert list(Request.objects.order_by("pk").values_list("pk", "caller", "tool", "digest", "run")) == before
    settings.REQUEST_RESULT_DAYS = 29
    assert forgetting.forget_results() == 2


def test_the_same_call_is_still_known_and_not_done_again(world, c):
    run = ended(world, c, days=31, requestId="same")
    forgetting.forget_results()
    runs = Run.objects.count()
    refused = world.refused(c.agent, "start_run", process="errand", inputs={"what": "pens"}, requestId="same")
    assert (refused.code, refused.issues) == ("conflict", ["requestId: done, its result is no longer kept"])
    assert f"Read the run ({run}) with get_run" in refused.message
    assert Run.objects.count() == runs


def test_another_call_or_caller_is_told_what_it_always_was(world, c):
    ended(world, c, days=31, requestId="same")
    forgetting.forget_results()
    call = {"process": "errand", "inputs": {"what": "pens"}, "requestId": "same"}
    for caller, arguments in ((c.agent, {**call, "inputs": {"what": "ink"}}), (c.other, call)):
        refused = world.refused(caller, "start_run", **arguments)
        assert (refused.code, refused.issues) == ("conflict", ["requestId: used before"])


def test_a_files_request_is_of_no_run_and_stays(world, c):
    call = {**given(), "requestId": "same"}
    first = world.call(c.agent, "upload", **call)
    models.QuerySet.update(Request.objects.all(), at=timezone.now() - timedelta(days=300))
    assert forgetting.forget_results() == 0
    assert world.call(c.agent, "upload", **call) == first


def test_nothing_else_changes_a_request(world, c):
    errand(world, c.agent)
    for change in (
        lambda: Request.objects.update(result=""),
        lambda: Request.objects.filter(run__isnull=False).delete(),
        lambda: Request.objects.first().save(),
    ):
        with pytest.raises(AppendOnlyError):
            change()


def test_some_at_a_time_and_two_statements(world, c, monkeypatch):
    monkeypatch.setattr(forgetting, "AT_ONCE", 3)
    for _ in range(2):
        ended(world, c, days=31)
    with CaptureQueriesContext(connection) as captured:
        assert forgetting.forget_results() == 3
    assert len(captured) == 2
    assert forgetting.forget_results() == 1


def test_the_clock_does_it_now_and_then_and_goes_on_while_there_is_more(world, c, monkeypatch):
    monkeypatch.setattr(forgetting, "AT_ONCE", 3)
    runs = [ended(world, c, days=31) for _ in range(2)]
    waking.wake()
    assert sum(map(kept, runs)) == 1
    waking.wake()
    assert sum(map(kept, runs)) == 0
    later = ended(world, c, days=31)
    waking.wake()
    assert kept(later) == 2  # an hour has not passed
