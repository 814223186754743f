"""A text to the statements that it makes, one by one. Pure; rules for English prose, lists, tables and JSON.

What asserts nothing is left out: headings (but for one that is a sentence, or a label and what it says), questions, lines that
lead into a list. Nothing else is: what is long is parted, and where there are more statements than `most`, neighbours are
put together.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from checks import codec


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


LONG_CHARS = 400  # a statement that is longer is several: what is added at its end must not drown in it

_FENCE = re.compile(r"\s*(?:```|~~~)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+")
_HEADING_SAYS = re.compile(r"[.!]\s*#*\s*$")
_UNDERLINE = re.compile(r"\s*(?:={3,}|-{3,}|\*{3,}|_{3,})\s*")
_ITEM = re.compile(r"\s*(?:[-*+•‣◦–]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s+(?=\S)")
_ROW = re.compile(r"\s*\|.*\|\s*")
_RULE = frozenset(" \t:|-")
_LABELLED = re.compile(r"\s*[^\W\d_][\w /-]{0,40}:\s+\S")
_MARKS = re.compile(r"\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)|^\s*>+\s?", re.MULTILINE)
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]]*+\s++(?=[\"'“‘(\[]*[A-Z0-9À-ÖØ-Þ])")
_LAST = re.compile(r"[\"'“‘(\[]*([\w.]*\w)\.[\"'”’)\]]*\s+$")
_LAST_CHARS = 40  # enough for any abbreviation; a word without end is none
# a full stop after these ends no sentence …
_TITLES = _set(
    "mr mrs ms dr prof st no nr nos fig figs eq sec ch vol pp p cf vs approx ca dept est e.g i.e al gen col lt sgt rev hon art "
    "jan feb mar apr jun jul aug sep sept oct nov dec"
)
# … and after these only where a word follows that opens one
_COMPANIES = _set("inc ltd co corp etc jr sr u.s u.k e.u a.m p.m plc gmbh")
_OPENERS = _set(
    "the a an it its he she they we this that these those there in on at by from for however but and so all both each no "
    "nothing one two after before since when while as if his her their our"
)
_WORD = re.compile(r"[^\W\d_]{2,}|\d")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\-.]+")


def split(text: str, most: int) -> tuple[str, ...]:
    """At most `most` statements, in order."""
    data = _json(text)
    found = list(_leaves(data)) if data is not None else [part for part in _parts(text) if _asserts(part)]
    return tuple(_gathered([piece for part in found for piece in _pieces(part)], most))


def sentences(paragraph: str) -> Iterator[str]:
    """The sentences of one line of prose, questions and all."""
    start = 0
    for match in _END.finditer(paragraph):
        if _ends(paragraph, start, match.end()):
            yield paragraph[start : match.end()].strip()
            start = match.end()
    if rest := paragraph[start:].strip():
        yield rest


def _ends(paragraph: str, start: int, end: int) -> bool:
    """Whether a full stop with a capital after it is the end of a sentence."""
    found = _LAST.search(paragraph[max(start, end - _LAST_CHARS) : end])
    if found is None:
        return True
    word = found[1].lower()
    if word in _TITLES or (len(word) == 1 and word.isalpha()):  # an initial
        return False
    if word in _COMPANIES:
        follows = re.match(r"\W*(\w+)", paragraph[end:])
        return follows is not None and follows[1].lower() in _OPENERS
    # 1. a number that counts an item within a line
    return not (word.isdigit() and len(word) < 3 and not paragraph[start:end].strip()[:-1].strip(" ."))  # noqa: PLR2004


def _parts(text: str) -> Iterator[str]:
    """Sentences, items, rows and blocks of code, in order."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    prose: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        block, after = _block(lines, at)
        if block is not None:
            yield from _flushed(prose)
            yield from block
            at = after
            continue
        heading = _HEADING.match(line)
        starts = bool(_ITEM.match(line) or _LABELLED.match(line))
        if not line.strip() or starts or heading or _UNDERLINE.fullmatch(line):
            yield from _flushed(prose)
        if heading:
            yield from _heading(line[heading.end() :])
        elif starts:
            prose.append(_ITEM.sub("", line, count=1))
        elif line.strip() and not _UNDERLINE.fullmatch(line):
            prose.append(line)
        at += 1
    yield from _flushed(prose)


def _heading(text: str) -> Iterator[str]:
    """Most headings name what follows; some say it."""
    if _LABELLED.match(text) or _HEADING_SAYS.search(text):
        yield from _flushed([text.rstrip("# ")])


def _block(lines: list[str], at: int) -> tuple[list[str] | None, int]:
    """A block of code or a table that starts here, as statements, and where it ends; (None, at) where none does."""
    if _FENCE.match(lines[at]):
        end = next((i for i in range(at + 1, len(lines)) if _FENCE.match(lines[i])), len(lines))
        body = " ".join(line.strip() for line in lines[at + 1 : end] if line.strip())
        return ([body] if body else []), end + 1
    if _ROW.fullmatch(lines[at]) and at + 1 < len(lines) and _is_rule(lines[at + 1]):
        heads = _cells(lines[at])
        end = at + 2
        while end < len(lines) and _ROW.fullmatch(lines[end]):
            end += 1
        return [_row(heads, _cells(line)) for line in lines[at + 2 : end]], end
    return None, at


def _is_rule(line: str) -> bool:
    return "-" in line and set(line) <= _RULE


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _row(heads: list[str], cells: list[str]) -> str:
    """`Head: cell; head: cell`, so that a row says what its figures are of."""
    named = [
        f"{heads[i]}: {cell}" if i < len(heads) and heads[i] else cell for i, cell in enumerate(cells) if cell
    ]
    return "; ".join(named)


def _flushed(prose: list[str]) -> Iterator[str]:
    paragraph = _MARKS.sub("", " ".join(line.strip() for line in prose))
    prose.clear()
    yield from sentences(" ".join(paragraph.split()))


def _asserts(part: str) -> bool:
    """Whether it says anything: no question, no line that only leads to what follows, at least a word or a figure."""
    bare = part.rstrip("\"'”’)] ")
    return bool(_WORD.search(part)) and not bare.endswith(("?", ":"))


def _json(text: str) -> Any:
    """An object or a list, where the whole text is one."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        data = codec.loads(text)
    except codec.CodecError:
        return None
    return data if isinstance(data, Mapping | list) and data else None


def _leaves(value: Any, name: str = "") -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            words = " ".join(_CAMEL.split(str(key))).strip()
            yield from _leaves(item, f"{name} {words}".strip())
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, name)
    elif value is not None and value != "":
        told = value if isinstance(value, str) else codec.dumps(value)
        yield f"{name}: {told}" if name else told


def _gathered(parts: list[str], most: int) -> Iterator[str]:
    """Neighbours together, as evenly as can be."""
    if len(parts) <= most:
        yield from parts
        return
    for place in range(most):
        yield " ".join(parts[place * len(parts) // most : (place + 1) * len(parts) // most])


def _pieces(part: str) -> Iterator[str]:
    """A long statement in parts, at a blank where there is one."""
    while len(part) > LONG_CHARS:
        end = part.rfind(" ", LONG_CHARS // 2, LONG_CHARS)
        end = end if end > 0 else LONG_CHARS
        yield part[:end].strip()
        part = part[end:].strip()
    if part:
        yield part
