"""What every tool takes and gives: one JSON Schema each, for REST, MCP and OpenAPI alike. Pure.

`tools/<tool>.json` holds `{title, description, arguments, result}`; shapes that several tools share stand
in `shared.json`, and a `$ref` may name nothing else. What `schema()` publishes is exactly what is
validated. Issues are our own lines (`limit: 101 is more than 100`), ordered by path; they never carry more
than a few characters of what a caller sent.

An unknown tool is a KeyError everywhere: ask `TOOLS` first.
"""

import json
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, NoReturn

from jsonschema_rs import Draft202012Validator, RegexOptions, ValidationError
from jsonschema_rs import ValidationErrorKind as Kind

from checks import codec

TOOLS: tuple[str, ...] = (
    "describe",
    "list_processes",
    "start_run",
    "get_run",
    "get_work",
    "claim",
    "renew",
    "upload",
    "submit",
    "escalate",
    "decide",
    "cancel",
    "send_event",
    "list_runs",
)
MAX_ISSUES = 50
MAX_SHOWN = 60

type Part = Literal["arguments", "result"]
type Place = tuple[str | int, ...]
type Finding = tuple[Place, str]

_HERE = Path(__file__).parent
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
# Looking for every error costs about 15 µs an item: a list of a million bad ones would hold a worker for half
# a minute. So at most this many items and unknown keys are looked at, once it is known that there is an error.
# Every list in arguments is bounded well below, so that a longer one shows its error all the same.
_EXAMINED = 100
_TYPES = {"array": "list", "integer": "whole number"}


def argument_issues(tool: str, arguments: object) -> list[str]:
    """[] when `arguments` (from `codec.loads`) fit the tool, else what is wrong, a line each."""
    return _issues(tool, "arguments", arguments)


def result_issues(tool: str, data: object) -> list[str]:
    """[] when `data` is what the tool promises to give, else what is wrong. For tests and development."""
    return _issues(tool, "result", data)


def schema(tool: str, part: Part) -> dict[str, Any]:
    """The tool's arguments or result as one self-contained schema; yours to change."""
    return _bundle(_contracts()[tool][part], f"{tool} {part}")


def error_schema() -> dict[str, Any]:
    """The `error` of a call that did nothing, likewise self-contained."""
    return _bundle(_shapes()["toolError"], "error")


def title(tool: str) -> str:
    return str(_contracts()[tool]["title"])


def description(tool: str) -> str:
    """What the tool is for, in words for the developer of an agent."""
    return str(_contracts()[tool]["description"])


# Schemas


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


@cache
def _contracts() -> dict[str, dict[str, Any]]:
    return {tool: _read(_HERE / "tools" / f"{tool}.json") for tool in TOOLS}


@cache
def _shapes() -> dict[str, Any]:
    shapes: dict[str, Any] = _read(_HERE / "shared.json")["$defs"]
    return shapes


@cache
def _known_keys() -> frozenset[str]:
    found: set[str] = set()
    waiting: list[Any] = [_shapes(), _contracts()]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            found.update(node.get("properties", ()))
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)
    return frozenset(found)


def _bundle(part: dict[str, Any], name: str) -> dict[str, Any]:
    wanted: list[str] = []
    body = _local(part, wanted)
    shapes: dict[str, Any] = {}
    for shape in wanted:  # grows while shapes name further ones
        if shape not in shapes:
            shapes[shape] = _local(_shapes()[shape], wanted)
    bundle = {"$schema": _DIALECT, "title": name, **body}
    return bundle | {"$defs": dict(sorted(shapes.items()))} if shapes else bundle


def _local(node: Any, wanted: list[str]) -> Any:
    """A copy whose `$ref`s point into its own `$defs`; the shapes that it needs are added to `wanted`."""
    if isinstance(node, list):
        return [_local(item, wanted) for item in node]
    if not isinstance(node, dict):
        return node
    copy = {key: _local(item, wanted) for key, item in node.items()}
    if isinstance(ref := node.get("$ref"), str):
        name = ref.removeprefix("countersign:shared").removeprefix("#/$defs/")
        if name not in _shapes():
            raise LookupError(f"$ref {ref}: contracts name shapes of countersign:shared only")
        wanted.append(name)
        copy["$ref"] = f"#/$defs/{name}"
    return copy


def _refuse(uri: str) -> NoReturn:
    raise LookupError(f"{uri}: contracts are never fetched")


def _compiled(bundle: dict[str, Any]) -> Draft202012Validator:
    """Linear patterns only, nothing fetched from net or disk, no caller's value in the library's messages."""
    return Draft202012Validator(bundle, retriever=_refuse, pattern_options=RegexOptions(), mask="…")


@cache
def _validator(tool: str, part: Part) -> Draft202012Validator:
    return _compiled(schema(tool, part))


# Issues


def _issues(tool: str, part: Part, value: object) -> list[str]:
    validator = _validator(tool, part)
    view = codec.plain(value)
    if validator.is_valid(view):
        return []
    errors = list(validator.iter_errors(_shortened(view))) or list(validator.iter_errors(view))
    stranger = f"not an argument of {tool}" if part == "arguments" else f"not in the result of {tool}"
    found = sorted(set(_findings(_leaves(errors), value, stranger)), key=_order)
    return [f"{_spelled(place) or part}: {words}" for place, words in found[:MAX_ISSUES]]


def _shortened(value: Any) -> Any:
    """Lists and objects cut to what is worth examining; no key that a schema knows goes missing."""
    if isinstance(value, dict):
        kept = set(islice(value, _EXAMINED)) | (value.keys() & _known_keys())
        return {key: _shortened(item) for key, item in value.items() if key in kept}
    if isinstance(value, list):
        return [_shortened(item) for item in value[:_EXAMINED]]
    return value


def _leaves(errors: Iterable[ValidationError]) -> Iterator[ValidationError]:
    """Errors that say something: of a choice of shapes, those of the shape that comes nearest."""
    for error in errors:
        if not isinstance(error.kind, Kind.AnyOf):
            yield error
            continue
        shapes = error.kind.context
        # a value of a shape's type is nearer to it than to any other, however much is wrong inside
        typed = [shape for shape in shapes if not _mistyped(shape, error.instance_path)]
        nearest = [min(typed, key=len)] if typed else shapes
        yield from _leaves(chain(*nearest))


def _mistyped(errors: Iterable[ValidationError], place: list[str | int]) -> bool:
    return any(isinstance(error.kind, Kind.Type) and error.instance_path == place for error in errors)


def _findings(errors: Iterable[ValidationError], value: object, stranger: str) -> Iterator[Finding]:
    expected: dict[Place, set[str]] = {}
    others: list[tuple[Place, Kind]] = []
    for error in errors:
        place = tuple(error.instance_path)
        match error.kind:
            case Kind.Type(types=names):
                expected.setdefault(place, set()).update(names)
            case Kind.Required(property=name):
                yield (*place, name), "missing"
            case Kind.AdditionalProperties(unexpected=names):
                words = "not known here" if place else stranger
                yield from (((*place, name), words) for name in sorted(names)[:MAX_ISSUES])
            case kind:
                others.append((place, kind))
    for place, types in expected.items():
        ordered = sorted(types, key=lambda name: (name == "null", name))
        yield place, "expected " + " or ".join(_TYPES.get(name, name) for name in ordered)
    for place, kind in others:
        if place not in expected:  # of another type: the rest goes without saying
            yield place, _words(kind, _at(value, place))


def _words(kind: Kind, value: Any) -> str:
    match kind:
        case Kind.Enum(options=options):
            return f"{_shown(value)} is not one of {', '.join(_bare(option) for option in options)}"
        case Kind.Constant(expected_value=expected):
            return f"{_shown(value)} is not {_shown(expected)}"
        case Kind.Maximum(limit=limit):
            return f"{_shown(value)} is more than {limit}"
        case Kind.Minimum(limit=limit):
            return f"{_shown(value)} is less than {limit}"
        case Kind.MaxLength(limit=limit):
            return f"{len(value)} characters are more than {limit}"
        case Kind.MaxItems(limit=limit):
            return f"{len(value)} items are more than {limit}"
        case Kind.MinLength(limit=1) | Kind.MinItems(limit=1):
            return "empty"
        case Kind.Pattern(pattern=pattern):
            return f"{_shown(value)} does not match {pattern}"
        case Kind.PropertyNames():
            return "a name does not fit its schema"
    return f"does not fit its schema ({kind.name})"


def _order(finding: Finding) -> tuple[list[tuple[bool, Any]], str]:
    place, words = finding
    return [(isinstance(key, str), key) for key in place], words


def _at(value: Any, place: Place) -> Any:
    for key in place:
        value = value[key]
    return value


def _spelled(place: Place) -> str:
    """`evidence[0].kind`"""
    parts = (f"[{key}]" if isinstance(key, int) else f".{_cut(key) or '""'}" for key in place)
    return "".join(parts).removeprefix(".")


def _shown(value: Any) -> str:
    """A value in a few characters: a string in quotes, a number as it came, of a list or object the word."""
    if isinstance(value, str):
        return f'"{_cut(value)}"'
    if isinstance(value, dict | list | tuple):
        return "an object" if isinstance(value, dict) else "a list"
    return _cut(codec.dumps(value))


def _bare(option: Any) -> str:
    return option if isinstance(option, str) else codec.dumps(option)


def _cut(text: str) -> str:
    """At most `MAX_SHOWN` characters on one line, nothing invisible among them."""
    seen = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text[: MAX_SHOWN + 1])
    return seen if len(seen) <= MAX_SHOWN else seen[: MAX_SHOWN - 1] + "…"
