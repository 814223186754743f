"""A process file's text for the screen: its lines with their issues, and differences of two texts. Pure."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from processes.document import Issue

MAX_NUMBERED = 3_000  # lines that get numbers; a longer text is shown as it is
MAX_WHOLE = 1_000  # lines of a checked text that is shown whole; of a longer one only what has issues
MAX_COMPARED = 10_000
CONTEXT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line with what is wrong with it; `number` is 0 where lines are left out."""

    number: int
    text: str = ""
    issues: tuple[Issue, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A line of a comparison. `kind`: ins, del, same, or gap where equal lines are left out."""

    kind: str
    text: str = ""
    old: int | None = None
    new: int | None = None

    @property
    def words(self) -> str:
        return self.text.lstrip()

    @property
    def indent(self) -> str:
        return self.text[: len(self.text) - len(self.words)]


def split(text: str) -> list[str]:
    """The lines as a process file counts them, without their ends."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines[:-1] if lines[-1] == "" else lines


def numbered(text: str, issues: tuple[Issue, ...]) -> list[Line]:
    """Every line; none where there are too many to be shown so."""
    lines = split(text)
    if len(lines) > MAX_NUMBERED:
        return []
    found = _by_line(issues)
    return [Line(number=n, text=line, issues=found.get(n, ())) for n, line in enumerate(lines, 1)]


def checked(text: str, issues: tuple[Issue, ...]) -> list[Line]:
    """The lines with each issue under its own; of a long text only those around the issues."""
    lines, found = split(text), _by_line(issues)
    if not found:
        return []
    shown = set(range(1, len(lines) + 1))
    if len(lines) > MAX_WHOLE:
        shown &= {n for at in found for n in range(at - CONTEXT, at + CONTEXT + 1)}
    numbers = sorted(shown)
    result = [Line(number=n, text=lines[n - 1], issues=found.get(n, ())) for n in numbers]
    for at, (before, after) in reversed(list(enumerate(pairwise([0, *numbers])))):
        if after - before > 1:
            result.insert(at, Line(number=0))
    return result


def _by_line(issues: tuple[Issue, ...]) -> dict[int, tuple[Issue, ...]]:
    found: dict[int, tuple[Issue, ...]] = {}
    for issue in issues:
        if issue.line is not None:
            found[issue.line] = (*found.get(issue.line, ()), issue)
    return found


def place(issue: Issue) -> str:
    """Where an issue is, as a path: `steps.read.check[0].fail`."""
    step = f"steps.{issue.step}" if issue.step and not issue.step.startswith("steps[") else issue.step
    return ".".join(part for part in (step, issue.key) if part)


def differences(old: str, new: str) -> list[Difference] | None:
    """What two texts have not in common, with some lines around; None where they are too long for that.

    Line ends don't count: two texts that differ in nothing else have no differences.
    """
    a, b = split(old), split(new)
    if len(a) + len(b) > MAX_COMPARED:
        return None
    found: list[Difference] = []
    end = 0
    for group in difflib.SequenceMatcher(None, a, b).get_grouped_opcodes(CONTEXT):
        if group[0][1] > end:
            found.append(Difference(kind="gap"))
        for tag, a1, a2, b1, b2 in group:
            found += _block(tag, a[a1:a2], b[b1:b2], a1, b1)
        end = group[-1][2]
    if found and end < len(a):
        found.append(Difference(kind="gap"))
    return found


def _block(tag: str, a: list[str], b: list[str], a1: int, b1: int) -> Iterator[Difference]:
    if tag == "equal":
        for n, text in enumerate(a, 1):
            yield Difference(kind="same", text=text, old=a1 + n, new=b1 + n)
        return
    for n, text in enumerate(a, 1):
        yield Difference(kind="del", text=text, old=a1 + n)
    for n, text in enumerate(b, 1):
        yield Difference(kind="ins", text=text, new=b1 + n)
