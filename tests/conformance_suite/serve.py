"""`make conformance`: a fresh server of this project, and the suite against it.

    python -m tests.conformance_suite.serve [--out DIR] [arguments of `python -m conformance`, such as --only claim]

The server is the one that `make demo` starts, in a folder of its own that is gone afterwards, with a short lease
and with the suite's model as its evaluator. TAP, table and the server's log are left in DIR (default: var). The
exit code is the suite's.
"""

import argparse
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import django

from config import serving

ROOT = Path(__file__).resolve().parents[2]
LEASE_SECONDS = 5  # the longest that the suite will wait for the end of one
COULD_NOT_RUN = 2  # as the suite says it
# all that is taken over from whoever starts this: their settings are for a server of theirs
KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance_suite.serve", add_help=False)
    parser.add_argument("--out", type=Path, default=ROOT / "var")
    chosen, for_the_suite = parser.parse_known_args(arguments)
    out: Path = chosen.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # stop the server on the way out
    port, model_port = _free_ports(2)
    url = f"http://127.0.0.1:{port}"
    log = out / "conformance.log"
    with tempfile.TemporaryDirectory(prefix="countersign-conformance-") as name, log.open("w") as words:
        _settle_in(Path(name), url, model_port)
        credentials = _prepare(Path(name))
        try:
            server = serving.serve(port, url, log=words)
        except serving.NotStartedError as error:
            sys.stderr.write(f"{error}; its words are in {log}\n")
            return COULD_NOT_RUN
        try:
            return _run_suite(url, credentials, model_port, out, for_the_suite)
        finally:
            serving.stop(server)


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]


def _settle_in(folder: Path, url: str, model_port: int) -> None:
    """The environment of this process, and of the server and the commands that it starts."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    os.environ.clear()
    os.environ.update(
        kept,
        DJANGO_SETTINGS_MODULE="config.settings",
        VAR_DIR=str(folder),
        SITE_URL=url,
        LEASE_SECONDS=str(LEASE_SECONDS),
        EVALUATOR="system_one",
        EVALUATOR_URL=f"http://127.0.0.1:{model_port}",
        EVALUATOR_MODEL="conformance",
        LOG_LEVEL="ERROR",  # an evaluator that is told to fail is no news here
    )


def _prepare(folder: Path) -> Path:
    """A database with the suite's callers in it; the file with their credentials."""
    django.setup()
    from django.core.management import call_command
    from django.db import connection

    from tests.conformance_suite.callers import make_callers

    call_command("migrate", verbosity=0)
    file = folder / "credentials.json"
    file.touch(mode=0o600)
    file.write_text(json.dumps(make_callers()), "utf-8")
    connection.close()
    return file


def _run_suite(url: str, credentials: Path, model_port: int, out: Path, arguments: Sequence[str]) -> int:
    """The suite as anybody would call it. What it says goes to a file as well; gives its exit code."""
    publish = f"{shlex.quote(sys.executable)} manage.py publish {{paths}} --role {{role}}={{group}}"
    tap, table = out / "conformance.tap", out / "conformance.md"
    command = [
        sys.executable, "-m", "conformance", url, "--credentials", str(credentials), "--publish-command", publish,
        "--evaluator-port", str(model_port), "--strict", "--markdown", str(table), *arguments,
    ]  # fmt: skip
    # what it leaves when it is stopped goes with our folder
    environment = {**os.environ, "TMPDIR": str(credentials.parent)}
    with (
        tap.open("w", encoding="utf-8") as kept,
        subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as suite,
    ):
        assert suite.stdout is not None
        try:
            for line in suite.stdout:
                sys.stdout.write(line)
                sys.stdout.flush()
                kept.write(line)
        except BaseException:
            suite.terminate()
            raise
    sys.stdout.write(f"# kept in {tap}, {table.name} and conformance.log\n")
    return suite.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
