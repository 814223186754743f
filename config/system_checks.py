"""Settings that don't go together, told at start with how to mend them."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core import checks as system_checks
from django.core.checks import CheckMessage

from config import environment as env


def register() -> None:
    system_checks.register(site)
    system_checks.register(scale)


def site(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """The address that file links and agents are given must be one that this server answers to."""
    found: list[CheckMessage] = []
    url = urlsplit(settings.SITE_URL)
    if url.scheme not in ("http", "https") or not url.hostname or url.path:
        found.append(
            system_checks.Error(
                f"SITE_URL is {settings.SITE_URL!r}, which is no address of a site.",
                hint="Set it to scheme and host, such as https://countersign.example.org.",
                id="config.E001",
            )
        )
    elif not _allowed(url.hostname):
        found.append(
            system_checks.Error(
                f"SITE_URL names {url.hostname}, which ALLOWED_HOSTS does not.",
                hint=f"Add it: ALLOWED_HOSTS={','.join([*settings.ALLOWED_HOSTS, url.hostname])}",
                id="config.E002",
            )
        )
    if settings.DEBUG and settings.HTTPS:
        found.append(
            system_checks.Error(
                "DEBUG is on while SITE_URL is https.",
                hint="Unset DEBUG where others can reach the server.",
                id="config.E003",
            )
        )
    return found


def _allowed(host: str) -> bool:
    return any(
        allowed == "*"
        or allowed.strip("[]") == host
        or (allowed.startswith(".") and f".{host}".endswith(allowed))
        for allowed in settings.ALLOWED_HOSTS
    )


def scale(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """More than one machine needs a database and a secret that all of them share."""
    if not settings.CELERY_BROKER_URL:
        return []
    found: list[CheckMessage] = []
    if settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
        found.append(
            system_checks.Error(
                "BROKER_URL is set, but the database is SQLite, which workers elsewhere can't share.",
                hint="Set DATABASE_URL to a PostgreSQL, or unset BROKER_URL.",
                id="config.E004",
            )
        )
    if not env.text("SECRET_KEY"):
        found.append(
            system_checks.Error(
                "BROKER_URL is set, but each machine makes a SECRET_KEY of its own.",
                hint="Set SECRET_KEY to the same value everywhere; claim tokens and file links hang on it.",
                id="config.E005",
            )
        )
    if not settings.CELERY_RESULT_BACKEND:
        found.append(
            system_checks.Error(
                "BROKER_URL is no Redis, and RESULT_URL is not set: no call would hear of its check.",
                hint="Set RESULT_URL to a Redis, such as redis://127.0.0.1:6379/1.",
                id="config.E006",
            )
        )
    return found
