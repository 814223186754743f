"""`manage.py demo` as a stranger runs it: twice, on a fresh folder, in a process of its own."""

import os
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[2]


class Demo:
    """The command's process and what it has said so far."""

    def __init__(self, var: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        kept = {k: v for k, v in os.environ.items() if k not in ("DATABASE_URL", "DJANGO_SETTINGS_MODULE")}
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "demo", "--port", str(port)],
            cwd=ROOT, env={**kept, "VAR_DIR": str(var)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        self.url = f"http://127.0.0.1:{port}"
        self.said: list[str] = []
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self._lines.put(line.rstrip())

    def until(self, words: str) -> str:
        """Everything said up to these words."""
        while not any(words in line for line in self.said):
            self.said.append(self._lines.get(timeout=120))
        return "\n".join(self.said)

    def stop(self, by: signal.Signals = signal.SIGINT) -> None:
        self.process.send_signal(by)
        self.process.wait(timeout=20)


@pytest.fixture
def demo(tmp_path):
    running: list[Demo] = []

    def start() -> Demo:
        running.append(Demo(tmp_path / "var"))
        return running[-1]

    yield start
    for one in running:
        if one.process.poll() is None:
            one.stop()


def test_the_demo_shows_every_kind_of_case_and_survives_a_second_start(demo, chromium):
    first = demo()
    said = first.until("Ctrl-C stops the server.")
    for word in ("unsure ", "accepted ", "bounced ", "escalated", "returned "):
        assert word in said, said
    password = re.search(r"approver, password (\S+)", said)[1]

    page = chromium.new_context().new_page()
    page.goto(f"{first.url}/sign-in/")
    page.fill("input[name=username]", "approver")
    page.fill("input[name=password]", password)
    page.keyboard.press("Enter")
    rows = page.locator(".row-subject")
    rows.first.wait_for()
    assert rows.first.inner_text() in ("Marlow Paper Ltd", "Alder Logistics BV")
    assert page.get_by_text("not a model").first.is_visible()
    page.context.close()
    first.stop()

    again = demo()
    said = again.until("Ctrl-C stops the server.")
    assert "says the same already" in said
    assert "started" not in said  # the queue still holds what the first start brought
    again.stop(signal.SIGTERM)
    with socket.socket() as probe:  # whatever ends the command, its server goes too
        assert probe.connect_ex(("127.0.0.1", int(again.url.rpartition(":")[2]))) != 0
