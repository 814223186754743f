"""Settings that don't go together, told at start with how to mend them."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core import checks as system_checks
from django.core.checks import CheckMessage

from checks.system_checks import split
from config import environment as env
from config import uploads


def register() -> None:
    system_checks.register(site)
    system_checks.register(scale)
    system_checks.register(storage)


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


def storage(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """A bucket named whole, and files where every machine finds them. Never shows a value."""
    if not env.text("S3_BUCKET"):
        return [*_no_bucket(), *_far_folder()]
    found: list[CheckMessage] = []
    if not uploads.installed():
        found.append(
            system_checks.Error(
                "S3_BUCKET is set, but what speaks to it is not installed.",
                hint="Install requirements-s3.txt, or unset S3_BUCKET.",
                id="config.E008",
            )
        )
    if bool(env.text("S3_ACCESS_KEY_ID")) != bool(env.text("S3_SECRET_ACCESS_KEY")):
        found.append(
            system_checks.Error(
                "Of S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY only one is set.",
                hint="Set both, or neither: then the machine's own role or AWS_… is used.",
                id="config.E009",
            )
        )
    address = env.text("S3_ENDPOINT_URL")
    if address and split(address) is None:
        found.append(
            system_checks.Error(
                "S3_ENDPOINT_URL is no http or https address.",
                hint="Set it to the store's address, such as https://s3.example.org; unset = Amazon's.",
                id="config.E010",
            )
        )
    return found


def _no_bucket() -> list[CheckMessage]:
    names = [name for name in uploads.NAMES if env.text(name)]
    if not names:
        return []
    return [
        system_checks.Error(
            f"{', '.join(names)}: set, but S3_BUCKET is not, so files stay in a folder.",
            hint="Set S3_BUCKET, or unset the others.",
            id="config.E007",
        )
    ]


def _far_folder() -> list[CheckMessage]:
    if not settings.CELERY_BROKER_URL or env.text("UPLOADS_DIR"):
        return []
    return [
        system_checks.Warning(
            "BROKER_URL is set, but files are kept in a folder that workers elsewhere may not see.",
            hint="Set S3_BUCKET, or UPLOADS_DIR to a folder that all machines share.",
            id="config.W001",
        )
    ]
