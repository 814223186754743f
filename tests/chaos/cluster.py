"""A whole installation on one machine, every part of which can be killed and started again.

PostgreSQL and Redis are instances of the harness's own, in a folder that is gone afterwards, so that they can be
crashed too. Web servers, workers and beat are started as docs/running.md says, each in a process group of its own.
What ends by itself is started again, as docs/running.md asks of whoever runs the parts, and is counted.
"""

import os
import random
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import httpx

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60.0
LEASE_SECONDS = 8
EVALUATOR_SECONDS = 2
PORTS = range(18_000, 30_000)  # where no system hands out ports by itself: a killed part finds its own again
AGAIN_SECONDS = 1.0  # a supervisor waits before it starts a part again
KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR")


def binaries() -> str | None:
    """Why no cluster can be built here; None when one can."""
    missing = [name for name in ("initdb", "redis-server") if not _binary(name)]
    return f"not found: {', '.join(missing)}" if missing else None


def _binary(name: str) -> str:
    if found := shutil.which(name):
        return found
    newest = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(newest[-1]) if newest else ""


def free_ports(count: int) -> list[int]:
    free: list[int] = []
    with ExitStack() as stack:
        while len(free) < count:
            probe, port = stack.enter_context(socket.socket()), random.choice(PORTS)
            with suppress(OSError):
                probe.bind(("127.0.0.1", port))
                free.append(port)
    return free


def answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=0.5):
        return True
    return False


@dataclass
class Part:
    """One process group. `kill` is SIGKILL to all of it; `start` brings it back."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    log: Path
    process: subprocess.Popen[bytes] | None = None
    lock: threading.RLock = field(default_factory=threading.RLock)

    def again(self) -> None:
        """Kill it, and start it at once."""
        with self.lock:
            self.kill()
            self.start()

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command, cwd=ROOT, env=dict(self.environment), stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip

    def kill(self) -> None:
        with self.lock:
            if self.process is not None:
                with suppress(ProcessLookupError):
                    os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
                self.process = None

    def ended(self) -> bool:
        """By itself: whoever kills it leaves no process behind."""
        process = self.process
        return process is not None and process.poll() is not None

    def last_lines(self, count: int = 12) -> list[str]:
        return self.log.read_text("utf-8", "replace").splitlines()[-count:] if self.log.exists() else []


class Supervisor:
    """Starts again what ended by itself. A worker does when its broker goes away at the wrong moment."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.ended: Counter[str] = Counter()
        self._parts, self._stop = parts, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(AGAIN_SECONDS):
            for part in self._parts:
                with part.lock:
                    if part.ended():
                        self.ended[part.name] += 1
                        part.start()


@dataclass
class Postgres:
    """An instance of its own; root hands it to the user `postgres`, as it refuses to run as root."""

    folder: Path
    port: int
    name: str = "postgres"
    _as: tuple[str, ...] = field(
        default_factory=lambda: ("runuser", "-u", "postgres", "--") if os.geteuid() == 0 else ()
    )

    def make(self) -> None:
        self.folder.mkdir()
        if self._as:
            shutil.chown(self.folder, "postgres", "postgres")
        self._run("initdb", "-D", str(self.folder), "-U", "postgres", "-A", "trust", "--no-sync")
        self.start()

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.folder}"
        self._run(
            "pg_ctl", "-D", str(self.folder), "-w", "-l", str(self.folder / "log"), "-o", options, "start"
        )

    def again(self) -> None:
        self.kill()
        self.start()

    def kill(self) -> None:
        """An immediate stop: no checkpoint, as in a crash; the start recovers from the log."""
        with suppress(subprocess.CalledProcessError):
            self._run("pg_ctl", "-D", str(self.folder), "-m", "immediate", "-w", "stop")

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [*self._as, _binary(program), *arguments], check=True, cwd="/", stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip


class Cluster:
    """`with Cluster(folder, evaluator_port, webs=2, workers=2) as cluster: …`."""

    def __init__(self, folder: Path, evaluator_port: int, *, webs: int = 2, workers: int = 2) -> None:
        database, broker, *ports = free_ports(2 + webs)
        self.folder = folder
        self.postgres = Postgres(folder / "postgres", database)
        self.dsn = f"postgres://postgres@127.0.0.1:{database}/postgres"
        self.bases = [f"http://127.0.0.1:{port}" for port in ports]
        self.environment = self._environment(broker, evaluator_port)
        os.environ.update(self.environment)  # the harness makes callers through the same settings
        self.redis = self._part(
            "redis", _binary("redis-server"), "--port", str(broker), "--save", "", "--appendonly", "no",
            "--bind", "127.0.0.1", "--dir", str(folder),
        )  # fmt: skip
        self.broker_port = broker
        self.webs = [
            self._part(
                f"web-{number}", sys.executable, "-m", "gunicorn", "-c", "config/gunicorn.py", "config.wsgi",
                "--bind", f"127.0.0.1:{port}",
            )
            for number, port in enumerate(ports, start=1)
        ]  # fmt: skip
        celery = (sys.executable, "-m", "celery", "--quiet", "-A", "config")
        self.workers = [
            self._part(
                f"worker-{number}", *celery, "worker", "--pool", "threads", "--concurrency", "8",
                "--without-gossip", "--without-mingle", "--loglevel", "ERROR", "-n", f"w{number}@chaos",
            )
            for number in range(1, workers + 1)
        ]  # fmt: skip
        self.beat = self._part(
            "beat", *celery, "beat", "--loglevel", "ERROR", "-s", str(folder / "beat"), "--pidfile", ""
        )
        self.parts = (self.beat, *self.workers, *self.webs, self.redis)
        self.supervisor = Supervisor(self.parts)

    def _environment(self, broker: int, evaluator_port: int) -> dict[str, str]:
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        return kept | {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "VAR_DIR": str(self.folder / "var"),
            "SECRET_KEY": secrets.token_urlsafe(32),
            "RECEIPT_KEY": secrets.token_urlsafe(32),
            "SITE_URL": self.bases[0],
            "DATABASE_URL": self.dsn,
            "BROKER_URL": f"redis://127.0.0.1:{broker}/0",
            "LEASE_SECONDS": str(LEASE_SECONDS),
            "EVALUATOR": "system_one",
            "EVALUATOR_URL": f"http://127.0.0.1:{evaluator_port}",
            "EVALUATOR_MODEL": "chaos",
            "EVALUATOR_SECONDS": str(EVALUATOR_SECONDS),
            "CHECK_WAIT_SECONDS": "5",
            "LOG_LEVEL": "ERROR",
        }

    def _part(self, name: str, *command: str) -> Part:
        return Part(name, command, self.environment, self.folder / f"{name}.log")

    def __enter__(self) -> Self:
        try:
            self.postgres.make()
            self.redis.start()
            _until(lambda: answers(self.broker_port), "Redis")
            subprocess.run(
                [sys.executable, "manage.py", "migrate", "--verbosity", "0"], check=True, cwd=ROOT,
                env=self.environment,
            )  # fmt: skip
        except BaseException:
            self.__exit__()
            raise
        return self

    def serve(self) -> None:
        """Start all that the callers need, and wait until each web server answers."""
        for part in (*self.webs, *self.workers, self.beat):
            part.start()
        for base in self.bases:
            _until(lambda base=base: _describes(base), base)  # type: ignore[misc]
        self.supervisor.start()

    def __exit__(self, *_: object) -> None:
        self.supervisor.stop()
        for part in self.parts:
            part.kill()
        self.postgres.kill()


def _describes(base: str) -> bool:
    with suppress(httpx.HTTPError):
        return httpx.post(f"{base}/v1/describe", json={}, trust_env=False).is_success
    return False


def _until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(f"{what} did not start; see its log")
        time.sleep(0.1)
