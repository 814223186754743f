"""A cluster, its callers at work, whoever kills, and the proof."""

import json
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from conformance.evaluator import Evaluator, Script
from conformance.identities import Identity, Session, prove
from tests.chaos import clients, processes
from tests.chaos.clients import Caller, Load
from tests.chaos.cluster import Cluster
from tests.chaos.killing import Killer
from tests.chaos.proof import prove as proof
from tests.chaos.records import Record

NOTICE_SECONDS = 25.0  # beat tells of overdue work every ten, once it is back
DRAIN_SECONDS = 180.0
SURE = {clients.GOOD: 0.97, clients.BAD: 0.04, clients.DOUBTFUL: 0.7}


class Model(Evaluator):
    """Judges by the quality that a submission names. Now and then it is slow, or out of order."""

    def __init__(self) -> None:
        super().__init__(0, own={"Is its quality good?"})
        self._count = 0

    def reply(self, body: bytes) -> tuple[int, Any]:
        self._count += 1
        if self._count % 17 == 0:
            return 503, {"error": "out of order"}
        time.sleep(1.0 if self._count % 11 == 0 else 0.1)
        asked = json.loads(body)
        quality = asked["state"]["submission"]["output"]["quality"]
        script = Script(yes=SURE[quality])
        answers = {key: self._answer(question, script) for key, question in asked["questions"].items()}
        return 200, {"model": "chaos-1", "answers": answers, "usage": {"input_tokens": 1, "output_tokens": 1}}


def play(folder: Path, killer: Callable[[Cluster], Killer], act: Callable[[Killer], None]) -> dict[str, Any]:
    """Returns the figures and the findings."""
    record = Record()
    with Model() as model, Cluster(folder, model.port) as cluster:
        identities = _make_callers(cluster)
        cluster.serve()
        callers = {name: _caller(name, identity, cluster, record) for name, identity in identities.items()}
        load = Load(record)
        for name, caller in callers.items():
            for turn in _TURNS[name.split("-")[0]]:
                load.run(turn, caller)
        struck = killer(cluster)
        act(struck)
        load.stop.set()
        time.sleep(NOTICE_SECONDS)
        load.late.set()
        _drain(load)
        load.join()
        operator = callers["ops-1"]
        operator.others = list(callers.values())
        found = proof(record, operator, cluster.dsn)
        logs = {} if found.clean else {part.name: part.last_lines() for part in cluster.parts}
    return {
        "clean": found.clean,
        "kills": sum(struck.killed.values()),
        "killed": dict(struck.killed),
        "ended by themselves": dict(cluster.supervisor.ended),
        "runs": len(record.runs),
        "marks": len(record.marks),
        "counts": dict(sorted(record.counts.items())),
        **found.as_json(),
        **({"logs": logs} if logs else {}),
    }


_TURNS = {
    "agent": [clients.works],
    "person": [clients.decides],
    "ops": [clients.decides],
    "starter": [clients.starts],
    "sender": [clients.sends],
}


def _drain(load: Load) -> None:
    """Until every run has ended; what has not by then is stuck, and the proof says so."""
    deadline = time.monotonic() + DRAIN_SECONDS
    while load.record.open and time.monotonic() < deadline and not load.errors:
        time.sleep(0.5)


def _make_callers(cluster: Cluster) -> dict[str, Identity]:
    import django

    django.setup()
    from django.contrib.auth.models import Group, Permission, User
    from django.db import connection

    from processes import agents, publishing

    team = Group.objects.create(name=processes.TEAM)
    for text in processes.ALL:
        document = publishing.examine(text).document
        if document is None:
            raise AssertionError(publishing.examine(text).issues)
        roles = publishing.RoleMap(roles=dict.fromkeys(document.roles, team.pk), escalations=team.pk)
        publishing.publish(publishing.draft(text, by="chaos"), roles, by="chaos")
    identities = {}
    for name in ("agent-1", "agent-2", "agent-3", "agent-4", "starter-1", "sender-1"):
        identities[name] = Identity(bearer=agents.create(name)[1])
    for name in ("person-1", "person-2", "ops-1"):
        password = secrets.token_urlsafe(12)
        user = User.objects.create_user(name, f"{name}@example.org", password)
        user.groups.add(team)
        if name == "ops-1":
            user.user_permissions.add(Permission.objects.get(codename="operate"))
        identities[name] = Identity(user=name, password=password)
    connection.close()
    return identities


def _caller(name: str, identity: Identity, cluster: Cluster, record: Record) -> Caller:
    doors = [httpx.Client(base_url=base, trust_env=False, timeout=30.0) for base in cluster.bases]
    for door in doors:
        prove(door, identity, Session(), name)
    return Caller(name, doors, record)
