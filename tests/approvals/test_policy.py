"""Rules on decisions, below every door: never on one's own work, where the group says so."""

import pytest
from django.contrib.auth.models import User

from approvals import policy, rules
from approvals.models import GroupRule, QueueEntry
from processes import seams
from processes.callers import of_user
from processes.models import Agent, Submission, WorkItem
from processes.states import Decision
from tests.processes.flows import LOOPS, PEOPLE, cast, signing, work
from tests.world import SCREENING

pytestmark = pytest.mark.django_db


@pytest.fixture
def c(world):
    made = cast(world)
    made.eve = world.person("eve", "finance")
    return made


def forbid(world, *groups):
    for group in groups:
        GroupRule.objects.create(group=world.group(group), forbid_own_work=True)


def vouch(agent, name):
    Agent.objects.filter(pk=agent.agent).update(vouched_by=User.objects.get(username=name))


def edited(world, c, by, board="board"):
    """A run at its first approval, whose task `by` did."""
    world.publish(LOOPS, editors="finance", finance="finance", board=board)
    run = world.call(c.agent, "start_run", process="loops", inputs={})
    work(world, c.agent, run, "draft", output={}, summary="s")
    world.decide(by, run, "completed", output={"words": 1})
    return run


def refusal(world, caller, run, decision, **given):
    call = world.item(caller, run)["decide"]["arguments"]
    return world.refused(caller, "decide", **{**call, "decision": decision, **given, "requestId": decision})


def test_without_a_rule_everybody_decides_on_their_own_work(world, c):
    GroupRule.objects.create(group=world.group("finance"), forbid_own_work=False)
    world.decide(c.ada, edited(world, c, c.ada), "approved")


@pytest.mark.parametrize("decision", ["approved", "rejected", "failed"])
def test_with_it_nobody_does_and_their_colleague_does(world, c, decision):
    forbid(world, "finance")
    run = edited(world, c, c.ada)
    given = {} if decision == "approved" else {"note": "n"}
    refused = refusal(world, c.ada, run, decision, **given)
    assert refused.code == "forbidden" and "own work" in refused.message
    world.decide(c.eve, run, decision, **given)


def test_the_rule_is_that_of_the_items_group(world, c):
    forbid(world, "board", "editors")
    world.decide(c.ada, edited(world, c, c.ada), "approved")


def test_an_agent_that_one_vouches_for_counts_as_oneself(world, c):
    forbid(world, "finance")
    vouch(c.agent, "ada")
    run = signing(world, c.agent)
    assert refusal(world, c.ada, run, "approved").code == "forbidden"
    world.decide(c.eve, run, "approved")


def test_an_agent_that_did_nothing_here_does_not(world, c):
    forbid(world, "finance")
    vouch(c.other, "ada")
    world.decide(c.ada, signing(world, c.agent), "approved")


def test_a_candidate_of_ones_own(world, c, evaluator):
    forbid(world, "finance")
    world.publish(SCREENING, finance="finance", escalations="finance")
    vouch(c.agent, "ada")
    evaluator.script = [[0.7]]
    run = world.start(c.agent)
    world.submit(c.agent, world.claim(c.agent, run)["token"])
    for decision, given in (("completed", {}), ("returned", {"note": "n"})):
        assert refusal(world, c.ada, run, decision, **given).code == "forbidden"
    world.decide(c.eve, run, "completed")


@pytest.mark.parametrize(("given", "allowed"), [({}, True), ({"summary": "Mine."}, False)])
def test_accepting_an_unchanged_candidate_is_no_work(world, c, evaluator, given, allowed):
    forbid(world, "finance")
    world.publish(SCREENING, finance="finance", escalations="finance")
    evaluator.script = [[0.7]]
    run = world.start(c.agent)
    world.submit(c.agent, world.claim(c.agent, run)["token"])
    world.decide(c.ada, run, "completed", **given)
    if allowed:
        world.decide(c.ada, run, "approved")
    else:
        assert refusal(world, c.ada, run, "approved").code == "forbidden"


def test_having_rejected_or_approved_is_no_work(world, c):
    forbid(world, "finance")
    run = edited(world, c, c.eve, board="finance")
    world.decide(c.ada, run, "rejected", note="More.")
    world.decide(c.eve, run, "completed", output={"words": 2})
    world.decide(c.ada, run, "approved")
    world.decide(c.ada, run, "approved")


def test_work_that_was_done_again_by_others_stays_ones_own(world, c):
    """Whoever once had a submission accepted in the run is not impartial."""
    forbid(world, "finance")
    run = edited(world, c, c.ada)
    world.decide(c.eve, run, "rejected", note="n")
    world.decide(c.eve, run, "completed", output={"words": 2})
    assert refusal(world, c.ada, run, "approved").code == "forbidden"


def test_items_of_persons_and_operators_have_no_rule(world, c):
    forbid(world, "finance")
    world.publish(PEOPLE)
    run = world.call(c.ada, "start_run", process="people", inputs={"owner": "ada"})
    given = {"output": {"boss": "ada"}, "next": "allow", "reason": "r"}
    world.decide(c.ada, run, "completed", **given)
    world.decide(c.ada, run, "approved")


def test_a_refusal_comes_after_stale_and_changes_nothing(world, c):
    forbid(world, "finance")
    run = edited(world, c, c.ada)
    call = {**world.item(c.ada, run)["decide"]["arguments"], "decision": "approved"}
    assert world.refused(c.ada, "decide", **{**call, "snapshot": "old"}).code == "stale"
    assert world.refused(c.ada, "decide", **call).code == "forbidden"
    assert WorkItem.objects.get(pk=call["workItemId"]).state == "open"


def test_it_costs_one_statement(world, c, django_assert_num_queries):
    forbid(world, "finance")
    run = edited(world, c, c.ada)
    item = WorkItem.objects.get(state="open")
    asked = seams.Asked(
        run=item.run, item=item, caller=c.ada, decision=Decision.APPROVED,
        work=Submission.objects.filter(attempt__step__run=run["run"]["id"]),
    )  # fmt: skip
    with django_assert_num_queries(1):
        assert isinstance(policy.own_work(asked), seams.Refuse)
    item.group = None
    with django_assert_num_queries(0):
        assert policy.own_work(asked) == seams.Allow()


class TestNobodyLeft:
    """Where the rule leaves none of the group, the item is the operators' as it opens."""

    def test_the_only_member_did_the_work(self, world, c):
        forbid(world, "board")
        world.user("solo", "board", "finance")
        solo = of_user(User.objects.get(username="solo"))
        run = edited(world, c, solo)  # finance edits and approves first
        world.decide(c.eve, run, "approved")
        item = WorkItem.objects.get(state="open")
        assert (item.group, item.person) == (None, None)
        assert QueueEntry.objects.get().group is None
        assert world.refused(
            solo, "decide", **{**world.item(c.ops, run)["decide"]["arguments"], "decision": "approved", "requestId": "1"}
        ).code == "forbidden"  # fmt: skip
        assert world.decide(c.ops, run, "approved")["run"]["state"] == "ended"

    def test_while_somebody_else_is_a_member_it_stays_the_groups(self, world, c):
        forbid(world, "finance")
        edited(world, c, c.ada)
        assert WorkItem.objects.get(state="open").group == world.group("finance")

    @pytest.mark.parametrize("left", [False, True])
    def test_who_may_not_sign_in_any_more_is_not_left(self, world, c, left):
        forbid(world, "finance")
        User.objects.filter(username="eve").update(is_active=left)
        edited(world, c, c.ada)
        assert (WorkItem.objects.get(state="open").group is not None) is left

    def test_a_candidate_of_the_only_members_agent(self, world, c, evaluator):
        forbid(world, "finance")
        User.objects.filter(username="eve").delete()
        world.publish(SCREENING, finance="finance", escalations="finance")
        vouch(c.agent, "ada")
        evaluator.script = [[0.7]]
        run = world.start(c.agent)
        world.submit(c.agent, world.claim(c.agent, run)["token"])
        assert WorkItem.objects.get(state="open").group is None
        world.decide(c.ops, run, "completed")

    def test_a_task_is_work_and_stays_with_its_group(self, world, c):
        forbid(world, "editors")
        world.group("editors").user_set.clear()
        world.publish(LOOPS, editors="editors", finance="finance", board="board")
        run = world.call(c.agent, "start_run", process="loops", inputs={})
        work(world, c.agent, run, "draft", output={}, summary="s")
        assert WorkItem.objects.get(state="open").group == world.group("editors")

    def test_a_changed_rule_is_known_at_once(self, world, c):
        edited(world, c, c.ada)
        assert rules.forbidding() == frozenset()
        forbid(world, "finance")
        assert rules.forbidding() == {world.group("finance").pk}
        GroupRule.objects.get().delete()
        assert rules.forbidding() == frozenset()

    def test_it_costs_nothing_without_a_rule_and_one_statement_with_it(
        self, world, c, django_assert_num_queries
    ):
        forbid(world, "finance")
        run = edited(world, c, c.ada)
        submissions = Submission.objects.filter(attempt__step__run=run["run"]["id"])
        rules.prepare()
        board, finance = world.group("board").pk, world.group("finance").pk
        with django_assert_num_queries(0):
            assert not policy.nobody_impartial(seams.Opening(group=board, work=submissions))
        opening = seams.Opening(group=finance, work=submissions)
        with django_assert_num_queries(1):
            assert not policy.nobody_impartial(opening)


# ---- the seam itself


def test_the_first_ruling_that_is_not_allow_counts(monkeypatch):
    asked = object()
    no, other = seams.Refuse("No."), seams.Refuse("Other.")
    for policies, expected in (
        ([], seams.Allow()),
        ([lambda _: seams.Allow(), lambda _: no, lambda _: other], no),
        ([lambda _: seams.Hold(), lambda _: no], seams.Hold()),
    ):
        monkeypatch.setattr(seams, "policies", policies)
        assert seams.ruling(asked) == expected  # type: ignore[arg-type]


def test_a_policy_may_name_its_own_code(world, c, monkeypatch):
    run = signing(world, c.agent)
    twice = seams.Refuse("You have approved already.", "conflict", ("already_decided",))
    monkeypatch.setattr(seams, "policies", [lambda _: twice])
    refused = refusal(world, c.ada, run, "approved")
    assert (refused.code, refused.issues) == ("conflict", ["already_decided"])


def test_a_held_decision_leaves_the_item_open(world, c, monkeypatch):
    run = signing(world, c.agent)
    monkeypatch.setattr(seams, "policies", [lambda _: seams.Hold()])
    view = world.decide(c.ada, run, "approved")
    assert [item["stepId"] for item in view["workItems"]] == ["sign"]
    assert view["data"] == world.view(c.ada, run)["data"]
