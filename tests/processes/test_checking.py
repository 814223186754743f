"""A submission with a check: what each verdict does, errors, and the same material again."""

import pytest

from checks.models import Answer, CheckLimits, Verdict
from processes import contracts
from processes.models import HistoryEntry, Request, Run, Submission
from tests.processes.checking_scene import c, claimed, task
from tests.processes.flows import TEXT, expire, states, work
from tests.world import GOOD, rid

pytestmark = pytest.mark.django_db
__all__ = ["c"]


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
    assert "finished 3 times in a row (last: the evaluator did not answer)" in item["escalation"]["note"]
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
