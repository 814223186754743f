"""Fixtures that every folder uses. A test that needs a service says so with a marker and skips with the
reason where there is none, unless REQUIRE_SERVICES=1."""

import os
import socket
from pathlib import Path

import hypothesis
import pytest
from django.core.cache import caches
from django.core.management.commands import flush
from django.db import connection

from approvals import rules
from checks import evaluators, roster
from checks.receipts import keys
from processes.versions import compiled
from tests.world import ScriptedEvaluator, World

# speed is measured in benchmarks, never in tests
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")

REQUIRED = os.environ.get("REQUIRE_SERVICES") == "1"
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
SHARED = Path(os.environ.get("SHARED_DIR") or Path(__file__).resolve().parents[2] / "shared")


def _postgres() -> str | None:
    """Why PostgreSQL tests can't run here; None when they can."""
    if connection.vendor == "postgresql":
        return None
    return "this run is on SQLite; races are shown on PostgreSQL (make test runs both)"


def _browser() -> str | None:
    return None if Path(CHROMIUM).exists() else f"no Chromium at {CHROMIUM} (set CHROMIUM)"


def reachable(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=1):
            return True
    except OSError:
        return False


def pytest_collection_modifyitems(items):
    reasons = {"postgres": _postgres(), "browser": _browser()}
    for item in items:
        for marker, reason in reasons.items():
            if reason is None or item.get_closest_marker(marker) is None:
                continue
            if REQUIRED and marker == "browser":
                pytest.exit(f"REQUIRE_SERVICES=1, but {reason}", returncode=3)
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(autouse=True, scope="session")
def _swept():
    """What Django does after a test with transactions of its own takes longer than most such tests: TRUNCATE
    makes new files for every table, and every permission is looked for again. A test leaves few rows, and no
    permission of its own.
    """
    kept = {"django_content_type", "auth_permission"}

    def rows_only(_ops, _style, tables, **_):
        return [f'DELETE FROM "{table}"' for table in tables if table not in kept]

    with pytest.MonkeyPatch.context() as patched:
        # of the class: a test may sweep from another thread, which has a connection of its own
        patched.setattr(type(connection.ops), "sql_flush", rows_only)
        patched.setattr(flush, "emit_post_migrate_signal", lambda *_: None)
        yield


@pytest.fixture(autouse=True)
def _fresh_versions():
    """Versions are kept per process because they never change, and so is who judges and what signs; a roll-back takes them
    back."""
    compiled.cache_clear()
    roster.forget()
    rules.forget()
    keys.forget()
    yield
    compiled.cache_clear()
    roster.forget()
    rules.forget()
    keys.forget()


@pytest.fixture(autouse=True)
def _nothing_counted():
    """Counts of tries and calls are kept per process, too."""
    for cache in caches.all():
        cache.clear()


@pytest.fixture
def world():
    return World()


@pytest.fixture
def evaluator(monkeypatch):
    """A scripted evaluator in the place of the configured one: `evaluator.script = [[0.7], "down"]`."""
    scripted = ScriptedEvaluator()
    from checks import judging
    from processes import checking, profiles

    for module in (evaluators, judging):
        monkeypatch.setattr(module, "configured", lambda: scripted)
    monkeypatch.setattr(evaluators, "known", lambda: scripted)
    assert checking.evaluators is evaluators and profiles.evaluators is evaluators
    return scripted


@pytest.fixture
def shared():
    if not SHARED.is_dir():
        if REQUIRED:
            pytest.fail(f"REQUIRE_SERVICES=1, but there is no conformance data at {SHARED} (set SHARED_DIR)")
        pytest.skip(f"no conformance data at {SHARED} (set SHARED_DIR)")
    return SHARED
