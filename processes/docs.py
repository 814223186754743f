"""`/v1/schema` (OpenAPI) and `/v1/docs` (the same for people). Both come from the contracts; neither needs a key."""

import json
from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from processes import contracts, health, openapi
from processes.callers import CallerKind
from processes.tools import TOOLS

_WHO = {CallerKind.NOBODY: "anyone", CallerKind.AGENT: "agents", CallerKind.PERSON: "people"}


@require_safe
def schema(request: HttpRequest) -> JsonResponse:
    tools = {name: entry.writes for name, entry in TOOLS.items()}
    return JsonResponse(openapi.document(tools, health.PARTS, settings.SITE_URL))


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    context = {
        "title": "API",
        "here": "docs",
        "tools": tools(),
        "site": settings.SITE_URL,
        "statuses": openapi.STATUS,
    }
    return render(request, "processes/docs.html", context)


@cache
def tools() -> list[dict[str, Any]]:
    """What the page shows of each tool."""
    return [_tool(name) for name in TOOLS]


def _tool(name: str) -> dict[str, Any]:
    entry = TOOLS[name]
    arguments = contracts.schema(name, "arguments")
    who = ["anyone"] if CallerKind.NOBODY in entry.who else sorted(_WHO[kind] for kind in entry.who)
    return {
        "name": name,
        "description": contracts.description(name),
        "who": ", ".join(who),
        "writes": entry.writes,
        "arguments": [
            {
                "name": key,
                "type": _type(shape, arguments),
                "required": key in arguments.get("required", []),
                "description": _resolved(shape, arguments).get("description", ""),
            }
            for key, shape in arguments.get("properties", {}).items()
        ],
        "result": json.dumps(contracts.schema(name, "result"), indent=2, ensure_ascii=False),
    }


def _resolved(shape: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    reference = shape.get("$ref", "")
    if not reference.startswith("#/$defs/"):
        return shape
    return {**root["$defs"][reference.removeprefix("#/$defs/")], **shape}


def _type(shape: dict[str, Any], root: dict[str, Any]) -> str:
    """In words: `string`, `list`, `one of live, test`."""
    full = _resolved(shape, root)
    if "enum" in full:
        return "one of " + ", ".join(map(str, full["enum"]))
    kind = full.get("type", "any")
    words = {"array": "list", "object": "object", "integer": "whole number"}
    return words.get(kind, str(kind)) if isinstance(kind, str) else " or ".join(kind)
