"""The harness itself: what ends by itself is started again, what was killed waits for whoever killed it."""

import os
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.chaos import cluster
from tests.chaos.cluster import Part, Supervisor, free_ports

LIVES = "import time; print('here', flush=True); time.sleep(60)"
ENDS = "print('here', flush=True)"


@pytest.fixture
def supervised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sequence[Part]]:
    monkeypatch.setattr(cluster, "AGAIN_SECONDS", 0.05)
    parts = [
        Part(name, (sys.executable, "-c", code), dict(os.environ), tmp_path / f"{name}.log")
        for name, code in (("lives", LIVES), ("ends", ENDS))
    ]
    supervisor = Supervisor(parts)
    for part in parts:
        part.start()
    supervisor.start()
    yield parts
    supervisor.stop()
    for part in parts:
        part.kill()
    assert set(supervisor.ended) == {"ends"}


def _started(part: Part, times: int) -> bool:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if len(part.last_lines(1_000)) >= times:
            return True
        time.sleep(0.05)
    return False


def test_what_ends_by_itself_is_started_again(supervised: Sequence[Part]) -> None:
    lives, ends = supervised
    assert _started(ends, 3)
    assert _started(lives, 1)
    assert not _more_than(lives, 1)


def test_what_was_killed_is_left_to_whoever_killed_it(supervised: Sequence[Part]) -> None:
    lives, ends = supervised
    assert _started(lives, 1)
    lives.kill()
    assert _started(ends, 3)  # the supervisor has looked since
    assert not _more_than(lives, 1)
    lives.again()
    assert _started(lives, 2)


def _more_than(part: Part, times: int) -> bool:
    return len(part.last_lines(1_000)) > times


def test_ports_are_free_and_none_that_a_system_hands_out() -> None:
    ports = free_ports(4)
    assert len(set(ports)) == 4
    assert all(port < 32_768 for port in ports)
    for port in ports:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
