"""`POST /v1/receipts/verify` and `GET /.well-known/jwks.json`: for anybody, without a key."""

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from checks.facts.shapes import shown
from checks.judge.callers import RefusedError, count_address
from checks.judge.door import answered, body_of, door
from checks.receipts import keys, keyset, sources
from checks.receipts.jws import MAX_CHARS
from checks.receipts.models import Checkpoint
from checks.receipts.payload import CHECKPOINTS
from checks.receipts.verifying import examine
from checks.records import Receipted

MAX_BODY_BYTES = 65_536
# so that nobody takes a key for good for long after it was revoked
KEPT_SECONDS = 300


@csrf_exempt
@require_safe
def jwks(request: HttpRequest) -> HttpResponse:
    """Every key that ever signed, with its dates."""
    found = keyset.write(keys.published().values())
    headers = {"Cache-Control": f"public, max-age={KEPT_SECONDS}", "Access-Control-Allow-Origin": "*"}
    return JsonResponse(found, content_type="application/jwk-set+json", headers=headers)


@door
def verify(request: HttpRequest) -> HttpResponse:
    return answered(request, _verified, "POST")


def _verified(request: HttpRequest) -> dict[str, Any]:
    """`{valid, reason, payload, on_record}`; of a receipt that nobody signed, payload and on_record are null."""
    count_address(request, "verify")
    text = _receipt(body_of(request, MAX_BODY_BYTES))
    examined = examine(text, keys.published())
    on_record = None if examined.payload is None else _on_record(text, examined.payload)
    return {
        "valid": examined.valid,
        "reason": examined.reason,
        "payload": examined.payload,
        "on_record": on_record,
    }


def _on_record(text: str, said: dict[str, Any]) -> bool:
    """Whether this very receipt stands in its place here. One statement."""
    tables: list[type[Receipted]] = [*sources.tables(said["chain"])]
    if said["chain"] == CHECKPOINTS:
        tables.append(Checkpoint)
    place = {"chain": said["chain"], "seq": int(said["seq"]), "receipt": text}
    return any(sources.rows(model).filter(**place).exists() for model in tables)


def _receipt(body: Any) -> str:
    problems = []
    if not isinstance(body, dict):
        problems.append("body: expected an object")
    else:
        problems += [f"{shown(key)}: not known here; known is receipt" for key in body if key != "receipt"]
        if "receipt" not in body:
            problems.append("receipt: missing")
        elif not isinstance(body["receipt"], str):
            problems.append("receipt: expected a string")
        elif len(body["receipt"]) > MAX_CHARS:
            problems.append(f"receipt: {len(body['receipt'])} characters; at most {MAX_CHARS} are taken")
    if problems:
        raise RefusedError("invalid", 400, "The request is not as docs/receipts.md tells.", problems)
    return str(body["receipt"]).strip()  # as a file's line end comes along
