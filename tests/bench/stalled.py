"""`python -m tests.bench.stalled [--scaled]`: how others are answered while an evaluator stalls.

Fifty submissions wait for an evaluator that takes a minute; meanwhile an agent asks for work and a person opens the
queue. Embedded: gunicorn with 8 threads on SQLite. Scaled: PostgreSQL, Redis, two such servers and two workers.
"""

import base64
import os
import secrets
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from conformance.evaluator import Evaluator
from conformance.identities import Identity, Session, prove
from tests.chaos.clients import Caller, Refused
from tests.chaos.cluster import KEPT, Cluster, free_ports
from tests.chaos.records import Record

WAITING, ROUNDS, STALL_SECONDS = 50, 200, 60.0
PROCESS = """\
---
name: stalled
description: Work with a check.
steps:
  - { id: write, agent: Write it., output: { text: string }, check: Is it good? }
  - { id: done, finish: done }
---
"""


class Stalling(Evaluator):
    """Answers at once, or not before it is let go (or a minute has passed)."""

    def __init__(self) -> None:
        super().__init__(0, own={"Is it good?"})
        self.go = threading.Event()

    def reply(self, body: bytes) -> tuple[int, Any]:
        self.go.wait(STALL_SECONDS)
        return super().reply(body)


def make_callers() -> dict[str, Identity]:
    import django

    django.setup()
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.db import connection

    from processes import agents, publishing

    call_command("migrate", verbosity=0)
    publishing.publish(
        publishing.draft(PROCESS, by="bench"), publishing.RoleMap(roles={}, escalations=None), by="bench"
    )
    made = {f"agent-{n}": Identity(bearer=agents.create(f"agent-{n}")[1]) for n in range(WAITING)}
    password = secrets.token_urlsafe(12)
    User.objects.create_superuser("ops", "ops@example.org", password)
    connection.close()
    return made | {"ops": Identity(user="ops", password=password)}


@contextmanager
def embedded(folder: Path, evaluator: int) -> Iterator[tuple[list[str], dict[str, Identity]]]:
    from config import serving

    (port,) = free_ports(1)
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    os.environ.clear()
    os.environ.update(
        kept, DJANGO_SETTINGS_MODULE="config.settings", VAR_DIR=str(folder), LOG_LEVEL="ERROR",
        SITE_URL=f"http://127.0.0.1:{port}", EVALUATOR="system_one", EVALUATOR_MODEL="bench",
        EVALUATOR_URL=f"http://127.0.0.1:{evaluator}",
    )  # fmt: skip
    callers = make_callers()
    server = serving.serve(port, os.environ["SITE_URL"])
    try:
        yield [os.environ["SITE_URL"]], callers
    finally:
        serving.stop(server)


@contextmanager
def scaled(folder: Path, evaluator: int) -> Iterator[tuple[list[str], dict[str, Identity]]]:
    folder.chmod(0o755)
    cluster = Cluster(folder, evaluator)
    # one minute is no error here
    cluster.environment |= {"EVALUATOR_SECONDS": "120", "LEASE_SECONDS": "600", "CHECK_WAIT_SECONDS": "25"}
    for worker in cluster.workers:
        worker.command = ["64" if word == "8" else word for word in worker.command]
    os.environ.update(cluster.environment)
    with cluster:
        callers = make_callers()
        cluster.serve()
        yield cluster.bases, callers


def main(arguments: Sequence[str]) -> None:
    place = scaled if "--scaled" in arguments else embedded
    with (
        tempfile.TemporaryDirectory(prefix="countersign-bench-") as name,
        Stalling() as evaluator,
        place(Path(name), evaluator.port) as (bases, identities),
    ):
        callers = {name: _caller(name, identity, bases) for name, identity in identities.items()}
        tokens = [_claim(caller) for name, caller in callers.items() if name != "ops"]
        print(f"{place.__name__}; {ROUNDS} rounds each, {WAITING} submissions waiting")
        idle = _measure(callers)
        threads = [
            threading.Thread(target=_submit, args=(caller, token), daemon=True)
            for caller, token in tokens
        ]  # fmt: skip
        for thread in threads:
            thread.start()
        time.sleep(3)
        _told(idle, _measure(callers))
        evaluator.go.set()
        for thread in threads:
            thread.join(STALL_SECONDS)
        alive = sum(thread.is_alive() for thread in threads)
        print(f"{WAITING - alive} of {WAITING} submissions were completed afterwards")


def _caller(name: str, identity: Identity, bases: Sequence[str]) -> Caller:
    doors = [httpx.Client(base_url=base, trust_env=False, timeout=60.0) for base in bases]
    for door in doors:
        prove(door, identity, Session(), name)
    caller = Caller(name, doors, Record())
    caller.most_pause = 60.0  # as long as it is told
    return caller


def _claim(caller: Caller) -> tuple[Caller, str]:
    run = caller.settle("start_run", process="stalled", inputs={})
    claim = caller.settle("claim", runId=run["run"]["id"], stepId="write")  # type: ignore[index]
    return caller, claim["token"]  # type: ignore[index]


def _submit(caller: Caller, token: str) -> None:
    text = base64.b64encode(secrets.token_bytes(9)).decode()
    answer = caller.settle("submit", token=token, output={"text": text}, summary="Done.")
    if isinstance(answer, Refused):
        sys.stderr.write(f"{caller.name}: {answer}\n")


def _measure(callers: dict[str, Caller]) -> dict[str, list[float]]:
    agent, person = callers["agent-0"], callers["ops"]
    return {
        "get_work": _times(lambda: agent.doors[0].post("/v1/get_work", json={}).raise_for_status()),
        "queue page": _times(lambda: person.doors[0].get("/").raise_for_status()),
    }


def _times(act: Callable[[], object]) -> list[float]:
    act()
    taken = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        act()
        taken.append((time.perf_counter() - began) * 1000)
        time.sleep(0.02)
    return sorted(taken)


def _told(idle: dict[str, list[float]], stalled: dict[str, list[float]]) -> None:
    print(f"{'':12} {'idle p50':>9} {'p95':>7}   {'stalled p50':>11} {'p95':>7}   ratio of p95")
    for name, quiet in idle.items():
        busy = stalled[name]
        a, b, c, d = (times[int(ROUNDS * share)] for times in (quiet, busy) for share in (0.5, 0.95))
        print(f"{name:12} {a:6.1f} ms {b:4.1f} ms   {c:8.1f} ms {d:4.1f} ms   {d / b:.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
