"""`json_schema {schema}`: the output is JSON and fits a small schema. Pure.

The schema's keywords are those of `KEYWORDS` and no others: one that would be passed over silently would be a bound
that nobody keeps. Words mean what JSON Schema means by them: a keyword about objects says nothing of a number, 1.0 is an
integer, lengths count characters.

`evidence_hash`: of the output's UTF-8 bytes, as it was given.
"""

import operator
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar, Self

from checks import codec
from checks.facts.shapes import Entry, OfText, Outcome, hash_of, shown

TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
_LENGTHS: dict[str, type[str] | type[list[Any]]] = {
    "minLength": str,
    "maxLength": str,
    "minItems": list,
    "maxItems": list,
}
_BOUNDS: dict[str, tuple[Callable[[Any, Any], bool], str]] = {
    "minimum": (operator.ge, "at least"),
    "maximum": (operator.le, "at most"),
    "exclusiveMinimum": (operator.gt, "more than"),
    "exclusiveMaximum": (operator.lt, "less than"),
}
KEYWORDS = ("type", "properties", "required", "enum", "items", *_LENGTHS, *_BOUNDS)
MAX_DEPTH = 16
MAX_NODES = 500  # schemas within a schema
MAX_ENUM = 200
MAX_SHOWN = 5  # mismatches told


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonSchema(OfText):
    type: ClassVar[str] = "json_schema"
    network: ClassVar[bool] = False
    schema: Mapping[str, Any]

    @classmethod
    def read(cls, entry: Entry) -> Self:
        schema = entry.any("schema")
        if schema is not None:
            for name, message in problems(schema):
                entry.refuse(name, message)
        return cls(schema=schema if isinstance(schema, Mapping) else {})

    def wanted(self, filled: str) -> str:
        return f"must fit the JSON schema {shown(codec.dumps(self.schema))}"

    def check(self, text: str) -> Outcome:
        try:
            value = codec.loads(text)
        except codec.CodecError as error:
            detail = f"The output can't be read as JSON: {shown(str(error))}."
            return Outcome(passed=False, detail=detail, evidence_hash=hash_of(text))
        wrong = []
        for mismatch in Fit().mismatches(self.schema, value, "output"):
            wrong.append(mismatch)
            if len(wrong) > MAX_SHOWN:
                wrong[-1] = "and more"
                break
        detail = (
            f"The output does not fit the schema: {'; '.join(wrong)}."
            if wrong
            else "The output fits the schema."
        )
        return Outcome(passed=not wrong, detail=detail, evidence_hash=hash_of(text))


def problems(schema: Any) -> list[tuple[str, str]]:
    """(path, what is wrong there) for everything in a schema that is not of the small subset."""
    found: list[tuple[str, str]] = []
    nodes = 0
    waiting = [(schema, "schema", 0)]
    while waiting:
        node, path, depth = waiting.pop()
        nodes += 1
        if nodes > MAX_NODES or depth > MAX_DEPTH:
            found.append(
                ("schema", f"too large; at most {MAX_NODES} schemas within it, nested {MAX_DEPTH} deep")
            )
            break
        if not isinstance(node, Mapping):
            found.append((path, "expected an object"))
            continue
        for word, value in node.items():
            if message := _keyword_problem(word, value):
                found.append((f"{path}.{shown(word)}", message))
        if isinstance(properties := node.get("properties"), Mapping):
            waiting += [
                (inner, f"{path}.properties.{shown(name)}", depth + 1) for name, inner in properties.items()
            ]
        if "items" in node:
            waiting.append((node["items"], f"{path}.items", depth + 1))
    return found


def _keyword_problem(word: str, value: Any) -> str | None:
    if word not in KEYWORDS:
        return f"not a keyword that is checked here; those are {', '.join(KEYWORDS)}"
    fits, expected = _FORMS[word]
    return None if fits(value) else f"expected {expected}"


def _is_type(value: Any) -> bool:
    names = value if isinstance(value, list) and value else [value]
    known = all(isinstance(name, str) and name in TYPES for name in names)
    return known and len(set(names)) == len(names)


def _is_names(value: Any) -> bool:
    names = isinstance(value, list) and all(isinstance(name, str) for name in value)
    return names and len(set(value)) == len(value)


def _is_length(value: Any) -> bool:
    return codec.is_number(value) and value >= 0 and Decimal(value) == Decimal(value).to_integral_value()


_FORMS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "type": (_is_type, f"one or more of {', '.join(TYPES)}, each once"),
    "properties": (lambda value: isinstance(value, Mapping), "an object"),
    "required": (_is_names, "a list of names, each once"),
    "enum": (
        lambda value: isinstance(value, list) and 0 < len(value) <= MAX_ENUM,
        f"a list of 1 to {MAX_ENUM} values",
    ),
    "items": (lambda _: True, ""),  # a schema itself, met when its turn comes
    **dict.fromkeys(_LENGTHS, (_is_length, "a whole number from 0 on")),
    **dict.fromkeys(_BOUNDS, (codec.is_number, "a number")),
}


class Fit:
    """One value held against one schema: each part of either is read once, whatever the other holds."""

    def __init__(self) -> None:
        self._listed: dict[int, frozenset[Hashable]] = {}

    def mismatches(self, schema: Mapping[str, Any], value: Any, path: str) -> Iterator[str]:
        """What of a value does not fit, in the value's order."""
        if "type" in schema:
            names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
            if not any(_is(name, value) for name in names):
                yield f"{path}: expected {' or '.join(names)}"
                return
        if "enum" in schema and not self._is_listed(schema["enum"], value):
            listed = ", ".join(codec.dumps(option) for option in schema["enum"][:20])
            yield f"{path}: not one of {shown(listed)}"
        yield from _sizes(schema, value, path)
        if isinstance(value, Mapping):
            yield from (
                f"{path}.{shown(name)}: missing" for name in schema.get("required", []) if name not in value
            )
            known = schema.get("properties", {})
            for name, inner in value.items():
                if name in known:
                    yield from self.mismatches(known[name], inner, f"{path}.{shown(name)}")
        if isinstance(value, list) and "items" in schema:
            for index, item in enumerate(value):
                yield from self.mismatches(schema["items"], item, f"{path}[{index}]")

    def _is_listed(self, options: list[Any], value: Any) -> bool:
        if id(options) not in self._listed:
            self._listed[id(options)] = frozenset(map(_comparable, options))
        return _comparable(value) in self._listed[id(options)]


def _sizes(schema: Mapping[str, Any], value: Any, path: str) -> Iterator[str]:
    for word, kind in _LENGTHS.items():
        if word not in schema or not isinstance(value, kind):
            continue
        size, what = len(value), "characters" if kind is str else "items"
        if word.startswith("min") and size < schema[word]:
            yield f"{path}: {size} {what}, at least {schema[word]}"
        if word.startswith("max") and size > schema[word]:
            yield f"{path}: {size} {what}, at most {schema[word]}"
    if not codec.is_number(value):
        return
    for word, (keeps, text) in _BOUNDS.items():
        if word in schema and not keeps(value, schema[word]):
            yield f"{path}: {shown(codec.dumps(value))}, must be {text} {shown(codec.dumps(schema[word]))}"


def _comparable(value: Any) -> Hashable:
    """Equal exactly where the values are equal as JSON: numbers by value, and true is not 1."""
    if codec.is_number(value):
        return Decimal(value)
    if isinstance(value, Mapping):
        return "object", frozenset((key, _comparable(inner)) for key, inner in value.items())
    if isinstance(value, list):
        return "array", *map(_comparable, value)
    return type(value), value


def _is(name: str, value: Any) -> bool:
    if name in {"number", "integer"}:
        return codec.is_number(value) and (name == "number" or bool(value == value.to_integral_value()))
    kinds: dict[str, type] = {"object": dict, "array": list, "string": str, "boolean": bool}
    return value is None if name == "null" else isinstance(value, kinds[name])
