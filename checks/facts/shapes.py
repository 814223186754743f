"""What every fact is made of: how its entry is read, and what came of checking it. Pure."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar, Protocol, Self

from checks import codec

SHOWN_CHARS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a check came to.

    `detail` is a sentence for people. `evidence_hash` is the SHA-256 (hex) of what was read, None where nothing was.
    `unreachable`: it did not pass because nobody answered, which says nothing about the fact itself.
    """

    passed: bool
    detail: str
    evidence_hash: str | None
    unreachable: bool = False


class Fact(Protocol):
    """One check, read and ready."""

    type: ClassVar[str]
    network: ClassVar[bool]

    @classmethod
    def read(cls, entry: "Entry") -> Self:
        """From an entry of `checks`. What is wrong with it is left in the entry's problems."""
        ...

    @classmethod
    def fills(cls, raw: Mapping[str, Any]) -> tuple[str, ...]:
        """The keys that a step's `value` may stand for, the likeliest first; () where it is the text itself."""
        ...

    def takes(self, filled: str) -> frozenset[str] | None:
        """The types of a step's field that `value` may name, where it stands for `filled` ("": the text itself); None: any."""
        ...

    def never(self, filled: str) -> tuple[str, str] | None:
        """A key and why, with its mend, this can't hold whatever `filled` will be; None where it can. Asks nobody."""
        ...

    def wanted(self, filled: str) -> str:
        """What is asked of `filled`, for people: the rest of a sentence that begins with its name."""
        ...

    def check(self, text: str) -> Outcome:
        """Never raises, and takes at most some seconds."""
        ...


class OfText:
    """A fact about the text that it is given."""

    __slots__ = ()

    def takes(self, filled: str) -> frozenset[str] | None:
        return None

    def never(self, filled: str) -> tuple[str, str] | None:
        return None

    @classmethod
    def fills(cls, raw: Mapping[str, Any]) -> tuple[str, ...]:  # noqa: ARG003 - as `Fact` has it
        return ()


class Entry:
    """One raw entry, read key by key; problems gather instead of stopping at the first."""

    def __init__(self, raw: Mapping[str, Any], path: str) -> None:
        self.raw, self.path = raw, path
        self.problems: list[str] = []
        self._known = {"type"}

    def text(self, name: str, *, most: int, needed: bool = True) -> str | None:
        value = self._take(name, needed=needed)
        if value is None:
            return None
        if not isinstance(value, str):
            self._wrong(name, "expected a string")
            return None
        if not value:
            self._wrong(name, "is empty")
            return None
        if len(value) > most:
            self._wrong(name, f"{len(value)} characters; at most {most} are taken")
            return None
        return value

    def number(self, name: str, *, needed: bool = True) -> Decimal | None:
        value = self._take(name, needed=needed)
        if value is None:
            return None
        if not codec.is_number(value):
            self._wrong(name, "expected a number")
            return None
        return value if isinstance(value, Decimal) else Decimal(str(value))

    def whole(self, name: str, *, default: int, least: int, most: int) -> int:
        value = self.number(name, needed=False)
        if value is None:
            return default
        if value.adjusted() > len(str(most)) or value != int(value) or not least <= value <= most:
            self._wrong(name, f"expected a whole number from {least} to {most}")
            return default
        return int(value)

    def one_of(self, name: str, options: Sequence[str]) -> str | None:
        value = self._take(name, needed=True)
        if isinstance(value, str) and value in options:
            return value
        if value is not None:
            self._wrong(name, f"not one of {', '.join(options)}")
        return None

    def any(self, name: str) -> Any:
        """A value of any type but null."""
        return self._take(name, needed=True)

    def refuse(self, name: str, message: str) -> None:
        """A problem found by whoever knows more of the value."""
        self._wrong(name, message)

    def pass_over(self, *names: str) -> None:
        """Keys of which nothing can be said, because of what is wrong with another."""
        self._known.update(names)

    def close(self, *, filled: str = "", also: Sequence[str] = ()) -> None:
        """Name the keys that nobody asked for: a misspelt bound must not go unnoticed.

        Of the keys that are known, `filled` was put in by us and is not told; `also` are read elsewhere, and are.
        """
        known = ", ".join(sorted((self._known | set(also)) - {filled}))
        for name in self.raw:
            if name not in self._known:
                self.problems.append(f"{self.path}.{shown(name)}: not known here; known are {known}")

    def _take(self, name: str, *, needed: bool) -> Any:
        self._known.add(name)
        value = self.raw.get(name)
        if value is None and (needed or name in self.raw):
            self._wrong(name, "missing" if name not in self.raw else "null is no value")
        return value

    def _wrong(self, name: str, message: str) -> None:
        self.problems.append(f"{self.path}.{name}: {message}")


def hash_of(data: bytes | str) -> str:
    """Of text: of its UTF-8 bytes."""
    return hashlib.sha256(
        data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    ).hexdigest()


def exact(text: str, most: int = SHOWN_CHARS) -> str:
    """Somebody's text as it is compared: every blank stays, what can't be seen is written as JSON would; short."""
    line = "".join(map(_seen, text[: most + 1]))
    return line if len(line) <= most and len(text) <= most else line[: most - 1] + "…"


def _seen(char: str) -> str:
    return char if char.isprintable() else json.dumps(char)[1:-1]


def shown(text: str, most: int = SHOWN_CHARS) -> str:
    """Somebody's text inside a sentence: printable, on one line, short."""
    line = "".join(char if char.isprintable() else " " for char in text[: 4 * most])
    line = " ".join(line.split())
    return line if len(line) <= most and len(text) <= 4 * most else line[: most - 1] + "…"
