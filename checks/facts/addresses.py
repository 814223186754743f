"""Which addresses the world may name to this server, and how an address is read. Pure.

Reading is strict rather than kind: browsers take backslashes, `0x7f.1` or a host in full-width digits, and two readers
that differ on what they mean are how a guard is walked around. What is not plainly a public https address is refused.
"""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

MAX_URL_CHARS = 2048
HTTPS_PORT = 443

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_CLOSED_V4 = [
    ipaddress.IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",
        "100.64.0.0/10",  # carriers' own; some clouds' metadata
        "127.0.0.0/8",
        "168.63.129.16/32",  # a cloud's own services to its machines, on an address that looks public
        "169.254.0.0/16",  # link-local; metadata
        "172.16.0.0/12",
        "192.0.0.0/24",  # protocol assignments; metadata
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
]
# Of IPv6 only what is given out to the public is open, less what stands for something else there. So unique local,
# link-local, multicast, mapped (::ffff:0:0/96), compatible (::/96) and NAT64 (64:ff9b::/96) are closed by not being in it.
_OPEN_V6 = ipaddress.IPv6Network("2000::/3")
_CLOSED_V6 = [
    ipaddress.IPv6Network(text)
    for text in (
        "2001::/23",  # protocol assignments: Teredo, ORCHID, benchmarks
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: an IPv4 address in disguise
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
]
_ISATAP = (0x00005EFE, 0x02005EFE)  # before an IPv4 address in the lower half of an IPv6 one

# names that mean a machine near by, wherever they are looked up
_NEAR = ("localhost", "local", "internal", "intranet", "lan", "home", "corp", "private", "home.arpa", "onion")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_TOP = re.compile(r"[a-z](?:[a-z0-9-]*[a-z0-9])?")
_MAX_NAME_CHARS = 253
_URL = re.compile(r"[!-~]+")
_START = re.compile(r"https://([^/?#]*)(.*)", re.IGNORECASE)


class AddressError(ValueError):
    """An address that is not asked; the message completes "The address …"."""


@dataclass(frozen=True, slots=True)
class Target:
    """A checked address: `host` as it is looked up and as its certificate must name it, `path` with its query."""

    host: str
    path: str

    @property
    def url(self) -> str:
        return f"https://{self.authority}{self.path}"

    @property
    def authority(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def literal(self) -> Address | None:
        """The host, where it is a number itself."""
        try:
            return ipaddress.ip_address(self.host)
        except ValueError:
            return None


def read(url: str) -> Target:
    """Raises AddressError."""
    if len(url) > MAX_URL_CHARS:
        raise AddressError(f"has more than {MAX_URL_CHARS} characters")
    if not _URL.fullmatch(url) or "\\" in url:
        raise AddressError("holds characters that an address has to write in another way (%20, xn--…)")
    found = _START.fullmatch(url)
    if found is None:
        raise AddressError("does not start with https://")
    authority, rest = found[1], found[2].partition("#")[0]
    if "@" in authority:
        raise AddressError("holds a name or a password")
    host, bracket, port = authority.partition("]") if authority.startswith("[") else _host_and_port(authority)
    if port not in {"", f":{HTTPS_PORT}"}:
        raise AddressError(f"names another port than {HTTPS_PORT}")
    return Target(_host(host + bracket), rest if rest.startswith("/") else f"/{rest}")


def follow(target: Target, location: str) -> Target:
    """Where a redirect leads. Raises AddressError."""
    if not _URL.fullmatch(location) or "\\" in location or len(location) > MAX_URL_CHARS:
        raise AddressError("holds characters that an address has to write in another way (%20, xn--…)")
    try:
        urlsplit(location)
        joined = urljoin(target.url, location)
    except ValueError:
        raise AddressError("can't be read") from None
    return read(joined)


def is_public(address: Address) -> bool:
    """Whether anybody in the world may be sent there."""
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _CLOSED_V4)
    if address.scope_id is not None or address not in _OPEN_V6:
        return False
    if any(address in network for network in _CLOSED_V6):
        return False
    return (int(address) >> 32) & 0xFFFFFFFF not in _ISATAP


def _host_and_port(authority: str) -> tuple[str, str, str]:
    host, colon, port = authority.partition(":")
    return host, "", colon + port


def _host(text: str) -> str:
    if text.startswith("["):
        return str(_public_literal(text[1:-1] if text.endswith("]") else "", 6))
    name = text.lower()
    if name and name.rpartition(".")[2].isdigit():
        return str(_public_literal(name, 4))
    labels = name.split(".")
    if (
        not all(map(_LABEL.fullmatch, labels))
        or not _TOP.fullmatch(labels[-1])
        or len(name) > _MAX_NAME_CHARS
    ):
        raise AddressError("names no host in a form that is taken here")
    if len(labels) == 1 or any(name == near or name.endswith(f".{near}") for near in _NEAR):
        raise AddressError("names a host that is not public")
    return name


def _public_literal(text: str, version: int) -> Address:
    try:
        address = ipaddress.IPv6Address(text) if version == 6 else ipaddress.IPv4Address(text)  # noqa: PLR2004
    except ValueError:
        raise AddressError("names no host in a form that is taken here") from None
    if not is_public(address):
        raise AddressError("names a host that is not public")
    return address
