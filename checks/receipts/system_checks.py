"""System checks of what signs receipts: `checks.E030`…. Never show a value."""

from typing import Any

from django.conf import settings
from django.core import checks as system_checks
from django.core.exceptions import ImproperlyConfigured

from checks.receipts import keys


def register() -> None:
    system_checks.register(check_key)


def check_key(**_: Any) -> list[system_checks.CheckMessage]:
    """A key that can't be read, is anybody's to read, or would be another on each machine. Makes none."""
    if not settings.RECEIPT_KEY and settings.CELERY_BROKER_URL:
        return [
            system_checks.Error(
                "BROKER_URL is set, but RECEIPT_KEY is not, and each machine would sign receipts with a key of its own.",
                hint="Set RECEIPT_KEY to the same everywhere; `manage.py receipt_key new` prints one.",
                id="checks.E030",
            )
        ]
    if not settings.RECEIPT_KEY and not settings.RECEIPT_KEY_FILE.exists():
        return []
    try:
        keys.load()
    except ImproperlyConfigured as error:
        hint = "Receipts can't be signed until it is mended: docs/receipts.md tells of keys."
        return [system_checks.Error(str(error), hint=hint, id="checks.E031")]
    return []
