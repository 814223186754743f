"""`manage.py demo`: a working queue on this machine, with people, processes and an agent at work."""

import io
import os
import secrets
import signal
import socket
import sys
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

import httpx
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from approvals.models import QueueEntry
from checks import roster
from checks.evaluators import configured
from config import serving
from config.demo import CASES
from config.demo_agent import PATIENCE, Client, DemoAgent, RefusedError
from processes import agents
from processes.models import Agent, Process, Request

AGENT = "demo-agent"
ROLES = {"finance": "Finance", "support": "Support"}
EXAMPLES = ("supplier-screening", "refund-review")


class Command(BaseCommand):
    help = "Set up a demo, start a server on 127.0.0.1 and let an agent work; Ctrl-C stops it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=_port, default=os.environ.get("PORT") or "8000")
        parser.add_argument(
            "--attack", action="store_true", help="the agent also hands in work that tries to steer its judge"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.EVALUATOR == "none":
            # the demo is judged by word match, marked everywhere as no model; other servers by nobody
            environment = {**os.environ, "EVALUATOR": "heuristic"}
            os.execve(sys.executable, [sys.executable, *sys.argv], environment)  # noqa: S606 - ourselves again
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(line_buffering=True)  # progress is shown as it happens, in a pipe too
        _refuse_elsewhere()
        signal.signal(
            signal.SIGTERM, signal.default_int_handler
        )  # an end from outside takes the server along
        port = options["port"]
        url = f"http://127.0.0.1:{port}"
        _refuse_taken(port)
        settings.SITE_URL = url  # what is published below is signed in the server's name
        self.stdout.write("Preparing the database, people and processes …")
        call_command("migrate", verbosity=0)
        signs = {"admin": _person("admin", superuser=True), "approver": _person("approver")}
        roles = [f"--role={role}={group}" for role, group in ROLES.items()]
        paths = [str(settings.BASE_DIR / "examples" / name) for name in EXAMPLES]
        call_command("publish", *paths, *roles, stdout=self.stdout)
        key = _agent_key()
        try:
            server = serving.serve(port, url)
        except serving.NotStartedError as error:
            raise CommandError(f"{error}; its words are above.") from None
        try:
            try:
                self._work(url, key, signs["approver"], attack=options["attack"])
            except (RefusedError, httpx.HTTPError) as error:
                self.stderr.write(f"The demo agent had to stop: {error}. The queue is there all the same.")
            self._tell(url, signs)
            server.wait()
        except KeyboardInterrupt:
            self.stdout.write("\nStopped. `make demo` goes on where this ended.")
        finally:
            serving.stop(server)

    def _work(self, url: str, key: str, password: str, *, attack: bool) -> None:
        agent = DemoAgent(Client(url, key), self.stdout.write, attack=attack)
        agent.start(_round())
        agent.work()
        if self._give_back(url, password):
            agent.work()

    def _give_back(self, url: str, password: str) -> bool:
        """As the approver, in a browser's manner, return the unsure cases that their data says to return."""
        person = Approver(url, "approver", password)
        given = False
        for found in person.call("get_work", limit=100)["items"]:
            subject = person.call("get_run", runId=found["runId"])["data"]["inputs"].get("supplier")
            case = next((case for case in CASES if case.key == subject and case.note), None)
            item = found["workItem"]
            if case is None or not item["escalation"] or item["handoff"]:
                continue
            person.call(
                "decide",
                **{**item["decide"]["arguments"], "requestId": f"demo-{item['id']}"},
                decision="returned",
                note=case.note,
            )
            self.stdout.write(f"returned  {found['process']}: {case.key}")
            given = True
        return given

    def _tell(self, url: str, signs: dict[str, str]) -> None:
        self.stdout.write(
            f"\nCountersign is ready: {url}/\n\n"
            f"  the queue   sign in as approver, password {signs['approver']}\n"
            f"  settings    sign in as admin, password {signs['admin']} ({url}/admin/)\n\n"
            f"{_judge()}\n"
            "Ctrl-C stops the server."
        )


class Approver:
    """A signed-in person calling the REST API with session and CSRF token, as a page would."""

    def __init__(self, url: str, name: str, password: str) -> None:
        self._http = httpx.Client(base_url=url, timeout=PATIENCE, trust_env=False, follow_redirects=True)
        self._http.get("/sign-in/")
        form = {
            "username": name,
            "password": password,
            "csrfmiddlewaretoken": self._http.cookies["csrftoken"],
        }
        self._http.post("/sign-in/", data=form).raise_for_status()

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        token = self._http.cookies["csrftoken"]
        answer = self._http.post(f"/v1/{tool}", json=arguments, headers={"X-CSRFToken": token}).json()
        if not answer["ok"]:
            raise CommandError(f"{tool} was refused: {answer['error']}")
        data: dict[str, Any] = answer["data"]
        return data


def _refuse_elsewhere() -> None:
    """The demo makes an `admin` of its own; a server that others use is no place for it."""
    if settings.CELERY_BROKER_URL or settings.HTTPS or connection.vendor != "sqlite":
        raise CommandError(
            "The demo runs on its own SQLite only. Unset DATABASE_URL, BROKER_URL and SITE_URL, or set VAR_DIR to a "
            "folder for the demo."
        )


MOST_PORTS = 65_535


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST_PORTS:
        raise ArgumentTypeError(f"{text!r} is no port; write a number from 1 to 65535")
    return int(text)


def _refuse_taken(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            raise CommandError(
                f"Something else listens on 127.0.0.1:{port}. Stop it, or choose another port: make demo PORT=8001"
            ) from None


def _person(name: str, *, superuser: bool = False) -> str:
    """A new random password for a demo person, made where there is none."""
    password = secrets.token_urlsafe(9)
    user, _ = User.objects.get_or_create(username=name, defaults={"email": f"{name}@localhost.localdomain"})
    user.is_staff = user.is_superuser = superuser
    user.set_password(password)
    user.save()
    if not superuser:
        user.groups.set([Group.objects.get_or_create(name=group)[0] for group in ROLES.values()])
    return password


def _judge() -> str:
    judge = configured()
    if judge is not None and judge.is_model:
        where = " and ".join(roster.hosts())
        return f"The check is answered by {settings.EVALUATOR_MODEL or judge.name}{where and f' at {where}'}."
    return "The check is answered by word match, not by a model; README tells how to point it at one."


def _agent_key() -> str:
    """The demo's agent works the demo's processes and nothing else that may be here."""
    agent = Agent.objects.select_related("key").filter(name=AGENT).first()
    agent, key = (agent, agents.new_key(agent)) if agent is not None else agents.create(AGENT)
    agent.limited = True
    agent.save(update_fields=["limited"])
    agent.processes.set(Process.objects.filter(name__in=EXAMPLES))
    return key


def _round() -> int:
    """The demo's round: the one before while something of it waits in the queue, else a new one."""
    last = 0
    while Request.objects.filter(pk=f"demo-{last + 1}-0").exists():
        last += 1
    return last if last and QueueEntry.objects.exists() else last + 1
