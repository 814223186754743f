"""One HTTPS request over a connection to an address that was chosen beforehand. Nothing here looks up a name.

Everything ends at one deadline, and is bounded: headers, body, what a body unpacks to. There is no proxy and no cookie,
because there is nothing here that would know of either.
"""

import http.client
import io
import socket
import ssl
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import httpx

MAX_BODY_BYTES = 1_000_000
MAX_HEADER_BYTES = 65_536
# what chunks may cost on top of the body that they carry
MAX_FRAMING_BYTES = 262_144
_PIECE = 65_536
MOST_SHARES = 4  # that the time left is parted into, however many addresses there are
_GZIP = 16 + zlib.MAX_WBITS  # zlib's way to say so

Connect = Callable[[str, int, float], socket.socket]


class WireError(Exception):
    """The server did not answer, or not in a way that can be used. The message completes "The server …"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """`address` is an IP address; `host` is whose certificate must stand there, and what the server is told."""

    address: str
    host: str
    path: str
    port: int = 443
    method: str = "GET"
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    status: int
    headers: Mapping[str, str]  # names in lower case
    body: bytes
    cut: bool  # whether there was more than `MAX_BODY_BYTES`


def connect(address: str, port: int, seconds: float) -> socket.socket:
    """To this very address: a number, so that no name is looked up here."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.settimeout(seconds)
        made.connect((address, port))
    except BaseException:
        made.close()
        raise
    return made


@cache
def trusted() -> ssl.SSLContext:
    """The public certificate authorities. Reading them costs more than a request: once per process."""
    context = httpx.create_ssl_context(trust_env=False)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def turns[T](addresses: Sequence[T], deadline: float) -> Iterator[tuple[T, float]]:
    """Each address with the time by which its connection must stand: a share of what is left, to the last all of it.

    One that says nothing thus costs the others no more than its share; one that answers has the whole time for it.
    """
    for index, address in enumerate(addresses):
        now = time.monotonic()
        yield address, now + (deadline - now) / min(len(addresses) - index, MOST_SHARES)


def send(
    request: Request,
    deadline: float,
    *,
    opened: float | None = None,
    tls: ssl.SSLContext,
    connecting: Connect = connect,
) -> Reply:
    """The reply, its body unpacked. The body of a redirect or a refusal is not read. `opened`: the deadline of connection and
    handshake, where that is another. Raises WireError.
    """
    opened = deadline if opened is None else opened
    try:
        with connecting(request.address, request.port, _left(opened)) as plain:
            plain.settimeout(_left(opened))
            with tls.wrap_socket(plain, server_hostname=request.host) as secure:
                secure.settimeout(_left(deadline))
                secure.sendall(_head(request) + request.body)
                return _reply(secure, request.method, deadline)
    except WireError:
        raise
    except ssl.SSLCertVerificationError as error:
        raise WireError(f"shows a certificate that is not its own ({error.verify_message})") from None
    except TimeoutError:
        raise WireError("did not answer in time") from None
    except ssl.SSLError:
        raise WireError("does not speak TLS in a way that is taken here") from None
    except http.client.IncompleteRead:
        raise WireError("stopped in the middle of its answer") from None
    except (http.client.HTTPException, ValueError):
        raise WireError("answered something that is no HTTP") from None
    except OSError:
        raise WireError("could not be reached") from None


def _head(request: Request) -> bytes:
    authority = f"[{request.host}]" if ":" in request.host else request.host
    headers = {
        "Host": authority if request.port == 443 else f"{authority}:{request.port}",  # noqa: PLR2004 - https
        "User-Agent": "countersign",
        "Accept": "*/*",
        "Accept-Encoding": "identity",
        "Connection": "close",
        **({"Content-Length": str(len(request.body))} if request.body else {}),
        **request.headers,
    }
    lines = [
        f"{request.method} {request.path} HTTP/1.1",
        *(f"{name}: {text}" for name, text in headers.items()),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")


def _reply(secure: ssl.SSLSocket, method: str, deadline: float) -> Reply:
    source = _Source(secure, deadline)
    response = http.client.HTTPResponse(source, method=method)  # type: ignore[arg-type] # it asks for makefile alone
    with response:
        response.begin()
        headers = {name.lower(): text for name, text in response.getheaders()}
        if response.status != http.HTTPStatus.OK:
            return Reply(status=response.status, headers=headers, body=b"", cut=False)
        source.room += MAX_BODY_BYTES + MAX_FRAMING_BYTES
        body, cut = _body(response, headers.get("content-encoding", "identity").strip().lower())
        return Reply(status=response.status, headers=headers, body=body, cut=cut)


def _body(response: http.client.HTTPResponse, encoding: str) -> tuple[bytes, bool]:
    """What was sent, unpacked piece by piece, until there is enough of either."""
    if encoding not in {"identity", "", "gzip", "x-gzip", "deflate"}:
        raise WireError("packed its answer in a way that nobody asked for")
    packed = encoding not in {"identity", ""}
    unpack = _unpacker(encoding)
    body = bytearray()
    read = 0
    # one byte more than is kept tells whether there is more
    while len(body) <= MAX_BODY_BYTES and read <= MAX_BODY_BYTES:
        piece = response.read(min(_PIECE, MAX_BODY_BYTES + 1 - read))
        if not piece:
            if response.length or (packed and read and not unpack.eof):
                raise WireError("stopped in the middle of its answer")
            return bytes(body), False
        read += len(piece)
        try:
            body += unpack.decompress(piece, MAX_BODY_BYTES + 1 - len(body)) if packed else piece
        except zlib.error:
            raise WireError("packed its answer in a way that can't be unpacked") from None
    return bytes(body[:MAX_BODY_BYTES]), True


def _unpacker(encoding: str) -> Any:
    return zlib.decompressobj(_GZIP if "gzip" in encoding else zlib.MAX_WBITS)


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


class _Source(io.RawIOBase):
    """A socket as a file that gives no more than `room` bytes, and nothing after the deadline."""

    def __init__(self, secure: ssl.SSLSocket, deadline: float) -> None:
        self._socket, self._deadline = secure, deadline
        self.room = MAX_HEADER_BYTES

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self.room <= 0:
            raise WireError("answered more than is read")
        self._socket.settimeout(_left(self._deadline))
        got = self._socket.recv_into(memoryview(buffer)[: self.room])
        self.room -= got
        return got

    def close(self) -> None:
        with suppress(OSError):
            super().close()
