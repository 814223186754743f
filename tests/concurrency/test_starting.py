"""Runs that are started while the next version is published: each gets one version, whole, and keeps it."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from django.db.models import QuerySet

from processes import pipeline, publishing
from processes.models import Role, Run, Version
from tests.concurrency.racing import overtaken, together, word
from tests.concurrency.wholeness import wrongs

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]

FIRST = """\
---
name: signing
description: A person signs.
steps:
  - { id: sign, approve: Sign it., person: finance }
  - { id: done, finish: signed }
---
"""
SECOND = FIRST.replace("person: finance", "person: board")


@pytest.fixture
def publish(world, c):
    """Publishes the second version; the first one is there."""
    world.publish(FIRST)
    roles = publishing.RoleMap(roles={"board": world.group("board").pk}, escalations=None)
    draft = publishing.draft(SECOND, by="ada")
    return lambda: publishing.publish(Version.objects.get(pk=draft.pk), roles, by="ada")


@pytest.fixture
def start(world, c):
    return lambda **version: world.call(c.agent, "start_run", process="signing", inputs={}, **version)


class Late:
    """Roles that are written after the version has its number."""

    def __init__(self, monkeypatch):
        self._rows, self._create, save = [], Role.objects.bulk_create, Version.save

        def numbered_first(version, **how):
            save(version, **how)
            self.write()

        monkeypatch.setattr(Role.objects, "bulk_create", self._rows.extend)
        monkeypatch.setattr(Version, "save", numbered_first)

    def write(self):
        self._create(self._rows)


@pytest.mark.parametrize("in_one", [True, False], ids=["one transaction", "no transaction"])
@pytest.mark.parametrize("roles_first", [True, False], ids=["roles first", "number first"])
def test_a_run_is_started_while_a_version_is_published(
    world, c, publish, start, stops, monkeypatch, in_one, roles_first
):
    """Publishing is one transaction, in which the number comes last. Either would do; without both a run gets a
    version without its roles, and so does every later one, for a version is read once.
    """
    stop = stops(Version, "save") if roles_first else None
    if not in_one:
        monkeypatch.setattr(publishing, "transaction", SimpleNamespace(atomic=nullcontext))
        monkeypatch.setattr(QuerySet, "select_for_update", lambda self, **_: self)
    if not roles_first:
        stop = stops(Late, "write")
        Late(monkeypatch)
    published, (run, at_once) = overtaken(stop, stop.armed(publish), lambda: (start(), stop.holds()))
    assert published.number == 2 and at_once  # who starts a run does not wait for who publishes
    (later,) = together(start)
    assert later["run"]["version"] == 2
    if in_one or roles_first:
        assert run["run"]["version"] == 1 and run["run"]["state"] == later["run"]["state"] == "waiting"
        assert not wrongs(run["run"]["id"]) and not wrongs(later["run"]["id"])
        board = world.person("bo", "board")
        assert world.decide(c.ada, run, "approved")["run"]["version"] == 1  # and keeps it
        assert world.decide(board, later, "approved")["run"]["version"] == 2
    else:
        assert run["run"]["version"] == 2
        assert run["run"]["outcome"] == later["run"]["outcome"] == "failed"


def test_a_version_that_is_asked_for_while_it_is_published(publish, start, stops):
    """It is not there before it is all there."""
    stop = stops(Version, "save")
    _, refused = overtaken(stop, stop.armed(publish), lambda: start(version=2))
    assert word(refused) == "not_found"
    assert together(lambda: start(version=2))[0]["run"]["version"] == 2


def test_a_version_is_published_while_a_run_is_started(publish, start, stops):
    """Whoever publishes does not wait for those who start runs; the run has the version it began with."""
    stop = stops(pipeline.Call, "record")
    run, (published, at_once) = overtaken(stop, stop.armed(start), lambda: (publish(), stop.holds()))
    assert published.number == 2 and at_once
    assert run["run"]["version"] == 1 and Run.objects.get().version.number == 1
