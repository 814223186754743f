"""Migrations that carry data over."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone


def migrate(name: str):
    executor = MigrationExecutor(connection)
    executor.migrate([("processes", name)])
    return executor.loader.project_state([("processes", name)]).apps


@pytest.fixture
def back():
    """Whatever a test does, the next one finds the newest schema."""
    yield
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


@pytest.mark.django_db(transaction=True)
def test_attempts_are_counted_by_their_step_and_marked_again_on_the_way_back(back):
    old = migrate("0002_waits_and_events")
    model = lambda name: old.get_model("processes", name)  # noqa: E731 - the historical ones
    process = model("Process").objects.create(name="p")
    version = model("Version").objects.create(process=process, number=1, text="", published_at=timezone.now())
    run = model("Run").objects.create(version=version, data="{}", snapshot="", started_by="agent:a")
    at = timezone.now()
    steps = {
        name: model("Step").objects.create(
            run=run, name=name, position=n, kind="agent", state=state, ready_at=at
        )
        for n, (name, state) in enumerate([("open", "ready"), ("over", "done"), ("never", "")])
    }
    for name, number, live in (("open", 1, False), ("open", 2, True), ("over", 1, False)):
        model("Attempt").objects.create(step=steps[name], number=number, live=live)
    new = migrate("0003_attempts_by_number")
    counted = new.get_model("processes", "Step").objects.values_list("name", "activations")
    assert dict(counted) == {"open": 2, "over": 1, "never": 0}
    again = migrate("0002_waits_and_events").get_model("processes", "Attempt")
    assert list(again.objects.order_by("id").values_list("live", flat=True)) == [False, True, False]
