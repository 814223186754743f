"""The lines of a text to its paragraphs, list items, table rows and blocks of code. Pure.

A mark of a list is taken off only where it is one: no letter, digit or sign of running prose may be lost, however its lines
are broken. A number that opens a line counts an item where the lines before and after count on (1, 2, 3); a lone one stays.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

_FENCE = re.compile(r"\s*(?:```|~~~)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+")
_HEADING_SAYS = re.compile(r"[.!]\s*#*\s*$")
_UNDERLINE = re.compile(r"\s*(?:={3,}|-{3,}|\*{3,}|_{3,})\s*")
_BULLET = re.compile(r"\s*([-*+•‣◦–])\s+(?=\S)")
_COUNTED = re.compile(r"\s*\(?(\d{1,3}|[a-z])[.)]\s+(?=\S)")
_ROW = re.compile(r"\s*\|.*\|\s*")
_RULE = frozenset(" \t:|-")
_LABELLED = re.compile(r"\s*[^\W\d_][\w /-]{0,40}:\s+\S")
_MARKS = re.compile(r"\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)|^\s*>+\s?", re.MULTILINE)
_LEADS = ":：、"
_STOPS = ".!?…;。！？؟।"


@dataclass(slots=True)
class _Open:
    """The paragraph or item that is being read."""

    lines: list[str] = field(default_factory=list)
    item: bool = False

    @property
    def last(self) -> str:
        return self.lines[-1].rstrip()[-1:] if self.lines else ""

    def take(self) -> Iterator[str]:
        """Its text on one line, and no longer open."""
        text = _MARKS.sub("", " ".join(line.strip() for line in self.lines))
        self.lines, self.item = [], False
        if plain := " ".join(text.split()):
            yield plain


@dataclass(frozen=True, slots=True)
class Part:
    """`prose` is to be parted at its sentences; a row has `fields`, and may be `listed` beside others."""

    text: str
    prose: bool = True
    fields: tuple[str, ...] = ()
    listed: bool = False


def paragraphs(text: str) -> Iterator[Part]:
    """Each on one line, in order."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    counting = _counting(lines)
    now = _Open()
    at = 0
    while at < len(lines):
        block, after = _block(lines, at)
        if block is not None:
            yield from map(Part, now.take())
            yield from block
            at = after
            continue
        yield from map(Part, _line(lines[at], now, counts_on=at in counting))
        at += 1
    yield from map(Part, now.take())


def names_only(text: str) -> bool:
    """Whether there is nothing but headings."""
    return all(
        not line.strip() or _HEADING.match(line) or _UNDERLINE.fullmatch(line) for line in text.splitlines()
    )


def _line(line: str, now: _Open, *, counts_on: bool) -> Iterator[str]:
    """What ends before or with this line; the line itself is added to what is open."""
    heading = _HEADING.match(line)
    if not line.strip() or heading or _UNDERLINE.fullmatch(line):
        yield from now.take()
        if heading:
            yield from _heading(line[heading.end() :])
        return
    mark = _mark(line, now, counts_on=counts_on)
    if mark is not None:
        yield from now.take()
        now.lines, now.item = [line[mark:]], True
    elif _LABELLED.match(line):
        yield from now.take()
        now.lines = [line]
    else:
        now.lines.append(line)


def _mark(line: str, now: _Open, *, counts_on: bool) -> int | None:
    """How much of the line is the mark of a list; 0 where an item opens with a number of its own; None within one."""
    if bullet := _BULLET.match(line):
        signs = now.lines and now.last not in _LEADS + _STOPS and not now.item
        return None if signs and line[bullet.end()].isdigit() else bullet.end()
    counted = _COUNTED.match(line)
    if counted is None:
        return None
    first = counted[1] in {"1", "a"}
    if not now.lines:
        opens = True
    elif now.item:
        opens = counts_on or counted[1] == "a" or now.last in _LEADS + _STOPS
    else:
        opens = now.last in _LEADS or (first and now.last in _STOPS)
    if not opens:
        return None
    led = first and now.last != "" and now.last in _LEADS
    return counted.end() if counts_on or led or counted[1] == "a" else 0


def _counting(lines: Sequence[str]) -> frozenset[int]:
    """The lines whose marks count on from a mark before, or are counted on by one after."""
    found: set[int] = set()
    seen: dict[str, int] = {}  # a mark, and the line where it stood last
    for at, line in enumerate(lines):
        if counted := _COUNTED.match(line):
            mark = counted[1]
            before = seen.get(str(int(mark) - 1) if mark.isdigit() else chr(ord(mark) - 1))
            if before is None and mark == "1":
                before = seen.get(mark)  # a list may be written 1, 1, 1
            if before is not None:
                found |= {before, at}
            seen[mark] = at
    return frozenset(found)


def _heading(text: str) -> Iterator[str]:
    """Most headings name what follows; some say it."""
    if _LABELLED.match(text) or _HEADING_SAYS.search(text):
        yield from _Open([text.rstrip("# ")]).take()


def _block(lines: list[str], at: int) -> tuple[list[Part] | None, int]:
    """A block of code or a table that starts here, as statements, and where it ends; (None, at) where none does."""
    if _FENCE.match(lines[at]):
        end = next((i for i in range(at + 1, len(lines)) if _FENCE.match(lines[i])), len(lines))
        body = " ".join(line.strip() for line in lines[at + 1 : end] if line.strip())
        return ([Part(body, prose=False)] if body else []), end + 1
    if _ROW.fullmatch(lines[at]) and at + 1 < len(lines) and _is_rule(lines[at + 1]):
        heads = _cells(lines[at])
        end = at + 2
        while end < len(lines) and _ROW.fullmatch(lines[end]):
            end += 1
        rows = [_row(heads, _cells(line)) for line in lines[at + 2 : end]]
        return [Part("; ".join(row), prose=False, fields=row, listed=len(rows) > 1) for row in rows], end
    return None, at


def _is_rule(line: str) -> bool:
    return "-" in line and set(line) <= _RULE


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip()[1:-1].split("|")]


def _row(heads: list[str], cells: list[str]) -> tuple[str, ...]:
    """`Head: cell` of each, so that a row says what its figures are of."""
    return tuple(
        f"{heads[i]}: {cell}" if i < len(heads) and heads[i] else cell for i, cell in enumerate(cells) if cell
    )
