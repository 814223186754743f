"""What was handed in, and run data, as rows and trees. Pure.

All of it was written by others: it is only ever text here, cut to what a page can carry, and whatever is
cut stays readable behind "show all".
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from checks import codec
from processes.fields import Field

SHORT = 600  # characters of one value that stand on the page at once
NODES = 400  # entries of one tree; the rest is given as JSON text
# a line break inside a paragraph: between two lines of text, the second of which opens no list or heading
_WRAPPED = re.compile(r"(?<=\S)[ \t]*\n(?![\s\-*#>|]|\d+[.)])")
ROOT_KEYS = (
    "output",
    "evidence",
    "summary",
    "next",
    "reason",
    "decision",
    "note",
    "by",
    "at",
    "check",
    "history",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """`head` is all of it, unless `whole` is given."""

    head: str
    whole: str = ""

    @property
    def length(self) -> str:
        return f"{len(self.whole):,}".replace(",", " ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One entry of a tree: a value, or entries below it."""

    key: str
    text: Text | None = None
    number: bool = False
    about: str = ""
    below: tuple["Node", ...] = ()
    open: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A field of a submission. Without text and node it was not given."""

    name: str
    text: Text | None = None
    number: bool = False
    node: Node | None = None
    about: str = ""  # what the author says of the field


def text(value: str, limit: int = SHORT) -> Text:
    """A long text cut at a word, with the whole of it behind."""
    if len(value) <= limit:
        return Text(head=value)
    head = value[:limit]
    at_word = head.rpartition(" ")[0]
    return Text(head=(at_word if len(at_word) > limit // 2 else head) + " …", whole=value)


def prose(value: str) -> Text:
    """An author's text without the line breaks of its file: paragraphs and lists keep theirs."""
    return text(_WRAPPED.sub(" ", value.strip()), 4 * SHORT)


def plain(value: Any) -> str:
    """A scalar as it was sent: a number's own characters, true and false in the protocol's words."""
    return value if isinstance(value, str) else codec.dumps(value)


def is_tree(value: Any) -> bool:
    """A map, or a list that doesn't fit a line."""
    if isinstance(value, Mapping):
        return bool(value)
    return isinstance(value, list | tuple) and any(isinstance(item, Mapping | list | tuple) for item in value)


def rows(output: Mapping[str, Any], fields: Mapping[str, Field]) -> list[Row]:
    """The declared fields in their order, then what else is there."""
    names = [*fields, *(name for name in output if name not in fields)]
    return [_row(name, output, fields.get(name)) for name in names]


def _row(name: str, output: Mapping[str, Any], field: Field | None) -> Row:
    about = (field.description or "") if field is not None else ""
    if name not in output:
        return Row(name=name, about=about)
    value = output[name]
    if is_tree(value):
        return Row(name=name, node=tree(name, value, open_=True), about=about)
    return Row(name=name, text=text(line(value)), number=codec.is_number(value), about=about)


def line(value: Any) -> str:
    """A value on a line: a list of scalars with commas, an empty one by its brackets."""
    if isinstance(value, list | tuple) and value:
        return ", ".join(plain(item) for item in value)
    return plain(value)


def tree(key: str, value: Any, *, about: str = "", open_: bool = False) -> Node:
    return _node(key, value, _Budget(NODES), about=about, open_=open_)


def run_tree(data: Mapping[str, Any], steps: Mapping[str, str]) -> list[Node]:
    """Run data: the inputs open, each step folded with what it holds, in the file's order. `steps`: states."""
    budget = _Budget(NODES)
    found = [_node("inputs", data.get("inputs", {}), budget, open_=True)]
    for name, state in steps.items():
        held = data.get("steps", {}).get(name)
        if held is None:
            found.append(Node(key=f"steps.{name}", about="nothing recorded yet" if state else "not reached"))
        else:
            found.append(_node(f"steps.{name}", held, budget, about=_holds(held)))
    return found


def _holds(step: Mapping[str, Any]) -> str:
    """`output, summary, check, history of 1`."""
    earlier = len(step.get("history", ()))
    keys = [key for key in ROOT_KEYS if key in step and key != "history" and step[key] not in ([], {})]
    return ", ".join([*keys, *([f"history of {earlier}"] if earlier else [])])


class _Budget:
    """How many entries of a tree may still be drawn."""

    def __init__(self, left: int) -> None:
        self.left = left

    def take(self) -> bool:
        self.left -= 1
        return self.left >= 0


def _node(key: str, value: Any, budget: _Budget, *, about: str = "", open_: bool = False) -> Node:
    if not isinstance(value, Mapping | list | tuple):
        return Node(key=key, text=text(plain(value)), number=codec.is_number(value))
    if not value:
        return Node(key=key, text=Text(head=plain(value)))
    below, left = [], len(value)
    for name, item in _entries(value):
        if not budget.take():
            whole = codec.dumps(value)
            below.append(Node(key="…", text=Text(head=f"{left} more in the whole text", whole=whole)))
            break
        below.append(_node(name, item, budget))
        left -= 1
    many = "" if isinstance(value, Mapping) else f"{len(value)} entries"
    return Node(key=key, about=about or many, below=tuple(below), open=open_)


def _entries(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        yield from value.items()
    else:
        yield from ((str(index), item) for index, item in enumerate(value, start=1))
