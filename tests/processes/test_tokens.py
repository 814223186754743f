"""Claim tokens: derived, unforgeable, bound to the agent."""

import base64

import pytest

from processes.errors import ToolError
from processes.tokens import Claim, derive, verify

CLAIM = Claim("r_1", "check-vendor_2", 17, 3)


def b64(text: str | bytes) -> str:
    raw = text.encode() if isinstance(text, str) else text
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def test_a_token_says_what_it_was_derived_of():
    token = derive(CLAIM, 5)
    assert verify(token, 5) == CLAIM
    assert derive(CLAIM, 5) == token  # a replay's is the same


def test_each_claim_and_agent_has_its_own():
    claims = [CLAIM, Claim("r_2", "check-vendor_2", 17, 3), Claim("r_1", "x", 17, 3),
              Claim("r_1", "check-vendor_2", 18, 3), Claim("r_1", "check-vendor_2", 17, 4)]  # fmt: skip
    tokens = {derive(claim, agent) for claim in claims for agent in (5, 6)}
    assert len(tokens) == 10


def forged() -> list[str]:
    payload, _, mac = derive(CLAIM, 5).partition(".")
    later = b64("r_1 check-vendor_2 17 4")
    return [
        "", ".", payload, f"{payload}.", f".{mac}", f"{payload}.{mac}x", f"{payload}.{mac[:-1]}",
        f"{later}.{mac}", f"{payload}={mac}", f"{payload}.{mac}.{mac}", "é.ü", "\x7f", derive(CLAIM, 6),
        f"{payload}.{b64(bytes(32))}", " " + payload + "." + mac,
    ]  # fmt: skip


@pytest.mark.parametrize("token", forged())
def test_what_does_not_verify_is_invalid(token):
    with pytest.raises(ToolError) as refused:
        verify(token, 5)
    assert (refused.value.code, refused.value.issues) == ("invalid", ["token: does not verify"])


def test_an_older_key_still_verifies_and_a_dropped_one_does_not(settings):
    token = derive(CLAIM, 5)
    old, settings.SECRET_KEY = settings.SECRET_KEY, "another key"
    settings.SECRET_KEY_FALLBACKS = [old]
    assert verify(token, 5) == CLAIM
    assert derive(CLAIM, 5) != token
    settings.SECRET_KEY_FALLBACKS = []
    with pytest.raises(ToolError):
        verify(token, 5)
