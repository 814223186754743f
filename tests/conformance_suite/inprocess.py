"""The real server in this process, with the suite's files published and its callers made, and the suite against it.

Calls go through the WSGI application without a network; only the suite's own evaluator listens on a port.
"""

import io
import json
import re
import shutil
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import httpx
from django.conf import settings
from django.contrib.contenttypes.models import ContentType
from django.core.management import CommandError, call_command
from django.core.wsgi import get_wsgi_application
from django.db import connection
from django.test import override_settings

from conformance import command, library, publishing
from processes.versions import compiled
from tests.conformance_suite.callers import make_callers

# cases are told apart by whether they wait for the end of a lease; for the others none ends, however busy the machine
LONG_LEASE, SHORT_LEASE = 600, 4
_LINE = re.compile(r"(?P<not>not )?ok \d+ - (?P<case>\S+) .*?(?P<skipped># SKIP .*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a run of the suite came to. `verdicts`: `ok`, `failed` or `skipped` by case."""

    code: int
    verdicts: Mapping[str, str]
    text: str

    @property
    def failed(self) -> set[str]:
        return {case for case, verdict in self.verdicts.items() if verdict == "failed"}


class Publisher(publishing.Publisher):
    """Publishes with the command of this server, but without a process for it."""

    def publish(self, paths: Sequence[Path]) -> publishing.Outcome:
        said = io.StringIO()
        roles = [f"--role={role}={group}" for role, group in self.roles_of(paths).items()]
        try:
            call_command("publish", *map(str, paths), *roles, stdout=said, stderr=said)
        except CommandError as error:
            return publishing.Outcome(published=False, said=f"{said.getvalue()}{error}")
        return publishing.Outcome(published=True, said=said.getvalue())


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """`published` is a copy of the database before any run."""

    credentials: Path
    model_port: int
    database: Path
    published: Path

    def run(self, *cases: str, publish: bool = False, lease: int = LONG_LEASE) -> Told:
        """The suite, strictly, over these cases (all where none is named). Nothing of an earlier run is left.

        `publish`: with the cases about publication.
        """
        _put(self.published, self.database)
        try:
            with override_settings(LEASE_SECONDS=lease):
                return self._told(*cases, publish=publish)
        finally:
            if publish:
                compiled.cache_clear()  # the next run's versions get the same numbers

    def _told(self, *cases: str, publish: bool) -> Told:
        way = ["--publish-command={paths}"] if publish else ["--already-published"]
        said, errors = io.StringIO(), io.StringIO()
        with redirect_stdout(said), redirect_stderr(errors):
            code = command.main(
                [
                    settings.SITE_URL, f"--credentials={self.credentials}", *way, "--strict",
                    f"--evaluator-port={self.model_port}", *(f"--only={case}" for case in cases),
                ],
                transport=httpx.WSGITransport(get_wsgi_application(), raise_app_exceptions=False),
            )  # fmt: skip
        found = [line for text in said.getvalue().splitlines() if (line := _LINE.fullmatch(text))]
        verdicts = {
            line["case"]: "failed" if line["not"] else "skipped" if line["skipped"] else "ok"
            for line in found
        }
        return Told(code=code, verdicts=verdicts, text=said.getvalue() + errors.getvalue())


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    """A server ready for the suite, on a database of its own in this folder."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    credentials, database, published = (
        folder / name for name in ("credentials.json", "database.sqlite3", "published.sqlite3")
    )
    with (
        _database(database),
        override_settings(
            EVALUATOR="system_one",
            EVALUATOR_URL=f"http://127.0.0.1:{port}",
            EVALUATOR_MODEL="conformance",
        ),
    ):
        credentials.write_text(json.dumps(make_callers()), "utf-8")
        folders = [str(file.folder) for file in library.files()]
        call_command("publish", *folders, f"--role={library.TEAM}={library.TEAM}", stdout=io.StringIO())
        connection.close()  # the last one writes all of it to the file
        shutil.copyfile(database, published)
        yield Server(credentials=credentials, model_port=port, database=database, published=published)


def _put(copy: Path, database: Path) -> None:
    """Begin again with a copy of the database, as a file of its own: whoever still holds the old one keeps it."""
    connection.close()
    draft = database.with_suffix(".draft")
    shutil.copyfile(copy, draft)
    for left in ("-wal", "-shm"):
        database.with_name(database.name + left).unlink(missing_ok=True)
    draft.replace(database)


@contextmanager
def _database(file: Path) -> Iterator[None]:
    """Another SQLite database behind all connections: the suite's calls come from several threads, so what
    they write has to be committed, and nothing of it may be left to other tests.
    """
    before = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = str(file)
    compiled.cache_clear()
    try:
        call_command("migrate", verbosity=0)
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = before
        ContentType.objects.clear_cache()  # by the numbers of this database, as are the versions
        compiled.cache_clear()
