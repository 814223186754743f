"""gunicorn's file: what follows from the settings, and an end that loses no answer."""

import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.servers.system_one import Reply, SystemOneServer, yes_to_everything
from tests.world import GOOD, SCREENING

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "config" / "gunicorn.py"
NAMES = ("WEB_CONCURRENCY", "SERVER_THREADS", "CHECK_WAIT_SECONDS", "LOG_FORMAT", "BIND")
KEPT = ("PATH", "HOME", "LANG")


@pytest.fixture
def read(monkeypatch):
    def read(**values):
        for name in NAMES:
            monkeypatch.delenv(name, raising=False)
        for name, value in values.items():
            monkeypatch.setenv(name, value)
        return runpy.run_path(str(FILE))

    return read


def test_calls_that_wait_for_a_check_are_answered_before_the_end(read):
    assert read()["graceful_timeout"] > 25
    found = read(CHECK_WAIT_SECONDS="90.5")
    assert found["timeout"] > found["graceful_timeout"] > 90.5


def test_threads_are_the_servers(read):
    found = read(SERVER_THREADS="12")
    assert (found["worker_class"], found["threads"]) == ("gthread", 12)


def test_a_single_process_is_never_renewed(read):
    """Nobody would answer while its last calls end."""
    assert read()["max_requests"] == 0
    found = read(WEB_CONCURRENCY="2")
    assert found["max_requests"] > 0 and found["max_requests_jitter"] > 0


def test_its_own_lines_are_like_the_servers_and_name_no_paths(read):
    found = read(LOG_FORMAT="json")["logconfig_dict"]
    assert found["handlers"]["console"]["formatter"] == "json"
    assert found["loggers"]["gunicorn.access"]["handlers"] == []


@contextmanager
def running(environment):
    command = [sys.executable, "-m", "gunicorn", "-c", "config/gunicorn.py", "config.wsgi"]
    with subprocess.Popen(command, cwd=ROOT, env=environment) as server:
        url = environment["SITE_URL"]
        try:
            for _ in range(150):
                try:
                    httpx.get(f"{url}/v1/health", trust_env=False).raise_for_status()
                    break
                except httpx.HTTPError:
                    time.sleep(0.2)
            yield server
        finally:
            server.kill()


def manage(environment, *arguments):
    command = [sys.executable, "manage.py", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.long
def test_a_server_that_is_told_to_end_answers_first(tmp_path):
    """A check is under way when SIGTERM comes: its call is answered, then the server goes, and by itself."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    slow = lambda request: Reply(body=yes_to_everything(request).body, wait=3.0)  # noqa: E731
    with SystemOneServer([slow]) as model:
        environment = {
            **{name: os.environ[name] for name in KEPT if name in os.environ},
            "VAR_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "config.settings", "BIND": f"127.0.0.1:{port}",
            "SITE_URL": f"http://127.0.0.1:{port}", "EVALUATOR": "system_one", "EVALUATOR_URL": model.base_url,
            "EVALUATOR_MODEL": "m", "LOG_LEVEL": "WARNING",
        }  # fmt: skip
        manage(environment, "migrate", "--verbosity", "0")
        (tmp_path / "screening").mkdir()
        (tmp_path / "screening" / "PROCESS.md").write_text(SCREENING)
        manage(
            environment,
            "publish",
            str(tmp_path / "screening"),
            "--role=finance=Finance",
            "--escalations=Support",
        )
        key = manage(environment, "agent", "create", "one").splitlines()[-1]
        http = httpx.Client(
            base_url=f"{environment['SITE_URL']}/v1",
            headers={"Authorization": f"Bearer {key}"},
            timeout=30,
            trust_env=False,
        )

        def call(tool, **arguments):
            return http.post(f"/{tool}", json={**arguments, "requestId": f"{tool}-1"}).json()

        with running(environment) as server:
            run = call("start_run", process="screening", inputs={"supplier": "Acme"})["data"]["run"]["id"]
            token = call("claim", runId=run, stepId="screen")["data"]["token"]
            answers = []
            caller = threading.Thread(target=lambda: answers.append(call("submit", token=token, **GOOD)))
            caller.start()
            while not model.requests:
                time.sleep(0.05)
            server.send_signal(signal.SIGTERM)
            caller.join(timeout=30)
            assert answers and answers[0]["ok"], answers
            assert server.wait(timeout=30) == 0
