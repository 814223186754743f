"""Loading under the lock, the guarded save, the bound, the title."""

import pytest
from django.db import transaction
from django.test import override_settings

from checks import codec
from processes import engine, runs
from processes.errors import ToolError
from processes.models import HistoryEntry, Request, Run, Step
from tests.processes.flows import DONE, cast, errand, signing, states

pytestmark = pytest.mark.django_db


def test_an_unknown_run(world):
    with pytest.raises(ToolError) as refused:
        runs.load("r_" + "x" * 100)
    assert refused.value.code == "not_found" and len(refused.value.message) < 100


def test_a_run_that_ended_is_refused_first_of_all(world):
    c = cast(world)
    run = errand(world, c.agent)["run"]["id"]
    world.call(c.ops, "cancel", runId=run, reason="r")
    with pytest.raises(ToolError) as refused, runs.locked(run):
        raise AssertionError("the block was entered")
    assert refused.value.issues == ["run_ended"]
    with runs.locked(run, ended_ok=True) as loaded:
        assert not loaded.now.live


def test_a_lost_lock_fails_loudly_and_saves_nothing(world):
    agent = world.agent()
    run = errand(world, agent)["run"]["id"]
    before = Step.objects.get(run=run, name="fetch").state

    def overtaken():
        with runs.locked(run) as loaded:
            Run.objects.filter(pk=run).update(revision=99)
            engine.claim(loaded.now, "fetch", by="agent:x")
            runs.save(loaded)

    with pytest.raises(runs.LostLockError, match="moved on from revision"):
        overtaken()
    assert Step.objects.get(run=run, name="fetch").state == before
    assert Run.objects.get().revision == 1  # rolled back with the rest


@pytest.mark.django_db(transaction=True)
def test_the_lock_is_never_taken_inside_another_transaction(world):
    run = errand(world, world.agent())["run"]["id"]
    with pytest.raises(RuntimeError), transaction.atomic(), runs.locked(run):
        pass


def test_a_failing_second_write_takes_everything_back(world, monkeypatch):
    agent = world.agent()
    run = errand(world, agent)
    token = world.claim(agent, run, "fetch")["token"]
    before = Run.objects.values().get(), HistoryEntry.objects.count()

    def broken(*_args, **_kwargs):
        raise RuntimeError("the disk is full")

    monkeypatch.setattr(Request, "save", broken)
    with pytest.raises(RuntimeError):
        world.call(agent, "submit", token=token, **DONE)
    assert (Run.objects.values().get(), HistoryEntry.objects.count()) == before
    assert states(world.view(agent, run)) == {"fetch": "claimed", "sign": None, "done": None}


def test_each_write_raises_the_revision_once(world):
    c = cast(world)
    run = signing(world, c.agent)["run"]["id"]
    assert Run.objects.get(pk=run).revision == 3  # started, claimed, submitted
    world.refused(c.ben, "cancel", runId=run, reason="r")
    assert Run.objects.get(pk=run).revision == 3


def test_data_and_snapshot_are_written_together(world):
    import hashlib

    c = cast(world)
    before = set()
    run = signing(world, c.agent)
    for act in ("rejected", None):
        row = Run.objects.get(pk=run["run"]["id"])
        assert row.snapshot == hashlib.sha256(row.data.encode()).hexdigest()
        before.add(row.snapshot)
        if act:
            world.decide(c.ada, run, act, note="n")
    assert len(before) == 2


def test_history_is_numbered_without_gaps(world):
    c = cast(world)
    run = signing(world, c.agent)
    world.decide(c.ada, run, "approved", note="Fine.")
    found = list(HistoryEntry.objects.values_list("number", "what", "step", "by", "attempt", "note"))
    agent = c.agent.id
    assert found == [
        (1, "started", "", agent, None, ""),
        (2, "claimed", "fetch", agent, 1, ""),
        (3, "submitted", "fetch", agent, 1, ""),
        (4, "completed", "fetch", agent, 1, ""),
        (5, "approved", "sign", "person:ada", None, "Fine."),
        (6, "finished", "done", "server", None, "fetched"),
    ]


@pytest.mark.parametrize(
    ("inputs", "title"),
    [
        ("{}", ""), ('{"n": 12.50}', "12.50"), ('{"b": true}', ""), ('{"a": " ", "b": "two\\n lines"}', "two lines"),
        ('{"n": 1, "s": "text"}', "text"), ('{"o": {"s": "x"}, "l": ["y"]}', ""),
    ],
)  # fmt: skip
def test_a_runs_title(inputs, title):
    assert runs.subject(codec.loads(inputs)) == title


def test_a_long_title_is_cut():
    assert len(runs.subject({"s": "word " * 100})) <= 200


def test_the_bound_counts_bytes():
    class Now:
        data = {"inputs": {"s": "é" * 507}, "steps": {}}

    size = len('{"inputs":{"s":""},"steps":{}}') + 2 * 507
    with override_settings(RUN_DATA_BYTES=size):
        assert runs.too_large(Now()) is None
    with override_settings(RUN_DATA_BYTES=size - 1):
        found = runs.too_large(Now())
        assert found == f"run data: {size} bytes, at most {size - 1}; put large content in a file"
