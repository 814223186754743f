"""Set the numbers of a process file's questions, and change nothing else of its text. Pure.

The text is edited where YAML's parser says that a number stands, so that comments, order, quoting, line
ends and indentation stay as their author wrote them. Afterwards the text is read again and must say what
it said before but for the numbers; where that fails (a rare way of writing), the edit is refused.
"""

import re
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import yaml

from processes.document import Document, Issue, parse

KEYS = ("pass", "fail", "confidence")
# A new key goes under the first of these that the question has.
_UNDER: Mapping[str, tuple[str, ...]] = {
    "pass": ("ask",),
    "fail": ("pass", "ask"),
    "confidence": ("unsure", "pass", "ask"),
}
_COMMENT = re.compile(r"(?:^|(?<=\s))#[^\r\n]*")
_COMMENT_OR_COMMA = re.compile(r"(?:^|(?<=\s))#[^\r\n]*|,")
_HEADER = re.compile(r"[|>][-+0-9]*")
_EMPTY_LINES = re.compile(r"(?<=\n)(?:\r?\n)+\Z")

# Only places are asked of it; what the words mean is for `parse` to say.
_PARSER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

type Number = int | Decimal
# A question: its step's id, and its position in the step's check.
type Place = tuple[str, int]
type Wanted = Mapping[Place, Mapping[str, Number | None]]


class ThresholdsError(Exception):
    """The numbers can't be set. `issues`: what would be wrong with the new text, if that is the reason."""

    def __init__(self, message: str, issues: tuple[Issue, ...] = ()) -> None:
        super().__init__(message)
        self.issues = issues


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One number that differs. `old` or `new` is None where the server's default applies."""

    step: str
    position: int
    key: str
    old: Number | None
    new: Number | None

    def __str__(self) -> str:
        old, new = ("the server's" if number is None else written(number) for number in (self.old, self.new))
        return f"{self.key} of {self.step}, question {self.position + 1}: {old} to {new}"


def numbers(document: Document) -> dict[Place, dict[str, Number]]:
    """The numbers that a document gives its questions, as written; a choice's `pass` is no number."""
    return {
        (str(step["id"]), position): _numbers(question)
        for step in document.front["steps"]
        for position, question in enumerate(_questions(step))
    }


def changes(text: str, wanted: Wanted) -> tuple[Change, ...]:
    """What `edit` would change, in the file's order. Raises ThresholdsError."""
    return _changes(_sound(text), wanted)


def edit(text: str, wanted: Wanted) -> str:
    """The text with the wanted numbers. A key that is not named keeps its number, None takes it out.

    Raises ThresholdsError where the text has issues, a question is not there, or the new text would say
    something else or be refused.
    """
    before = _sound(text)
    found = _changes(before, wanted)
    index = {str(step["id"]): number for number, step in enumerate(before.front["steps"])}
    try:
        for key in KEYS:  # one key at a time, so that no two edits of a question overlap
            told = {(index[c.step], c.position): c.new for c in found if c.key == key}
            text = _round(text, len(before.body), key, told) if told else text
    except (yaml.YAMLError, LookupError):
        raise _untouchable() from None
    _verify(before, found, text)
    return text


def written(number: Number) -> str:
    """A number as the file shows it, never with an exponent."""
    return str(number) if isinstance(number, int) else format(number, "f")


# What is there, what is wanted, whether it was reached.


def _sound(text: str) -> Document:
    parsed = parse(text)
    if parsed.document is None:
        raise ThresholdsError("The text has issues of its own. Put them right first.", parsed.issues)
    return parsed.document


def _questions(step: Mapping[str, Any]) -> list[Any]:
    check = step.get("check", [])
    return [check] if isinstance(check, str) else list(check)


def _numbers(question: Any) -> dict[str, Number]:
    """The short form has none."""
    source = question if isinstance(question, dict) else {}
    return {key: source[key] for key in KEYS if isinstance(source.get(key), int | Decimal)}


def _changes(document: Document, wanted: Wanted) -> tuple[Change, ...]:
    there = numbers(document)
    for (step, position), asked in wanted.items():
        if (step, position) not in there:
            raise ThresholdsError(f"Step {step} has no question {position + 1}.")
        if unknown := set(asked) - set(KEYS):
            raise ThresholdsError(f"{', '.join(sorted(unknown))} is no threshold.")
    return tuple(
        Change(step=step, position=position, key=key, old=old.get(key), new=wanted[step, position][key])
        for (step, position), old in there.items()
        for key in KEYS
        if key in wanted.get((step, position), {}) and wanted[step, position][key] != old.get(key)
    )


def _verify(before: Document, found: tuple[Change, ...], text: str) -> None:
    """The new text must be sound and say the same but for the numbers."""
    parsed = parse(text)
    if parsed.document is None:
        raise ThresholdsError("These numbers can't be set.", parsed.issues)
    front = deepcopy(dict(before.front))
    steps = {str(step["id"]): step for step in front["steps"]}
    for change in found:
        step = steps[change.step]
        if isinstance(step["check"], str):
            step["check"] = [{"ask": step["check"]}]
        question = step["check"][change.position]
        if change.new is None:
            del question[change.key]
        else:
            question[change.key] = change.new
    if parsed.document.front != front or parsed.document.body != before.body:
        raise _untouchable()


def _untouchable() -> ThresholdsError:
    return ThresholdsError(
        "The numbers can't be set without touching more of this text, because of the way its questions are "
        "laid out. Change them in the text itself."
    )


# Editing the text.


def _round(text: str, body: int, key: str, told: Mapping[tuple[int, int], Number | None]) -> str:
    """The text with one key of some questions set or taken out."""
    head = text[: len(text) - body]
    start, stop = head.index("\n") + 1, head.rindex("---")
    sheet = _Sheet(head[start:stop])
    for (step, position), number in told.items():
        sheet.set(step, position, key, None if number is None else written(number))
    return f"{text[:start]}{sheet.edited()}{text[stop:]}"


type _Entries = list[tuple[Any, Any]]  # key node, value node


@dataclass(slots=True)
class _Sheet:
    """The front matter, where everything stands in it, and what is to be replaced."""

    text: str
    _edits: list[tuple[int, int, str]] = field(default_factory=list)
    _steps: list[yaml.MappingNode] = field(init=False)
    _dash: int = field(init=False)

    def __post_init__(self) -> None:
        root: Any = yaml.compose(self.text, Loader=_PARSER)
        _, steps = _entry(root, "steps")
        self._steps = steps.value
        # how far the author puts a list's dashes in from its key
        self._dash = 2 if steps.flow_style else steps.start_mark.column - root.start_mark.column

    def edited(self) -> str:
        text = self.text
        for start, stop, new in sorted(self._edits, reverse=True):
            text = f"{text[:start]}{new}{text[stop:]}"
        return text

    def set(self, step: int, position: int, key: str, number: str | None) -> None:
        name, check = _entry(self._steps[step], "check")
        if isinstance(check, yaml.ScalarNode):
            self._lengthen(name, check, f"{key}: {number}", flow=self._steps[step].flow_style)
            return
        question: yaml.MappingNode = check.value[position]
        there = next((at for at, (k, _) in enumerate(question.value) if k.value == key), None)
        if there is not None and number is not None:
            self._replace(question.value[there][1], number)
        elif there is not None:
            self._remove(question, there)
        elif number is not None:
            self._insert(question, key, number)

    def _replace(self, node: yaml.Node, number: str) -> None:
        self._edits.append((node.start_mark.index, node.end_mark.index, number))

    # a key that is missing

    def _insert(self, question: yaml.MappingNode, key: str, number: str) -> None:
        names = [name.value for name, _ in question.value]
        at = names.index(next(name for name in _UNDER[key] if name in names))
        name, value = question.value[at]
        quote = name.style if name.style in {"'", '"'} else ""
        line = f"{quote}{key}{quote}: {number}"
        start, stop = question.start_mark.index, question.end_mark.index
        if not question.flow_style:
            self._add_line(value, question.start_mark.column, line)
            return
        if self.text[start] != "{":  # `[ask: …]`, a map without its braces
            self._edits += [(start, start, "{"), (stop, stop, f", {line}}}")]
        else:
            self._edits.append((value.end_mark.index, value.end_mark.index, f", {line}"))

    def _add_line(self, above: yaml.Node, column: int, line: str) -> None:
        at = self._below(above)
        self._edits.append((at, at, f"{' ' * column}{line}{self._line_end(at - 1)}"))

    def _below(self, node: yaml.Node) -> int:
        """Where the line under a block's value begins."""
        if isinstance(node, yaml.CollectionNode) and not node.flow_style:
            last = node.value[-1]
            return self._below(last[1] if isinstance(last, tuple) else last)
        start, stop = node.start_mark.index, node.end_mark.index
        if isinstance(node, yaml.ScalarNode) and node.style in {"|", ">"}:
            keeps = "+" in self._header(start)
            return stop if keeps else start + len(_EMPTY_LINES.sub("", self.text[start:stop]))
        return self.text.index("\n", stop) + 1

    def _header(self, start: int) -> str:
        found = _HEADER.match(self.text, start)
        return found[0] if found else ""

    def _line_end(self, at: int) -> str:
        """The line break in use around a place."""
        at = self.text.find("\n", at)
        return "\r\n" if at > 0 and self.text[at - 1] == "\r" else "\n"

    # a key that is taken out

    def _remove(self, question: yaml.MappingNode, at: int) -> None:
        if question.flow_style:
            self._remove_from_flow(question.value, at)
            return
        name, value = question.value[at]
        start, stop = name.start_mark.index, self.text.index("\n", value.end_mark.index)
        line = self.text.rfind("\n", 0, start) + 1
        comments = self._comments(name.end_mark.index, value.start_mark.index)
        comments += self._comments(value.end_mark.index, stop)
        if comments:  # they stay, on lines of their own
            stop -= self.text[stop - 1] == "\r"
            between = f"{self._line_end(start)}{' ' * question.start_mark.column}"
            self._edits.append((start, stop, between.join(comments)))
        elif not self.text[line:start].strip():
            self._edits.append((line, stop + 1, ""))
        elif self._comments(stop, after := question.value[at + 1][0].start_mark.index):
            dash = len(self.text[:start].rstrip(" \t"))
            self._edits.append((dash, stop - (self.text[stop - 1] == "\r"), ""))
        else:
            self._edits.append((start, after, ""))

    def _comments(self, start: int, stop: int) -> list[str]:
        return _COMMENT.findall(self.text[start:stop])

    def _remove_from_flow(self, entries: _Entries, at: int) -> None:
        name, value = entries[at]
        start, stop = name.start_mark.index, value.end_mark.index
        before, after = (
            (entries[at - 1][1].end_mark.index, start) if at else (stop, entries[1][0].start_mark.index)
        )
        if not self._comments(before, after):
            self._edits.append((before, stop, "") if at else (start, after, ""))
            return
        self._edits += [(start, stop, ""), self._comma(before, after)]

    def _comma(self, start: int, stop: int) -> tuple[int, int, str]:
        found = _COMMENT_OR_COMMA.finditer(self.text[start:stop])
        comma = start + next(match.start() for match in found if match[0] == ",")
        return comma, comma + 1, ""

    # `check: one question as text` to a list

    def _lengthen(self, name: yaml.Node, check: yaml.ScalarNode, line: str, *, flow: bool) -> None:
        start, stop = check.start_mark.index, check.end_mark.index
        if flow:
            self._edits += [(start, start, "[{ask: "), (stop, stop, f", {line}}}]")]
            return
        column = name.start_mark.column + self._dash
        gap = len(self.text[:start].rstrip(" \t\r\n"))
        self._edits.append((gap, start, f"{self._line_end(start)}{' ' * column}- ask: "))
        self._shift(check, self._dash + 2)
        self._add_line(check, column + 2, line)

    def _shift(self, node: yaml.ScalarNode, by: int) -> None:
        """Move the lines after a scalar's first to the right, which changes nothing of what they say."""
        start, stop = node.start_mark.index, node.end_mark.index
        for match in re.finditer(r"\n(?!\r?\n)", self.text[start:stop]):
            at = start + match.end()
            if at < stop:
                self._edits.append((at, at, " " * by))


def _entry(node: Any, key: str) -> tuple[yaml.Node, Any]:
    return next((name, value) for name, value in node.value if name.value == key)
