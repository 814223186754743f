"""Calls: one JSON envelope a POST, everything that comes back looked at before a case sees it.

An `Actor` is an agent, a person or nobody, with an HTTP client of its own. `ok` gives a call's data or fails
the case; `refused` gives the refusal or fails the case. Every result is held against `contracts` and
`invariants`, whatever the case is about.
"""

import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import httpx

from conformance import codec, contracts, invariants
from conformance.failures import Exchange, Failure
from conformance.masking import Mask

WRITES = frozenset(
    {"start_run", "claim", "renew", "upload", "submit", "escalate", "decide", "cancel", "send_event"}
)
GIVES_TOKENS = frozenset({"claim", "renew"})
PATIENCE = 8  # how often a call that is told `retry` is sent again
PAUSE_SECONDS = 0.25

Data = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A call that the server refused."""

    code: str
    issues: tuple[str, ...]
    message: str
    exchange: Exchange


@dataclass(slots=True, kw_only=True)
class Log:
    """What was said in the case under way, and every token that a server ever gave."""

    mask: Mask
    exchanges: list[Exchange] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)


def new_id() -> str:
    return str(uuid.uuid4())


class Actor:
    """One identity. `value`: how the server names the person in run data; "" where that is not known."""

    def __init__(
        self, name: str, http: httpx.Client, log: Log, *, path: str = "/v1/{tool}", value: str = ""
    ) -> None:
        self.name = name
        self.value = value
        self.http = http
        self._log = log
        self._path = path

    def ok(self, tool: str, **arguments: Any) -> Data:
        """The data of a call that must succeed. Raises Failure."""
        exchange = self.send(tool, **arguments)
        answer = exchange.answer
        if not answer["ok"]:
            raise Failure(
                f"{tool} must succeed here, and was refused with {answer['error']['code']}", exchange
            )
        data: Data = answer["data"]
        return data

    def refused(self, tool: str, *codes: str, issue: str | None = None, **arguments: Any) -> Refusal:
        """The refusal of a call that must be refused with one of these codes (and this issue among its
        issues). Raises Failure.
        """
        exchange = self.send(tool, patient="retry" not in codes, **arguments)
        answer = exchange.answer
        wanted = " or ".join(codes) + (f" with the issue {issue}" if issue else "")
        if answer["ok"]:
            raise Failure(f"{tool} must be refused with {wanted}, and succeeded", exchange)
        error = answer["error"]
        refusal = Refusal(
            code=error["code"],
            issues=tuple(error.get("issues", ())),
            message=error["message"],
            exchange=exchange,
        )
        if refusal.code not in codes or (issue is not None and issue not in refusal.issues):
            told = refusal.code + (f" {list(refusal.issues)}" if refusal.issues else "")
            raise Failure(f"{tool} must be refused with {wanted}, and was refused with {told}", exchange)
        return refusal

    def send(self, tool: str, *, patient: bool = True, **arguments: Any) -> Exchange:
        """One call as it is: an answer that breaks its contract raises Failure, a refusal does not.

        A write gets a fresh requestId where it has none. `patient`: a call told `retry` is sent again.
        """
        if tool in WRITES:
            arguments.setdefault("requestId", new_id())
        for attempt in range(PATIENCE):
            exchange = self.post(tool, arguments)
            answer = exchange.answer
            if not patient or answer["ok"] or answer["error"]["code"] != "retry":
                break
            if attempt < PATIENCE - 1:
                time.sleep(PAUSE_SECONDS * (attempt + 1))
        return exchange

    def post(self, tool: str, arguments: Data) -> Exchange:
        """One request. Raises Failure where what comes is no envelope or breaks a contract."""
        try:
            response = self.http.post(
                self._path.format(tool=tool),
                content=codec.dumps(arguments).encode(),
                headers={"Content-Type": "application/json"},
            )
        except httpx.HTTPError as error:
            raise Failure(f"{tool} could not be called: {type(error).__name__}: {error}") from None
        exchange = Exchange(
            who=self.name, tool=tool, arguments=arguments, status=response.status_code,
            answer=_decoded(response), text=response.text,
        )  # fmt: skip
        self._log.exchanges.append(exchange)
        self._look_at(exchange)
        return exchange

    def _look_at(self, exchange: Exchange) -> None:
        found = list(envelope_issues(exchange.answer))
        if found:
            raise Failure(f"{exchange.tool} must answer with the envelope: {'; '.join(found)}", exchange)
        if not exchange.answer["ok"]:
            found = contracts.error_issues(exchange.answer["error"])
        elif contracts.known(exchange.tool):
            found = contracts.result_issues(exchange.tool, exchange.answer["data"])
        if found:
            raise Failure(f"the answer breaks the contract of {exchange.tool}: {'; '.join(found)}", exchange)
        if exchange.answer["ok"]:
            self._remember(exchange)
            if broken := invariants.broken(exchange.tool, exchange.answer["data"]):
                raise Failure(f"what {exchange.tool} gives can't be: {'; '.join(broken)}", exchange)

    def _remember(self, exchange: Exchange) -> None:
        """Keep a token that was just given; any other answer that holds a token leaks it."""
        if exchange.tool in GIVES_TOKENS:
            token = exchange.answer["data"]["token"]
            self._log.tokens.add(token)
            self._log.mask.add_token(token)
        elif leaked := self._log.mask.leaked(exchange.text, self._log.tokens):
            raise Failure(f"{exchange.tool} shows {leaked}; a token never appears in a view", exchange)


def envelope_issues(answer: Any) -> Iterable[str]:
    """Why this is not `{ok: true, data}` or `{ok: false, error}`."""
    if not isinstance(answer, dict):
        yield "the body is no JSON object"
        return
    if answer.get("ok") not in (True, False) or not isinstance(answer.get("ok"), bool):
        yield "ok is neither true nor false"
        return
    wanted = {"ok", "data"} if answer["ok"] else {"ok", "error"}
    if set(answer) != wanted:
        yield f"it has the keys {', '.join(sorted(answer))}, not {' and '.join(sorted(wanted))}"


def _decoded(response: httpx.Response) -> Any:
    try:
        return codec.loads(response.content)
    except codec.CodecError:
        return None
