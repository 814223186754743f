"""Where a base that somebody entered may lead: to public addresses, and to hosts that EVALUATOR_PRIVATE_HOSTS names.

What is connected to is the address that was looked at, so that a name can't lead elsewhere a moment later.
"""

import ipaddress
import socket

from django.conf import settings

from checks.evaluators import EvaluatorError
from checks.facts import addresses


def address(host: str, port: int) -> str:
    """One address of the host. Raises EvaluatorError where it is private, or there is none."""
    try:
        found = [
            str(entry[4][0]).partition("%")[0]
            for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        ]
    except (OSError, UnicodeError):
        raise EvaluatorError(f"{host} could not be reached (its name leads nowhere)", down=True) from None
    if not is_allowed(host) and not all(is_public(one) for one in found):
        message = f"{host} leads to a private address, and EVALUATOR_PRIVATE_HOSTS does not name it"
        raise EvaluatorError(message, permanent=True, down=True)
    return min(found, key=lambda one: ":" in one)  # the older kind first: it is reached from more networks


def is_allowed(host: str) -> bool:
    """Whether whoever runs the server let this host be private."""
    return host.lower() in {name.lower() for name in settings.EVALUATOR_PRIVATE_HOSTS}


def looks_private(host: str) -> bool:
    """Whether the name itself says so, without a look-up."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return "." not in host.rstrip(".") or host.rstrip(".").endswith((".localhost", ".local", ".internal"))
    return not is_public(host)


def is_public(address: str) -> bool:
    """Whether it is an address of the open internet, in whatever form it is written."""
    try:
        return addresses.is_public(ipaddress.ip_address(address))
    except ValueError:
        return False
