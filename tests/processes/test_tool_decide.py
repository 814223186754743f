"""decide: approvals, tasks, escalated steps and their candidates."""

import pytest

from processes import contracts
from processes.models import Attempt, HistoryEntry, Submission, WorkItem
from tests.processes.deciding_scene import call_of, escalated, loops, refusal, unsure
from tests.processes.flows import (
    PEOPLE,
    cast,
    later,
    signing,
    states,
    work,
)
from tests.world import GOOD

pytestmark = pytest.mark.django_db


def test_approved(world):
    c = cast(world)
    run = signing(world, c.agent)
    view = world.decide(c.ada, run, "approved")
    assert contracts.result_issues("decide", view) == []
    assert (view["run"]["state"], view["run"]["outcome"]) == ("ended", "fetched")
    record = view["data"]["steps"]["sign"]
    assert set(record) == {"decision", "by", "at", "history"}
    assert (record["decision"], record["by"]) == ("approved", "person:ada")
    assert view["run"]["ended"]["by"] == "server"
    item = WorkItem.objects.get()
    assert (item.state, item.decision, item.decided_by) == ("decided", "approved", "person:ada")


def test_approved_with_a_note(world):
    c = cast(world)
    view = world.decide(c.ada, signing(world, c.agent), "approved", note="Fine, but cheaper next time.")
    assert view["data"]["steps"]["sign"]["note"] == "Fine, but cheaper next time."
    assert contracts.result_issues("decide", view) == []
    assert HistoryEntry.objects.get(what="approved").note == "Fine, but cheaper next time."


def test_rejected_without_a_way_back_ends_the_run(world):
    c = cast(world)
    view = world.decide(c.ada, signing(world, c.agent), "rejected", note="Too dear.")
    assert contracts.result_issues("decide", view) == []
    assert (view["run"]["state"], view["run"]["outcome"]) == ("ended", "rejected")
    assert (view["run"]["ended"]["by"], view["run"]["ended"]["note"]) == ("person:ada", "Too dear.")
    assert states(view) == {"fetch": "done", "sign": "done", "done": None}
    assert view["data"]["steps"]["sign"]["decision"] == "rejected"


def test_rework_over_two_loops(world):
    """History oldest first, states null, the rejecting approval keeps its note until it completes again."""
    c = cast(world)
    run = loops(world, c)
    world.decide(c.ada, run, "completed", output={"words": 10})
    back = world.decide(c.ada, run, "rejected", note="More words.")  # first → edit
    assert states(back) == {"draft": "done", "edit": "waiting", "first": None, "second": None, "done": None}
    assert back["data"]["steps"]["first"]["note"] == "More words."
    assert back["data"]["steps"]["draft"]["history"] == [] and back["data"]["steps"]["draft"]["by"]
    edit = back["data"]["steps"]["edit"]
    assert set(edit) == {"history"} and edit["history"][0]["output"] == {"words": 10}
    assert "history" not in edit["history"][0]
    world.decide(c.ada, run, "completed", output={"words": 20})
    passed = world.decide(c.ada, run, "approved", note="Better.")
    first = passed["data"]["steps"]["first"]
    assert (first["note"], [old["note"] for old in first["history"]]) == ("Better.", ["More words."])
    back = world.decide(c.ada, run, "rejected", note="Start over.")  # second → draft
    assert contracts.result_issues("decide", back) == []
    assert states(back) == {"draft": "ready", "edit": None, "first": None, "second": None, "done": None}
    steps = back["data"]["steps"]
    assert set(steps["edit"]) == set(steps["first"]) == set(steps["draft"]) == {"history"}
    assert [old["output"]["words"] for old in steps["edit"]["history"]] == [10, 20]
    assert [old["note"] for old in steps["first"]["history"]] == ["More words.", "Better."]
    assert steps["second"]["note"] == "Start over." and steps["second"]["history"] == []
    claim = world.claim(c.other, run, "draft")
    assert claim["handoff"] is None and claim["data"]["steps"]["second"]["note"] == "Start over."
    world.call(c.other, "submit", token=claim["token"], output={}, summary="Second draft.")
    for decision, given in (("completed", {"output": {"words": 30}}), ("approved", {}), ("approved", {})):
        end = world.decide(c.ada, run, decision, **given)
    assert end["run"]["outcome"] == "out"
    steps = end["data"]["steps"]
    assert [old["output"]["words"] for old in steps["edit"]["history"]] == [10, 20]
    assert steps["draft"]["history"][0]["by"] == c.agent.id and steps["draft"]["by"] == c.other.id
    assert [old["note"] for old in steps["second"]["history"]] == ["Start over."]


def test_rework_restarts_the_due_clock_and_the_attempt(world):
    c = cast(world)
    run = loops(world, c)
    world.decide(c.ada, run, "completed", output={"words": 10})
    before = {step["id"]: step.get("due") for step in world.view(c.ada, run)["steps"]}
    assert before["draft"] and before["edit"]
    with later(hours=1):
        back = world.decide(c.ada, run, "rejected", note="n")
    due = {step["id"]: step.get("due") for step in back["steps"]}
    assert due["draft"] == before["draft"] and due["edit"] > before["edit"]
    assert [(a.number, a.live) for a in Attempt.objects.filter(step__name="edit")] == [(1, False), (2, True)]
    assert back["workItems"][0]["handoff"] is None


@pytest.mark.parametrize(
    ("target", "outcome", "expected"),
    [
        ("out", "declined", {"look": "done", "first": None, "second": None, "out": "done", "done": None}),
        ("second", None, {"look": "done", "first": None, "second": "waiting", "out": None, "done": None}),
        ("first", None, {"look": "done", "first": "waiting", "second": None, "out": None, "done": None}),
    ],
)
def test_on_reject_to_a_finish_a_later_step_and_itself(world, target, outcome, expected):
    text = f"""\
---
name: onward
description: A rejection that goes on.
steps:
  - {{ id: look, agent: Look. }}
  - {{ id: first, approve: First., person: finance, on_reject: {target} }}
  - {{ id: second, approve: Second., person: finance, on_reject: out, next: done }}
  - {{ id: out, finish: declined }}
  - {{ id: done, finish: done }}
---
"""
    c = cast(world)
    world.publish(text)
    run = world.call(c.agent, "start_run", process="onward", inputs={})
    work(world, c.agent, run, "look", output={}, summary="s")
    view = world.decide(c.ada, run, "rejected", note="No.")
    assert contracts.result_issues("decide", view) == []
    assert states(view) == expected and view["run"]["outcome"] == outcome
    assert view["data"]["steps"]["first"]["note"] == "No."


def test_a_task_is_completed_by_a_person_without_a_summary(world):
    c = cast(world)
    view = world.decide(c.ada, loops(world, c), "completed", output={"words": 1})
    assert contracts.result_issues("decide", view) == []
    record = view["data"]["steps"]["edit"]
    assert set(record) == {"output", "evidence", "by", "at", "history"} and record["by"] == "person:ada"
    assert Submission.objects.get(attempt__step__name="edit").by == "person:ada"


@pytest.mark.parametrize(
    ("given", "issues"),
    [
        ({}, ["output.words: missing"]),
        ({"output": {"words": "1", "x": 1}}, ["output.words: expected number", "output.x: not declared"]),
        ({"output": {"words": 1}, "next": "first"}, ["next: not allowed"]),
        ({"output": {"words": 1}, "reason": "r"}, ["reason: not allowed"]),
        ({"output": {"words": 1}, "evidence": [{"kind": "file", "ref": "f_0"}]}, ["evidence f_0: not found"]),
    ],
)
def test_a_task_that_is_not_accepted_stays_open_with_its_issues(world, given, issues):
    c = cast(world)
    run = loops(world, c)
    before = world.item(c.ada, run)
    refused = refusal(world, c.ada, **call_of(world, c.ada, run, "completed", **given))
    assert (refused.code, refused.issues) == ("not_accepted", issues)
    after = world.item(c.ada, run)
    assert (after["id"], after["snapshot"], after["handoff"]) == (
        before["id"],
        before["snapshot"],
        {"issues": issues},
    )


def test_paths_lead_to_people_and_initiators(world):
    c = cast(world)
    world.publish(PEOPLE)
    run = world.call(c.ada, "start_run", process="people", inputs={"owner": "ben@example.org"})
    assert run["workItems"][0]["assignedTo"] == {"person": "ben@example.org"}
    given = {"output": {"boss": "ops"}, "next": "allow", "reason": "Somebody should look."}
    assert refusal(world, c.ada, **call_of(world, c.ada, run, "completed", **given)).code == "forbidden"
    view = world.decide(c.ben, run, "completed", **given)
    assert view["workItems"][0]["assignedTo"] == {"person": "ops@example.org"}
    view = world.decide(c.ops, run, "approved")
    assert view["workItems"][0]["assignedTo"] == {"person": "ada@example.org"}
    assert contracts.result_issues("decide", view) == []
    assert refusal(world, c.ops, **call_of(world, c.ops, run, "completed")).code == "forbidden"
    assert world.decide(c.ada, run, "completed")["run"]["outcome"] == "settled"


def test_a_path_to_nobody_fails_the_run_in_the_same_call(world):
    c = cast(world)
    world.publish(PEOPLE)
    run = world.call(c.ada, "start_run", process="people", inputs={"owner": "ben"})
    view = world.decide(c.ben, run, "completed", output={"boss": "nobody@x.org"}, next="allow", reason="r")
    assert (view["run"]["outcome"], view["run"]["ended"]["by"]) == ("failed", "server")
    assert states(view)["allow"] == "failed"
    note = "steps.choose.output.boss leads to nobody who can be asked"
    assert view["run"]["ended"]["note"] == view["data"]["steps"]["allow"]["note"] == note
    assert contracts.result_issues("decide", view) == []


def test_returned_keeps_attempt_due_and_run_data(world):
    c = cast(world)
    run = escalated(world, c)
    due = run["workItems"][0]["due"]
    with later(hours=2):
        view = world.decide(c.ops, run, "returned", note="Ask by phone.")
    assert contracts.result_issues("decide", view) == []
    assert states(view)["fetch"] == "ready" and view["run"]["state"] == "active"
    assert view["steps"][0]["due"] == due and view["data"]["steps"] == {}
    assert Attempt.objects.get().live
    (given,) = world.call(c.other, "get_work")["items"]
    returned = given["handoff"]["returned"]
    assert (returned["note"], returned["by"]) == ("Ask by phone.", "person:ops")
    assert given["readySince"] == run["run"]["startedAt"]


def test_completed_in_the_agents_place(world):
    c = cast(world)
    view = world.decide(c.ops, escalated(world, c), "completed", output={"amount": 7})
    assert contracts.result_issues("decide", view) == []
    record = view["data"]["steps"]["fetch"]
    assert (record["output"], record["by"]) == ({"amount": 7}, "person:ops")
    assert "summary" not in record
    assert states(view)["sign"] == "waiting"


def test_completed_without_a_candidate_needs_its_output(world):
    c = cast(world)
    refused = refusal(world, c.ops, **call_of(world, c.ops, escalated(world, c), "completed"))
    assert (refused.code, refused.issues) == ("not_accepted", ["output.amount: missing"])


@pytest.mark.parametrize("where", ["task", "approve", "escalated", "candidate"])
def test_failed_everywhere(world, evaluator, where):
    c = cast(world)
    run, person, step = {
        "task": lambda: (loops(world, c), c.ada, "edit"),
        "approve": lambda: (signing(world, c.agent), c.ada, "sign"),
        "escalated": lambda: (escalated(world, c), c.ops, "fetch"),
        "candidate": lambda: (unsure(world, c, evaluator), c.ada, "screen"),
    }[where]()
    view = world.decide(person, run, "failed", note="It can't be done.")
    assert contracts.result_issues("decide", view) == []
    assert (view["run"]["state"], view["run"]["outcome"]) == ("ended", "failed")
    assert (view["run"]["ended"]["by"], view["run"]["ended"]["note"]) == (person.id, "It can't be done.")
    record = view["data"]["steps"][step]
    assert set(record) == {"decision", "note", "by", "at", "history"} and record["decision"] == "failed"
    assert states(view)[step] == "failed" and view["workItems"] == []
    assert not Submission.objects.filter(state="held").exists()


def test_the_candidate_whole(world, evaluator):
    c = cast(world)
    run = unsure(world, c, evaluator)
    escalation = run["workItems"][0]["escalation"]
    assert {key: escalation["candidate"][key] for key in GOOD} == GOOD
    assert (escalation["by"], escalation["check"]["verdict"]) == ("server", "unsure")
    assert escalation["check"] == run["data"]["steps"]["screen"]["check"]
    view = world.decide(c.ada, run, "completed")
    assert contracts.result_issues("decide", view) == []
    record = view["data"]["steps"]["screen"]
    assert {key: record[key] for key in GOOD} == GOOD and record["by"] == "person:ada"
    assert record["check"]["verdict"] == "unsure"  # it stays
    row = Submission.objects.get()
    assert (row.state, row.by) == ("accepted", c.agent.id)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"summary": "Searched twice."}, {**GOOD, "summary": "Searched twice."}),
        ({"next": "declined", "reason": "A match."}, {**GOOD, "next": "declined", "reason": "A match."}),
        ({"reason": "Seen."}, {**GOOD, "reason": "Seen."}),
        ({"evidence": [{"kind": "link", "ref": "x"}]}, {**GOOD, "evidence": [{"kind": "link", "ref": "x"}]}),
    ],
)
def test_given_fields_override_the_candidates(world, evaluator, given, expected):
    c = cast(world)
    view = world.decide(c.ada, unsure(world, c, evaluator), "completed", **given)
    record = view["data"]["steps"]["screen"]
    assert {key: record[key] for key in expected} == expected
    assert [(s.state, s.by) for s in Submission.objects.order_by("number")] == [
        ("returned", c.agent.id),
        ("accepted", "person:ada"),
    ]
    assert len(evaluator.asked) == 1  # an escalated step that a person completes is not checked


def test_a_candidate_replaced_by_an_output_of_ones_own(world, evaluator):
    c = cast(world)
    run = unsure(world, c, evaluator)
    output = {"cleared": False, "finding": "A match after all."}
    refused = refusal(world, c.ada, **call_of(world, c.ada, run, "completed", output=output))
    assert refused.issues == ["next: required, one of approve, declined", "reason: required"]
    view = world.decide(c.ada, run, "completed", output=output, next="declined", reason="A match.")
    record = view["data"]["steps"]["screen"]
    assert record["output"] == output and "summary" not in record
    assert view["run"]["outcome"] == "declined"


def test_a_returned_candidate_leaves_check_and_issues(world, evaluator):
    c = cast(world)
    view = world.decide(c.ada, unsure(world, c, evaluator), "returned", note="Search again.")
    assert "screen" not in view["data"]["steps"]
    left = world.claim(c.other, view)["handoff"]
    assert set(left) == {"returned", "issues", "check"}
    assert left["issues"] == ["check: The finding supports the verdict. → no (0.7)"]
    assert left["check"]["verdict"] == "unsure"
    assert Submission.objects.get().state == "returned"
