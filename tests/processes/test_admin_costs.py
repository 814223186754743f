"""What checks took, added up by process, step and day."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from checks.models import Verdict
from processes.admin import costs
from tests.processes.flows import CHECKED_TASK, cast
from tests.world import GOOD, SCREENING, rid

pytestmark = pytest.mark.django_db
URL = reverse("admin:processes_costs")


@pytest.fixture
def world(world, evaluator):
    world.publish(SCREENING, finance="finance")
    return world


def screened(world, n=1):
    agent = world.agent()
    for _ in range(n):
        run = world.start(agent, supplier=rid())
        world.call(agent, "submit", token=world.claim(agent, run)["token"], **GOOD)


def kept(**columns):
    values = {"verdict": "pass", "evaluator": "e", "evaluator_version": "1", "method": "m", "digest": "d"}
    return Verdict.objects.create(**{**values, **columns})


def test_by_process_and_step(world):
    screened(world, 2)
    world.publish(CHECKED_TASK, writers="finance")
    c = cast(world)
    run = world.call(c.ada, "start_run", process="checked-task", inputs={})
    world.decide(c.ada, run, "completed", output={"text": "t"})
    verdicts = costs.verdicts_since(1)
    steps = costs.by_step(verdicts).totals
    told = {(total.process, total.step): total.checks for total in steps}
    assert told == {("screening", "screen"): 2, ("checked-task", "write"): 1}
    assert {total.process: total.checks for total in costs.by_process(verdicts).totals} == {
        "screening": 2,
        "checked-task": 1,
    }


def test_sums_say_what_they_leave_out():
    kept(requests=1, input_tokens=100, output_tokens=5, cost=Decimal("0.25"), milliseconds=200)
    kept(requests=10, input_tokens=900, output_tokens=None, cost=None, milliseconds=400)
    kept(verdict="error")
    verdicts = costs.verdicts_since(1)
    (total,) = costs.by_step(verdicts).totals
    assert (total.process, total.checks, total.failed, total.requests) == (costs.ELSEWHERE, 3, 1, 11)
    assert (total.input_tokens, total.output_tokens, total.cost, total.unpriced) == (
        1000,
        5,
        Decimal("0.25"),
        2,
    )
    assert total.seconds == pytest.approx(0.2)
    assert costs.by_process(verdicts).totals == [total]


def test_what_is_left_out_changes_no_other_sum_and_is_told(world, monkeypatch, admin_client):
    screened(world, 2)
    kept()
    monkeypatch.setattr(costs, "MOST_ROWS", 1)
    verdicts = costs.verdicts_since(1)
    assert [total.process for total in costs.by_step(verdicts).totals] == [
        total.process for total in costs.by_process(verdicts).totals
    ]
    assert costs.by_step(verdicts).cut and costs.by_process(verdicts).cut and not costs.by_day(verdicts).cut
    assert admin_client.get(URL).content.decode().count("Only the first 1 row ") == 2
    monkeypatch.undo()
    assert "Only the first" not in admin_client.get(URL).content.decode()


def test_a_process_is_added_up_whole_however_many_rows_its_steps_have(world, monkeypatch):
    screened(world)
    world.publish(SCREENING.replace(": screen\n", ": screening\n"), finance="finance")
    agent = world.agent()
    token = world.claim(agent, world.start(agent, supplier=rid()), "screening")["token"]
    world.call(agent, "submit", token=token, **GOOD)
    monkeypatch.setattr(costs, "MOST_ROWS", 1)
    verdicts = costs.verdicts_since(1)
    assert [total.checks for total in costs.by_step(verdicts).totals] == [1]
    assert [(total.process, total.checks) for total in costs.by_process(verdicts).totals] == [
        ("screening", 2)
    ]


def test_a_day_is_utcs_whatever_the_admins_own_time_is(settings):
    settings.TIME_ZONE = "Pacific/Auckland"
    kept(at=datetime.now(UTC).replace(hour=23))
    (total,) = costs.by_day(Verdict.objects.all()).totals
    assert total.day == datetime.now(UTC).date()


def test_by_day_and_since():
    now = timezone.now()
    for days in (0, 0, 1, 40):
        kept(at=now - timedelta(days=days), cost=1)
    totals = costs.by_day(costs.verdicts_since(30)).totals
    assert [(total.day, total.checks, total.cost) for total in totals] == [
        (now.date(), 2, 2), ((now - timedelta(days=1)).date(), 1, 1),
    ]  # fmt: skip


def test_unchanged_work_that_got_its_verdict_again_counts_once(world, evaluator):
    agent = world.agent()
    run = world.start(agent)
    token = world.claim(agent, run)["token"]
    evaluator.script = [[0.1]]
    for _ in range(2):
        world.refused(agent, "submit", token=token, **GOOD, requestId=rid())
    assert [total.checks for total in costs.by_step(costs.verdicts_since(1)).totals] == [1]


class TestThePage:
    def test_shows_it_with_few_statements(self, world, admin_client):
        screened(world)
        admin_client.get(URL)
        with CaptureQueriesContext(connection) as captured:
            page = admin_client.get(URL, {"days": "7"}).content.decode()
        assert len(captured) <= 10
        assert "<code>screen</code>" in page and "last 7 days" in page

    @pytest.mark.parametrize("asked", ["0", "x", "99999999999", "-1"])
    def test_another_span_is_the_default(self, admin_client, asked):
        assert admin_client.get(URL, {"days": asked}).context["days"] == costs.DEFAULT_DAYS

    def test_is_for_who_may_see_verdicts(self, client, django_user_model):
        looker = django_user_model.objects.create_user("looker", is_staff=True)
        client.force_login(looker)
        assert client.get(URL).status_code == 403
        looker.user_permissions.add(Permission.objects.get(codename="view_verdict"))
        assert client.get(URL).status_code == 200
