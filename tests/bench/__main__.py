"""Figures, never asserted: `make bench`. Median and 95th percentile of the calls that people and agents wait for.

On SQLite by default, on another database by DATABASE_URL; a throw-away database either way.
"""

import os
import statistics
import time
from collections.abc import Callable

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")

import django

django.setup()

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import get_runner, override_settings, setup_test_environment

from processes.document import parse
from tests.bench import evaluators, receipts
from tests.world import SCREENING, World

ROUNDS = 60


def measure(name: str, act: Callable[[], object], rounds: int = ROUNDS) -> None:
    act()
    taken = []
    for _ in range(rounds):
        started = time.perf_counter()
        act()
        taken.append((time.perf_counter() - started) * 1000)
    taken.sort()
    print(f"{name:34} {statistics.median(taken):8.1f} ms {taken[int(len(taken) * 0.95) - 1]:8.1f} ms p95")


def flow(world: World) -> None:
    agent, ada = world.agent(), world.person("ada", "finance")
    runs = [world.start(agent, supplier=f"Supplier {n}") for n in range(2 * ROUNDS + 4)]
    measure("start_run", lambda: world.start(agent, supplier="One more"))
    claims = []
    waiting = iter(runs)
    measure("claim", lambda: claims.append(world.claim(agent, next(waiting))["token"]))
    tokens = iter(claims)
    measure("submit (checked by word match)", lambda: world.submit(agent, next(tokens)), ROUNDS - 1)
    measure("get_work (agent)", lambda: world.call(agent, "get_work"))
    measure("get_work (person)", lambda: world.call(ada, "get_work"))
    measure("get_run", lambda: world.call(agent, "get_run", runId=runs[0]["run"]["id"]))
    browser = Client()
    browser.force_login(User.objects.get(username="ada"))
    measure("queue page", lambda: browser.get("/"))
    item = world.call(ada, "get_work")["items"][0]["workItem"]["id"]
    measure("case page", lambda: browser.get(f"/items/{item}/"))


def main() -> None:
    setup_test_environment()
    runner = get_runner(settings)(verbosity=0, interactive=False)
    made = runner.setup_databases()
    print(f"on {connection.vendor}; {ROUNDS} rounds each")
    try:
        big = SCREENING
        measure("parse a process file", lambda: parse(big))
        with override_settings(EVALUATOR="heuristic"):
            world = World()
            world.publish(SCREENING, finance="finance", escalations="finance")
            flow(world)
            receipts.measure(measure)
        evaluators.measure()
    finally:
        runner.teardown_databases(made)


if __name__ == "__main__":
    main()
