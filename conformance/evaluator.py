"""A model to be told what to say: a System One server whose answers the cases choose.

    evaluator.say(yes=0.7)                  # every yes/no question
    evaluator.say(choice=("plainly", 0.95), level=(2, 0.9))
    evaluator.break_down()                  # answers with an error until it is told to say something
    evaluator.hold()                        # takes questions and answers none until release()

It answers so to the suite's own questions. A server may ask one of its own beside them (whether the work tries to
steer whoever judges it, say): to those the answer is no.

The server under test must be configured to ask it (`EVALUATOR_URL=http://127.0.0.1:<port>` or the like).
"""

import threading
from collections.abc import Container
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from conformance import codec, library
from conformance.failures import CannotRunError

MODEL = "conformance-model-1"
HELD_SECONDS = 30.0  # the longest that an answer is held back
PATH = "/v1/systemone"
SURE, NO = 0.99, 0.01


@dataclass(slots=True)
class Script:
    """What is answered to each kind of question; `choice` and `level` with a confidence."""

    yes: float = SURE
    choice: tuple[str, float] | None = None
    level: tuple[int, float] | None = None
    broken: bool = False


@dataclass(slots=True)
class Asked:
    """One request that came: what the evaluator was shown, and the questions by key."""

    state: Any
    questions: dict[str, Any] = field(default_factory=dict)
    text: str = ""


class Evaluator:
    """Listens on a port of this machine until it is closed."""

    def __init__(self, port: int, host: str = "127.0.0.1", *, own: Container[str] | None = None) -> None:
        """`own`: the questions that are answered as it was told; None = those of the suite's files."""
        self._own = library.asks() if own is None else own
        self._script = Script()
        self._lock = threading.Lock()
        self._gate = threading.Event()
        self._gate.set()
        self.asked: list[Asked] = []
        try:
            self._server = _Server((host, port), _handler(self))
        except OSError as error:
            raise CannotRunError(f"--evaluator-port {port} can't be listened on: {error}") from None
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def port(self) -> int:
        return self._server.server_port

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def say(
        self,
        *,
        yes: float = SURE,
        choice: tuple[str, float] | None = None,
        level: tuple[int, float] | None = None,
    ) -> None:
        """From now on answer so. Forgets what was asked before."""
        with self._lock:
            self._script = Script(yes=yes, choice=choice, level=level)
            self.asked = []

    def break_down(self) -> None:
        """From now on answer with an error. Forgets what was asked before."""
        with self._lock:
            self._script = Script(broken=True)
            self.asked = []

    def hold(self) -> None:
        """From now on take questions, and answer them when `release` is called."""
        self._gate.clear()

    def release(self) -> None:
        self._gate.set()

    def reply(self, body: bytes) -> tuple[int, Any]:
        """Status and JSON for one request."""
        try:
            asked = codec.loads(body)
            questions = dict(asked["questions"])
        except (codec.CodecError, KeyError, TypeError, ValueError):
            return 422, {"error": "not a System One request"}
        with self._lock:
            self.asked.append(Asked(asked.get("state"), questions, body.decode("utf-8")))
            script = self._script
        self._gate.wait(HELD_SECONDS)
        if script.broken:
            return 503, {"error": "told to be out of order"}
        answers = {key: self._answer(question, script) for key, question in questions.items()}
        usage = {"input_tokens": 1, "output_tokens": 1}
        return 200, {"model": MODEL, "answers": answers, "usage": usage}

    def _answer(self, question: Any, script: Script) -> dict[str, Any]:
        foreign = question["type"] == "noul" and question.get("instructions") not in self._own
        return answer_to(question, replace(script, yes=NO) if foreign else script)


def answer_to(question: Any, script: Script) -> dict[str, Any]:
    """One answer in the shape of its question; the first name or the best level where nothing was said."""
    if question["type"] == "noul":
        return {"type": "noul", "noul": script.yes}
    if question["type"] == "choice":
        options = list(question["criteria"])
        name, confidence = script.choice or (options[0], SURE)
        shares = choice_shares(options, name, confidence)
        return {"type": "choice", "choice": name, "confidence": confidence, "probabilities": shares}
    count = len(question["criteria"])
    level, confidence = script.level or (count - 1, SURE)
    spread = level_shares(count, level, confidence)
    score = sum(int(key) * share for key, share in spread.items())
    return {"type": "score", "score": score, "confidence": confidence, "probabilities": spread}


def choice_shares(options: list[str], name: str, confidence: float) -> dict[str, float]:
    """Probabilities from which (largest - 1/n) / (1 - 1/n) is the confidence."""
    even = 1 / len(options)
    largest = confidence * (1 - even) + even
    rest = (1 - largest) / (len(options) - 1)
    return {option: largest if option == name else rest for option in options}


def level_shares(count: int, level: int, confidence: float) -> dict[str, float]:
    """Probabilities from which 1 - (mean distance from the level) / (that of an even spread) is the confidence."""
    even = sum(abs(index - (count - 1) / 2) for index in range(count)) / count
    far = 0 if level >= count - 1 - level else count - 1
    other = (1 - confidence) * even / abs(far - level)
    return {str(index): {level: 1 - other, far: other}.get(index, 0.0) for index in range(count)}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller that hung up is no news."""


def _handler(owner: Evaluator) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, answer = owner.reply(body) if self.path == PATH else (404, {"error": "no such path"})
            data = codec.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            if status >= 500:  # noqa: PLR2004 - a server's own errors
                self.send_header("retry-after-ms", "1")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: Any) -> None:
            """Standard output is TAP."""

    return Handler
