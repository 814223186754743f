"""JSON-RPC to the endpoints that the settings name: one deadline for a fact's calls, a transcript of what was read.

An error that answers a call is an answer, and stands in the transcript as one; whether it says something of the fact, or only
of the endpoint, is for the chain's own module to tell (`decides`).
"""

import ssl
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, urlsplit

from checks import codec
from checks.facts import wire
from checks.facts.fetch import MAX_ADDRESSES, FetchError, Resolve, looked_up, resolve

SECONDS = 5.0
_OK = 200


class RpcError(Exception):
    """The endpoint did not answer, or not in a way that can be used. A sentence, without the endpoint's address: that may
    hold a key.
    """


class Odd(RpcError):  # noqa: N818 - the words of an answer that is not what the method gives
    """An answer that is no answer to its question."""


class Refused(RpcError):  # noqa: N818 - the word for it
    """A call was answered by an error of its own. `code` is None and `reason` "" where it has none."""

    def __init__(self, method: str, error: Any) -> None:
        super().__init__(f"The chain's endpoint refused {method}.")
        told = error if isinstance(error, dict) else {}
        code, reason = told.get("code"), told.get("message")
        self.method = method
        self.code = code if codec.is_number(code) else None
        self.reason = reason if isinstance(reason, str) else ""


@dataclass(slots=True, kw_only=True)
class Session:
    """The calls of one fact. `transcript`: [method, params, result] of each, for the evidence; {"error": …} in the result's
    place where that was the answer.
    """

    endpoint: str
    deadline: float = field(default_factory=lambda: time.monotonic() + SECONDS)
    resolve: Resolve = resolve
    tls: Callable[[], ssl.SSLContext] = wire.trusted
    transcript: list[list[Any]] = field(default_factory=list)

    def call(self, method: str, params: Sequence[Any]) -> Any:
        """The result. Raises RpcError."""
        number = len(self.transcript) + 1
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": list(params)}
        try:
            answer = codec.loads(self._post(codec.dumps(request).encode()))
        except codec.CodecError:
            raise RpcError("The chain's endpoint answered no JSON.") from None
        if not isinstance(answer, dict) or answer.get("id") != number:
            raise RpcError("The chain's endpoint answered something else than it was asked.")
        if (error := answer.get("error")) is not None:
            self.transcript.append([method, list(params), {"error": error}])
            raise Refused(method, error)
        if "result" not in answer:
            raise RpcError(f"The chain's endpoint refused {method}.")
        self.transcript.append([method, list(params), answer["result"]])
        return answer["result"]

    def _post(self, body: bytes) -> bytes:
        url = parts(self.endpoint)
        if url is None or url.hostname is None:
            raise RpcError("The chain's endpoint is not set to an https address.")
        path = (url.path or "/") + (f"?{url.query}" if url.query else "")
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        error = "could not be reached"
        try:
            # whoever runs the server named it, so it may be a machine near by
            found = looked_up(self.resolve, url.hostname, self.deadline)
        except FetchError:
            raise RpcError("The chain's endpoint could not be looked up.") from None
        for address, opened in wire.turns(found[:MAX_ADDRESSES], self.deadline):
            request = wire.Request(
                address=address,
                host=url.hostname,
                port=url.port or 443,
                path=path,
                method="POST",
                body=body,
                headers=headers,
            )
            try:
                reply = wire.send(request, self.deadline, opened=opened, tls=self.tls())
            except wire.WireError as failed:
                error = str(failed)
                continue
            if reply.status != _OK:
                raise RpcError(f"The chain's endpoint answered {reply.status}.")
            if reply.cut:
                raise RpcError("The chain's endpoint answered more than is read.")
            return reply.body
        raise RpcError(f"The chain's endpoint {error}.")


def parts(endpoint: str) -> SplitResult | None:
    """An https address without a name and a password in it, else None."""
    try:
        url = urlsplit(endpoint)
        port = url.port
    except ValueError:
        return None
    plain = endpoint.isascii() and endpoint.isprintable() and " " not in endpoint
    sound = url.scheme == "https" and url.hostname and url.username is None and port != 0
    return url if plain and sound else None
