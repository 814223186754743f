"""The short form of `make chaos`: each part of an installation is killed once under load."""

import json
import subprocess
import sys

import pytest

from tests.chaos.cluster import ROOT, binaries
from tests.conftest import REQUIRED

KINDS = {"web", "worker", "beat", "redis", "postgres"}


def test_nothing_is_lost_doubled_or_stuck(tmp_path):
    if (reason := binaries()) and not REQUIRED:
        pytest.skip(f"an installation of its own can't be built here; {reason}")
    report = tmp_path / "report.json"
    command = [sys.executable, "-m", "tests.chaos", "--short", "--report", str(report), "--pause", "0.5", "2"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert report.exists(), ended.stderr[-3000:]
    told = json.loads(report.read_text("utf-8"))
    assert set(told["killed"]) == KINDS
    assert told["counts"]["calls without an answer"] > 0  # it did hurt
    assert told["counts"]["acknowledged submit"] > 0
    assert told["clean"], json.dumps(told, indent=1)
