"""A store on a real socket that speaks as much of S3 as keeping files takes: put, get, head, delete of one object."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Store:
    url: str = ""
    objects: dict[str, bytes] = field(default_factory=dict)
    asked: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)  # method, path, headers


@contextmanager
def serve() -> Iterator[Store]:
    store = Store()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(store))
    store.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield store
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(store: Store) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self, status: int, body: bytes = b"", length: int | None = None) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            store.asked.append((self.command, self.path, headers))
            self.send_response(status)
            self.send_header("ETag", '"0"')
            self.send_header("Last-Modified", "Mon, 30 Nov 2026 12:00:00 GMT")
            self.send_header("Content-Length", str(len(body) if length is None else length))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def do_PUT(self):
            store.objects[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
            self._answer(200)

        def do_GET(self):
            found = store.objects.get(self.path)
            missing = b"<Error><Code>NoSuchKey</Code></Error>"
            self._answer(404 if found is None else 200, missing if found is None else found)

        def do_HEAD(self):
            found = store.objects.get(self.path)
            self._answer(404 if found is None else 200, length=len(found or b""))

        def do_DELETE(self):
            store.objects.pop(self.path, None)
            self._answer(204)

        def log_message(self, *_):
            """Nothing on standard error."""

    return Handler
