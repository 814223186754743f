"""`make conformance` as it is called, over a few cases: one of a plain call, one of publication."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CASES = "describe.protocol,refuse.no-name"


def start(out):
    # somebody else's settings must not reach the server
    environment = {**os.environ, "TMPDIR": str(out), "EVALUATOR": "heuristic", "LEASE_SECONDS": "600"}
    return subprocess.Popen(
        [sys.executable, "-m", "tests.conformance_suite.serve", "--out", str(out / "kept"), "--only", CASES],
        cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def left(out):
    """The folders of servers that are not gone."""
    return list(out.glob("countersign-conformance-*"))


def test_a_fresh_server_is_tried_and_stopped(tmp_path):
    process = start(tmp_path)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 0, said
    assert "# 2 passed, 0 failed, 0 skipped" in said
    assert "1..2" in (tmp_path / "kept" / "conformance.tap").read_text()
    assert "`refuse.no-name`" in (tmp_path / "kept" / "conformance.md").read_text()
    assert not left(tmp_path)


@pytest.mark.long
def test_it_cleans_up_when_it_is_told_to_stop(tmp_path):
    process = start(tmp_path)
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("countersign-conformance-*/credentials.json")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert not left(tmp_path)
