from types import SimpleNamespace

import pytest

from conformance import runner
from conformance.client import Actor, Log
from conformance.failures import Exchange, Failure, Skip
from conformance.masking import Mask
from conformance.registry import STRICT, Chapter
from conformance.world import World

SAID = Exchange(who="a", tool="t", arguments={}, status=200, answer={"ok": True, "data": {}}, text="")

AFTER = Exchange(
    who="operator", tool="cancel", arguments={}, status=200, answer={"ok": True, "data": {}}, text=""
)


@pytest.fixture
def world(monkeypatch):
    log = Log(mask=Mask())
    actor = Actor("a", None, log)
    about = {"tools": [], "profiles": [], "leaseSeconds": 3}
    made = World(
        agent=actor,
        other=actor,
        person=actor,
        colleague=actor,
        operator=actor,
        nobody=actor,
        about=about,
        log=log,
    )
    waited = []
    monkeypatch.setattr(World, "outlive_leases", lambda _: waited.append(1))

    def clean_up(self):
        waited.append(list(self.started))
        self.log.exchanges.append(AFTER)

    monkeypatch.setattr(World, "clean_up", clean_up)
    return SimpleNamespace(world=made, waited=waited)


def chapter(**functions):
    made = Chapter("c", "C")
    for name, function in functions.items():
        made.add(name, "T", "R", "A rule.", function)
    return made


def told(world, made):
    return [(r.case.id, r.verdict, r.message) for r in runner.run(made.cases, world.world)]


def test_how_a_case_can_go(world):
    def fails(w):
        w.log.exchanges.append(SAID)
        raise Failure("it must not")

    def skips(_):
        raise Skip("no reason")

    def breaks(_):
        raise KeyError("odd")

    made = chapter(good=lambda _: None, fails=fails, skips=skips, breaks=breaks)
    found = told(world, made)
    assert found[:3] == [
        ("c.good", "ok", ""),
        ("c.fails", "failed", "it must not"),
        ("c.skips", "skipped", "no reason"),
    ]
    assert found[3][1] == "failed"
    assert "KeyError" in found[3][2]


def test_the_call_that_shows_a_failure_is_the_last_one_or_a_named_one(world):
    def last(w):
        w.log.exchanges.append(SAID)
        raise Failure("x")

    other = Exchange(who="b", tool="t", arguments={}, status=200, answer=None, text="")

    def named(w):
        w.log.exchanges.append(SAID)
        raise Failure("x", other)

    results = list(runner.run(chapter(last=last, named=named).cases, world.world))
    assert [r.exchange for r in results] == [SAID, other]


def test_what_a_case_needs(world):
    made = Chapter("c", "C", STRICT)
    made.add("one", "T", "R", "A rule.", lambda w: w.no_such_thing)
    assert told(world, made) == [("c.one", "skipped", "needs --strict")]


def test_stories_share_their_waiting(world):
    made = Chapter("c", "C")
    steps = []

    @made.story("one", "T", "R", "A rule.")
    def one(w):
        w.started.append("run-1")
        steps.append("one begins")
        yield
        assert w.started == ["run-1"]
        steps.append("one ends")

    @made.story("two", "T", "R", "A rule.")
    def two(w):
        steps.append("two begins")
        w.log.exchanges.append(SAID)
        yield
        raise Failure("too late")

    @made.story("three", "T", "R", "A rule.")
    def three(_):
        raise Failure("too early")
        yield

    made.add("plain", "T", "R", "A rule.", lambda _: steps.append("plain"))
    results = list(runner.run(made.cases, world.world))
    assert [(r.verdict, r.message) for r in results] == [
        ("ok", ""),
        ("failed", "too late"),
        ("failed", "too early"),
        ("ok", ""),
    ]
    assert steps == ["one begins", "two begins", "one ends", "plain"]
    assert results[1].exchange == SAID
    assert world.waited == [1, ["run-1"], [], [], []]


def test_one_story_alone(world):
    made = Chapter("c", "C")

    @made.story("one", "T", "R", "A rule.")
    def one(_):
        yield

    assert runner.run_one(made.cases[0], world.world).verdict == "ok"
    assert world.waited == [1, []]
