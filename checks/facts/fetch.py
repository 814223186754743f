"""The guarded fetcher: pages that somebody else names, and nothing of ours.

An address is read strictly, its name is looked up once, every address that the name has must be public, and the connection
goes to one of those very addresses: a name that answers differently a moment later is not asked again. The certificate is
verified for the name. The same holds at each of at most three redirects. One deadline bounds it all.
"""

import ipaddress
import queue
import socket
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from checks.facts import wire
from checks.facts.addresses import Address, AddressError, Target, follow, is_public, read

SECONDS = 5.0
MAX_REDIRECTS = 3
MAX_LOOKUPS = 32  # at once: one that hangs can't be stopped, only waited out
MAX_ADDRESSES = 8  # of a name, that are tried in turn
_REDIRECTS = frozenset({301, 302, 303, 307, 308})

_slots = threading.BoundedSemaphore(MAX_LOOKUPS)

Resolve = Callable[[str], Sequence[str]]


class FetchError(Exception):
    """Nothing was read; the message is a sentence. `refused`: because of what was asked for, not of who did not answer."""

    def __init__(self, message: str, *, refused: bool) -> None:
        super().__init__(message)
        self.message = message
        self.refused = refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    url: str  # where it was in the end
    status: int
    content_type: str
    body: bytes
    cut: bool


def resolve(host: str) -> list[str]:
    """Every address of a name, as the system knows it."""
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetcher:
    """Its parts can be put in for tests; what is guarded can't be switched off."""

    resolve: Resolve = resolve
    connecting: wire.Connect = wire.connect
    tls: Callable[[], ssl.SSLContext] = wire.trusted
    seconds: float = SECONDS

    def get(self, url: str) -> Page:
        """Raises FetchError."""
        deadline = time.monotonic() + self.seconds
        target, where = _read(url, "The address"), "The address"
        for _ in range(MAX_REDIRECTS + 1):
            reply = self._ask(target, where, deadline)
            location = reply.headers.get("location", "")
            if reply.status not in _REDIRECTS or not location:
                kind = reply.headers.get("content-type", "")
                return Page(
                    url=target.url, status=reply.status, content_type=kind, body=reply.body, cut=reply.cut
                )
            where = "The address that it redirects to"
            try:
                target = follow(target, location)
            except AddressError as error:
                raise FetchError(f"{where} {error}.", refused=True) from None
        raise FetchError(f"It redirects more than {MAX_REDIRECTS} times.", refused=True)

    def _ask(self, target: Target, where: str, deadline: float) -> wire.Reply:
        addresses = self._public(target, where, deadline)
        error = wire.WireError("could not be reached")
        for address, opened in wire.turns(addresses[:MAX_ADDRESSES], deadline):
            request = wire.Request(address=str(address), host=target.host, path=target.path)
            try:
                return wire.send(request, deadline, opened=opened, tls=self.tls(), connecting=self.connecting)
            except wire.WireError as failed:
                error = failed
        raise FetchError(f"The server {error}.", refused=False)

    def _public(self, target: Target, where: str, deadline: float) -> list[Address]:
        """Every address of the target, all of them public. Raises FetchError."""
        if (literal := target.literal) is not None:
            return [literal]  # checked when it was read
        found = looked_up(self.resolve, target.host, deadline)
        addresses = []
        for text in found:
            try:
                addresses.append(ipaddress.ip_address(text))
            except ValueError:
                raise FetchError(f"{where} names a host that is not public.", refused=True) from None
        # one that is not public among many is reason enough: the next look-up may give that one alone
        if not all(map(is_public, addresses)):
            raise FetchError(f"{where} names a host that is not public.", refused=True)
        return addresses


def looked_up(resolve: Resolve, host: str, deadline: float) -> Sequence[str]:
    """A name's addresses by the deadline, on a thread of its own: the system's look-up can't be told to hurry.

    Raises FetchError.
    """
    outcomes: queue.SimpleQueue[Sequence[str] | Exception] = queue.SimpleQueue()

    def run() -> None:
        try:
            outcomes.put(list(resolve(host)))
        except (OSError, UnicodeError) as error:
            outcomes.put(error)
        finally:
            _slots.release()

    if not _slots.acquire(timeout=max(0.0, deadline - time.monotonic())):
        raise FetchError("Too many names are being looked up at once.", refused=False)
    threading.Thread(target=run, name="look-up", daemon=True).start()
    try:
        found = outcomes.get(timeout=max(0.0, deadline - time.monotonic()))
    except queue.Empty:
        raise FetchError("The host's name could not be looked up in time.", refused=False) from None
    if isinstance(found, Exception) or not found:
        raise FetchError("The host's name is not known.", refused=_never_was(found))
    return found


def _never_was(found: Sequence[str] | Exception) -> bool:
    """Whether there is no such name, rather than nobody who could say: asking again is in vain."""
    if isinstance(found, socket.gaierror):
        return found.errno == socket.EAI_NONAME
    return isinstance(found, UnicodeError)


def _read(url: str, where: str) -> Target:
    try:
        return read(url)
    except AddressError as error:
        raise FetchError(f"{where} {error}.", refused=True) from None
