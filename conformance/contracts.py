"""What every tool promises to give, as JSON Schemas of the suite's own (`schemas/`), and their validators.

`shapes.json` holds what several tools share, `tools.json` one result per tool, `error` among them.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from jsonschema_rs import Draft202012Validator, RegexOptions

from conformance import codec

_HERE = Path(__file__).parent / "schemas"
_SHOWN = 5


def result_issues(tool: str, data: object) -> list[str]:
    """[] where `data` (from `codec.loads`) is what `tool` promises, else what is wrong, with its place."""
    return _issues(tool, data)


def error_issues(error: object) -> list[str]:
    """Likewise for the `error` of a refused call."""
    return _issues("error", error)


def known(tool: str) -> bool:
    return tool in _tools()


@cache
def _tools() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((_HERE / "tools.json").read_text("utf-8"))
    return found


@cache
def _validator(name: str) -> Draft202012Validator:
    shapes = json.loads((_HERE / "shapes.json").read_text("utf-8"))
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": shapes, **_tools()[name]}
    return Draft202012Validator(schema, retriever=_refuse, pattern_options=RegexOptions())


def _issues(name: str, value: object) -> list[str]:
    errors = sorted(
        _validator(name).iter_errors(codec.plain(value)), key=lambda error: str(error.instance_path)
    )
    return [f"{_place(error.instance_path)}: {_short(error.message)}" for error in errors[:_SHOWN]]


def _place(path: list[str | int]) -> str:
    return (
        "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".") or "data"
    )


def _short(text: str, most: int = 200) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _refuse(uri: str) -> NoReturn:
    raise LookupError(f"{uri}: schemas are never fetched")
