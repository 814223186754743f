"""`/v1/health` and `manage.py health`: each part apart, for how long, and nothing else."""

import json
import threading
import time
from datetime import timedelta
from io import StringIO
from unittest import mock

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from checks import evaluators, outcomes
from checks.receipts import keys
from processes import health, heartbeats
from processes.heartbeats import Beat
from processes.openapi import document

SECRET = "redis://:very-secret@broker.internal:6379/0"
ALIVE = {heartbeats.CLOCK, heartbeats.WORKER}


@pytest.fixture
def parts(monkeypatch, settings):
    """A server whose parts are what a test says; `parts.report()` looks afresh."""

    class Parts:
        beats = {}
        database = broker = None  # what to raise
        tried = 0

        def alive(self, *names, ago=5, since=100):
            now = timezone.now()
            self.beats = {
                name: Beat(now - timedelta(seconds=since), now - timedelta(seconds=ago)) for name in names
            }

        def read(self):
            self.tried += 1
            if self.database is not None:
                raise self.database
            return self.beats

        def reach(self):
            if isinstance(self.broker, float):
                time.sleep(self.broker)
            elif self.broker is not None:
                raise self.broker
            return True

        def report(self):
            return self.health.report()

        def __init__(self):
            monkeypatch.setattr(health, "_read_beats", self.read)
            monkeypatch.setattr(health, "_reach_broker", self.reach)
            monkeypatch.setattr(health, "_can_sign", lambda: "ok")
            self.health = health.Health()

    monkeypatch.setattr(health, "KEPT_SECONDS", 0.0)
    settings.CELERY_BROKER_URL = SECRET
    return Parts()


def states(view):
    return {name: view[name]["state"] for name in health.PARTS}


def test_all_is_well(parts):
    parts.alive(*ALIVE, since=100)
    status, view = parts.report()
    assert (status, view["status"]) == (200, "ok")
    assert states(view) == {
        "database": "ok", "broker": "ok", "worker": "ok", "beat": "ok", "evaluator": "not_used",
        "receipts": "ok",
    }  # fmt: skip
    assert view["worker"]["seconds"] == 100 and view["evaluator"]["seconds"] is None


def test_embedded_needs_no_broker_and_no_worker(parts, settings):
    settings.CELERY_BROKER_URL = ""
    parts.alive(heartbeats.CLOCK)
    _, view = parts.report()
    assert view["status"] == "ok"
    assert {states(view)[name] for name in ("broker", "worker")} == {"not_used"}


@pytest.mark.parametrize("name", sorted(ALIVE))
def test_clock_and_workers_are_told_apart(parts, name):
    parts.alive(*ALIVE - {name})
    status, view = parts.report()
    down = {heartbeats.CLOCK: "beat", heartbeats.WORKER: "worker"}[name]
    assert (status, view["status"]) == (200, "impaired")
    assert [part for part, state in states(view).items() if state == "down"] == [down]
    assert view[down]["seconds"] is None


def test_a_beat_that_stopped_tells_when(parts):
    parts.alive(*ALIVE, ago=50)
    _, view = parts.report()
    assert view["worker"] == {"state": "down", "seconds": 50}


def test_the_broker_is_gone(parts, caplog):
    parts.alive(*ALIVE)
    parts.broker = ConnectionError(SECRET)
    status, view = parts.report()
    assert (status, states(view)["broker"], states(view)["worker"]) == (200, "down", "ok")
    assert "very-secret" not in json.dumps(view) + caplog.text and "internal" not in caplog.text


def test_the_database_is_gone(parts):
    parts.alive(*ALIVE)
    parts.report()
    parts.database = OperationalError("host db.internal")
    status, view = parts.report()
    assert (status, view["status"], states(view)["database"]) == (503, "down", "down")
    assert states(view)["worker"] == "ok"  # it was, moments ago
    parts.database = None
    assert parts.report()[0] == 200


def test_for_how_long(parts):
    parts.alive(*ALIVE)
    parts.broker = ConnectionError()
    parts.report()
    with mock.patch("django.utils.timezone.now", return_value=timezone.now() + timedelta(seconds=90)):
        assert parts.report()[1]["broker"] == {"state": "down", "seconds": 90}
        parts.broker = None
        assert parts.report()[1]["broker"] == {"state": "ok", "seconds": 0}


def test_what_hangs_is_down_within_a_second_and_tried_by_nobody_else(parts, monkeypatch):
    monkeypatch.setattr(health, "TRY_SECONDS", 0.2)
    parts.alive(*ALIVE)
    parts.broker = 0.6
    started = time.monotonic()
    assert states(parts.report()[1])["broker"] == "down"
    assert time.monotonic() - started < 0.5
    before = threading.active_count()
    for _ in range(2):
        parts.report()
    assert threading.active_count() <= before


def test_asking_often_costs_nothing(parts, monkeypatch):
    monkeypatch.setattr(health, "KEPT_SECONDS", 60.0)
    for _ in range(20):
        parts.report()
    assert parts.tried == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("well", "state"), [(True, "ok"), (False, "down")])
def test_the_evaluator_is_not_asked(parts, settings, well, state):
    settings.EVALUATOR = "heuristic"
    parts.alive(*ALIVE)
    assert states(parts.report()[1])["evaluator"] == "not_used"
    outcomes.note(evaluators.configured(), well=well)
    with mock.patch("checks.evaluators.heuristic.Heuristic.ask", side_effect=AssertionError("asked")):
        _, view = parts.report()
    assert view["evaluator"] == {"state": state, "seconds": 0}


@pytest.mark.django_db(transaction=True)
def test_a_key_that_signs_no_more_is_told(monkeypatch):
    looked = health.Health()
    monkeypatch.setattr(health, "KEPT_SECONDS", 0.0)
    assert states(looked.report()[1])["receipts"] == "ok"
    keys.revoke(keys.load().kid, timezone.now())
    keys.forget()
    status, view = looked.report()
    assert (status, view["status"], view["receipts"]["state"]) == (200, "impaired", "down")


# ---- the door


@pytest.fixture
def fresh(monkeypatch):
    monkeypatch.setattr(health, "_health", health.Health())


@pytest.mark.django_db(transaction=True)
def test_anybody_may_ask(fresh):
    heartbeats.beat(heartbeats.CLOCK)
    response = Client().get("/v1/health")
    view = json.loads(response.content)
    assert (response.status_code, view["status"]) == (200, "ok")
    assert response.headers["Cache-Control"] == "no-store"
    assert Client().post("/v1/health").status_code == 405


@pytest.mark.django_db(transaction=True)
def test_it_is_as_the_description_says(fresh):
    import jsonschema_rs

    path = document({"describe": False}, health.PARTS, "https://x.example")["paths"]["/v1/health"]["get"]
    shape = path["responses"]["200"]["content"]["application/json"]["schema"]
    view = json.loads(Client().get("/v1/health").content)
    jsonschema_rs.validate(shape, view)
    assert set(health.PARTS) == set(shape["properties"]) - {"status"}


@pytest.mark.parametrize(
    ("url", "state"),
    [("redis://127.0.0.1:1/0", "down"), ("amqp://u:p@127.0.0.1:1//", "down"), ("nonsense://x", "down")],
)
def test_a_broker_that_is_not_there(settings, monkeypatch, url, state):
    settings.CELERY_BROKER_URL = url
    monkeypatch.setattr(health, "_read_beats", dict)
    started = time.monotonic()
    _, view = health.Health().report()
    assert view["broker"]["state"] == state and time.monotonic() - started < 2


# ---- the command


def test_the_command_ends_with_an_error_when_what_was_named_is_down(parts):
    parts.alive(heartbeats.CLOCK)
    said = StringIO()
    call_command("health", "beat", "database", stdout=said)
    assert json.loads(said.getvalue())["beat"]["state"] == "ok"
    for named in (["worker"], []):
        with pytest.raises(CommandError, match="down: worker"):
            call_command("health", *named, stdout=said)
    with pytest.raises(CommandError, match="There is no part 'queue'; there are database"):
        call_command("health", "queue", stdout=said)
