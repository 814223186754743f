"""A server in a process of its own, as the commands that need one start it: gunicorn, as in production."""

import os
import subprocess
import sys
import time
from typing import IO

import httpx
from django.conf import settings

START_SECONDS = 60  # generous: the machine may be busy
STOP_SECONDS = 10


class NotStartedError(RuntimeError):
    """The server did not answer in time, or left; its own words tell why."""


def serve(port: int, url: str, *, log: IO[str] | None = None) -> subprocess.Popen[bytes]:
    """Returns when it answers. Raises NotStartedError. `log`: where its words go (default: standard error)."""
    command = [
        sys.executable, "-m", "gunicorn", "-c", str(settings.BASE_DIR / "config" / "gunicorn.py"), "config.wsgi",
        "--bind", f"127.0.0.1:{port}", "--chdir", str(settings.BASE_DIR),
    ]  # fmt: skip
    environment = {
        "LOG_LEVEL": "WARNING",
        **os.environ,
        "SITE_URL": url,
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    server = subprocess.Popen(command, env=environment, stderr=log)  # noqa: S603 - our own command line
    try:
        _wait_for(server, url)
    except BaseException:
        stop(server)
        raise
    return server


def _wait_for(server: subprocess.Popen[bytes], url: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        try:
            httpx.post(f"{url}/v1/describe", json={}, trust_env=False).raise_for_status()
        except httpx.HTTPError:
            time.sleep(0.2)
        else:
            return
    raise NotStartedError("The server did not start")


def stop(server: subprocess.Popen[bytes]) -> None:
    """Gently, and firmly where a request keeps it."""
    server.terminate()
    try:
        server.wait(timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
