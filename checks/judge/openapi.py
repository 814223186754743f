"""OpenAPI of the judge API: what `requests` reads and what the doors answer. Pure; docs/judge.md tells the meaning.

Bounds that JSON Schema has no word for (all texts together, what each type of check takes) are told in words; the doors
name every breach.
"""

from collections.abc import Mapping
from typing import Any

from checks.consensus import LEVELS
from checks.facts import FACTS, MAX_CHECKS
from checks.judge import requests as bounds

_SHA256 = {"type": ["string", "null"], "description": "SHA-256 of what was read; null where nothing was."}
_SCORE = {"type": "number", "minimum": 0, "maximum": 1}
_COUNT = {"type": "integer", "minimum": 0}
_WORDS = {"type": "array", "items": {"type": "string"}}
_REFUSALS = {
    "400": "`invalid`: `issues` names every breach.",
    "401": "`unauthenticated`: no key, or one that is unknown or revoked.",
    "403": "`forbidden`: the key does not open the judge API.",
    "405": "`invalid`: another method.",
    "411": "`invalid`: a body without its length.",
    "413": "`too_large`: the body is too large.",
    "415": "`invalid`: the body is something else than JSON.",
    "429": "`quota`: too many calls; `Retry-After` tells when to come again.",
    "500": "`error`: something broke on our side; it is logged.",
    "503": "`busy`: come again after `Retry-After` seconds.",
}


def paths() -> dict[str, Any]:
    """Of the doors, none of which puts its answer into an envelope."""
    return {
        "/v1/judge": {"post": _post("judge", "Judge an answer", _JUDGE, _JUDGED)},
        "/v1/consensus": {"post": _post("consensus", "What answers agree on", _CONSENSUS, _AGREED)},
        "/v1/receipts/verify": {
            "post": {**_post("verify_receipt", "Whether a receipt holds", _VERIFY, _VERIFIED), "security": []}
        },
        "/v1/usage": {"get": _usage()},
    }


def security() -> dict[str, Any]:
    """How a caller makes itself known; added to the document's own."""
    return {"judgeKey": {"type": "http", "scheme": "bearer", "description": "A key with the judge scope."}}


def error() -> dict[str, Any]:
    """Every refusal."""
    inner = _object({"code": {"type": "string"}, "message": {"type": "string"}, "issues": _WORDS})
    return _object({"error": inner})


def _text(most: int, description: str = "") -> dict[str, Any]:
    told = {"description": description} if description else {}
    return {"type": "string", "maxLength": most, "pattern": r"\S", **told}


def _object(properties: Mapping[str, Any], needed: tuple[str, ...] | None = None) -> dict[str, Any]:
    """`needed`: None = all of them."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties if needed is None else needed),
        "additionalProperties": False,
    }


def _several(item: Mapping[str, Any], most: int, least: int = 0) -> dict[str, Any]:
    return {"type": "array", "items": dict(item), "minItems": least, "maxItems": most}


_EVIDENCE = _several(_text(bounds.EVIDENCE), bounds.MAX_EVIDENCE)
_RETAIN = {
    "type": "boolean",
    "description": "Keep what is sent and answered for a set time. Otherwise it is not kept.",
}
_CHECK = {
    "type": "object",
    "properties": {"type": {"enum": list(FACTS)}},
    "required": ["type"],
    "description": "What else each type takes is in docs/judge.md.",
}
_JUDGE = _object(
    {
        "task": _text(bounds.TASK),
        "agent_output": _text(bounds.OUTPUT, f"All texts together: at most {bounds.TOGETHER} characters."),
        "evidence": _EVIDENCE,
        "criteria": _several(_text(bounds.CRITERION), bounds.MAX_CRITERIA),
        "checks": _several(_CHECK, MAX_CHECKS),
        "retain": _RETAIN,
    },
    ("task", "agent_output"),
)
_ANSWER = _object(
    {"output": _text(bounds.OUTPUT), "agent_id": {**_text(bounds.AGENT_ID), "type": ["string", "null"]}},
    ("output",),
)
_CONSENSUS = _object(
    {
        "task": _text(bounds.TASK),
        "answers": _several(_ANSWER, bounds.MAX_ANSWERS, bounds.MIN_ANSWERS),
        "evidence": _EVIDENCE,
        "retain": _RETAIN,
    },
    ("task", "answers"),
)
_VERIFY = _object({"receipt": {"type": "string", "description": "A compact JWS."}})

_CLAIM = _object(
    {
        "text": {"type": "string"},
        "status": {"enum": ["supported", "contradicted", "unsupported"]},
        "confidence": _SCORE,
        "evidence": {"type": ["integer", "null"], "description": "The item of evidence, counted from 0."},
    }
)
_CHECKED = _object(
    {
        "type": {"enum": list(FACTS)},
        "passed": {"type": "boolean"},
        "detail": {"type": "string"},
        "evidence_hash": _SHA256,
    }
)
_CRITERION = _object(
    {
        "text": {"type": "string"},
        "result": {"enum": ["pass", "fail", "unsure"]},
        "probability": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
    }
)
_KEPT = {
    "receipt": {"type": "string", "description": "A compact JWS; docs/receipts.md."},
    "receipt_salt": {"type": "string", "description": "Opens what the receipt promises; base64url."},
}
_JUDGED = _object(
    {
        "request_id": {"type": "string", "format": "uuid"},
        "verdict": {"enum": ["pass", "fail", "retry"]},
        "score": _SCORE,
        "reasons": _WORDS,
        "next_step": {"type": ["string", "null"]},
        "claims": {"type": "array", "items": _CLAIM},
        "checks": {"type": "array", "items": _CHECKED},
        "criteria": {"type": "array", "items": _CRITERION},
        "verification": {"enum": ["verified", "judged", "heuristic"]},
        "engine": {"type": "string"},
        "model": {"type": "string"},
        **_KEPT,
    }
)
_CLUSTER = _object(
    {
        "role": {"const": "clustering"},
        "answers": {"type": "array", "items": _COUNT},
        "size": _COUNT,
        "representative": _COUNT,
    }
)
_AGREED = _object(
    {
        "request_id": {"type": "string", "format": "uuid"},
        "consensus_answer": {"type": ["string", "null"]},
        "agreement_score": _SCORE,
        "false_consensus_risk": {"enum": list(LEVELS)},
        "reasons": _WORDS,
        "clusters": {"type": "array", "items": _CLUSTER},
        "unsupported_agreement": {"type": "boolean"},
        "claims": {"type": "array", "items": _CLAIM},
        "engine": {"type": "string"},
        **_KEPT,
    }
)
_VERIFIED = _object(
    {
        "valid": {"type": "boolean"},
        "reason": {"type": "string", "description": "A sentence."},
        "payload": {
            "type": ["object", "null"],
            "description": "What it says; null where nobody of ours said it.",
        },
        "on_record": {"type": ["boolean", "null"]},
    }
)


def _post(name: str, summary: str, takes: Mapping[str, Any], gives: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "operationId": name,
        "summary": summary,
        "tags": ["judge"],
        "security": [{"judgeKey": []}],
        "requestBody": {"required": True, "content": {"application/json": {"schema": dict(takes)}}},
        "responses": _responses(gives),
    }


def _usage() -> dict[str, Any]:
    days = {"name": "days", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 90}}
    tally = {
        "calls": _COUNT,
        "verdicts": {"type": "object", "additionalProperties": _COUNT},
        "score_mean": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
        "latency_ms": {"type": "object", "additionalProperties": {"type": ["integer", "null"], "minimum": 0}},
        "engines": {"type": "object", "additionalProperties": _COUNT},
    }
    date = {"type": "string", "format": "date"}
    told = {
        "from": date,
        "to": date,
        "days": {"type": "array", "items": _object({"day": date, **tally})},
        "totals": _object(tally),
        "quota": _object({"per_day": _COUNT, "used_today": _COUNT}),
    }
    return {
        "operationId": "usage",
        "summary": "What a key's own calls came to, by day (UTC)",
        "tags": ["judge"],
        "security": [{"judgeKey": []}],
        "parameters": [days],
        "responses": _responses(_object(told)),
    }


def _responses(gives: Mapping[str, Any]) -> dict[str, Any]:
    refused = {"application/json": {"schema": {"$ref": "#/components/schemas/JudgeError"}}}
    return {
        "200": {"description": "Done.", "content": {"application/json": {"schema": dict(gives)}}},
        **{code: {"description": words, "content": refused} for code, words in _REFUSALS.items()},
    }
