"""Typed readers of environment variables. A wrong value stops the start with the name and how to mend it."""

import os
from collections.abc import Sequence
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

MOST_SECONDS = 86_400.0
# what may follow the ? of a PostgreSQL address
_POSTGRES_OPTIONS = {
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "connect_timeout",
    "options",
    "application_name",
    "keepalives_idle",
    "tcp_user_timeout",
}
# a machine that went away without a word is noticed in seconds, not when the system's own patience ends
_POSTGRES_PATIENCE = {"connect_timeout": "5", "keepalives_idle": "30", "tcp_user_timeout": "20000"}


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, default).strip()


def flag(name: str, *, default: bool) -> bool:
    raw = text(name).lower()
    if not raw:
        return default
    if raw in {"1", "true", "yes", "on"}:
        return True
    if raw in {"0", "false", "no", "off"}:
        return False
    raise ImproperlyConfigured(f"{name} is {raw!r}; set it to 1 or 0.")


def whole(name: str, default: int, *, least: int = 0, most: int = 2**31) -> int:
    raw = text(name)
    if not raw:
        return default
    try:
        value = int(raw)
    except ValueError:
        raise ImproperlyConfigured(f"{name} is {raw!r}; set it to a whole number.") from None
    if not least <= value <= most:
        raise ImproperlyConfigured(f"{name} is {value}; set it between {least} and {most}.")
    return value


def seconds(name: str, default: float, *, least: float = 0.0) -> float:
    raw = text(name)
    if not raw:
        return default
    try:
        value = float(raw)
    except ValueError:
        raise ImproperlyConfigured(f"{name} is {raw!r}; set it to a number of seconds.") from None
    if not least <= value <= MOST_SECONDS:
        raise ImproperlyConfigured(f"{name} is {raw}; set it between {least} and {MOST_SECONDS} seconds.")
    return value


def choice(name: str, default: str, options: Sequence[str]) -> str:
    value = text(name, default) or default
    if value not in options:
        raise ImproperlyConfigured(f"{name} is {value!r}; set it to one of {', '.join(options)}.")
    return value


def words(name: str, default: str = "") -> list[str]:
    """A comma-separated list."""
    return [part.strip() for part in text(name, default).split(",") if part.strip()]


def named(start: str) -> dict[str, str]:
    """Every variable whose name begins so, and that holds something."""
    return {name: text(name) for name in sorted(os.environ) if name.startswith(start) and text(name)}


def redis(name: str) -> str:
    """The address of a Redis, or nothing."""
    url = text(name)
    if url and not url.startswith(("redis://", "rediss://", "unix://")):
        raise ImproperlyConfigured(f"{name} is no address of a Redis; use redis://host:6379/1.")
    return url


def database(name: str, default_sqlite: str) -> dict[str, Any]:
    """`postgres://user:password@host:port/name` or `sqlite:///path`; unset = SQLite at `default_sqlite`, a path as it is."""
    raw = text(name)
    if not raw:
        return _sqlite(default_sqlite)
    url = urlsplit(raw)
    if url.scheme == "sqlite":
        if url.query or url.fragment or url.netloc or not url.path[1:]:
            raise ImproperlyConfigured(
                f"{name} is no path alone after sqlite:///; write `?` in it as %3F, `#` as %23, `%` as %25."
            )
        return _sqlite(unquote(url.path[1:]))
    if url.scheme in {"postgres", "postgresql"}:
        return _postgres(name, url)
    raise ImproperlyConfigured(
        f"{name} starts with {url.scheme!r}; use postgres://user:password@host/name or sqlite:///path."
    )


def _sqlite(path: str) -> dict[str, Any]:
    """SQLite runs in WAL and takes its write lock at BEGIN, so that a reader which turns writer can't fail halfway
    ("database is locked"), and no two writers interleave.
    """
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": path,
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        },
    }


def _postgres(name: str, url: SplitResult) -> dict[str, Any]:
    options = dict(parse_qsl(url.query))
    if unknown := sorted(set(options) - _POSTGRES_OPTIONS):
        known = ", ".join(sorted(_POSTGRES_OPTIONS))
        raise ImproperlyConfigured(f"{name} has the option {unknown[0]!r}; known are {known}.")
    try:
        port = str(url.port or "")
    except ValueError:
        raise ImproperlyConfigured(f"{name} names no port number after the host.") from None
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(url.path[1:]),
        "USER": unquote(url.username or ""),
        "PASSWORD": unquote(url.password or ""),
        "HOST": url.hostname or "",
        "PORT": port,
        "OPTIONS": {**_POSTGRES_PATIENCE, **options},
        # a thread keeps its connection: a request that has to make one takes four times as long
        "CONN_MAX_AGE": whole("DATABASE_KEPT_SECONDS", 300),
        "CONN_HEALTH_CHECKS": True,
    }
