"""The public schemas, where they are: what a result breaks in them."""

import json
from functools import cache
from typing import Any

import jsonschema_rs

from checks import codec
from tests.conftest import SHARED

FOLDER = SHARED / "conformance" / "schemas" / "core-2"


@cache
def _registry() -> Any:
    files = [json.loads(path.read_text("utf-8")) for path in FOLDER.rglob("*.json")]
    return jsonschema_rs.Registry([(file["$id"], file) for file in files if "$id" in file])


@cache
def _validator(name: str) -> Any:
    path = FOLDER / f"{name}.json"
    if not path.exists():
        return None
    return jsonschema_rs.Draft202012Validator(json.loads(path.read_text("utf-8")), registry=_registry())


def public_issues(tool: str, result: dict[str, Any]) -> list[str]:
    """[] where a tool's result fits, or where there are no public schemas."""
    return shape_issues(f"tools/{tool}.result", result)


def shape_issues(name: str, value: dict[str, Any]) -> list[str]:
    """Likewise for any public schema: `run-view`, `work-item`, `tools/claim.arguments`."""
    validator, view = _validator(name), codec.plain(value)
    if validator is None or validator.is_valid(view):
        return []
    return [f"{list(error.instance_path)}: {error.message}" for error in validator.iter_errors(view)]
