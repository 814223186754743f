"""The queue's table: which items, in which order, for whom. It follows every write of a run."""

from datetime import timedelta

import pytest
from django.utils import timezone

from approvals.models import Band, QueueEntry
from approvals.queue import entries
from checks.models import CheckLimits
from processes.models import Step, WorkItem
from tests.processes.flows import ADVISORY, LOOPS, PEOPLE, TEXT, cast, errand, later, signing, work
from tests.world import SCREENING

pytestmark = pytest.mark.django_db


@pytest.fixture
def c(world, evaluator):
    world.publish(SCREENING, finance="finance", escalations="finance")
    world.publish(ADVISORY, finance="finance")
    CheckLimits.objects.create(check_fail=0.2, why="a test", by="test")
    return cast(world)


def screened(world, c, evaluator, answer, **inputs):
    evaluator.script = [[answer]]
    run = world.start(c.agent, **inputs)
    return world.submit(c.agent, world.claim(c.agent, run)["token"])


def advised(world, c, evaluator, answer):
    evaluator.script = [answer if isinstance(answer, str) else [answer]]
    run = world.call(c.agent, "start_run", process="advisory", inputs={})
    return work(world, c.agent, run, "write", **TEXT)


def item_of(view):
    (item,) = view["workItems"]
    return item["id"]


def listed(caller):
    return [entry.pk for entry in entries(caller)]


def test_the_least_sure_come_first(world, c, evaluator):
    """pass 0.9, fail 0.5: in the middle one is as unsure as can be."""
    made = {answer: screened(world, c, evaluator, answer) for answer in (0.85, 0.7, 0.55, 0.6)}
    rank = {entry.pk: entry.least_sure for entry in QueueEntry.objects.all()}
    assert {answer: round(rank[item_of(view)], 6) for answer, view in made.items()} == {
        0.85: 0.25, 0.7: 1.0, 0.55: 0.25, 0.6: 0.5,
    }  # fmt: skip
    # where two are as unsure, the older
    assert listed(c.ada) == [item_of(made[answer]) for answer in (0.7, 0.6, 0.85, 0.55)]


def test_bands(world, c, evaluator):
    rest = signing(world, c.agent)
    passed = advised(world, c, evaluator, 0.95)
    doubted = [advised(world, c, evaluator, answer) for answer in (0.5, 0.1, "down")]
    unsure = screened(world, c, evaluator, 0.7)
    bands = {entry.pk: entry.band for entry in QueueEntry.objects.all()}
    assert bands[item_of(unsure)] == Band.UNSURE
    assert {bands[item_of(view)] for view in doubted} == {Band.DOUBTED}
    assert bands[item_of(passed)] == bands[item_of(rest)] == Band.REST
    found = listed(c.ada)
    assert found[0] == item_of(unsure) and set(found[1:4]) == {item_of(view) for view in doubted}


def test_the_rest_by_due_then_age(world, c):
    world.publish(LOOPS, editors="finance", finance="finance", board="board")
    undated = [signing(world, c.agent), signing(world, c.agent)]  # no due
    dated = []
    for hours in (0, -1):
        with later(hours=hours):
            run = world.call(c.agent, "start_run", process="loops", inputs={})
            dated.append(work(world, c.agent, run, "draft", output={}, summary="s"))
    assert listed(c.ada) == [item_of(view) for view in (*reversed(dated), *undated)]


def test_an_escalation_by_an_agent_has_no_verdict_and_waits_with_the_rest(world, c, evaluator):
    run = errand(world, c.agent)
    token = world.claim(c.agent, run, "fetch")["token"]
    view = world.call(c.agent, "escalate", token=token, note="n")
    entry = QueueEntry.objects.get(pk=item_of(view))
    assert (entry.kind, entry.band, entry.verdict, entry.submitted_by) == (
        "escalated",
        Band.REST,
        None,
        c.agent.id,
    )


def test_what_an_entry_says(world, c, evaluator):
    view = screened(world, c, evaluator, 0.7, supplier="Acme \n Ltd")
    entry = QueueEntry.objects.get()
    assert (entry.process, entry.version, entry.step, entry.kind) == ("screening", 1, "screen", "unsure")
    assert (entry.subject, entry.submitted_by, entry.test) == ("Acme Ltd", c.agent.id, False)
    assert (entry.verdict.verdict, entry.group, entry.person) == ("unsure", world.group("finance"), None)
    assert entry.opened_at == WorkItem.objects.get().opened_at and entry.due_at is None
    world.decide(c.ada, view, "completed")
    entry = QueueEntry.objects.get()
    assert (entry.step, entry.kind, entry.submitted_by) == ("approve", "approve", c.agent.id)
    assert entry.due_at == Step.objects.get(name="approve").due_at > timezone.now() + timedelta(hours=47)


def test_an_approval_after_another_is_about_the_same_work(world, c, evaluator):
    text = ADVISORY.replace("name: advisory", "name: twice").replace(
        "  - id: done", "  - id: again\n    approve: Again.\n    person: finance\n  - id: done"
    )
    world.publish(text)
    evaluator.script = [[0.1]]
    run = world.call(c.agent, "start_run", process="twice", inputs={})
    work(world, c.agent, run, "write", **TEXT)
    world.decide(c.ada, run, "approved")
    entry = QueueEntry.objects.get()
    assert (entry.step, entry.band, entry.submitted_by) == ("again", Band.DOUBTED, c.agent.id)


def test_a_test_run_is_marked(world, c):
    view = signing(world, c.agent, mode="test")
    assert QueueEntry.objects.get(pk=item_of(view)).test is True


# ---- for whom


def test_each_person_sees_what_they_may_decide(world, c, evaluator):
    world.publish(PEOPLE)
    unsure, signed = screened(world, c, evaluator, 0.7), signing(world, c.agent)
    named = world.call(c.ada, "start_run", process="people", inputs={"owner": "ben"})
    run = errand(world, c.agent)
    token = world.claim(c.agent, run, "fetch")["token"]
    operators = world.call(c.agent, "escalate", token=token, note="n")
    assert set(listed(c.ada)) == {item_of(unsure), item_of(signed)}
    assert set(listed(c.ben)) == {item_of(named)}
    assert set(listed(c.ops)) == {item_of(unsure), item_of(operators)}
    assert listed(world.person("cy")) == []


def test_the_list_is_that_of_get_work(world, c, evaluator):
    screened(world, c, evaluator, 0.7)
    signing(world, c.agent)
    advised(world, c, evaluator, 0.1)
    for person in (c.ada, c.ben, c.ops):
        shown = {item["workItem"]["id"] for item in world.call(person, "get_work")["items"]}
        assert shown == set(listed(person))


# ---- it follows


@pytest.mark.parametrize("decision", ["approved", "rejected", "failed"])
def test_what_is_decided_leaves_the_queue(world, c, decision):
    run = signing(world, c.agent)
    world.decide(c.ada, run, decision, **({} if decision == "approved" else {"note": "n"}))
    assert not QueueEntry.objects.exists()


def test_a_returned_step_and_a_cancelled_run_leave_it(world, c, evaluator):
    world.decide(c.ada, screened(world, c, evaluator, 0.7), "returned", note="n")
    assert not QueueEntry.objects.exists()
    run = signing(world, c.agent)
    world.call(c.ops, "cancel", runId=run["run"]["id"], reason="r")
    assert not QueueEntry.objects.exists()


def test_there_is_one_entry_for_each_open_item(world, c, evaluator):
    world.publish(LOOPS, editors="finance", finance="finance", board="finance")
    run = world.call(c.agent, "start_run", process="loops", inputs={})
    work(world, c.agent, run, "draft", output={}, summary="s")
    for decision, given in (
        ("completed", {"output": {"words": 1}}),
        ("rejected", {"note": "n"}),
        ("completed", {"output": {"words": 2}}),
        ("approved", {}),
        ("rejected", {"note": "n"}),
    ):
        open_items = set(WorkItem.objects.filter(state="open").values_list("pk", "step__name"))
        assert set(QueueEntry.objects.values_list("pk", "step")) == open_items
        world.decide(c.ada, run, decision, **given)
    assert not QueueEntry.objects.exists()


def test_an_entry_that_was_lost_is_made_again_with_the_next_item(world, c):
    """The old row is rewritten where there is one; nothing hangs on it."""
    world.publish(LOOPS, editors="finance", finance="finance", board="finance")
    run = world.call(c.agent, "start_run", process="loops", inputs={})
    work(world, c.agent, run, "draft", output={}, summary="s")
    QueueEntry.objects.all().delete()
    world.decide(c.ada, run, "completed", output={"words": 1})
    assert QueueEntry.objects.get().step == "first"


def test_a_write_that_fails_leaves_the_queue_as_it_was(world, c, monkeypatch):
    from processes.models import Request

    run = signing(world, c.agent)
    before = list(QueueEntry.objects.values())

    def broken(*_args, **_kwargs):
        raise RuntimeError("the disk is full")

    monkeypatch.setattr(Request, "save", broken)
    with pytest.raises(RuntimeError):
        world.decide(c.ada, run, "approved")
    assert list(QueueEntry.objects.values()) == before
