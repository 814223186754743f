"""Each race runs with its guards, with the run's lock switched off, and with nothing left but the luck."""

import pytest

from tests.concurrency.racing import Clocks, Stop, drop_the_lock, drop_the_revision
from tests.processes.flows import cast

ON, NO_LOCK, OFF = "with all guards", "without the lock", "without any guard"


@pytest.fixture(params=[ON, NO_LOCK, OFF])
def guards(request, monkeypatch):
    """The lock makes callers wait for each other; without it the revision still refuses to lose a write,
    loudly; without both the damage is done, and both callers are told that all is well.
    """
    if request.param != ON:
        drop_the_lock(monkeypatch)
    if request.param == OFF:
        drop_the_revision(monkeypatch)
    return request.param


@pytest.fixture(params=[ON, OFF])
def guarded(request, monkeypatch):
    """Both guards or neither, where they take turns: a verdict is written under the revision alone."""
    if request.param == OFF:
        drop_the_lock(monkeypatch)
        drop_the_revision(monkeypatch)
    return request.param == ON


@pytest.fixture
def c(world):
    return cast(world)


@pytest.fixture
def clocks(monkeypatch):
    return Clocks(monkeypatch)


@pytest.fixture
def stops(monkeypatch):
    """`stops(runs, "save")`: a place where a thread may be held up."""
    return lambda owner, name: Stop(monkeypatch, owner, name)
