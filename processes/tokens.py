"""Claim tokens: derived, never stored, bound to the agent.

A token is `payload.mac`: the payload names run, step, attempt and generation; the MAC is an HMAC-SHA256 over
it and the agent's number under the server's key ring (SECRET_KEY, then SECRET_KEY_FALLBACKS). A replay
derives the same token again. Whoever else shows it gets `invalid`, as for any token that does not verify.
"""

import base64
import binascii
from dataclasses import dataclass

from django.conf import settings
from django.utils.crypto import constant_time_compare, salted_hmac

from processes.errors import ToolError

_SALT = "processes.tokens.1"


@dataclass(frozen=True, slots=True)
class Claim:
    """What a verified token stands for."""

    run: str
    step: str
    attempt: int
    generation: int


def _mac(payload: str, agent: int, secret: str) -> str:
    digest = salted_hmac(_SALT, f"{payload}|{agent}", secret=secret, algorithm="sha256").digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def derive(claim: Claim, agent: int) -> str:
    text = f"{claim.run} {claim.step} {claim.attempt} {claim.generation}"
    payload = base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()
    return f"{payload}.{_mac(payload, agent, settings.SECRET_KEY)}"


def verify(token: str, agent: int) -> Claim:
    """Raises ToolError `invalid` for anything but a token that this server gave to this agent."""
    payload, _, mac = token.partition(".")
    ring = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    proved = [constant_time_compare(mac, _mac(payload, agent, secret)) for secret in ring]
    if not any(proved):
        raise _unverified()
    try:
        text = base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)).decode()
        run, step, attempt, generation = text.split(" ")
        return Claim(run, step, int(attempt), int(generation))
    except (binascii.Error, UnicodeDecodeError, ValueError):
        raise _unverified() from None


def _unverified() -> ToolError:
    return ToolError(
        "invalid",
        "The token does not verify. Use the token of your own latest claim.",
        ["token: does not verify"],
    )
