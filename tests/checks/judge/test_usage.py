"""`GET /v1/usage`: one key's own calls by day, and nobody else's."""

import base64
import hashlib
import math
import random
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest import mock

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from checks import keys, rates
from checks.judge import callers, usage
from checks.models import JudgeCall, Key

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 10, 0, 30, tzinfo=UTC)
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def _fresh():
    rates._tallies.clear()
    yield
    rates._tallies.clear()


@pytest.fixture(autouse=True)
def _now(monkeypatch):
    monkeypatch.setattr(timezone, "now", lambda: NOW)


@pytest.fixture
def key():
    return keys.issue("mine", for_judge=True)


@pytest.fixture
def ask(client, key):
    def get(query="", bearer=key[1], **headers):
        return client.get(f"/v1/usage{query}", headers={"Authorization": f"Bearer {bearer}", **headers})

    return get


def call(key, *, at=NOW, verdict="pass", score=1.0, ms=10, engine="groq"):
    judged = {"kind": "judge", "verdict": verdict, "score": score}
    kind = judged if verdict else {"kind": "consensus"}
    return JudgeCall.objects.create(key=key, digest="0" * 64, milliseconds=ms, engine=engine, at=at, **kind)


def test_days_verdicts_scores_engines(key, ask):
    mine, other = key[0], keys.issue("theirs", for_judge=True)[0]
    yesterday = NOW - timedelta(hours=1)  # 23:30 of the day before, in UTC
    call(mine, score=1.0, ms=10)
    call(mine, verdict="fail", score=0.0, ms=30, engine="deterministic")
    call(mine, verdict="", ms=20, engine="deterministic")
    call(mine, at=yesterday, verdict="retry", score=0.5, ms=70)
    call(mine, at=NOW - timedelta(days=2), verdict="fail", score=0.25, ms=500)
    call(other, ms=9999, engine="theirs")
    told = ask("?days=2").json()
    assert (told["from"], told["to"]) == ("2026-03-09", "2026-03-10")
    assert told["days"] == [
        {
            "day": "2026-03-09",
            "calls": 1,
            "verdicts": {"pass": 0, "fail": 0, "retry": 1, "consensus": 0},
            "score_mean": 0.5,
            "latency_ms": {"p50": 70, "p95": 70},
            "engines": {"groq": 1},
        },
        {
            "day": "2026-03-10",
            "calls": 3,
            "verdicts": {"pass": 1, "fail": 1, "retry": 0, "consensus": 1},
            "score_mean": 0.5,
            "latency_ms": {"p50": 20, "p95": 30},
            "engines": {"deterministic": 2, "groq": 1},
        },
    ]
    assert told["totals"] == {
        "calls": 4,
        "verdicts": {"pass": 1, "fail": 1, "retry": 1, "consensus": 1},
        "score_mean": 0.5,
        "latency_ms": {"p50": 20, "p95": 70},
        "engines": {"deterministic": 2, "groq": 2},
    }


def test_days_without_calls_are_there(ask):
    told = ask().json()
    assert (len(told["days"]), told["from"]) == (30, "2026-02-09")
    empty = {"calls": 0, "score_mean": None, "latency_ms": {"p50": None, "p95": None}, "engines": {}}
    assert all(empty.items() <= day.items() for day in [*told["days"], told["totals"]])
    assert sum(sum(day["verdicts"].values()) for day in told["days"]) == 0


def test_the_day_is_utcs_whatever_the_server_shows(key, ask, settings):
    settings.TIME_ZONE = "Pacific/Auckland"
    call(key[0])
    call(key[0], at=NOW - timedelta(minutes=31))
    with timezone.override("America/Lima"):
        assert [day["calls"] for day in ask("?days=3").json()["days"]] == [0, 1, 1]


@pytest.mark.parametrize("many", [1, 2, 3, 19, 20, 21, 100, 101])
def test_percentiles_are_those_of_the_sorted_list(key, many):
    chance = random.Random(many)
    times = [chance.choice([3, 5, 8, 400, chance.randrange(2000)]) for _ in range(many)]
    JudgeCall.objects.bulk_create(
        JudgeCall(key=key[0], kind="consensus", digest="0" * 64, engine="e", milliseconds=ms, at=NOW) for ms in times
    )  # fmt: skip
    ordered = sorted(times)
    expected = {"p50": ordered[math.ceil(many * 0.5) - 1], "p95": ordered[math.ceil(many * 0.95) - 1]}
    told = usage.of(key[0], 1)
    assert told["days"][0]["latency_ms"] == told["totals"]["latency_ms"] == expected


@given(st.lists(st.integers(0, 50), min_size=1, max_size=200))
def test_a_percentile_is_the_smallest_that_enough_calls_did_not_exceed(times):
    counted = [(time, times.count(time)) for time in sorted(set(times))]
    for percent, found in usage._percentiles(iter(counted), len(times)).items():
        within = sum(time <= found for time in times)
        below = sum(time < found for time in times)
        assert within * 100 >= percent * len(times) > below * 100


def test_statements_do_not_grow_with_calls_or_days(key, ask):
    counts = []
    for days in (1, 90):
        for _ in range(10):
            call(key[0], at=NOW - timedelta(days=days - 1), engine=f"engine-{days}")
        with CaptureQueriesContext(connection) as captured:
            assert ask(f"?days={days}").status_code == 200
        counts.append(len(captured))
    assert counts == [4, 4]


def test_the_quota_is_what_the_bound_counts(key, ask, settings):
    settings.JUDGE_CALLS_PER_DAY = 50
    assert ask().json()["quota"] == {"per_day": 50, "used_today": 0}
    for _ in range(3):
        callers.count(key[0])
    assert ask().json()["quota"] == {"per_day": 50, "used_today": 3}, "a look counts for nothing"
    for _ in range(5):
        call(key[0])
    assert ask().json()["quota"]["used_today"] == 5, "a count that was lost is made good"
    Key.objects.filter(pk=key[0].pk).update(judge_calls_per_day=4)
    assert ask().json()["quota"] == {"per_day": 4, "used_today": 4}


# ---- refusals


@pytest.mark.parametrize(
    ("query", "issue"),
    [
        *((f"?days={text}", "days: expected one whole number from 1 to 90") for text in ("0", "91", "-1", "1.5", "x", "", "９", "7" * 5000)),
        ("?days=1&days=2", "days: expected one whole number from 1 to 90"),
        ("?dayz=7", "dayz: not known here; known is days"),
    ],
)  # fmt: skip
def test_parameters(ask, query, issue):
    response = ask(query)
    assert response.status_code == 400
    assert response.json()["error"]["issues"] == [issue]


def test_more_parameters_than_are_read(ask):
    answer = ask("?" + "&".join(["days=1"] * 1001))
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid")


def test_keys_that_open_nothing_here(client, ask):
    tools = keys.issue("an agent's")[1]
    gone, text = keys.issue("revoked", for_judge=True)
    keys.revoke(gone, NOW)
    for bearer, status, code in (
        ("", 401, "unauthenticated"),
        ("cs_nobody1234_" + "A" * 43, 401, "unauthenticated"),
        (text, 401, "unauthenticated"),
        (tools, 403, "forbidden"),
    ):
        response = ask(bearer=bearer)
        assert (response.status_code, response.json()["error"]["code"]) == (status, code)
    assert client.get("/v1/usage").headers["WWW-Authenticate"].startswith("Bearer")


def test_other_methods(client, key):
    response = client.post("/v1/usage", headers={"Authorization": f"Bearer {key[1]}"})
    assert (response.status_code, response["Allow"]) == (405, "GET")


def test_asked_too_often(ask, key, monkeypatch):
    monkeypatch.setattr(usage, "ASKED_PER_MINUTE", 2)
    with mock.patch("checks.rates.time.time", return_value=610.0):
        assert [ask().status_code for _ in range(3)] == [200, 200, 429]
        refused = ask()
        assert (refused["Retry-After"], refused.json()["error"]["code"]) == ("50", "quota")
        another = keys.issue("another", for_judge=True)[1]
        assert ask(bearer=another).status_code == 200


def test_a_fault_is_logged_and_not_told(ask, monkeypatch):
    monkeypatch.setattr(usage, "of", mock.Mock(side_effect=RuntimeError("secret")))
    response = ask()
    assert response.status_code == 500 and "secret" not in response.content.decode()


def test_nothing_is_cached(ask):
    assert ask()["Cache-Control"] == "no-store"


# ---- the page's library


def test_the_chart_library_is_the_one_that_is_written_down():
    (folder,) = (ROOT / "static/vendor").glob("chart.js-*")
    sha = base64.b64encode(hashlib.sha384((folder / "chart.umd.min.js").read_bytes()).digest()).decode()
    template = (ROOT / "templates/checks/dashboard.html").read_text("utf-8")
    assert re.search(r"vendor/(\S+)/chart", template)[1] == folder.name
    assert f'integrity="sha384-{sha}"' in template
    written = (ROOT / "docs/dependencies.md").read_text("utf-8")
    assert sha in written and f"static/vendor/{folder.name}/chart.umd.min.js" in written
    version = folder.name.removeprefix("chart.js-")
    assert f"Chart.js v{version}" in (folder / "chart.umd.min.js").read_text("utf-8")[:200]
    assert "MIT" in (folder / "LICENSE.md").read_text("utf-8")
