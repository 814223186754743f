"""The System One wire: `POST <base>/v1/systemone`, many typed questions about one state in one request.

What is kept of an answer is recomputed from its probabilities, because vendors differ: the confidence
(`confidence_of_choice`, `confidence_of_rubric`), the name or level that leads, ties on the cautious side.

Retries: this module repeats one request up to `TRIES` times where the transport or the server's load is to
blame (408, 429, 5xx, connection errors), all inside the deadline of one `ask`. Whether a whole check is asked
again is not its business (`checks.judging`).
"""

import hashlib
import queue
import secrets
import ssl
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import httpx

from checks import codec
from checks.evaluators import Answers, Config, EvaluatorError
from checks.evaluators.system_one_answers import read_answer
from checks.questions import MAX_QUESTIONS, Kind, Question

PATH = "/v1/systemone"
METHOD = "systemone"
TRIES = 3
BACKOFF_SECONDS = 0.5  # doubled with each try, then a random share of it (full jitter)
CONNECT_SECONDS = 10.0
MAX_ANSWER_BYTES = 1_000_000
SHOWN_CHARS = 200
MAX_MODEL_CHARS = 200

_AGAIN = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})
_random = secrets.SystemRandom()


class SystemOne:
    """One server and model that speak System One."""

    name = "system_one"
    is_model = True
    method = METHOD

    def __init__(self, config: Config) -> None:
        self._config = config
        self._host = _host(config.base) or "the evaluator"
        identity = codec.canonical([config.kind, config.base, config.model, METHOD])
        self.version = hashlib.sha256(identity.encode()).hexdigest()

    def ask(
        self, material_state: Mapping[str, Any], questions: Sequence[Question], *, deadline: float
    ) -> Answers:
        """Ask everything, in requests of at most 64 questions. Raises EvaluatorError.

        The work is done on a thread of its own, so that the deadline holds whatever stalls: a name look-up,
        headers or a body that drip in. A thread given up ends with its next read and can answer nobody.
        """
        outcomes: queue.SimpleQueue[Answers | EvaluatorError] = queue.SimpleQueue()

        def work() -> None:
            try:
                outcomes.put(self._ask(material_state, questions, deadline))
            except EvaluatorError as error:
                outcomes.put(error)
            except Exception as error:  # noqa: BLE001 - a thread has nobody else to tell
                outcomes.put(
                    EvaluatorError(f"the evaluator's answer could not be read ({type(error).__name__})")
                )

        threading.Thread(target=work, name="system-one", daemon=True).start()
        try:
            outcome = outcomes.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise self._late() from None
        if isinstance(outcome, EvaluatorError):
            raise outcome
        return outcome

    def _ask(
        self, material_state: Mapping[str, Any], questions: Sequence[Question], deadline: float
    ) -> Answers:
        parts = [
            self._request(material_state, questions[start : start + MAX_QUESTIONS], deadline)
            for start in range(0, len(questions), MAX_QUESTIONS)
        ]
        models = {part.model for part in parts}
        if len(models) > 1:
            raise EvaluatorError(f"{self._host} answered one check with different models")
        return Answers(
            model=models.pop(),
            answers=tuple(answer for part in parts for answer in part.answers),
            method=METHOD,
            input_tokens=_total(part.input_tokens for part in parts),
            output_tokens=_total(part.output_tokens for part in parts),
        )

    def _request(
        self, material_state: Mapping[str, Any], questions: Sequence[Question], deadline: float
    ) -> Answers:
        named = {f"q{index}": question for index, question in enumerate(questions)}
        body = {
            "model": self._config.model,
            "state": material_state,
            "questions": {key: wire_question(question) for key, question in named.items()},
        }
        data = self._exchange(codec.dumps(body).encode(), deadline)
        try:
            answer = codec.loads(data)
        except codec.CodecError as error:
            raise EvaluatorError(f"{self._host} answered no usable JSON: {_escaped(str(error))}") from None
        found = answer.get("answers") if isinstance(answer, dict) else None
        if not isinstance(found, dict):
            raise EvaluatorError(f"{self._host} answered without answers")
        usage = answer.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        return Answers(
            model=self._model(answer.get("model")),
            answers=tuple(read_answer(question, found.get(key), key) for key, question in named.items()),
            method=METHOD,
            input_tokens=_count(usage.get("input_tokens")),
            output_tokens=_count(usage.get("output_tokens")),
        )

    def _model(self, given: object) -> str:
        """The model's own name; a server that gives none answered with what it was asked for."""
        named = "".join(filter(str.isprintable, given)).strip() if isinstance(given, str) else ""
        return (named or self._config.model)[:MAX_MODEL_CHARS]

    def _exchange(self, body: bytes, deadline: float) -> bytes:
        """One request's answer, tried again where that can help. Raises EvaluatorError."""
        for attempt in range(TRIES):
            try:
                return self._send(body, deadline)
            except _Again as again:
                wait = _random.uniform(0, BACKOFF_SECONDS * 2**attempt) if again.wait is None else again.wait
                if attempt == TRIES - 1 or time.monotonic() + wait >= deadline:
                    raise EvaluatorError(again.message) from None
                time.sleep(wait)
        raise AssertionError("unreachable")

    def _send(self, body: bytes, deadline: float) -> bytes:
        left = deadline - time.monotonic()
        if left <= 0:
            raise self._late()
        timeout = httpx.Timeout(left, connect=min(left, CONNECT_SECONDS))
        try:
            with (
                httpx.Client(verify=_tls(), timeout=timeout, follow_redirects=False) as client,
                client.stream(
                    "POST", self._config.base + PATH, content=body, headers=self._headers()
                ) as response,
            ):
                data = self._read(response, deadline)
        except (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL, ValueError) as error:
            # The text of these can quote the key; the type says enough.
            message = f"the request to {self._host} can't be sent ({type(error).__name__}); look at EVALUATOR_URL and _KEY"
            raise EvaluatorError(message, permanent=True) from None
        except (httpx.ReadTimeout, httpx.WriteTimeout):
            raise self._late() from None  # these waited for all that was left
        except httpx.HTTPError as error:
            raise _Again(f"{self._host} could not be reached ({type(error).__name__})") from None
        if response.status_code == HTTPStatus.OK:
            return data
        raise self._refused(response, data)

    def _read(self, response: httpx.Response, deadline: float) -> bytes:
        """The body as sent, at most `MAX_ANSWER_BYTES`, before the deadline."""
        if response.headers.get("content-encoding", "identity") != "identity":
            raise EvaluatorError(f"{self._host} answered compressed, though it was asked not to")
        data = bytearray()
        for chunk in response.iter_raw():
            data += chunk
            if len(data) > MAX_ANSWER_BYTES:
                raise EvaluatorError(f"{self._host} answered more than {MAX_ANSWER_BYTES:,} bytes")
            if time.monotonic() >= deadline:
                raise self._late()
        return bytes(data)

    def _refused(self, response: httpx.Response, data: bytes) -> Exception:
        status = response.status_code
        if 300 <= status < 400:  # noqa: PLR2004 - 3xx
            text = f"{self._host} answered {status}; redirects are not followed, set EVALUATOR_URL to the final address"
            return EvaluatorError(text, permanent=True)
        shown = data.decode("utf-8", "replace")
        if self._config.key:
            shown = shown.replace(self._config.key, "[key]")
        message = f"{self._host} answered {status}: {_escaped(shown)}".rstrip(": ")
        if status in _AGAIN or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return _Again(message, wait=retry_after(response.headers))
        return EvaluatorError(message, permanent=True)

    def _headers(self) -> dict[str, str]:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
        }
        if self._config.key:
            headers["Authorization"] = f"Bearer {self._config.key}"
        return headers

    def _late(self) -> EvaluatorError:
        return EvaluatorError(f"{self._host} did not answer in time")


class _Again(Exception):  # noqa: N818 - control flow of this module, nobody else meets it
    """The same request may succeed in a moment: after `wait` seconds where the server said so."""

    def __init__(self, message: str, *, wait: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.wait = wait


def wire_question(question: Question) -> dict[str, Any]:
    """A question as System One takes it; nothing but its type, text and criteria."""
    if question.kind is Kind.YES_NO:
        return {"type": "noul", "instructions": question.ask}
    if question.kind is Kind.CHOICE:
        return {"type": "choice", "instructions": question.ask, "criteria": dict(question.options or {})}
    return {"type": "score", "instructions": question.ask, "criteria": list(question.levels)}


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


def _escaped(text: str) -> str:
    """Somebody else's text inside a message: one line, short."""
    return text[:SHOWN_CHARS].encode("unicode_escape").decode("ascii")[:SHOWN_CHARS]


def _count(value: Any) -> int | None:
    return int(value) if codec.is_number(value) and value >= 0 else None


def _total(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
