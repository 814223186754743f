"""A System One server on a real socket, scripted: what it answers, how slowly, and how wrongly.

    with SystemOneServer([answering(q0={"type": "noul", "noul": 0.97})]) as server:
        settings.EVALUATOR_URL = server.base_url
        …
        assert server.requests[0].json["model"] == "jev-latest"

A script is a list of steps, one per request; the last one repeats. A step is a `Reply` or a function
from the request to one.
"""

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from checks import canary


@dataclass(frozen=True, kw_only=True)
class Request:
    path: str
    headers: dict[str, str]  # names in lower case
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, kw_only=True)
class Reply:
    """`body` is sent as it is when bytes, else as JSON.

    `wait` seconds pass before the status line; `drip` seconds between the body's single bytes;
    `header_drip` seconds between the header's. `hang_up` closes without a word.
    """

    body: Any = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    wait: float = 0.0
    drip: float = 0.0
    header_drip: float = 0.0
    hang_up: bool = False


Step = Reply | Callable[[Request], Reply]


def answering(model: str = "jev-1.13.0", **answers: Any) -> Reply:
    """A well-formed reply with the wire's answers by question id."""
    usage = {"input_tokens": 120, "output_tokens": 12}
    return Reply(body={"model": model, "answers": answers, "usage": usage})


def yes_to_everything(request: Request) -> Reply:
    """0.97 to every yes/no question, the first name of every choice, the best level of every rubric."""
    return answering(**{key: _favourable(question) for key, question in request.json["questions"].items()})


def _favourable(question: dict[str, Any]) -> dict[str, Any]:
    if question["instructions"] == canary.QUESTION.ask:
        return {"type": "noul", "noul": 0.02}
    if question["type"] == "noul":
        return {"type": "noul", "noul": 0.97}
    criteria = question["criteria"]
    if question["type"] == "choice":
        names = list(criteria)
        shares = {name: 1.0 if name == names[0] else 0.0 for name in names}
        return {"type": "choice", "choice": names[0], "confidence": 1.0, "probabilities": shares}
    best = len(criteria) - 1
    shares = {str(level): 1.0 if level == best else 0.0 for level in range(len(criteria))}
    return {"type": "score", "score": best, "confidence": 1.0, "probabilities": shares}


class SystemOneServer:
    """A context manager: listens on a free port of 127.0.0.1, remembers every request."""

    def __init__(self, script: Sequence[Step] | Step = yes_to_everything) -> None:
        self.script: list[Step] = list(script) if isinstance(script, list | tuple) else [script]
        self.requests: list[Request] = []
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._server = _Quiet(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def reply_to(self, request: Request) -> Reply:
        with self._lock:
            step = self.script[min(len(self.requests), len(self.script) - 1)]
            self.requests.append(request)
        return step(request) if callable(step) else step

    def pause(self, seconds: float) -> None:
        """Sleep, but not beyond the end of the test."""
        self._stopping.wait(seconds)
        if self._stopping.is_set():
            raise ConnectionAbortedError


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64  # all of a check's requests may come at once

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that give up are what the tests are about."""


def _handler(owner: SystemOneServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = owner.reply_to(Request(path=self.path, headers=headers, body=body))
            if reply.wait:
                owner.pause(reply.wait)
            if not reply.hang_up:
                self.send(reply)

        def do_GET(self) -> None:
            self.do_POST()  # where a followed redirect would arrive

        def send(self, reply: Reply) -> None:
            data = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            head = [f"HTTP/1.1 {reply.status} Said so", "Content-Type: application/json", "Connection: close"]
            head += [f"Content-Length: {len(data)}"] if "Content-Length" not in reply.headers else []
            head += [f"{name}: {value}" for name, value in reply.headers.items()]
            self.slowly("\r\n".join([*head, "", ""]).encode("latin-1"), reply.header_drip)
            self.slowly(data, reply.drip)

        def slowly(self, data: bytes, pause: float) -> None:
            if not pause:
                self.wfile.write(data)
                return
            for index in range(len(data)):
                self.wfile.write(data[index : index + 1])
                self.wfile.flush()
                owner.pause(pause)

        def log_message(self, *args: Any) -> None:
            """Quiet."""

    return Handler
