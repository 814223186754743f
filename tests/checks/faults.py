"""What can go wrong with an evaluator, on each wire: how a server does it, and whether the check may still pass."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.servers.system_one import Reply, Step
from tests.servers.wires import WIRES, spoiled, well

# column -> the wire that is spoken
COLUMNS = {"System One": "system_one", "decisions": "decisions", "chat": "chat", "chat, JSON": "chat"}
Script = list[Step]
LATE = 0.4  # seconds that an asking is given where the server is too slow


@dataclass(frozen=True, kw_only=True)
class Fault:
    """`script` gives None where a wire can't have it. `passes`: the columns in which the answer is still whole."""

    told: str
    script: Callable[[str], Script | None]
    passes: tuple[str, ...] = ()
    seconds: float = 20.0


ALL = tuple(COLUMNS)


def _always(**reply: Any) -> Callable[[str], Script]:
    return lambda _: [Reply(**reply)]


def _once(**reply: Any) -> Callable[[str], Script]:
    return lambda column: [Reply(**reply), well(COLUMNS[column])]


def _well(**reply: Any) -> Callable[[str], Script]:
    return lambda column: [well(COLUMNS[column], **reply)]


def _spoiled(spoil: Callable[[Any], Any]) -> Callable[[str], Script]:
    return lambda column: [spoiled(COLUMNS[column], spoil)]


def _changed(change: Callable[[str, dict[str, Any]], Any]) -> Callable[[str], Script]:
    """The favourable body, changed by hand."""

    def script(column: str) -> Script:
        wire = COLUMNS[column]
        return [lambda request: Reply(body=change(column, WIRES[wire](request)))]

    return script


def _only(*columns: str, script: Callable[[str], Script]) -> Callable[[str], Script | None]:
    return lambda column: script(column) if column in columns else None


def _half(column: str, body: dict[str, Any]) -> dict[str, Any]:
    if "answers" in body:
        del body["answers"]["q1"]
    elif "decisions" in body:
        del body["decisions"][1]
    else:
        body["choices"] = []
    return body


def _refusing(column: str, body: dict[str, Any]) -> dict[str, Any]:
    if "answers" in body:
        body["answers"]["q0"] = {"type": "refusal"}
    elif "decisions" in body:
        body["decisions"][0] = {"type": "refusal", "name": "q0"}
    elif column == "chat":
        token = {"token": "I", "logprob": -0.01}
        body["choices"] = [
            {"message": {"content": "I"}, "logprobs": {"content": [{"top_logprobs": [token]}]}}
        ]
    else:
        body["choices"] = [{"message": {"content": "I can't answer that."}}]
    return body


def _without_logprobs(column: str, body: dict[str, Any]) -> dict[str, Any]:
    if "logprobs" in body["choices"][0]:
        body["choices"][0]["logprobs"] = None
    return body


def _cut(column: str, body: dict[str, Any]) -> bytes:
    return json.dumps(body).encode()[:-9]


def _scaled(by: float) -> Callable[[dict[str, float]], dict[str, float]]:
    return lambda shares: {name: share * by for name, share in shares.items()}


FAULTS: dict[str, Fault] = {
    fault.told: fault
    for fault in (
        Fault(told="none", script=_well(), passes=ALL),
        Fault(told="answers after a moment", script=_well(wait=0.1), passes=ALL),
        Fault(told="stalls", script=_always(wait=60), seconds=LATE),
        Fault(told="the body drips", script=_well(drip=0.05), seconds=LATE),
        Fault(told="the headers drip", script=_well(header_drip=0.05), seconds=LATE),
        Fault(told="hangs up once", script=_once(hang_up=True), passes=ALL),
        Fault(told="hangs up always", script=_always(hang_up=True)),
        Fault(told="429 once, `Retry-After: 0`", script=_once(status=429, headers={"Retry-After": "0"}), passes=ALL),
        Fault(told="429 once, no `Retry-After`", script=_once(status=429), passes=ALL),
        Fault(told="429 always", script=_always(status=429)),
        Fault(told="429, `Retry-After: 3600`", script=_always(status=429, headers={"Retry-After": "3600"})),
        Fault(told="503 once", script=_once(status=503), passes=ALL),
        Fault(told="500 always", script=_always(status=500, body={"error": "oops"})),
        Fault(told="529 always", script=_always(status=529)),
        Fault(told="401", script=_always(status=401)),
        Fault(told="413", script=_always(status=413)),
        Fault(told="422", script=_always(status=422)),
        Fault(told="a redirect", script=_always(status=307, headers={"Location": "http://127.0.0.1:9/"})),
        Fault(told="an answer is missing", script=_changed(_half)),
        Fault(told="the model refuses", script=_changed(_refusing)),
        Fault(told="probabilities as text", script=_spoiled(lambda shares: {n: str(s) for n, s in shares.items()})),
        Fault(told="probabilities over one", script=_spoiled(_scaled(3))),
        Fault(told="a name that was not offered", script=_only(
            "System One", "decisions", "chat, JSON",
            script=_spoiled(lambda shares: {**shares, "Z": 0.0} if len(shares) > 1 else {"yes": None}),
        )),
        Fault(told="sums of 0.99", script=_spoiled(
            lambda shares: {n: s - 0.01 if n == max(shares, key=shares.get) else s for n, s in shares.items()}
        ), passes=ALL),
        Fault(told="two fifths of the mass", script=_spoiled(_scaled(0.4)), passes=("chat, JSON",)),
        Fault(told="`logprobs: null`", script=_only("chat", script=_changed(_without_logprobs)), passes=("chat",)),
        Fault(told="400: no logprobs", script=_only("chat", script=lambda _: [
            lambda request: Reply(status=400, body={"error": "logprobs are not supported"})
            if "logprobs" in request.json else well("chat")(request)
        ]), passes=("chat",)),
        Fault(told="truncated JSON", script=_changed(_cut)),
        Fault(told="NaN", script=_changed(lambda _, body: json.dumps({**body, "n": float("nan")}).encode())),
        Fault(told="no JSON", script=_always(body=b"<html>Bad gateway</html>")),
        Fault(told="an empty body", script=_always(body=b"")),
        Fault(told="a megabyte and more", script=_always(body=b" " * 1_000_001)),
        Fault(told="compressed", script=_always(body=b"x", headers={"Content-Encoding": "gzip"})),
    )
}  # fmt: skip
