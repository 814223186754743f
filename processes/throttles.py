"""How often one caller of the protocol may call: agents and people by who they are, everybody else by address."""

from typing import Any

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from checks import rates
from processes.callers import Caller


class PerCaller(BaseThrottle):
    """The view knows its caller by then (`view.caller`): a made-up key never uses up somebody else's calls."""

    def __init__(self) -> None:
        self._wait = 0.0

    def allow_request(self, request: Request, view: Any) -> bool:
        who, most = _who(request, view.caller)
        if not most:
            return True
        self._wait = rates.wait(f"calls {who}", most)
        return not self._wait

    def wait(self) -> float:
        return self._wait


def _who(request: Request, caller: Caller) -> tuple[str, int]:
    if caller.agent is not None:
        return f"agent {caller.agent}", settings.CALLS_PER_MINUTE
    if caller.user is not None:
        return f"person {caller.user}", settings.CALLS_PER_MINUTE
    return f"address {rates.address_of(request)}", settings.ANONYMOUS_CALLS_PER_MINUTE
