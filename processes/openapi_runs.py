"""OpenAPI of what is read of a run beside its tools: facts (our profile facts-1) and receipts. Pure."""

from collections.abc import Mapping
from typing import Any

_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 1}
_FACT = {
    "stepId": _TEXT,
    "attempt": _COUNT,
    "submission": _COUNT,
    "asked": _COUNT,
    "type": _TEXT,
    "value": {"type": "string", "description": "The path into the submission, like output.total."},
    "passed": {"type": "boolean"},
    "unreachable": {
        "type": "boolean",
        "description": "Nobody answered, which says nothing about the fact itself.",
    },
    "detail": {"type": "string", "description": "A sentence for people."},
    "evidenceHash": {
        "type": ["string", "null"],
        "description": "SHA-256 of what was read; null where nothing was.",
    },
    "at": {"type": "string", "format": "date-time"},
}
_RECEIPT = {
    "seq": {**_COUNT, "description": "Its place in the run's chain."},
    "what": {"type": "string", "description": "What happened: checked, approved, ..."},
    "stepId": _TEXT,
    "receipt": {
        "type": "string",
        "description": "The compact JWS; POST /v1/receipts/verify tells whether it holds.",
    },
}
_READ = {
    "facts": (
        _FACT,
        "What the facts of a run's work came to",
        "Profile facts-1: every asking, oldest first.",
    ),
    "receipts": (
        _RECEIPT,
        "The receipts of a run",
        "Of verdicts and decisions, in the order of the run's chain.",
    ),
}


def paths(refusals: Mapping[str, str]) -> dict[str, Any]:
    """`refusals`: HTTP status → what it means here."""
    return {
        f"/v1/runs/{{runId}}/{name}": {"get": _operation(name, *told, refusals)}
        for name, told in _READ.items()
    }


def _operation(
    name: str, item: Mapping[str, Any], summary: str, description: str, refusals: Mapping[str, str]
) -> dict[str, Any]:
    data = _object({"runId": _TEXT, name: {"type": "array", "items": _object(item)}})
    answer = _object({"ok": {"const": True}, "data": data})
    refused = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    return {
        "operationId": f"run_{name}",
        "summary": summary,
        "description": f"{description} For whoever may read the run.",
        "tags": ["reading"],
        "parameters": [{"name": "runId", "in": "path", "required": True, "schema": _TEXT}],
        "responses": {
            "200": {"description": "Done.", "content": {"application/json": {"schema": answer}}},
            **{code: {"description": words, "content": refused} for code, words in refusals.items()},
        },
    }


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    """All of them needed, and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
