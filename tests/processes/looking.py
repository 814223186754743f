"""Facts over the network, led to a TLS server of the test's own: `with looking(monkeypatch, answer) as server`."""

from contextlib import contextmanager
from dataclasses import replace

from checks import facts
from checks.facts.fetch import Fetcher
from checks.facts.url_contains import UrlContains
from tests.servers.tls import TlsServer, trusting

NAME = "status.example.com"
URL = f"https://{NAME}/"
PUBLIC = "93.184.216.34"
_server: list[TlsServer] = []


class Led(UrlContains):
    """The real fact, but for where its connections end."""

    @classmethod
    def read(cls, entry):
        fact = super().read(entry)
        if not _server:
            raise AssertionError("no server is up")
        led = Fetcher(resolve=lambda _: [PUBLIC], connecting=_server[-1].connecting, tls=trusting)
        return replace(fact, fetcher=led)


@contextmanager
def looking(monkeypatch, answer):
    monkeypatch.setitem(facts.FACTS, "url_contains", "tests.processes.looking.Led")
    with TlsServer([NAME], answer) as server:
        _server.append(server)
        try:
            yield server
        finally:
            _server.pop()
