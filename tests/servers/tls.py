"""An HTTPS server on a real socket, whose certificate a throw-away authority has signed, scripted down to the byte.

with TlsServer(names=["status.example.com"], answer=page(b"all well")) as server:
    server.connecting   # a `wire.Connect`: whoever connects, to whatever address, comes here
    server.trusting     # trusts the throw-away authority alone
    server.accepted     # how many connections came; `server.asked` the requests that were made over them
"""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import contextmanager, suppress
from functools import cache

import trustme

Answer = Callable[["Asked"], Iterable[bytes]]


@cache
def authority():
    return trustme.CA()


def trusting():
    context = ssl.create_default_context()
    authority().configure_trust(context)
    return context


class Asked:
    """One request, and the name that its client asked TLS for."""

    def __init__(self, head: bytes, body: bytes, sni: str | None) -> None:
        self.body, self.sni = body, sni
        lines = head.decode("latin-1").split("\r\n")
        self.method, self.path, _ = lines[0].split(" ")
        self.headers = {line.partition(":")[0].lower(): line.partition(":")[2].strip() for line in lines[1:]}


def raw(*pieces: bytes, every: float = 0.0) -> Answer:
    """These bytes, a pause between each."""

    def answer(asked: Asked) -> Iterable[bytes]:
        for piece in pieces:
            yield piece
            time.sleep(every)

    return answer


def page(body: bytes, status: int = 200, **headers: str) -> Answer:
    told = {
        "Content-Length": str(len(body)),
        **{name.replace("_", "-"): text for name, text in headers.items()},
    }
    head = f"HTTP/1.1 {status} Whatever\r\n" + "".join(f"{name}: {text}\r\n" for name, text in told.items())
    return raw(head.encode("latin-1") + b"\r\n", body)


def redirect(to: str, status: int = 302) -> Answer:
    return page(b"", status, Location=to)


@contextmanager
def silent(address: str = "127.0.0.1", port: int = 0):
    """A listener that takes connections and never says a word; its address and port."""
    with socket.create_server((address, port)) as listener:
        yield listener.getsockname()


class TlsServer:
    """`answer`: one for every request, or by path."""

    def __init__(self, names: list[str], answer: Answer | dict[str, Answer], *, hold: float = 0.0) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority().issue_cert(*names).configure_cert(self._context)
        self._context.sni_callback = self._named
        self._answer, self._hold = answer, hold
        self._sni: dict[int, str | None] = {}
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.accepted = 0
        self.asked: list[Asked] = []
        self.connected: list[tuple[str, int]] = []
        self.trusting = trusting

    def connecting(self, address: str, port: int, seconds: float) -> socket.socket:
        """In the place of `wire.connect`: notes where it should have gone, and comes here."""
        self.connected.append((address, port))
        return socket.create_connection(("127.0.0.1", self.port), timeout=seconds)

    def __enter__(self):
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._listener.close()

    def _named(self, secure, name, context):
        self._sni[id(secure)] = name

    def _serve(self):
        with suppress(OSError):
            while True:
                plain, _ = self._listener.accept()
                self.accepted += 1
                threading.Thread(target=self._one, args=(plain,), daemon=True).start()

    def _one(self, plain):
        time.sleep(self._hold)
        with suppress(OSError, ssl.SSLError), plain:
            secure = self._context.wrap_socket(plain, server_side=True)
            with secure:
                head, _, body = self._read(secure)
                asked = Asked(head, body, self._sni.get(id(secure)))
                self.asked.append(asked)
                answer = self._answer[asked.path] if isinstance(self._answer, dict) else self._answer
                for piece in answer(asked):
                    secure.sendall(piece)
                secure.unwrap()

    def _read(self, secure):
        data = b""
        while b"\r\n\r\n" not in data:
            piece = secure.recv(65536)
            if not piece:
                raise OSError
            data += piece
        head, middle, body = data.partition(b"\r\n\r\n")
        length = next(
            (
                int(line.split(b":")[1])
                for line in head.split(b"\r\n")
                if line.lower().startswith(b"content-length")
            ),
            0,
        )
        while len(body) < length:
            body += secure.recv(65536)
        return head, middle, body
