"""How process files get published: by a command of the operator's, or beforehand by hand.

A command is a template such as `python manage.py publish {paths} --role {role}={group}`. `{paths}` alone in
an argument becomes one argument per folder; an argument that holds `{role}` or `{group}` is repeated for each
role, together with the option (`--role`) that stands right before it.
"""

import os
import shlex
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from conformance.failures import CannotRunError

SECONDS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the command did. `said`: its output and errors together."""

    published: bool
    said: str


class Publisher:
    """Runs the command; safe to use from several threads."""

    def __init__(self, template: str, roles: Mapping[str, str]) -> None:
        try:
            self._words = shlex.split(template)
        except ValueError as error:
            raise CannotRunError(f"--publish-command can't be read: {error}") from None
        if not any("{paths}" in word for word in self._words):
            raise CannotRunError("--publish-command must hold {paths}, where the folders' paths go")
        self._roles = dict(roles)

    def command(self, paths: Sequence[Path]) -> list[str]:
        """The template with folders and roles filled in."""
        filled: list[str] = []
        for word in self._words:
            if word == "{paths}":
                filled += [str(path) for path in paths]
            elif "{role}" in word or "{group}" in word:
                option = filled.pop() if filled and filled[-1].startswith("-") else ""
                for role, group in self._roles.items():
                    filled += [option] if option else []
                    filled.append(word.replace("{role}", role).replace("{group}", group))
            else:
                filled.append(word.replace("{paths}", " ".join(str(path) for path in paths)))
        return filled

    def publish(self, paths: Sequence[Path]) -> Outcome:
        """Run the command for these folders. Its exit code tells whether they were published."""
        try:
            done = subprocess.run(  # noqa: S603 - the command is the operator's own
                self.command(paths), capture_output=True, timeout=SECONDS, check=False, env=os.environ.copy()
            )
        except FileNotFoundError as error:
            raise CannotRunError(f"--publish-command can't be run: {error}") from None
        except subprocess.TimeoutExpired:
            return Outcome(published=False, said=f"the command took longer than {SECONDS} seconds")
        said = (done.stdout + done.stderr).decode("utf-8", "replace").strip()
        return Outcome(published=done.returncode == 0, said=said)


class Desk:
    """Publishes many files at once in the background, and keeps what became of each.

    `desk.put(name, text)` begins; `desk.outcome(name)` waits. Each file lies in a folder of its name.
    """

    def __init__(self, publisher: Publisher, jobs: int) -> None:
        self._publisher = publisher
        self._pool = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="publish")
        self._folder = tempfile.TemporaryDirectory(prefix="conformance-")
        self._outcomes: dict[str, Future[Outcome]] = {}

    def put(self, key: str, name: str, content: bytes) -> None:
        """Begin to publish `content` as the PROCESS.md of a folder `name`, unless `key` was begun before."""
        if key not in self._outcomes:
            folder = Path(self._folder.name) / str(len(self._outcomes)) / name
            folder.mkdir(parents=True)
            (folder / "PROCESS.md").write_bytes(content)
            self._outcomes[key] = self._pool.submit(self._publisher.publish, [folder])

    def outcome(self, key: str) -> Outcome:
        return self._outcomes[key].result()

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._folder.cleanup()


def publish_each(publisher: Publisher, folders: Mapping[str, Path], jobs: int) -> dict[str, Outcome]:
    """Publish all in one go; where the command refuses that, one by one, to learn which it refuses."""
    together = publisher.publish(list(folders.values()))
    if together.published or len(folders) == 1:
        return dict.fromkeys(folders, together)
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        done: Iterable[Outcome] = pool.map(lambda path: publisher.publish([path]), folders.values())
        return dict(zip(folders, done, strict=True))
