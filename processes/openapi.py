"""OpenAPI 3.1 of the REST door, made from the contracts, which are its only source. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from checks.judge import openapi as judge
from processes import contracts, openapi_runs

VERSION = "core-2"
STATUS = {
    "400": "`invalid`: the arguments don't fit the contract; `issues` names each.",
    "401": "No key, or one that proves nothing.",
    "403": "`forbidden` for this caller.",
    "404": "`not_found`.",
    "409": "`conflict` or `stale`.",
    "415": "The body is something else than JSON.",
    "422": "`not_accepted`: the work broke a rule; `issues` names each.",
    "429": "`retry`: too many calls, or too much held at a time; send the same call again after `Retry-After` seconds.",
    "503": "`retry`: send the same call again after `Retry-After` seconds.",
}


def document(tools: Mapping[str, bool], parts: Sequence[str], server: str) -> dict[str, Any]:
    """The whole description of what this server offers. `tools`: each, and whether it writes; `parts`: of its health."""
    components: dict[str, Any] = {"Error": _error()}
    paths: dict[str, Any] = {
        f"/v1/{tool}": {"post": _operation(tool, components, writes=writes)} for tool, writes in tools.items()
    }
    paths["/v1/health"] = {"get": _health(parts)}
    paths |= judge.paths()
    components["JudgeError"] = judge.error()
    paths |= openapi_runs.paths({code: STATUS[code] for code in ("400", "401", "403", "404", "429", "503")})
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Countersign",
            "version": VERSION,
            "description": "The agentprocess protocol over REST: one POST per tool. And the judge API, in plain JSON.",
        },
        "servers": [{"url": server}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "agentKey": {"type": "http", "scheme": "bearer", "description": "An agent's key."},
                "session": {
                    "type": "apiKey",
                    "in": "cookie",
                    "name": "sessionid",
                    "description": "A person's browser session, with the CSRF token in X-CSRFToken.",
                },
                **judge.security(),
            },
        },
        "security": [{"agentKey": []}, {"session": []}],
    }


def _operation(tool: str, components: dict[str, Any], *, writes: bool) -> dict[str, Any]:
    arguments = _hoist(tool, "arguments", components)
    result = _hoist(tool, "result", components)
    answer = {
        "type": "object",
        "properties": {"ok": {"const": True}, "data": result},
        "required": ["ok", "data"],
        "additionalProperties": False,
    }
    refused = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    operation: dict[str, Any] = {
        "operationId": tool,
        "summary": contracts.title(tool),
        "description": contracts.description(tool),
        "tags": ["writing" if writes else "reading"],
        # an empty body is an empty object
        "requestBody": {
            "required": bool(contracts.schema(tool, "arguments").get("required")),
            "content": {"application/json": {"schema": arguments}},
        },
        "responses": {
            "200": {"description": "Done.", "content": {"application/json": {"schema": answer}}},
            **{code: {"description": words, "content": refused} for code, words in STATUS.items()},
        },
    }
    if tool == "describe":
        operation["security"] = []
    return operation


def _health(parts: Sequence[str]) -> dict[str, Any]:
    """The one path that is no tool: for whoever runs the server, and its load balancer."""
    part = {
        "type": "object",
        "properties": {
            "state": {"enum": ["ok", "down", "not_used"]},
            "seconds": {
                "type": ["integer", "null"],
                "minimum": 0,
                "description": "For how long it has been so; null where nobody knows.",
            },
        },
        "required": ["state", "seconds"],
        "additionalProperties": False,
    }
    shape = {
        "type": "object",
        "properties": {"status": {"enum": ["ok", "impaired", "down"]}, **dict.fromkeys(parts, part)},
        "required": ["status", *parts],
        "additionalProperties": False,
    }
    content = {"application/json": {"schema": shape}}
    return {
        "operationId": "health",
        "summary": "Which parts of the server work",
        "description": "Plain JSON without an envelope, for anybody. It costs little and asks no evaluator.",
        "tags": ["health"],
        "security": [],
        "responses": {
            "200": {"description": "It can serve; `impaired` where a part is down.", "content": content},
            "503": {"description": "The database is down.", "content": content},
        },
    }


def _hoist(tool: str, part: Literal["arguments", "result"], components: dict[str, Any]) -> dict[str, Any]:
    """Put a bundled schema and its shared shapes under `components`; gives the reference to it."""
    schema = contracts.schema(tool, part)
    for name, shape in schema.pop("$defs", {}).items():
        components.setdefault(name, _local(shape))
    schema.pop("$schema", None)
    schema.pop("$id", None)
    name = f"{tool}_{part}"
    components[name] = _local(schema)
    return {"$ref": f"#/components/schemas/{name}"}


def _local(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: item.replace("#/$defs/", "#/components/schemas/")
            if key == "$ref" and isinstance(item, str)
            else _local(item)
            for key, item in value.items()
        }
    return [_local(item) for item in value] if isinstance(value, list) else value


def _error() -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"ok": {"const": False}, "error": _local(_stripped(contracts.error_schema()))},
        "required": ["ok", "error"],
        "additionalProperties": False,
    }


def _stripped(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in ("$schema", "$id", "$defs")}
