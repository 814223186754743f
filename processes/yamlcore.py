"""YAML 1.2 core schema to plain Python, with the line of every key and value. Pure.

PyYAML reads YAML 1.1 (`on`, `12:30` and `017` become something else), lets a second key win silently and
expands aliases without bound. So only its scanner and parser are used: the events are built into values
here, in one pass without recursion, and what this project does not take is refused on the way. Reading
goes on after a refusal wherever the rest still has a meaning.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from enum import Enum, auto
from typing import Any

import yaml

from processes.rules import Finding, Findings, Path, Rule, shown

MAX_DEPTH = 32
MAX_EVENTS = 20_000  # a step has some 30
MAX_NUMBER_CHARS = 100
MAX_INTEGER = 2**53 - 1  # the largest that RFC 8785 carries
MAX_RAW_FINDINGS = 20

# without libyaml the pure parser gives the same events, some ten times slower
_PARSER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Tag(Enum):
    """The core schema's meanings of a plain word."""

    STR = auto()
    NULL = auto()
    BOOL = auto()
    INT = auto()
    FLOAT = auto()


_CALLED = {
    _Tag.NULL: "the null",
    _Tag.BOOL: "the truth value",
    _Tag.INT: "the number",
    _Tag.FLOAT: "the number",
}

_PATTERNS = [
    (_Tag.NULL, "~|null|Null|NULL|", ["", *"~nN"]),
    (_Tag.BOOL, "true|True|TRUE|false|False|FALSE", [*"tTfF"]),
    (_Tag.INT, "[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", [*"-+0123456789"]),
    (
        _Tag.FLOAT,
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        [*"-+.0123456789"],
    ),
]
# By the first character, since most words begin with a letter that settles it.
_BY_FIRST: dict[str, list[tuple[_Tag, re.Pattern[str]]]] = {}
for _tag, _pattern, _firsts in _PATTERNS:
    for _first in _firsts:
        _BY_FIRST.setdefault(_first, []).append((_tag, re.compile(_pattern)))

# What YAML does not print, and what YAML 1.1 takes for a line break and 1.2 (and every editor) does not.
_RAW = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]|\r(?!\n)")
# The same after `"\x07"` in quotes; U+2028 and U+FEFF are honest text there.
_ESCAPED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")

_HINTS = (
    ("mapping values", "Put text with a colon in quotes, or check the indentation."),
    ("a tab", "Indent with spaces."),
    ("start any token", "Indent with spaces, and put text that begins with @, % or ` in quotes."),
    ("end of stream", "Close the quotes."),
    ("',' or", "Close the bracket, and put text with a comma or bracket in quotes."),
)
_OTHER_HINT = "Check the indentation here and above, and put text with special characters in quotes."


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What YAML text holds.

    `value`: dict, list, str, int, Decimal, bool or None, to be used only if `complete`. `lines`: the line
    of each key (of each item in a list) by its path; `()` is the whole. `lost`: paths whose value was
    refused and is None or text instead. `complete` is False where reading had to stop.
    """

    value: Any
    lines: Mapping[Path, int]
    findings: tuple[Finding, ...]
    lost: frozenset[Path]
    complete: bool


def load(text: str, first_line: int = 1, *, parser: type[yaml.SafeLoader] = _PARSER) -> Loaded:
    """Read one YAML document whose first line is the file's line `first_line`. Never raises."""
    builder = _Builder(first_line)
    if _RAW.search(text):
        builder.refuse_characters(text)
    else:
        builder.read(parser(text))
    builder.lines.setdefault((), first_line)
    return Loaded(
        value=builder.root.value[0] if builder.root.value else None,
        lines=builder.lines,
        findings=tuple(builder.findings.all),
        lost=frozenset(builder.lost),
        complete=builder.complete,
    )


@dataclass(slots=True)
class _Frame:
    """A map or list that is still open. The root frame is a list of the one document."""

    path: Path
    value: Any  # the dict or list that is filled
    is_map: bool = False
    is_root: bool = False
    dropped: bool = False  # below a key that was refused: read for its findings only
    key: str | None = None  # of a map: the key that waits for its value
    key_dropped: bool = False
    first: dict[str, int] = field(default_factory=dict)  # of a map: its keys and their lines

    @property
    def expects_key(self) -> bool:
        return self.is_map and self.key is None

    @property
    def place(self) -> Path:
        """The path of the node that comes next; of a key, that of the map that it is in."""
        if self.is_map:
            return self.path if self.key is None else (*self.path, self.key)
        return () if self.is_root else (*self.path, len(self.value))

    @property
    def drops(self) -> bool:
        return self.dropped or self.key_dropped

    def put(self, value: Any) -> None:
        """Take a node as value, or in a key's place as a key that was refused."""
        if not self.is_map:
            self.value.append(value)
        elif self.key is None:
            self.key, self.key_dropped = "", True
        else:
            if not self.key_dropped:
                self.value[self.key] = value
            self.key, self.key_dropped = None, False


class _StopReading(Exception):  # noqa: N818  no error: the reason is among the findings
    pass


class _Builder:
    def __init__(self, first_line: int) -> None:
        self.findings = Findings()
        self.lines: dict[Path, int] = {}
        self.lost: set[Path] = set()
        self.complete = False
        self.root = _Frame((), [], is_root=True)
        self._top = self.root
        self._below: list[_Frame] = []
        self._first_line = first_line
        self._documents = 0

    def refuse_characters(self, text: str) -> None:
        for count, found in enumerate(_RAW.finditer(text)):
            if count == MAX_RAW_FINDINGS:
                break
            line = self._first_line + text.count("\n", 0, found.start())
            self.findings.add(Rule.CONTROL, (), line, char=f"U+{ord(found.group()):04X}")

    def read(self, parser: yaml.SafeLoader) -> None:
        try:
            count = 0
            while parser.check_event():
                event = parser.get_event()  # type: ignore[no-untyped-call]
                count += 1
                if count > MAX_EVENTS:
                    self._stop(Rule.LONG, event)
                self._take(event)
            self.complete = True
        except _StopReading:
            pass
        except yaml.YAMLError as error:
            self._syntax(error)
        finally:
            parser.dispose()

    def _syntax(self, error: yaml.YAMLError) -> None:
        problem = str(getattr(error, "problem", None) or "it is malformed")
        marks = [getattr(error, name, None) for name in ("problem_mark", "context_mark")]
        if "end of stream" in problem:
            marks.reverse()  # where the quotes open, not the end of the file
        mark = marks[0] or marks[1]
        hint = next((hint for part, hint in _HINTS if part in problem), _OTHER_HINT)
        line = self._first_line + mark.line if mark else None
        self.findings.add(Rule.SYNTAX, (), line, problem=problem, hint=hint)

    def _stop(self, rule: Rule, event: yaml.Event, **words: object) -> None:
        self.findings.add(rule, (), self._line(event), **words)
        raise _StopReading

    def _line(self, event: yaml.Event) -> int:
        return self._first_line + (event.start_mark.line if event.start_mark else 0)

    # events; the commonest first, since this runs for every key and value

    def _take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            value, self._top = self._top.value, self._below.pop()
            self._top.put(value)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._open(event)
        elif isinstance(event, yaml.AliasEvent):
            self._refuse(Rule.ALIAS, event, name=event.anchor)
            self._top.put(None)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if event.explicit or self._documents > 1:
                self._stop(Rule.MARKER, event)

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        if event.anchor is not None or event.tag is not None:
            self._refuse_properties(event)
        frame, text = self._top, event.value
        # quotes make text of anything
        tag = _tag_of(text) if event.implicit[0] else _Tag.STR
        if frame.is_map and frame.key is None:
            self._key(event, tag)
            return
        if not frame.is_map and not frame.dropped:
            self.lines[frame.place] = self._line(event)
        if tag is not _Tag.STR:
            frame.put(self._meaning(event, tag))
            return
        if found := _ESCAPED.search(text):
            self._refuse(Rule.CONTROL, event, char=f"U+{ord(found.group()):04X}")
        frame.put(text)

    def _open(self, event: yaml.CollectionStartEvent) -> None:
        if event.anchor is not None or event.tag is not None:
            self._refuse_properties(event)
        frame = self._top
        if len(self._below) == MAX_DEPTH:
            self._stop(Rule.DEEP, event, limit=MAX_DEPTH)
        is_map = isinstance(event, yaml.MappingStartEvent)
        dropped, place, line = frame.drops, frame.place, self._line(event)
        if frame.expects_key:
            what = "a map" if is_map else "a list"
            self.findings.add(Rule.KEY_NOT_TEXT, place, line, what=what)
            dropped = True
        if not dropped:
            self.lines.setdefault(place, line)
        self._below.append(frame)
        self._top = _Frame(place, {} if is_map else [], is_map, dropped=dropped)

    def _key(self, event: yaml.ScalarEvent, tag: _Tag) -> None:
        frame, name, line = self._top, event.value, self._line(event)
        path = (*frame.path, name)
        frame.key = name
        if tag is not _Tag.STR:
            what = f"{_CALLED[tag]} {shown(name)}" if name else "nothing"
            self.findings.add(Rule.KEY_NOT_TEXT, path, line, what=what)
            self._lose(path)
        elif found := _ESCAPED.search(name):
            self.findings.add(Rule.CONTROL, frame.path, line, char=f"U+{ord(found.group()):04X}")
        if name in frame.first:
            frame.key_dropped = True
            self.findings.add(Rule.DUPLICATE, path, line, key=shown(name), first=frame.first[name])
            return
        frame.first[name] = line
        if not frame.dropped:
            self.lines[path] = line

    # refusals and meanings

    def _refuse_properties(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent) -> None:
        if event.anchor is not None:
            self.findings.add(Rule.ANCHOR, self._top.place, self._line(event), name=event.anchor)
        if event.tag is not None:
            self._refuse(Rule.TAG, event, tag=event.tag.replace("tag:yaml.org,2002:", "!!"))

    def _refuse(self, rule: Rule, event: yaml.Event, **words: object) -> None:
        self.findings.add(rule, self._top.place, self._line(event), **words)
        if not self._top.expects_key:
            self._lose(self._top.place)

    def _lose(self, path: Path) -> None:
        if not self._top.drops:
            self.lost.add(path)

    def _meaning(self, event: yaml.ScalarEvent, tag: _Tag) -> int | Decimal | bool | None:
        text = event.value
        if tag is _Tag.NULL:
            return None
        if tag is _Tag.BOOL:
            return text.lower() == "true"
        if text.lstrip("-+").lower() in {".inf", ".nan"}:
            self._refuse(Rule.NOT_FINITE, event, text=shown(text))
            return None
        number: int | Decimal | None = None
        # the length comes first: Python refuses to read an integer of some thousand digits
        if len(text) <= MAX_NUMBER_CHARS:
            number = _integer(text) if tag is _Tag.INT else _decimal(text)
        if number is None:
            self._refuse(Rule.INEXACT, event, text=shown(text))
        return number


def _tag_of(word: str) -> _Tag:
    for tag, pattern in _BY_FIRST.get(word[:1], ()):
        if pattern.fullmatch(word):
            return tag
    return _Tag.STR


def _integer(text: str) -> int | None:
    base = {"0o": 8, "0x": 16}.get(text[:2], 10)
    number = int(text, base)
    return number if abs(number) <= MAX_INTEGER else None


def _decimal(text: str) -> Decimal | None:
    """The exact value, if the double that RFC 8785 writes for it is written the same; else None."""
    try:
        number = Decimal(text)
    except InvalidOperation:  # an exponent of very many digits
        return None
    double = float(number)
    return number if math.isfinite(double) and Decimal(repr(double)) == number else None
