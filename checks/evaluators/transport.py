"""How every wire reaches its server: one deadline for all, tries where load is to blame, nothing secret in errors.

A request is repeated up to `TRIES` times where the transport or the server's load is to blame (408, 429, 5xx,
connection errors), all inside the deadline of one `ask`. Whether a whole check is asked again is not its business
(`checks.asking`).
"""

import queue
import secrets
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import httpx

from checks import codec
from checks.evaluators import Answers, Config, EvaluatorError, guard
from checks.evaluators.envelope import Told, opened, trouble_in

TRIES = 3
BACKOFF_SECONDS = 0.5  # doubled with each try, then a random share of it (full jitter)
CONNECT_SECONDS = 10.0
MAX_ANSWER_BYTES = 1_000_000
SHOWN_CHARS = 200
MAX_MODEL_CHARS = 200

_AGAIN = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})
# not about this request: whoever asks gets it
_SHUT = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND})
_random = secrets.SystemRandom()


Tokens = tuple[int | None, int | None]


class Server:
    """The server that a configuration names. Safe to share between threads."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.host = _host(config.base) or "the evaluator"

    def in_time(self, work: Callable[[], Answers], deadline: float) -> Answers:
        """What `work` gives, on a thread of its own, so that the deadline holds whatever stalls: a name look-up,
        headers or a body that drip in. A thread given up ends with its next read and can answer nobody.

        Raises EvaluatorError.
        """
        outcomes: queue.SimpleQueue[Answers | EvaluatorError] = queue.SimpleQueue()

        def run() -> None:
            try:
                outcomes.put(work())
            except EvaluatorError as error:
                outcomes.put(error)
            except Exception as error:  # noqa: BLE001 - a thread has nobody else to tell
                outcomes.put(
                    EvaluatorError(f"the evaluator's answer could not be read ({type(error).__name__})")
                )

        threading.Thread(target=run, name="evaluator", daemon=True).start()
        try:
            outcome = outcomes.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise self.late() from None
        if isinstance(outcome, EvaluatorError):
            raise outcome
        return outcome

    def post(self, path: str, body: Mapping[str, Any], deadline: float) -> dict[str, Any]:
        """The JSON object that one request is answered with. Raises EvaluatorError."""
        if self.config.path is not None:
            path = self.config.path.replace("{model}", self.config.model)
        data = self._exchange(path, codec.dumps(body).encode(), deadline)
        try:
            answer = codec.loads(data)
        except codec.CodecError as error:
            raise EvaluatorError(f"{self.host} answered no usable JSON: {escaped(str(error))}") from None
        if self.config.envelope and isinstance(answer, dict):
            answer = opened(answer)
        if not isinstance(answer, dict):
            raise EvaluatorError(f"{self.host} answered no JSON object")
        return answer

    def model_of(self, given: object) -> str:
        """The model's own name; a server that gives none answered with what it was asked for."""
        named = "".join(filter(str.isprintable, given)).strip() if isinstance(given, str) else ""
        return (named or self.config.model)[:MAX_MODEL_CHARS]

    @staticmethod
    def tokens(usage: object, *names: str) -> "Tokens":
        """What came in and what went out, under the wire's names for them; None where it was not told."""
        told = usage if isinstance(usage, dict) else {}
        came, went = (_count(told.get(name)) for name in names)
        return came, went

    def late(self) -> EvaluatorError:
        return EvaluatorError(f"{self.host} did not answer in time", down=True)

    def _exchange(self, path: str, body: bytes, deadline: float) -> bytes:
        """One request's answer, tried again where that can help. Raises EvaluatorError."""
        for attempt in range(TRIES):
            try:
                return self._send(path, body, deadline)
            except _Again as again:
                wait = _random.uniform(0, BACKOFF_SECONDS * 2**attempt) if again.wait is None else again.wait
                if attempt == TRIES - 1 or time.monotonic() + wait >= deadline:
                    raise EvaluatorError(again.message, down=True) from None
                time.sleep(wait)
        raise AssertionError("unreachable")

    def _send(self, path: str, body: bytes, deadline: float) -> bytes:
        left = deadline - time.monotonic()
        if left <= 0:
            raise self.late()
        timeout = httpx.Timeout(left, connect=min(left, CONNECT_SECONDS))
        try:
            url, headers, extensions = self._place(path)
            with (
                httpx.Client(verify=_tls(), timeout=timeout, follow_redirects=False) as client,
                client.stream("POST", url, content=body, headers=headers, extensions=extensions) as response,
            ):
                data = self._read(response, deadline)
        except (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL, ValueError) as error:
            # The text of these can quote the key; the type says enough.
            message = f"the request to {self.host} can't be sent ({type(error).__name__}); look at its address and key"
            raise EvaluatorError(message, permanent=True) from None
        except (httpx.ReadTimeout, httpx.WriteTimeout):
            raise self.late() from None  # these waited for all that was left
        except httpx.HTTPError as error:
            raise _Again(f"{self.host} could not be reached ({type(error).__name__})") from None
        if response.status_code != HTTPStatus.OK or (self.config.envelope and trouble_in(data) is not None):
            raise self._refused(response, data)
        return data

    def _place(self, path: str) -> tuple[str | httpx.URL, dict[str, str], dict[str, Any]]:
        """Where to send, with which headers; guarded, to the very address that was looked at, under the host's name."""
        if not self.config.guarded:
            return self.config.base + path, self._headers(), {}
        url = httpx.URL(self.config.base + path)
        address = guard.address(url.host, url.port or (443 if url.scheme == "https" else 80))
        headers = {"Host": url.netloc.decode("ascii"), **self._headers()}
        return url.copy_with(host=address), headers, {"sni_hostname": url.host}

    def _read(self, response: httpx.Response, deadline: float) -> bytes:
        """The body as sent, at most `MAX_ANSWER_BYTES`, before the deadline."""
        if response.headers.get("content-encoding", "identity") != "identity":
            raise EvaluatorError(f"{self.host} answered compressed, though it was asked not to")
        data = bytearray()
        for chunk in response.iter_raw():
            data += chunk
            if len(data) > MAX_ANSWER_BYTES:
                raise EvaluatorError(f"{self.host} answered more than {MAX_ANSWER_BYTES:,} bytes")
            if time.monotonic() >= deadline:
                raise self.late()
        return bytes(data)

    def _refused(self, response: httpx.Response, data: bytes) -> Exception:
        status = response.status_code
        if 300 <= status < 400:  # noqa: PLR2004 - 3xx
            text = f"{self.host} answered {status}; redirects are not followed, name the final address"
            return EvaluatorError(text, permanent=True, down=True)
        shown = data.decode("utf-8", "replace")
        if self.config.key:
            shown = shown.replace(self.config.key, "[key]")
        message = f"{self.host} answered {status}: {escaped(shown)}".rstrip(": ")
        told = trouble_in(data) if self.config.envelope else None
        if told is Told.SPENT:  # for today: no wait helps
            return EvaluatorError(message, permanent=True, down=True)
        busy = status in _AGAIN or status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in self.config.again
        if busy or told is Told.BUSY:
            return _Again(message, wait=retry_after(response.headers))
        return RefusedError(message, shown, down=status in _SHUT)

    def _headers(self) -> dict[str, str]:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
        }
        if self.config.key:
            headers["Authorization"] = f"Bearer {self.config.key}"
        return headers


class RefusedError(EvaluatorError):
    """The server refused the request, and would again. `shown`: its own words, without the key."""

    def __init__(self, message: str, shown: str, *, down: bool = False) -> None:
        super().__init__(message, permanent=True, down=down)
        self.shown = shown[:MAX_ANSWER_BYTES]


class _Again(Exception):  # noqa: N818 - control flow of this module, nobody else meets it
    """The same request may succeed in a moment: after `wait` seconds where the server said so."""

    def __init__(self, message: str, *, wait: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.wait = wait


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait: `retry-after-ms`, then `Retry-After` (seconds or a date)."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        raw = headers.get(name, "").strip()
        if raw.isascii() and raw.replace(".", "", 1).isdigit():
            return float(raw) * scale
        try:
            at = parsedate_to_datetime(raw)
        except ValueError:
            continue
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        return max(0.0, (at - datetime.now(UTC)).total_seconds())
    return None


def _host(base: str) -> str | None:
    try:
        return urlsplit(base).hostname
    except ValueError:
        return None  # the system checks have told of it; sending will


@cache
def _tls() -> ssl.SSLContext:
    """Reading the certificates costs more than a request to a near server: once per process."""
    return httpx.create_ssl_context()


def escaped(text: str) -> str:
    """Somebody else's text inside a message: one line, short."""
    return text[:SHOWN_CHARS].encode("unicode_escape").decode("ascii")[:SHOWN_CHARS]


def _count(value: Any) -> int | None:
    return int(value) if codec.is_number(value) and value >= 0 else None


def total(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
