"""The suite's own process files, and what a server must offer to publish each."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from conformance.registry import Need, profile, tool

FOLDER = Path(__file__).parent / "processes"
TEAM = "conform-team"  # the one role of the suite's files: both people are in its group

_NEEDS = (
    (re.compile(r"^    parallel:", re.MULTILINE), profile("parallel-1")),
    (re.compile(r"^    check:", re.MULTILINE), profile("check-1")),
    (re.compile(r"^    evidence: \[.*\bfile\b", re.MULTILINE), tool("upload")),
    (re.compile(r"^    wait_for:", re.MULTILINE), tool("send_event")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessFile:
    name: str
    folder: Path
    text: str
    needs: tuple[Need, ...]

    @property
    def body(self) -> str:
        """All that follows the line that closes the front matter, as it is written."""
        return self.text.split("\n---\n", 1)[1]


def files() -> Iterator[ProcessFile]:
    for folder in sorted(FOLDER.iterdir()):
        path = folder / "PROCESS.md"
        if path.is_file():
            # newlines as they are: a body is returned exactly as written
            text = path.read_bytes().decode("utf-8")
            needs = tuple(need for pattern, need in _NEEDS if pattern.search(text))
            yield ProcessFile(name=folder.name, folder=folder, text=text, needs=needs)


def read(name: str) -> ProcessFile:
    """Raises StopIteration for a name that is none of ours."""
    return next(file for file in files() if file.name == name)


def write_to(target: Path) -> list[Path]:
    """Copy every file to a folder of the reader's, to be published by hand."""
    written = []
    for file in files():
        into = target / file.name
        into.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file.folder / "PROCESS.md", into / "PROCESS.md")
        written.append(into)
    return written


_ASK = re.compile(r"^ +(?:- )?(?:ask|check): (\S.*)$", re.MULTILINE)


def asks() -> frozenset[str]:
    """Every question that the suite's files put to an evaluator."""
    return frozenset(text.strip() for file in files() for text in _ASK.findall(file.text))
