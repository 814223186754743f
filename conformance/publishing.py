"""How process files get published: by a command of the operator's, or beforehand by hand.

A command is a template such as `python manage.py publish {paths} --role {role}={group}`. `{paths}` alone in
an argument becomes one argument per folder; an argument that holds `{role}` or `{group}` is repeated for each
role that the folders' files name, together with the option (`--role`) that stands right before it.
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
                for role, group in self.roles_of(paths).items():
                    filled += [option] if option else []
                    filled.append(word.replace("{role}", role).replace("{group}", group))
            else:
                filled.append(word.replace("{paths}", " ".join(str(path) for path in paths)))
        return filled

    def roles_of(self, paths: Sequence[Path]) -> dict[str, str]:
        """The roles that the files name, with their groups: a server may refuse one that no file knows."""
        files = [path / "PROCESS.md" for path in paths]
        texts = [file.read_bytes() for file in files if file.is_file()]
        return {
            role: group for role, group in self._roles.items() if any(role.encode() in text for text in texts)
        }

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
    """Publishes many files in the background, and keeps what became of each.

    `desk.put(key, name, content)` and then `desk.outcome(key)`, which waits. Each file lies in a folder of its
    name. `desk.begin(sound)` tries all that was put so far in one command first, because starting a command
    costs more than reading a file: a file that the refused command names is refused. That is believed only
    where the command does not name `sound`, a file with nothing wrong in it; what it does not name is tried
    by itself.
    """

    def __init__(self, publisher: Publisher, jobs: int) -> None:
        self._publisher = publisher
        self._pool = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="publish")
        self._folder = tempfile.TemporaryDirectory(prefix="conformance-")
        self._folders: dict[str, Path] = {}
        self._alone: dict[str, Future[Outcome]] = {}
        self._together: Future[dict[str, Outcome]] | None = None

    def put(self, key: str, name: str, content: bytes) -> None:
        """`content` is to be published as the PROCESS.md of a folder `name`, unless `key` was put before."""
        if key not in self._folders:
            folder = Path(self._folder.name) / str(len(self._folders)) / name
            folder.mkdir(parents=True)
            (folder / "PROCESS.md").write_bytes(content)
            self._folders[key] = folder

    def begin(self, sound: str) -> None:
        """Try what was put so far; `sound` is the key of the file that has nothing wrong in it."""
        self._together = self._pool.submit(self._try_together, dict(self._folders), sound)

    def outcome(self, key: str) -> Outcome:
        """What became of a file that was put; it is tried now where that has not begun."""
        found = self._together.result() if self._together is not None else {}
        if key in found:
            return found[key]
        return self._begun(key).result()

    def again(self, key: str) -> Outcome:
        """Try a file by itself, whatever was learnt of it in company."""
        return self._begun(key).result()

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._folder.cleanup()

    def _begun(self, key: str) -> Future[Outcome]:
        if key not in self._alone:
            self._alone[key] = self._pool.submit(self._publisher.publish, [self._folders[key]])
        return self._alone[key]

    def _try_together(self, folders: dict[str, Path], sound: str) -> dict[str, Outcome]:
        """The files that one command for all of them names as refused; the others are begun one by one."""
        said = self._publisher.publish(list(folders.values()))
        lines = said.said.splitlines()
        named = {
            key: "\n".join(line for line in lines if str(folder) in line) for key, folder in folders.items()
        }
        believed = not said.published and not named[sound]
        refused = {key: words for key, words in named.items() if words and believed}
        for key in folders:
            if key not in refused and key != sound:
                self._begun(key)
        return {key: Outcome(published=False, said=words) for key, words in refused.items()}


def publish_each(publisher: Publisher, folders: Mapping[str, Path], jobs: int) -> dict[str, Outcome]:
    """Publish all in one go; where the command refuses that, one by one, to learn which it refuses."""
    together = publisher.publish(list(folders.values()))
    if together.published or len(folders) == 1:
        return dict.fromkeys(folders, together)
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        done: Iterable[Outcome] = pool.map(lambda path: publisher.publish([path]), folders.values())
        return dict(zip(folders, done, strict=True))
