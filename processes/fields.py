"""Fields: the protocol's whole schema language, and what a value must be to fit one. Pure.

A field is a type name or `{type, description?, optional?, one_of?, items?}`; `items` only on `list`.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

from checks.codec import is_number
from processes.rules import Findings, Path, Rule, described, listed, literal, shown

TYPES = ("string", "number", "boolean", "date", "datetime", "list", "object", "person")
KEYS = ("type", "description", "optional", "one_of", "items")

# what authors write who know other schema languages
_MEANT = {
    "int": "number", "integer": "number", "float": "number", "decimal": "number",
    "str": "string", "text": "string", "enum": "string", "bool": "boolean",
    "array": "list", "map": "object", "dict": "object", "timestamp": "datetime", "user": "person",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    type: str
    description: str = ""
    optional: bool = False
    one_of: tuple[Any, ...] | None = None
    items: "Field | None" = None
    # the field as its author wrote it (a type name or a map): what tools give back
    source: Any = None


Fields = Mapping[str, Field]


# Reading a declaration. Every reader gives what it could read and adds the rest to the findings; a field
# whose type can't be told has the type "", so that nothing more is said of it elsewhere.


def read_fields(raw: object, path: Path, findings: Findings) -> dict[str, Field] | None:
    """A map of field names to declarations (`inputs`, `output`); None where it is no map."""
    if not isinstance(raw, dict):
        findings.add(Rule.FIELDS, path, key=path[-1], what=described(raw))
        return None
    for name in raw:
        if not name.strip():
            findings.add(Rule.FIELD_NAME, (*path, name))
    return {name: read_field(value, (*path, name), findings) for name, value in raw.items()}


def read_field(raw: object, path: Path, findings: Findings) -> Field:
    """One declaration: a type name or a map."""
    if isinstance(raw, str):
        return Field(type=_read_type(raw, path, findings), source=raw)
    if not isinstance(raw, dict):
        findings.add(Rule.FIELD_SHAPE, path, what=described(raw), types=listed(TYPES))
        return Field(type="", source=raw)
    for key in raw:
        if key not in KEYS:
            hint = findings.hint(key, KEYS, "A field has the keys")
            findings.add(Rule.UNKNOWN_KEY, (*path, key), key=shown(key), owner="a field", hint=hint)
    if "type" not in raw:
        # `typ: string` is told once, as the unknown key
        if not any(key not in KEYS and findings.near(key, ["type"]) for key in raw):
            findings.add(Rule.MISSING, path, key="type", example="type: string")
        kind = ""
    else:
        kind = _read_type(raw["type"], (*path, "type"), findings)
    return Field(
        type=kind,
        description=_read_description(raw, path, findings),
        optional=_read_optional(raw, path, findings),
        one_of=_read_one_of(raw, kind, path, findings),
        items=_read_items(raw, kind, path, findings),
        source=raw,
    )


def _read_type(raw: object, path: Path, findings: Findings) -> str:
    if isinstance(raw, str) and raw in TYPES:
        return raw
    meant = _MEANT.get(raw.strip().lower(), raw) if isinstance(raw, str) else raw
    findings.add(Rule.FIELD_TYPE, path, value=shown(raw), hint=findings.hint(meant, TYPES, "The types are"))
    return ""


def _read_description(raw: dict[str, Any], path: Path, findings: Findings) -> str:
    value = raw.get("description", "")
    if isinstance(value, str):
        return value
    mend = "Put it in quotes, or leave the key out."
    findings.add(Rule.NOT_TEXT, (*path, "description"), key="description", what=described(value), mend=mend)
    return ""


def _read_optional(raw: dict[str, Any], path: Path, findings: Findings) -> bool:
    value = raw.get("optional", False)
    if isinstance(value, bool):
        return value
    findings.add(Rule.NOT_BOOLEAN, (*path, "optional"), key="optional", what=described(value))
    return False


def _read_one_of(raw: dict[str, Any], kind: str, path: Path, findings: Findings) -> tuple[Any, ...] | None:
    if "one_of" not in raw:
        return None
    values, path = raw["one_of"], (*path, "one_of")
    if kind in {"list", "object"}:
        elsewhere = ", or put it under items" if kind == "list" else ""
        findings.add(Rule.ONE_OF_TYPE, path, type=kind, elsewhere=elsewhere)
        return None
    if not isinstance(values, list) or not values:
        findings.add(Rule.ONE_OF, path, what=described(values))
        return None
    for index, value in enumerate(values):
        if kind and not fits(kind, value):
            mend = "Put it in quotes." if kind == "string" and _scalar(value) else "Change one of them."
            findings.add(Rule.ONE_OF_VALUE, (*path, index), what=described(value), type=kind, mend=mend)
    return tuple(values)


def _read_items(raw: dict[str, Any], kind: str, path: Path, findings: Findings) -> Field | None:
    if "items" not in raw:
        return None
    if kind not in {"list", ""}:
        findings.add(Rule.ITEMS, (*path, "items"), type=kind)
        return None
    return read_field(raw["items"], (*path, "items"), findings)


def _scalar(value: object) -> bool:
    return isinstance(value, bool | int | Decimal)


# Values.


def value_issues(fields: Fields, values: object, prefix: str) -> list[str]:
    """All that keeps values from fitting their fields, in the order of declaration; [] if nothing does.

    `values` is what `checks.codec.loads` gives; the strings are the protocol's, e.g.
    `output.total: missing`, `inputs.tags[2]: expected string`.
    """
    if not isinstance(values, Mapping):
        return [f"{prefix}: expected object"]
    issues = []
    for name, field in fields.items():
        if name in values:
            issues += _issues(field, values[name], f"{prefix}.{name}")
        elif not field.optional:
            issues.append(f"{prefix}.{name}: missing")
    return issues + [f"{prefix}.{name}: not declared" for name in values if name not in fields]


def _issues(field: Field, value: object, place: str) -> list[str]:
    if not fits(field.type, value):
        return [f"{place}: expected {field.type}"]
    if field.one_of is not None and not any(value == option for option in field.one_of):
        return [f"{place}: not one of {', '.join(literal(option) for option in field.one_of)}"]
    if field.items is None or not isinstance(value, list | tuple):
        return []
    return [
        issue for index, item in enumerate(value) for issue in _issues(field.items, item, f"{place}[{index}]")
    ]


def fits(kind: str, value: object) -> bool:
    """Whether a value is of a field type. Null is of none."""
    return kind in _FITS and _FITS[kind](value)


def _is_finite_number(value: object) -> bool:
    if isinstance(value, Decimal):
        return value.is_finite()
    return is_number(value) and (not isinstance(value, float) or math.isfinite(value))


_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def _is_date(value: object) -> bool:
    if not isinstance(value, str) or not _DATE.fullmatch(value):
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


# RFC 3339 §5.6: T and Z in either case, any number of digits after the second, never without offset.
_DATETIME = re.compile(
    r"(?P<to_minute>[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}):(?P<second>[0-9]{2})"
    r"(?:\.(?P<fraction>[0-9]+))?"
    r"(?:[Zz]|(?P<sign>[+-])(?P<hours>[01][0-9]|2[0-3]):(?P<minutes>[0-5][0-9]))"
)


def parse_datetime_strict(text: object) -> datetime | None:
    """RFC 3339 with offset to the instant in UTC; None for anything else, or what UTC can't hold.

    Digits beyond the microsecond are cut. A leap second (`23:59:60` UTC) is the second after it.
    """
    found = _DATETIME.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        return None
    offset = timedelta(hours=int(found["hours"] or 0), minutes=int(found["minutes"] or 0))
    zone = timezone(-offset if found["sign"] == "-" else offset)
    second = int(found["second"])
    leap = second == 60  # noqa: PLR2004  a minute of 61 seconds
    try:
        local = datetime.strptime(found["to_minute"].upper(), "%Y-%m-%dT%H:%M")  # noqa: DTZ007  zone below
        instant = local.replace(second=second - leap, tzinfo=zone).astimezone(UTC)
        if leap:
            return instant + timedelta(seconds=1) if (instant.hour, instant.minute) == (23, 59) else None
    except (ValueError, OverflowError):
        return None
    return instant.replace(microsecond=int((found["fraction"] or "")[:6].ljust(6, "0")))


_FITS: Mapping[str, Callable[[object], bool]] = {
    "string": lambda value: isinstance(value, str),
    "number": _is_finite_number,
    "boolean": lambda value: isinstance(value, bool),
    "date": _is_date,
    "datetime": lambda value: parse_datetime_strict(value) is not None,
    "list": lambda value: isinstance(value, list | tuple),
    "object": lambda value: isinstance(value, Mapping),
    "person": lambda value: isinstance(value, str) and bool(value.strip()),
}
