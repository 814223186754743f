"""While a submission is checked: what others may do, and a crash between the two transactions."""

import base64
from datetime import timedelta

import pytest
from django.core.files.storage import default_storage
from django.db import connection
from django.utils import timezone

from checks.models import Verdict
from processes import pipeline
from processes.models import Attempt, Request, Run, Submission, Upload
from tests.processes.checking_scene import c, claimed, committed, during, task
from tests.processes.flows import expire, later, states
from tests.world import GOOD, rid

pytestmark = pytest.mark.django_db
__all__ = ["c"]


@committed
def test_no_transaction_and_no_lock_is_open_while_asking(world, c, evaluator):
    _, token = claimed(world, c)
    seen = during(evaluator, lambda: (connection.in_atomic_block, Submission.objects.get().state))
    world.submit(c.agent, token)
    assert seen == [(False, "checking")]


@committed
def test_what_others_are_told_while_an_agents_submission_is_checked(world, c, evaluator):
    run, token = claimed(world, c)
    rest = {"runId": run["run"]["id"], "stepId": "screen"}
    seen = during(
        evaluator,
        lambda: [
            states(world.view(c.agent, run))["screen"],
            world.call(c.other, "get_work")["items"],
            world.refused(c.agent, "claim", **rest).issues,
            world.refused(c.other, "claim", **rest).issues,
            *(
                (refused.code, refused.retry_after)
                for refused in (
                    world.refused(c.agent, "renew", token=token),
                    world.refused(c.agent, "escalate", token=token, note="n"),
                    world.refused(c.agent, "submit", token=token, **GOOD),
                    world.refused(c.agent, "submit", token=token, output={}, summary=""),
                )
            ),
        ],
    )
    view = world.submit(c.agent, token)
    assert seen == [["claimed", [], ["claimed_by_you"], ["claimed_by_other"], *[("retry", 2)] * 4]]
    assert states(view)["screen"] == "done"
    assert Attempt.objects.get(step__name="screen").handoff == ""
    assert Submission.objects.count() == 1 and len(evaluator.asked) == 1


@committed
def test_the_lease_can_not_expire_while_checking(world, c, evaluator):
    _, token = claimed(world, c)
    Attempt.objects.update(lease_until=timezone.now() + timedelta(seconds=1))
    seen = during(evaluator, lambda: Attempt.objects.get().lease_until - timezone.now())
    world.submit(c.agent, token)
    assert seen[0] > timedelta(seconds=120)


@committed
def test_a_decision_on_a_task_that_is_being_checked(world, c, evaluator):
    run, call = task(world, c)
    eve = world.person("eve", "finance")
    other = {**call, "requestId": rid()}
    seen = during(
        evaluator,
        lambda: [
            world.refused(eve, "decide", **other).code,
            world.refused(eve, "decide", **{**_decision(call, "failed"), "note": "n"}).code,
            world.refused(c.ada, "decide", **call).code,
            world.refused(c.ben, "decide", **other).code,
        ],
    )
    view = world.call(c.ada, "decide", **call)
    assert seen == [["retry", "retry", "retry", "forbidden"]]
    assert view["run"]["outcome"] == "written"
    assert world.view(c.ada, run)["data"]["steps"]["write"]["by"] == "person:ada"


def _decision(call, decision):
    kept = {key: call[key] for key in ("runId", "workItemId", "snapshot")}
    return {**kept, "decision": decision}


@committed
@pytest.mark.parametrize("script", [[[0.95]], [[0.1]], [[0.7]], ["down"]])
def test_cancel_wins_and_the_late_verdict_is_void(world, c, evaluator, script):
    evaluator.script = script
    run, token = claimed(world, c)
    cancelled = during(
        evaluator, lambda: world.call(c.ops, "cancel", runId=run["run"]["id"], reason="r")["run"]["state"]
    )
    refused = world.refused(c.agent, "submit", token=token, **GOOD)
    assert cancelled == ["cancelled"]
    assert (refused.code, refused.issues) == ("conflict", ["run_ended"])
    row = Submission.objects.select_related("verdict").get()
    assert row.state == "void" and row.verdict is not None
    view = world.view(c.agent, run)
    assert view["run"]["state"] == "cancelled" and view["data"]["steps"] == {}
    assert not Request.objects.filter(tool="submit").exists()


@committed
def test_after_the_verdict_evidence_is_tested_again(world, c, evaluator):
    _, token = claimed(world, c)
    content = base64.b64encode(b"x").decode()
    ref = world.call(c.agent, "upload", fileName="a", contentType="a/b", contentBase64=content)["id"]
    during(evaluator, lambda: default_storage.delete(Upload.objects.get().path))
    given = {**GOOD, "evidence": [{"kind": "file", "ref": ref}]}
    refused = world.refused(c.agent, "submit", token=token, **given)
    assert (refused.code, refused.issues) == ("not_accepted", [f"evidence {ref}: its bytes are gone"])
    assert Submission.objects.get().state == "not_accepted"
    expire({"run": {"id": Run.objects.get().pk}})
    left = world.claim(c.agent, {"run": {"id": Run.objects.get().pk}})["handoff"]
    assert left == {"issues": refused.issues}  # it was not the check that bounced it


@committed
def test_after_the_verdict_the_run_datas_size_is_tested_again(world, c, evaluator, settings):
    _, token = claimed(world, c)
    during(evaluator, lambda: setattr(settings, "RUN_DATA_BYTES", 100))
    refused = world.refused(c.agent, "submit", token=token, **GOOD)
    assert refused.code == "not_accepted" and refused.issues[0].startswith("run data: ")


class Crash(BaseException):
    """The process dies."""


def crash(world, evaluator, c, given):
    def die():
        evaluator.before = None
        raise Crash

    evaluator.before = die
    with pytest.raises(Crash):
        world.call(c.agent, "submit", **given)


@committed
def test_a_crash_is_picked_up_by_the_same_call_once_the_fence_fell(world, c, evaluator):
    _, token = claimed(world, c)
    given = {"token": token, **GOOD, "requestId": rid()}
    crash(world, evaluator, c, given)
    assert Submission.objects.get().state == "checking"
    assert world.refused(c.agent, "submit", **given).code == "retry"  # perhaps it lives
    with later(seconds=140):
        view = world.call(c.agent, "submit", **given)
    assert states(view)["screen"] == "done"
    row = Submission.objects.get()
    assert (row.state, row.fence, row.number) == ("accepted", 2, 1)
    assert world.call(c.agent, "submit", **given)["replayed"] is True


@committed
def test_a_crash_before_the_lease_ended_leaves_the_step_to_others(world, c, evaluator):
    run, token = claimed(world, c)
    crash(world, evaluator, c, {"token": token, **GOOD})
    with later(seconds=601):
        other = world.claim(c.other, run)["token"]
        world.submit(c.other, other, summary="Mine.")
    assert [s.state for s in Submission.objects.order_by("number")] == ["void", "accepted"]


@committed
def test_one_evaluation_counts_whoever_resumed_it(world, c, evaluator):
    """The first asker was slow, the fence fell, the same call came again and was settled: the first answer
    comes too late.
    """
    evaluator.script = [[0.95], [0.1]]
    _, token = claimed(world, c)
    given = {"token": token, **GOOD, "requestId": rid()}

    def resumed():
        with later(seconds=140):
            return world.call(c.agent, "submit", **given)["run"]["state"]

    # the inner call takes the script's first answer
    seen = during(evaluator, resumed)
    view = world.call(c.agent, "submit", **given)
    assert seen == ["waiting"] and view["replayed"] is True
    assert view["data"]["steps"]["screen"]["check"]["verdict"] == "pass"
    assert Verdict.objects.count() == 1 and Submission.objects.get().state == "accepted"


@committed
@pytest.mark.parametrize("answer", [0.95, 0.7, 0.1])
def test_an_answer_after_the_fence_fell_moves_nothing(world, c, evaluator, monkeypatch, answer):
    """Somebody else has the step by then; the verdict is kept for the same material."""
    evaluator.script = [[answer]]
    run, token = claimed(world, c)

    def overtaken():
        at = timezone.now() + timedelta(seconds=601)
        monkeypatch.setattr(timezone, "now", lambda: at)
        return world.claim(c.other, run)["token"]

    seen = during(evaluator, overtaken)
    assert world.refused(c.agent, "submit", token=token, **GOOD).code == "retry"
    view = world.view(c.agent, run)
    assert states(view)["screen"] == "claimed" and view["data"]["steps"] == {}
    row = Submission.objects.select_related("verdict").get()
    assert row.state == "void" and row.verdict is not None
    assert world.refused(c.agent, "submit", token=token, **GOOD).code == "stale"
    if answer == 0.1:
        assert world.refused(c.other, "submit", token=seen[0], **GOOD).code == "not_accepted"
    else:
        world.submit(c.other, seen[0])
    assert len(evaluator.asked) == 1


def test_the_pipelines_replay_is_not_asked_for_a_check(world, c, evaluator):
    _, token = claimed(world, c)
    given = {"token": token, **GOOD, "requestId": rid()}
    first = world.call(c.agent, "submit", **given)
    again = pipeline.call("submit", c.agent, given)
    assert again["replayed"] is True and again["data"].keys() == first["data"].keys()
    assert len(evaluator.asked) == 1
