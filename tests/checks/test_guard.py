"""Addresses that somebody entered lead to public hosts, and to those that the environment names."""

import socket
import time

import pytest

from checks import material
from checks.evaluators import Config, EvaluatorError, built, guard, transport
from tests.checks.vendor import YES_NO
from tests.checks.vendor import material as example
from tests.servers.system_one import SystemOneServer, yes_to_everything
from tests.servers.tls import TlsServer, page, trusting


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.1.2.3", "224.0.0.1",
     "255.255.255.255", "198.18.0.1", "240.0.0.1", "::1", "::", "fe80::1", "fc00::1", "ff02::1", "::ffff:127.0.0.1",
     "::ffff:169.254.169.254", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:0:7f00:1::", "fec0::1", "nonsense", ""],
)  # fmt: skip
def test_not_public(address):
    assert not guard.is_public(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "93.184.216.34", "2606:4700::1111"])
def test_public(address):
    assert guard.is_public(address)


@pytest.mark.parametrize(
    ("host", "private"),
    [("localhost", True), ("gateway", True), ("a.localhost", True), ("printer.local", True), ("x.internal", True),
     ("169.254.169.254", True), ("::1", True), ("metadata.google.internal.", True), ("api.example.org", False),
     ("1.1.1.1", False)],
)  # fmt: skip
def test_names_that_say_so(host, private):
    assert guard.looks_private(host) is private


def resolving(monkeypatch, *addresses):
    """Every name, for everybody in this process."""

    def found(host, port, *_, **__):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    monkeypatch.setattr(guard.socket, "getaddrinfo", found)


def test_one_private_address_among_public_ones_is_enough(monkeypatch):
    resolving(monkeypatch, "1.1.1.1", "10.0.0.1")
    with pytest.raises(EvaluatorError, match="EVALUATOR_PRIVATE_HOSTS") as error:
        guard.address("api.example.org", 443)
    assert error.value.permanent


def test_a_public_host_is_connected_to_by_the_address_that_was_looked_at(monkeypatch):
    resolving(monkeypatch, "1.1.1.1", "1.0.0.1")
    assert guard.address("api.example.org", 443) == "1.1.1.1"


def test_a_name_that_leads_nowhere(monkeypatch):
    def nowhere(*_, **__):
        raise socket.gaierror

    monkeypatch.setattr(guard.socket, "getaddrinfo", nowhere)
    with pytest.raises(EvaluatorError) as error:
        guard.address("api.example.org", 443)
    assert error.value.down and not error.value.permanent


def ask(server, host):
    base = server.base_url.replace("127.0.0.1", host)
    evaluator = built(Config(kind="system_one", base=base, model="m", guarded=True))
    return evaluator.ask(material.state(example()), (YES_NO,), deadline=time.monotonic() + 20)


def test_a_private_server_is_not_reached(settings):
    settings.EVALUATOR_PRIVATE_HOSTS = []
    with SystemOneServer(yes_to_everything) as server:
        for host in ("127.0.0.1", "localhost"):
            with pytest.raises(EvaluatorError, match="private address"):
                ask(server, host)
    assert server.requests == []


def test_one_that_a_setting_names_is_reached_under_its_name(settings):
    settings.EVALUATOR_PRIVATE_HOSTS = ["LocalHost"]
    with SystemOneServer(yes_to_everything) as server:
        assert ask(server, "localhost").answers[0].probability == 0.97
    assert server.requests[0].headers["host"] == server.base_url.replace("http://127.0.0.1", "localhost")


@pytest.fixture
def over_tls(monkeypatch, settings):
    """Asks, over TLS, a server whose certificate is for that name."""
    resolving(monkeypatch, "127.0.0.1")
    monkeypatch.setattr(transport, "_tls", trusting)
    monkeypatch.setattr(transport, "TRIES", 1)
    settings.EVALUATOR_PRIVATE_HOSTS = ["judge.example.org"]

    def asked(certified):
        answer = page(b'{"answers": {"q0": {"type": "noul", "noul": 0.97}}}')
        with TlsServer([certified], answer) as server:
            base = f"https://judge.example.org:{server.port}"
            evaluator = built(Config(kind="system_one", base=base, model="m", key="k", guarded=True))
            evaluator.ask({}, (YES_NO,), deadline=time.monotonic() + 20)
            return [request.sni for request in server.asked]

    return asked


def test_over_tls_it_proves_the_name_that_was_entered(over_tls):
    assert over_tls("judge.example.org") == ["judge.example.org"]


def test_over_tls_another_name_is_not_spoken_to(over_tls):
    with pytest.raises(EvaluatorError, match="could not be reached"):
        over_tls("other.example.org")
