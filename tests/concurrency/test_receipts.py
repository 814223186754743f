"""Calls by one key at once: each gets a place of its own in the key's chain. And two sweeps at once: one checkpoint."""

import json
import time

import pytest
from django.db import IntegrityError
from django.db.models import QuerySet
from django.test import Client

from checks import keys as bearer_keys
from checks.judge import storing
from checks.models import Checkpoint, JudgeCall
from checks.receipts import checkpoints, export, exporting, keys
from tests.concurrency.racing import BEHIND_A_LOCK, SURELY, meeting, together

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]
GUARDED = pytest.mark.parametrize("guarded", [True, False], ids=["with the lock", "without it"])


@pytest.fixture
def key():
    return bearer_keys.issue("judge", for_judge=True)[1]


@pytest.fixture
def call(key):
    def post(text="The ferry leaves from pier 3."):
        response = Client().post(
            "/v1/judge",
            json.dumps({"task": "t", "agent_output": text}),
            content_type="application/json",
            headers={"Authorization": f"Bearer {key}"},
        )
        return response.status_code

    return post


def unlocked(monkeypatch):
    monkeypatch.setattr(QuerySet, "select_for_update", lambda rows, **_: rows)


def meet_at_the_head(monkeypatch):
    """Both have read where the chain ends before either adds to it, unless the second has to wait for the first."""
    monkeypatch.setattr(storing, "_head", meeting(storing._head, BEHIND_A_LOCK))


@GUARDED
def test_two_calls_of_one_key(call, monkeypatch, guarded):
    assert call() == 200
    if not guarded:
        unlocked(monkeypatch)
    meet_at_the_head(monkeypatch)
    statuses = together(call, call)
    places = list(JudgeCall.objects.order_by("seq").values_list("seq", flat=True))
    if guarded:
        assert statuses == [200, 200] and places == [1, 2, 3]
    else:  # both want the second place, and the database gives it to one
        assert sorted(statuses) == [200, 500] and places == [1, 2]
    assert not export.check(exporting.lines(), keys.published()).problems


def test_calls_of_other_keys_wait_for_nobody(call, monkeypatch):
    """Both are past their locks at the same time: else one of them would lose its patience."""
    other = bearer_keys.issue("other", for_judge=True)[1]
    monkeypatch.setattr(storing, "_head", meeting(storing._head, SURELY))

    def foreign():
        return (
            Client()
            .post(
                "/v1/judge",
                json.dumps({"task": "t", "agent_output": "o"}),
                content_type="application/json",
                headers={"Authorization": f"Bearer {other}"},
            )
            .status_code
        )

    started = time.monotonic()
    assert together(call, foreign) == [200, 200]
    assert time.monotonic() - started < SURELY / 2


def test_many_calls_of_one_key(call):
    call()
    assert together(*[call] * 8) == [200] * 8
    assert list(JudgeCall.objects.order_by("seq").values_list("seq", flat=True)) == list(range(1, 10))
    assert not export.check(exporting.lines(), keys.published()).problems


def test_two_sweeps(call, monkeypatch):
    call()
    monkeypatch.setattr(checkpoints, "moved", meeting(checkpoints.moved, BEHIND_A_LOCK))
    assert sorted(together(checkpoints.sweep, checkpoints.sweep)) == [0, 1]
    assert Checkpoint.objects.count() == 1
    assert not export.check(exporting.lines(), keys.published()).problems


def test_two_sweeps_of_which_one_does_not_give_way(call, monkeypatch):
    """That the other one's checkpoint is no fault is what the guard says; the database refuses it either way."""
    call()
    monkeypatch.setattr(checkpoints, "moved", meeting(checkpoints.moved, BEHIND_A_LOCK))
    monkeypatch.setattr(checkpoints, "IntegrityError", ZeroDivisionError)
    results = together(checkpoints.sweep, checkpoints.sweep)
    assert {type(result) for result in results} == {int, IntegrityError}
    assert Checkpoint.objects.count() == 1
