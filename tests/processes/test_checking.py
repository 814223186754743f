"""A submission with a check: what each verdict does, and what others may do while it is asked for.

`evaluator.before` is called from inside an evaluation, where no transaction is open; so those tests run in
real transactions.
"""

import base64
from datetime import timedelta

import pytest
from django.core.files.storage import default_storage
from django.db import connection
from django.utils import timezone

from checks.models import Answer, CheckLimits, Verdict
from processes import contracts, pipeline
from processes.errors import ToolError
from processes.models import Attempt, HistoryEntry, Request, Run, Submission, Upload
from tests.processes.flows import ADVISORY, CHECKED_TASK, TEXT, cast, expire, later, states, work
from tests.world import GOOD, SCREENING, rid

pytestmark = pytest.mark.django_db
committed = pytest.mark.django_db(transaction=True)


@pytest.fixture
def c(world, evaluator):
    world.publish(SCREENING, finance="finance", escalations="finance")
    world.publish(CHECKED_TASK, writers="finance")
    world.publish(ADVISORY, finance="finance")
    return cast(world)


def claimed(world, c):
    run = world.start(c.agent)
    return run, world.claim(c.agent, run)["token"]


def during(evaluator, act):
    """Do something from inside the first evaluation; gives the list of what came of it."""
    results = []

    def once():
        evaluator.before = None
        try:
            results.append(act())
        except ToolError as refused:
            results.append(refused)

    evaluator.before = once
    return results


def task(world, c):
    run = world.call(c.agent, "start_run", process="checked-task", inputs={})
    item = world.item(c.ada, run)
    call = {"runId": run["run"]["id"], "workItemId": item["id"], "snapshot": item["snapshot"]}
    return run, {**call, "decision": "completed", "output": {"text": "Dear all"}, "requestId": rid()}


# ---- what a verdict does


def test_pass_completes_and_is_recorded(world, c, evaluator):
    run, token = claimed(world, c)
    view = world.submit(c.agent, token)
    check = view["data"]["steps"]["screen"]["check"]
    assert (check["verdict"], check["advisory"], check["model"]) == ("pass", False, "scripted-1")
    assert check["questions"] == [
        {"ask": "The finding supports the verdict.", "kind": "yes_no", "answer": 0.95, "result": "pass"}
    ]
    row = Submission.objects.select_related("verdict").get()
    assert (row.state, row.verdict.verdict, row.fence_until, row.errors) == ("accepted", "pass", None, 0)
    told = list(HistoryEntry.objects.values_list("what", flat=True))
    assert told == ["started", "claimed", "submitted", "checked", "completed"]
    assert HistoryEntry.objects.get(what="checked").verdict == row.verdict
    assert world.view(c.agent, run)["run"]["state"] == "waiting"


def test_fail_bounces_and_changes_no_run_data(world, c, evaluator):
    evaluator.script = [[0.12]]
    _, token = claimed(world, c)
    before = Run.objects.values("data", "snapshot").get()
    refused = world.refused(c.agent, "submit", token=token, **GOOD)
    assert refused.code == "not_accepted"
    assert refused.issues == ["check: The finding supports the verdict. → no (0.12)"]
    assert Run.objects.values("data", "snapshot").get() == before
    assert Submission.objects.get().state == "not_accepted"
    assert states(world.view(c.agent, {"run": {"id": Run.objects.get().pk}}))["screen"] == "claimed"
    assert not Request.objects.filter(tool="submit").exists()


def test_unsure_escalates_to_the_mapped_group_with_check_and_candidate(world, c, evaluator):
    evaluator.script = [[0.7]]
    _, token = claimed(world, c)
    view = world.submit(c.agent, token)
    assert contracts.result_issues("submit", view) == []
    assert states(view)["screen"] == "waiting" and view["run"]["state"] == "waiting"
    (item,) = view["workItems"]
    assert item["assignedTo"] == {"group": f"g_{world.group('finance').pk}"}
    assert item["escalation"]["candidate"]["by"] == c.agent.id
    data = view["data"]["steps"]["screen"]
    assert set(data) == {"check", "history"} and data["history"] == []
    assert world.refused(c.agent, "submit", token=token, **GOOD).code == "stale"


def test_a_waiting_check_stands_beside_the_history_of_an_earlier_completion(world, c, evaluator):
    evaluator.script = [[0.95], [0.7]]
    run, token = claimed(world, c)
    world.submit(c.agent, token)
    world.decide(c.ada, run, "rejected", note="Again.")
    view = world.submit(c.agent, world.claim(c.agent, run)["token"], summary="Again.")
    data = view["data"]["steps"]["screen"]
    assert set(data) == {"check", "history"} and data["check"]["verdict"] == "unsure"
    assert data["history"][0]["check"]["verdict"] == "pass"
    back = world.decide(c.ada, run, "returned", note="Third time.")
    assert set(back["data"]["steps"]["screen"]) == {"history"}
    assert contracts.result_issues("decide", back) == []


def test_objective_rules_come_before_the_check(world, c, evaluator):
    _, token = claimed(world, c)
    refused = world.refused(c.agent, "submit", token=token, **{**GOOD, "output": {}})
    assert refused.issues == ["output.cleared: missing", "output.finding: missing"]
    assert evaluator.asked == []


def test_the_thresholds_in_force_are_kept_with_the_answer(world, c, evaluator):
    CheckLimits.objects.create(check_pass=0.6, check_fail=0.2, why="a test", by="test")
    evaluator.script = [[0.95]]
    _, token = claimed(world, c)
    world.submit(c.agent, token)
    own = Answer.objects.get()
    assert (own.pass_at, own.fail_below, own.probability) == (0.9, 0.5, 0.95)  # the question's own
    evaluator.script = [[0.4]]
    run = world.call(c.agent, "start_run", process="advisory", inputs={})
    work(world, c.agent, run, "write", **TEXT)
    default = Answer.objects.exclude(pk=own.pk).get()
    assert (default.pass_at, default.fail_below, default.result) == (0.6, 0.2, "unsure")
    CheckLimits.objects.create(check_pass=0.3, why="a test", by="test")
    default.refresh_from_db()
    assert default.pass_at == 0.6  # what is judged is judged


@pytest.mark.parametrize(
    ("script", "verdict"), [([0.95], "pass"), ([0.5], "fail"), ([0.1], "fail"), ("down", "error")]
)
def test_an_advisory_check_records_and_completes(world, c, evaluator, script, verdict):
    evaluator.script = [script]
    run = world.call(c.agent, "start_run", process="advisory", inputs={})
    view = work(world, c.agent, run, "write", **TEXT)
    assert contracts.result_issues("submit", view) == []
    check = view["data"]["steps"]["write"]["check"]
    assert (check["verdict"], check["advisory"]) == (verdict, True)
    assert states(view) == {"write": "done", "sign": "waiting", "done": None}
    assert Submission.objects.get().state == "accepted"
    assert Verdict.objects.get().advisory is True


def test_an_advisory_unsure_completes_too(world, c, evaluator):
    CheckLimits.objects.create(check_fail=0.2, why="a test", by="test")
    evaluator.script = [[0.5]]
    run = world.call(c.agent, "start_run", process="advisory", inputs={})
    view = work(world, c.agent, run, "write", **TEXT)
    assert view["data"]["steps"]["write"]["check"]["verdict"] == "unsure"
    assert states(view)["write"] == "done"


# ---- a person's task


def test_a_persons_task_passes(world, c, evaluator):
    run, call = task(world, c)
    view = world.call(c.ada, "decide", **call)
    assert view["run"]["outcome"] == "written"
    record = view["data"]["steps"]["write"]
    assert (record["by"], record["check"]["verdict"]) == ("person:ada", "pass")
    assert contracts.result_issues("decide", view) == []
    assert world.view(c.ada, run)["workItems"] == []


def test_a_persons_task_bounces_to_its_own_item(world, c, evaluator):
    evaluator.script = [[0.1], [0.95]]
    run, call = task(world, c)
    refused = world.refused(c.ada, "decide", **call)
    assert (refused.code, refused.issues) == ("not_accepted", ["check: The text is kind. → no (0.1)"])
    item = world.item(c.ada, run)
    assert item["id"] == call["workItemId"]
    assert item["handoff"]["check"]["verdict"] == "fail" and item["handoff"]["issues"] == refused.issues
    view = world.decide(c.ada, run, "completed", output={"text": "Dearest all"})
    assert view["run"]["outcome"] == "written"


def test_a_persons_unsure_task_goes_to_the_operators_and_back_to_its_assignee(world, c, evaluator):
    CheckLimits.objects.create(check_fail=0.2, why="a test", by="test")
    evaluator.script = [[0.5]]
    run, call = task(world, c)
    view = world.call(c.ada, "decide", **call)
    (item,) = view["workItems"]
    assert item["assignedTo"] == {"group": "g_operators"} and item["kind"] == "task"
    assert item["decide"]["decisions"] == ["returned", "completed", "failed"]
    assert item["escalation"]["candidate"]["by"] == "person:ada"
    back = world.decide(c.ops, run, "returned", note="Kinder.")
    assert contracts.result_issues("decide", back) == []
    (item,) = back["workItems"]
    assert item["assignedTo"] == {"group": f"g_{world.group('finance').pk}"}
    assert item["escalation"] is None
    assert set(item["handoff"]) == {"returned", "issues", "check"}
    assert item["handoff"]["returned"]["note"] == "Kinder."
    assert states(back)["write"] == "waiting" and back["data"]["steps"] == {}
    world.decide(c.ada, run, "completed", output={"text": "Unsure again"})
    end = world.decide(c.ops, run, "completed")
    assert (end["run"]["outcome"], end["data"]["steps"]["write"]["by"]) == ("written", "person:ops")


def test_a_persons_task_whose_evaluator_is_down(world, c, evaluator):
    evaluator.script = ["down"]
    run, call = task(world, c)
    for _ in range(2):
        refused = world.refused(c.ada, "decide", **call)
        assert (refused.code, refused.retry_after) == ("retry", 5)
    assert world.item(c.ada, run)["id"] == call["workItemId"]
    view = world.call(c.ada, "decide", **call)
    assert "3 times in a row" in view["workItems"][0]["escalation"]["note"]
    back = world.decide(c.ops, run, "returned", note="It is up again.")
    assert set(back["workItems"][0]["handoff"]) == {"returned"}
    evaluator.script = [[0.95]]
    end = world.decide(c.ada, run, "completed", output={"text": "Dear all"})
    assert end["run"]["outcome"] == "written"


# ---- errors


def test_an_evaluator_that_does_not_answer(world, c, evaluator):
    evaluator.script = ["connection refused", [0.95]]
    run, token = claimed(world, c)
    given = {"token": token, **GOOD, "requestId": rid()}
    refused = world.refused(c.agent, "submit", **given)
    assert (refused.code, refused.issues) == ("retry", ["check: connection refused"])
    assert states(world.view(c.agent, run))["screen"] == "claimed"
    assert world.call(c.agent, "submit", **given)["data"]["steps"]["screen"]["check"]["verdict"] == "pass"
    row = Submission.objects.get()
    assert (row.errors, row.state, row.fence) == (0, "accepted", 2)


def test_three_errors_in_a_row_escalate_with_a_note(world, c, evaluator):
    evaluator.script = ["down"]
    _, token = claimed(world, c)
    for _ in range(2):  # the same material under other request ids is the same submission
        assert world.refused(c.agent, "submit", token=token, **GOOD).code == "retry"
    view = world.submit(c.agent, token)
    assert contracts.result_issues("submit", view) == []
    (item,) = view["workItems"]
    assert "did not answer 3 times" in item["escalation"]["note"]
    assert item["escalation"]["candidate"]["output"] == GOOD["output"]
    assert "check" not in item["escalation"] and view["data"]["steps"] == {}


def test_other_material_starts_the_count_afresh(world, c, evaluator):
    evaluator.script = ["down"]
    _, token = claimed(world, c)
    for _ in range(2):
        world.refused(c.agent, "submit", token=token, **GOOD)
    for _ in range(2):
        refused = world.refused(c.agent, "submit", token=token, **{**GOOD, "summary": "Other words."})
        assert refused.code == "retry"
    assert [(s.state, s.errors) for s in Submission.objects.order_by("number")] == [
        ("void", 2),
        ("error", 2),
    ]


def test_a_submission_that_nobody_answered_is_void_once_the_step_is_done(world, c, evaluator):
    evaluator.script = ["down"]
    run, token = claimed(world, c)
    world.refused(c.agent, "submit", token=token, **GOOD)
    world.call(c.agent, "escalate", token=token, note="The evaluator is down.")
    world.decide(c.ada, run, "completed", **{k: v for k, v in GOOD.items() if k != "summary"})
    found = list(Submission.objects.order_by("number").values_list("state", flat=True))
    assert found == ["void", "accepted"]


def test_a_fault_of_the_evaluators_is_an_error_and_shows_no_trace(world, c, evaluator):
    def broken():
        raise ZeroDivisionError("secret")

    evaluator.before = broken
    _, token = claimed(world, c)
    refused = world.refused(c.agent, "submit", token=token, **GOOD)
    assert refused.code == "retry" and "secret" not in str(refused.view())


# ---- nobody re-rolls the dice


def test_the_same_material_gets_the_stored_verdict_without_asking(world, c, evaluator):
    evaluator.script = [[0.12], [0.95]]
    run, token = claimed(world, c)
    for _ in range(3):
        assert world.refused(c.agent, "submit", token=token, **GOOD).code == "not_accepted"
    assert len(evaluator.asked) == 1 and Verdict.objects.count() == 1
    expire(run)  # another agent, the same attempt
    refused = world.refused(c.other, "submit", token=world.claim(c.other, run)["token"], **GOOD)
    assert refused.code == "not_accepted" and len(evaluator.asked) == 1


def test_a_returned_unsure_submission_sent_again_is_unsure_again(world, c, evaluator):
    evaluator.script = [[0.7], [0.95]]
    run, token = claimed(world, c)
    world.submit(c.agent, token)
    world.decide(c.ada, run, "returned", note="Look again.")
    view = world.submit(c.agent, world.claim(c.agent, run)["token"])
    assert view["workItems"][0]["escalation"]["check"]["verdict"] == "unsure"
    assert len(evaluator.asked) == 1
    assert [s.state for s in Submission.objects.order_by("number")] == ["returned", "held"]


def test_rework_asks_afresh(world, c, evaluator):
    run, token = claimed(world, c)
    world.submit(c.agent, token)
    world.decide(c.ada, run, "rejected", note="Again.")
    world.submit(c.agent, world.claim(c.agent, run)["token"])
    assert len(evaluator.asked) == 2


def test_another_evaluator_is_another_judge(world, c, evaluator):
    evaluator.script = [[0.12], [0.95]]
    _, token = claimed(world, c)
    world.refused(c.agent, "submit", token=token, **GOOD)
    evaluator.version = "2"
    assert world.submit(c.agent, token)["data"]["steps"]["screen"]["check"]["verdict"] == "pass"


# ---- while it is being checked (protocol §6)


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


# ---- a crash between the two


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
