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
from typing import TYPE_CHECKING, Any

import yaml

from processes.rules import Finding, Findings, Path, Rule, shown

if TYPE_CHECKING:
    _Base = yaml.SafeLoader
else:
    # without libyaml the pure parser does the same, some thirty times slower
    _Base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

MAX_DEPTH = 32
MAX_EVENTS = 20_000  # a step has about 30, so some 600 steps
MAX_NUMBER_CHARS = 100
MAX_INTEGER = 2**53 - 1  # the largest that RFC 8785 carries
MAX_RAW_FINDINGS = 20

_TAG = "tag:yaml.org,2002:"
_STR, _INT, _FLOAT, _BOOL, _NULL = (_TAG + name for name in ("str", "int", "float", "bool", "null"))
_WHAT = {_INT: "the number", _FLOAT: "the number", _BOOL: "the truth value", _NULL: "the null"}

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


class CoreLoader(_Base):
    """PyYAML's scanner and parser with nothing but the core schema's meanings of a plain word."""

    yaml_implicit_resolvers: dict[Any, Any] = {}


for _name, _pattern, _first in (
    (_NULL, r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    (_BOOL, r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    (_INT, r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789")),
    (
        _FLOAT,
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        list("-+.0123456789"),
    ),
):
    CoreLoader.add_implicit_resolver(_name, re.compile(rf"(?:{_pattern})\Z"), _first)


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


def load(text: str, first_line: int = 1, *, loader: type[yaml.SafeLoader] = CoreLoader) -> Loaded:
    """Read one YAML document whose first line is the file's line `first_line`. Never raises."""
    builder = _Builder(first_line)
    if _RAW.search(text):
        builder.refuse_characters(text)
    else:
        builder.read(loader(text))
    builder.lines.setdefault((), first_line)
    return Loaded(
        value=builder.value,
        lines=builder.lines,
        findings=tuple(builder.findings.all),
        lost=frozenset(builder.lost),
        complete=builder.complete,
    )


@dataclass(slots=True)
class _Frame:
    """A map or list that is still open."""

    path: Path
    value: dict[str, Any] | list[Any]
    dropped: bool  # below a key that was refused: read for its findings only
    key: str | None = None  # of a map: the key that waits for its value
    key_dropped: bool = False
    first: dict[str, int] = field(default_factory=dict)  # of a map: its keys and their lines


class _Stop(Exception):  # noqa: N818  no error: reading ends here, the reason is among the findings
    pass


class _Builder:
    def __init__(self, first_line: int) -> None:
        self.findings = Findings()
        self.value: Any = None
        self.lines: dict[Path, int] = {}
        self.lost: set[Path] = set()
        self.complete = False
        self._first_line = first_line
        self._stack: list[_Frame] = []
        self._documents = 0

    def refuse_characters(self, text: str) -> None:
        for count, found in enumerate(_RAW.finditer(text)):
            if count == MAX_RAW_FINDINGS:
                break
            line = self._first_line + text.count("\n", 0, found.start())
            self.findings.add(Rule.CONTROL, (), line, char=f"U+{ord(found.group()):04X}")

    def read(self, loader: yaml.SafeLoader) -> None:
        try:
            count = 0
            while loader.check_event():
                event = loader.get_event()  # type: ignore[no-untyped-call]
                count += 1
                if count > MAX_EVENTS:
                    self._stop(Rule.LONG, self._line(event))
                self._take(event, loader)
            self.complete = True
        except _Stop:
            pass
        except yaml.YAMLError as error:
            self._syntax(error)
        finally:
            loader.dispose()

    def _syntax(self, error: yaml.YAMLError) -> None:
        problem = str(getattr(error, "problem", None) or "it is malformed")
        marks = [getattr(error, name, None) for name in ("problem_mark", "context_mark")]
        if "end of stream" in problem:
            marks.reverse()  # where the quotes open, not the end of the file
        mark = marks[0] or marks[1]
        hint = next((hint for part, hint in _HINTS if part in problem), _OTHER_HINT)
        line = self._first_line + mark.line if mark else None
        self.findings.add(Rule.SYNTAX, (), line, problem=problem, hint=hint)

    def _stop(self, rule: Rule, line: int, **words: object) -> None:
        self.findings.add(rule, (), line, **words)
        raise _Stop

    def _line(self, event: yaml.Event) -> int:
        return self._first_line + (event.start_mark.line if event.start_mark else 0)

    # events

    def _take(self, event: yaml.Event, loader: yaml.SafeLoader) -> None:
        # the commonest first: this runs for every key and value
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event, loader)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._close()
        elif isinstance(event, yaml.CollectionStartEvent):
            self._open(event)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if event.explicit or self._documents > 1:
                self._stop(Rule.MARKER, self._line(event))

    def _scalar(self, event: yaml.ScalarEvent, loader: yaml.SafeLoader) -> None:
        if event.anchor is not None or event.tag is not None:
            self._refuse_properties(event)
        # quotes make text of anything; so does a plain word that no pattern knows
        plain = event.implicit[0]
        tag = loader.resolve(yaml.ScalarNode, event.value, event.implicit) if plain else _STR  # type: ignore[no-untyped-call]
        if self._expects_key():
            self._key(event, tag)
            return
        if not self._stack or isinstance(self._stack[-1].value, list):
            self._remember(self._place(), self._line(event))
        if tag == _STR and not _ESCAPED.search(event.value):
            self._put(event.value)
        else:
            self._put(self._meaning(event, tag))

    def _open(self, event: yaml.CollectionStartEvent) -> None:
        self._refuse_properties(event)
        line = self._line(event)
        if len(self._stack) == MAX_DEPTH:
            self._stop(Rule.DEEP, line, limit=MAX_DEPTH)
        value: dict[str, Any] | list[Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
        dropped = self._dropped()
        if self._expects_key():
            what = "a map" if isinstance(value, dict) else "a list"
            self.findings.add(Rule.KEY_NOT_TEXT, self._place(), line, what=what)
            dropped = True
        if not dropped:
            self.lines.setdefault(self._place(), line)
        self._stack.append(_Frame(self._place(), value, dropped))

    def _close(self) -> None:
        frame = self._stack.pop()
        if self._expects_key():
            self._stack[-1].key, self._stack[-1].key_dropped = "", True
        else:
            self._put(frame.value)

    def _alias(self, event: yaml.AliasEvent) -> None:
        self._refuse(Rule.ALIAS, event, name=event.anchor)
        if self._expects_key():
            self._stack[-1].key, self._stack[-1].key_dropped = "", True
        else:
            self._put(None)

    # places

    def _expects_key(self) -> bool:
        return bool(self._stack) and isinstance(self._stack[-1].value, dict) and self._stack[-1].key is None

    def _dropped(self) -> bool:
        return bool(self._stack) and (self._stack[-1].dropped or self._stack[-1].key_dropped)

    def _place(self) -> Path:
        """The path of the node that is being read; for a key, of the map that it is in."""
        if not self._stack:
            return ()
        frame = self._stack[-1]
        if isinstance(frame.value, list):
            return (*frame.path, len(frame.value))
        return frame.path if frame.key is None else (*frame.path, frame.key)

    def _remember(self, path: Path, line: int) -> None:
        if not self._dropped():
            self.lines.setdefault(path, line)

    def _put(self, value: Any) -> None:
        if not self._stack:
            self.value = value
            return
        frame = self._stack[-1]
        if isinstance(frame.value, list):
            frame.value.append(value)
            return
        if not frame.key_dropped and frame.key is not None:
            frame.value[frame.key] = value
        frame.key = None
        frame.key_dropped = False

    def _key(self, event: yaml.ScalarEvent, tag: str) -> None:
        frame, name, line = self._stack[-1], event.value, self._line(event)
        path = (*frame.path, name)
        if tag != _STR:
            what = f"{_WHAT[tag]} {shown(name)}" if name else "nothing"
            self.findings.add(Rule.KEY_NOT_TEXT, path, line, what=what)
            self._lose(path)
        elif found := _ESCAPED.search(name):
            self.findings.add(Rule.CONTROL, frame.path, line, char=f"U+{ord(found.group()):04X}")
        frame.key, frame.key_dropped = name, name in frame.first
        if frame.key_dropped:
            self.findings.add(Rule.DUPLICATE, path, line, key=shown(name), first=frame.first[name])
            return
        frame.first[name] = line
        self._remember(path, line)

    # refusals and meanings

    def _refuse_properties(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent) -> None:
        if event.anchor is not None:
            self.findings.add(Rule.ANCHOR, self._place(), self._line(event), name=event.anchor)
        if event.tag is not None:
            self._refuse(Rule.TAG, event, tag=event.tag.replace(_TAG, "!!"))

    def _refuse(self, rule: Rule, event: yaml.Event, **words: object) -> None:
        path = self._place()
        self.findings.add(rule, path, self._line(event), **words)
        if not self._expects_key():
            self._lose(path)

    def _lose(self, path: Path) -> None:
        if not self._dropped():
            self.lost.add(path)

    def _meaning(self, event: yaml.ScalarEvent, tag: str) -> Any:
        text: str = event.value
        if tag == _NULL:
            return None
        if tag == _BOOL:
            return text.lower() == "true"
        if tag in {_INT, _FLOAT}:
            return self._number(event, tag)
        for char in _ESCAPED.findall(text)[:1]:
            self._refuse(Rule.CONTROL, event, char=f"U+{ord(char):04X}")
        return text

    def _number(self, event: yaml.ScalarEvent, tag: str) -> int | Decimal | None:
        text: str = event.value
        if text.lstrip("-+").lower() in {".inf", ".nan"}:
            self._refuse(Rule.NOT_FINITE, event, text=shown(text))
            return None
        number: int | Decimal | None = None
        # the length comes first: Python refuses to read an integer of some thousand digits
        if len(text) <= MAX_NUMBER_CHARS:
            number = _integer(text) if tag == _INT else _decimal(text)
        if number is None:
            self._refuse(Rule.INEXACT, event, text=shown(text))
        return number


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
