"""System checks of where facts about chains are read: `checks.E020`. Never shows a value."""

from typing import Any

from django.conf import settings
from django.core import checks as system_checks

from checks.facts.rpc import parts

NAMES = ("BASE_RPC_URL", "SOLANA_RPC_URL")


def register() -> None:
    system_checks.register(check_endpoints)


def check_endpoints(**_: Any) -> list[system_checks.CheckMessage]:
    return [
        system_checks.Error(
            f"{name} is no https address without a name and a password in it.",
            hint="Set it to one such as https://mainnet.base.org, or unset it.",
            id="checks.E020",
        )
        for name in NAMES
        if parts(getattr(settings, name)) is None
    ]
