"""Addresses that try to lead the fetcher inside. Each would end at a real listener, which nobody may ever reach.

The connection seam brings whoever connects, to whatever address, to that listener: so "not reached" is what the
listener's own count of connections says, and not what the guard says of itself.
"""

import pytest

from checks.facts.fetch import Fetcher, FetchError
from tests.servers.dns import DnsServer
from tests.servers.tls import TlsServer, page, redirect

PUBLIC = "93.184.216.34"

# what the system's own look-up makes of odd numbers is asked for real, as is what a name server says
HOSTILE = {
    # another scheme, another port
    "http": "http://example.com/",
    "ftp": "ftp://example.com/",
    "file": "file:///etc/hosts",
    "gopher": "gopher://127.0.0.1:25/_HELO",
    "data": "data:text/html,hello",
    "no scheme": "example.com/",
    "relative": "//example.com/",
    "one slash": "https:/127.0.0.1/",
    "no slash": "https:127.0.0.1/",
    "three slashes": "https:///127.0.0.1/",
    "blank before": " https://127.0.0.1/",
    "port 80": "https://example.com:80/",
    "port 8443": "https://example.com:8443/",
    "port 22 with zeros": "https://example.com:0022/",
    "port 443 plus": "https://example.com:+443/",
    "port beyond": "https://example.com:66000443/",
    "empty port": "https://example.com:/",
    # somebody in front of the host
    "password": "https://user:secret@example.com/",
    "host as user": "https://example.com@127.0.0.1/",
    "host as user, encoded": "https://example.com%40127.0.0.1/",
    "at in both": "https://a@b@127.0.0.1/",
    # what browsers read in another way
    "backslash": "https://example.com\\@127.0.0.1/",
    "backslashes": "https:\\\\127.0.0.1\\",
    "tab in the host": "https://127.0.\t0.1/",
    "line end in the path": "https://example.com/\r\nHost: 127.0.0.1",
    "line end in the host": "https://example.com\r\n.127.0.0.1/",
    "NUL": "https://example.com\0.127.0.0.1/",
    "encoded dots": "https://127%2e0%2e0%2e1/",
    "encoded slash": "https://127.0.0.1%2f.example.com/",
    "full-width digits": "https://１２７.0.0.1/",
    "circled digits": "https://①②⑦.⓪.⓪.①/",
    "ideographic full stop": "https://127。0。0。1/",
    "soft hyphen": "https://local\u00adhost/",
    # loopback in IPv4, in all its forms
    "loopback": "https://127.0.0.1/",
    "another loopback": "https://127.8.8.8/",
    "short loopback": "https://127.1/",
    "loopback, three parts": "https://127.0.1/",
    "decimal": "https://2130706433/",
    "hexadecimal": "https://0x7f000001/",
    "hexadecimal parts": "https://0x7f.0x0.0x0.0x1/",
    "octal": "https://0177.0.0.1/",
    "octal whole": "https://017700000001/",
    "padded": "https://127.000.000.001/",
    "overflowing": "https://256.256.256.256/",
    "trailing dot": "https://127.0.0.1./",
    "this host": "https://0.0.0.0/",
    "zero": "https://0/",
    # private, link-local, metadata and the rest
    "ten": "https://10.0.0.5/",
    "172.16": "https://172.16.3.4/",
    "172.31": "https://172.31.255.255/",
    "192.168": "https://192.168.1.1/",
    "carrier": "https://100.64.0.1/",
    "metadata": "https://169.254.169.254/latest/meta-data/",
    "metadata in decimal": "https://2852039166/",
    "metadata of another cloud": "https://100.100.100.200/latest/",
    "metadata that looks public": "https://168.63.129.16/machine",
    "metadata in protocol assignments": "https://192.0.0.192/opc/v2/",
    "benchmarks": "https://198.18.0.1/",
    "documentation": "https://203.0.113.7/",
    "multicast": "https://224.0.0.1/",
    "reserved": "https://240.0.0.1/",
    "broadcast": "https://255.255.255.255/",
    "6to4 relay": "https://192.88.99.1/",
    # IPv6
    "v6 loopback": "https://[::1]/",
    "v6 loopback in full": "https://[0:0:0:0:0:0:0:1]/",
    "v6 unspecified": "https://[::]/",
    "v6 mapped": "https://[::ffff:127.0.0.1]/",
    "v6 mapped in hexadecimal": "https://[::ffff:7f00:1]/",
    "v6 mapped public": "https://[::ffff:93.184.216.34]/",
    "v6 compatible": "https://[::127.0.0.1]/",
    "v6 translated": "https://[::ffff:0:127.0.0.1]/",
    "v6 NAT64": "https://[64:ff9b::7f00:1]/",
    "v6 NAT64, metadata": "https://[64:ff9b::169.254.169.254]/",
    "v6 NAT64, local": "https://[64:ff9b:1::a00:1]/",
    "v6 6to4": "https://[2002:7f00:1::]/",
    "v6 6to4, private": "https://[2002:a00:1::1]/",
    "v6 Teredo": "https://[2001:0:4136:e378:8000:63bf:80ff:fffe]/",
    "v6 ISATAP": "https://[2606:4700:0:0:0:5efe:7f00:1]/",
    "v6 unique local": "https://[fd12:3456:789a::1]/",
    "v6 metadata": "https://[fd00:ec2::254]/",
    "v6 link-local": "https://[fe80::1]/",
    "v6 with a zone": "https://[fe80::1%25eth0]/",
    "v6 public with a zone": "https://[2606:4700::1111%25lo]/",
    "v6 site-local": "https://[fec0::1]/",
    "v6 multicast": "https://[ff02::1]/",
    "v6 documentation": "https://[2001:db8::1]/",
    "v6 discard": "https://[100::1]/",
    "v6 not closed": "https://[::1/",
    "v6 of the future": "https://[v1.fe80::a]/",
    "v6 with a bad port": "https://[2606:4700::1111]:8443/",
    # names near by
    "localhost": "https://localhost/",
    "localhost in capitals": "https://LOCALHOST/",
    "localhost with a dot": "https://localhost./",
    "under localhost": "https://a.localhost/",
    "one label": "https://intranet/",
    "a metadata name": "https://metadata.google.internal/computeMetadata/v1/",
    "a local name": "https://printer.local/",
    "a cluster's name": "https://kubernetes.default.svc.cluster.local/",
    "empty label": "https://a..example.com/",
    "no host": "https:///",
    "endless": "https://example.com/" + "a" * 3000,
}

# names that anybody may register, and where they point
POINTED = {
    "loop.example.com": ["127.0.0.1"],
    "ten.example.com": ["10.1.2.3"],
    "metadata.example.com": ["169.254.169.254"],
    "six.example.com": ["::1"],
    "local.example.com": ["fd00::1"],
    "linked.example.com": ["fe80::1"],
    "mapped.example.com": ["::ffff:10.0.0.1"],
    "nat64.example.com": ["64:ff9b::a00:1"],
    "sixtofour.example.com": ["2002:a00:1::"],
    "one-of-two.example.com": [PUBLIC, "127.0.0.1"],
    "one-of-both.example.com": [PUBLIC, "::1"],
    "unspecified.example.com": ["0.0.0.0"],  # noqa: S104 - where a name points
    "multicast.example.com": ["239.1.1.1"],
}

REDIRECTS = {
    "to loopback": "https://127.0.0.1/",
    "to loopback in decimal": "https://2130706433/",
    "to v6 loopback": "https://[::1]/",
    "to metadata": "https://169.254.169.254/latest/meta-data/",
    "to a name inside": "https://loop.example.com/",
    "to plain http": "http://status.example.com/",
    "to another port": "https://status.example.com:8443/",
    "to nobody's scheme": "file:///etc/hosts",
    "without a scheme": "//127.0.0.1/",
    "with a backslash": "https:\\\\127.0.0.1/",
    "slash and backslash": "/\\127.0.0.1/",
    "behind a user": "https://status.example.com@127.0.0.1/",
    "with a blank": " https://127.0.0.1/",
    "with a tab": "\thttps://127.0.0.1/",
    "with odd letters": "https://１２７.0.0.1/".encode().decode("latin-1"),
}


@pytest.fixture(scope="module")
def inside():
    """The listener that stands for everything inside: any connection to it is the guard's failure."""
    names = ["127.0.0.1", "::1", "localhost", "example.com", "*.example.com", "169.254.169.254"]
    with TlsServer(names, page(b"secret")) as server:
        yield server


def refused(fetcher, url):
    with pytest.raises(FetchError) as caught:
        fetcher.get(url)
    return caught.value


@pytest.mark.parametrize("url", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_address_reaches_nobody(inside, url):
    fetcher = Fetcher(resolve=lambda _: ["127.0.0.1"], connecting=inside.connecting, tls=inside.trusting)
    assert refused(fetcher, url).refused
    assert inside.accepted == 0


@pytest.mark.parametrize("name", POINTED)
def test_a_name_that_points_inside_reaches_nobody(inside, name):
    with DnsServer({name: [POINTED[name]]}) as dns:
        fetcher = Fetcher(resolve=dns.resolve, connecting=inside.connecting, tls=inside.trusting)
        error = refused(fetcher, f"https://{name}/")
    assert (error.refused, error.message) == (True, "The address names a host that is not public.")
    assert dns.queries
    assert inside.accepted == 0


@pytest.mark.parametrize("to", REDIRECTS.values(), ids=REDIRECTS)
def test_a_redirect_inside_reaches_nobody(inside, to):
    with (
        TlsServer(["status.example.com"], redirect(to)) as outside,
        DnsServer({"status.example.com": [[PUBLIC]], "loop.example.com": [["127.0.0.1"]]}) as dns,
    ):

        def connecting(address, port, seconds):
            return (outside if address == PUBLIC else inside).connecting(address, port, seconds)

        fetcher = Fetcher(resolve=dns.resolve, connecting=connecting, tls=outside.trusting)
        error = refused(fetcher, "https://status.example.com/")
        assert error.refused
        assert error.message.startswith("The address that it redirects to ")
        assert (outside.accepted, inside.accepted) == (1, 0)


class TestRebinding:
    """A name that is public when it is checked, and loopback a moment later."""

    def test_the_connection_goes_where_the_check_looked(self, inside):
        with (
            TlsServer(["rebind.example.com"], page(b"the page")) as outside,
            DnsServer({"rebind.example.com": [[PUBLIC], ["127.0.0.1"]]}) as dns,
        ):

            def connecting(address, port, seconds):
                return (outside if address == PUBLIC else inside).connecting(address, port, seconds)

            fetcher = Fetcher(resolve=dns.resolve, connecting=connecting, tls=outside.trusting)
            assert fetcher.get("https://rebind.example.com/").body == b"the page"
            assert outside.connected == [(PUBLIC, 443)]
            assert dns.queries == ["rebind.example.com"] * 2  # one look-up: its two kinds of addresses
            assert inside.accepted == 0
            # the second look-up shows what it has become
            assert refused(fetcher, "https://rebind.example.com/").refused
            assert (outside.accepted, inside.accepted) == (1, 0)

    def test_it_is_looked_up_and_checked_again_after_a_redirect_to_itself(self, inside):
        with (
            TlsServer(["rebind.example.com"], redirect("/again")) as outside,
            DnsServer({"rebind.example.com": [[PUBLIC], ["10.0.0.1"]]}) as dns,
        ):

            def connecting(address, port, seconds):
                return (outside if address == PUBLIC else inside).connecting(address, port, seconds)

            fetcher = Fetcher(resolve=dns.resolve, connecting=connecting, tls=outside.trusting)
            assert refused(fetcher, "https://rebind.example.com/").refused
            assert (outside.accepted, inside.accepted) == (1, 0)

    def test_the_connection_itself_looks_nothing_up(self, monkeypatch):
        from checks.facts import wire

        def look_up(*_args, **_kwargs):
            raise AssertionError("a name was looked up")

        monkeypatch.setattr("socket.getaddrinfo", look_up)
        monkeypatch.setattr("socket.create_connection", look_up)
        with TlsServer(["a.example.com"], page(b"")) as server:
            wire.connect("127.0.0.1", server.port, 5).close()
        with pytest.raises(OSError):
            wire.connect("localhost.example.com", 443, 1)


def test_the_listener_would_tell_of_it(monkeypatch):
    """With the guard patched out they get there: the counts above are worth something."""
    from checks.facts import fetch

    monkeypatch.setattr(fetch, "is_public", lambda _: True)
    with TlsServer(["loop.example.com"], page(b"secret")) as reached:
        fetcher = Fetcher(
            resolve=lambda _: ["127.0.0.1"], connecting=reached.connecting, tls=reached.trusting
        )
        assert fetcher.get("https://loop.example.com/").body == b"secret"
        assert reached.accepted == 1


def test_there_are_enough_of_them():
    assert len(HOSTILE) + len(POINTED) + len(REDIRECTS) >= 60
