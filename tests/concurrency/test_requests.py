"""The same requestId twice at once: one effect, the same result for both."""

import pytest

from checks import codec
from processes import pipeline
from processes.models import HistoryEntry, Request, Run, Upload
from tests.concurrency.racing import SURELY, meet_after_loading, meeting, together, told
from tests.processes.flows import cast
from tests.processes.test_pipeline import WRITES, write_of

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def c(world):
    made = cast(world)
    made.world = world
    return made


def plain(result):
    assert isinstance(result, dict), result
    return codec.canonical({key: value for key, value in result.items() if key != "replayed"})


@pytest.mark.parametrize("tool", WRITES)
def test_one_effect_and_the_same_result(c, tool, monkeypatch):
    caller, arguments = write_of(c, tool)
    arguments = {**arguments, "requestId": "same"}
    before = Run.objects.count(), HistoryEntry.objects.count(), Upload.objects.count()
    # both have found the id unused before either has its effect
    monkeypatch.setattr(pipeline.Call, "replay", _met_once(pipeline.Call.replay))
    if tool not in ("start_run", "upload"):
        meet_after_loading(monkeypatch)
    one, two = together(*[lambda: c.world.call(caller, tool, **arguments)] * 2)
    assert plain(one) == plain(two)
    after = Run.objects.count(), HistoryEntry.objects.count(), Upload.objects.count()
    grown = [new - old for new, old in zip(after, before, strict=True)]
    assert grown[0] == (tool == "start_run") and grown[2] == (tool == "upload")
    again = c.world.call(caller, tool, **arguments)
    assert plain(again) == plain(one)
    assert after == (Run.objects.count(), HistoryEntry.objects.count(), Upload.objects.count())


def _met_once(replay):
    """Only the first look of each caller meets: a second one comes from whoever lost."""
    met, calls = meeting(replay, SURELY), []

    def look(call):
        calls.append(call)
        return met(call) if len(calls) <= 2 else replay(call)

    return look


def test_the_race_is_there_without_the_record(c, monkeypatch):
    """Switched off, two runs start."""
    monkeypatch.setattr(pipeline.Call, "replay", lambda _call: None)
    monkeypatch.setattr(Request, "save", lambda *_args, **_kwargs: None)
    caller, arguments = write_of(c, "start_run")
    before = Run.objects.count()
    arguments["requestId"] = "same"
    one, two = together(*[lambda: c.world.call(caller, "start_run", **arguments)] * 2)
    assert one["run"]["id"] != two["run"]["id"] and Run.objects.count() == before + 2


def test_two_callers_with_one_id(c, monkeypatch):
    """One wins, the other's id is used."""
    caller, arguments = write_of(c, "start_run")
    monkeypatch.setattr(pipeline.Call, "replay", _met_once(pipeline.Call.replay))
    arguments["requestId"] = "same"
    results = together(
        lambda: c.world.call(caller, "start_run", **arguments),
        lambda: c.world.call(c.other, "start_run", **arguments),
    )
    assert told(results) == ["conflict requestId: used before", "ok"]
