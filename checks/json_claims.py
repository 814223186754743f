"""A JSON value to statements: one of each object, as of a row of a table, so that it stays clear which value belongs to what.

Objects within an object are fields of it, their names led by its own; the objects of a list are statements of their own, each
led by the first field of what holds the list. A list of short values is one field. Prose is statements of its own, as it would be
without the JSON around it; but within an object that stands beside others it stays with that object.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from checks import codec
from checks.sentence_ends import sentences

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\-.]+")
_STOPS = ".!?。！？"
_SHORT = 40  # characters of a value that is listed beside others


@dataclass(frozen=True, slots=True)
class Record:
    """One object: its fields as `name: value`, and whether others of its kind stand beside it."""

    fields: tuple[str, ...]
    listed: bool


def read(text: str) -> list[Record] | None:
    """The objects of a text that is JSON as a whole and holds an object or a list; None where it is not."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        data = codec.loads(text)
    except codec.CodecError:
        return None
    if not isinstance(data, Mapping | list) or not data:
        return None
    return list(_records(data, "", "", listed=False))


@dataclass(slots=True)
class _Read:
    """One object: its fields, its values that are prose, its lists of more than short values."""

    fields: list[str] = field(default_factory=list)
    prose: list[str] = field(default_factory=list)
    lists: list[tuple[str, list[Any]]] = field(default_factory=list)


def _records(value: Any, name: str, owner: str, *, listed: bool) -> Iterator[Record]:
    if isinstance(value, Mapping):
        it = _Read()
        _gather(value, name, it, listed=listed)
        if it.fields:
            yield Record(
                tuple([owner, *it.fields] if owner and owner not in it.fields else it.fields), listed
            )
        yield from (Record((sentence,), listed=False) for sentence in it.prose)
        for inner, items in it.lists:
            yield from _records(items, inner, it.fields[0] if it.fields else owner, listed=listed)
    elif isinstance(value, list):
        for item in value:
            yield from _records(item, name, owner, listed=len(value) > 1 or listed)
    elif _is_prose(value):
        yield from (Record((sentence,), listed=False) for sentence in _sentences(value))
    else:
        for told in _told(name, value):
            yield Record((owner, told) if owner else (told,), listed=False)


def _gather(value: Mapping[str, Any], name: str, it: _Read, *, listed: bool) -> None:
    """What stands in an object and in those within it. Beside others of its kind, its prose stays with it."""
    for key, item in value.items():
        path = f"{name} {' '.join(_CAMEL.split(str(key))).strip()}".strip()
        if isinstance(item, Mapping):
            _gather(item, path, it, listed=listed)
        elif not isinstance(item, list):
            if _is_prose(item) and not listed:
                it.prose.extend(_sentences(item))
            else:
                it.fields.extend(_told(path, item))
        elif all(_short(each) for each in item):
            it.fields.extend(_told(path, ", ".join(_plain(each) for each in item if each is not None)))
        else:
            it.lists.append((path, item))


def _is_prose(value: Any) -> bool:
    """Whether a value speaks in sentences, so that its name is a heading and no part of them."""
    if not isinstance(value, str) or " " not in value.strip():
        return False
    return value.rstrip()[-1:] in _STOPS or len(_sentences(value)) > 1


def _sentences(value: str) -> list[str]:
    return list(sentences(" ".join(value.split())))


def _short(value: Any) -> bool:
    return (
        not isinstance(value, Mapping | list) and len(_plain(value)) <= _SHORT and ". " not in _plain(value)
    )


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else codec.dumps(value)


def _told(name: str, value: Any) -> Iterator[str]:
    if value is None or value == "":
        return
    for sentence in _sentences(value) if isinstance(value, str) else (_plain(value),):
        yield f"{name}: {sentence}" if name else sentence
