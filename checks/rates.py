"""How often somebody may call, and who an unknown caller is: by address.

A sliding window of two counters in the cache, so that it costs the same however generous the bound is and all server
processes count together, each telling the others at every hundredth part of the bound. (DRF's own throttles keep a
list of every call's time, ask the cache at each call, and lose calls that come at once.)
"""

import ipaddress
import math
import threading
import time
from dataclasses import dataclass

from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from checks import memory

WINDOW_SECONDS = 60
PARTS = 100  # of the bound, after each of which a process tells the others
_MOST_KNOWN = 20_000  # callers whom a process keeps a tally of
_ROUTED_BITS = 64  # whoever has one IPv6 address has all of its network's


def address_of(request: HttpRequest | Request) -> str:
    """Whom an unknown caller counts as. Behind a proxy, what the proxy says; never what the caller says."""
    said = BaseThrottle().get_ident(request)  # type: ignore[arg-type] # it reads META alone
    try:
        address = ipaddress.ip_address(said or "")
    except ValueError:
        return "unknown"
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, _ROUTED_BITS), strict=False))
    return str(address)


@dataclass(slots=True)
class _Tally:
    """One caller in one window, as this process knows it: counted by all, in the window before, and not yet told."""

    window: float
    told: int = 0
    before: int = 0
    mine: int = 0
    known: bool = False


_tallies: dict[str, _Tally] = {}
_lock = threading.Lock()


def wait(name: str, most: int) -> int:
    """Count a call, unless that is one more than `most` within a minute: then how many seconds to wait."""
    window, into = divmod(time.time(), WINDOW_SECONDS)
    tally, telling = _one_more(name, window, max(1, most // PARTS))
    key = f"{name.replace(' ', ':')}:"
    if telling:
        tally.told = memory.count(f"{key}{window:.0f}", 2 * WINDOW_SECONDS, by=telling)
        tally.before = int(memory.get(f"{key}{window - 1:.0f}") or 0)
        tally.known = True
    now = tally.told + tally.mine
    if tally.before * (1 - into / WINDOW_SECONDS) + now <= most:
        return 0
    # who is refused does not get further away from being heard
    if telling:
        tally.told = memory.count(f"{key}{window:.0f}", 2 * WINDOW_SECONDS, by=-1)
    else:
        tally.mine -= 1
    if now > most:
        return max(1, math.ceil(WINDOW_SECONDS - into))
    # the window before fades with time; until then
    return max(1, math.ceil(WINDOW_SECONDS * (1 - (most - now) / tally.before) - into))


def _one_more(name: str, window: float, part: int) -> tuple[_Tally, int]:
    """The caller's tally with this call in it, and how many to tell the others of now."""
    with _lock:
        tally = _tallies.get(name)
        if tally is None or tally.window != window:
            if len(_tallies) >= _MOST_KNOWN:
                _tallies.clear()
            tally = _tallies[name] = _Tally(window)
        tally.mine += 1
        if tally.mine < part and tally.known:
            return tally, 0
        telling, tally.mine = tally.mine, 0
        return tally, telling
