"""What the log says, and about whom: request, run, caller, tool, outcome. Never what was sent, never a secret.

A call's fields are noted where they become known (`note`) and stand in every line that is written on its way.
No Django here but the request's type: settings and gunicorn's file read this before anything is set up.
"""

import json
import logging
import re
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from celery import signals
from django.http import HttpRequest
from django.http.response import HttpResponseBase

ID_HEADER = "X-Request-ID"
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{7,63}", re.ASCII)
_MOST_CHARS = 100  # of a field, some of which callers make up
# what lets somebody in: keys, claim tokens and file addresses (both end in a MAC), passwords in addresses
_SECRETS = re.compile(
    r"(cs_[a-z0-9]{8,12}_)[A-Za-z0-9_-]{43}|((?<![\w-])[\w-]{4,}[.:])[\w-]{43}(?![\w-])|"
    r"(://[^\s/:@]*:)[^\s/@]+(?=@)|(Bearer )\S+",
    re.ASCII,
)
_current: ContextVar[MutableMapping[str, Any] | None] = ContextVar("log_fields", default=None)
_requests = logging.getLogger("processes.requests")


# ---- what is being done


def note(**fields: Any) -> None:
    """Add what became known of the call that is under way; None is left out."""
    current = _current.get()
    if current is not None:
        current.update({name: value for name, value in fields.items() if value is not None})


def fields() -> Mapping[str, Any]:
    return _current.get() or {}


@contextmanager
def about(**known: Any) -> Iterator[None]:
    """Within the block, a call of its own."""
    token = _current.set({name: value for name, value in known.items() if value is not None})
    try:
        yield
    finally:
        _current.reset(token)


def request_id(given: str) -> str:
    """The caller's own where it is one that a log can hold, else a new one."""
    return given if _ID.fullmatch(given) else uuid.uuid4().hex


class Requests:
    """Middleware, the outermost: every request has an id, which the answer carries, and one line of the log."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        made = request_id(request.headers.get(ID_HEADER, ""))
        with about(request=made):
            started = time.monotonic()
            response = self._get_response(request)
            response.headers[ID_HEADER] = made
            milliseconds = round((time.monotonic() - started) * 1000)
            _requests.info("request", extra={"call": _line(request, response.status_code, milliseconds)})
            return response


def _line(request: HttpRequest, status: int, milliseconds: int) -> dict[str, Any]:
    """The route and not the path, which may hold a signed address."""
    match = request.resolver_match
    user = getattr(request, "_cached_user", None)  # only where somebody asked who it is
    person = f"person:{user.get_username()}" if user is not None and user.is_authenticated else None
    line = {"method": request.method, "route": match.route if match else None, "status": status}
    return {**line, "ms": milliseconds, "caller": fields().get("caller") or person}


# ---- a worker's tasks


@signals.before_task_publish.connect
def _send_along(headers: dict[str, Any] | None = None, **_: Any) -> None:
    """Whoever looks for a request's lines finds its worker's, too."""
    made = fields().get("request")
    if headers is not None and made is not None:
        headers["log_request"] = made


@signals.task_prerun.connect
def _task_starts(task_id: str = "", task: Any = None, **_: Any) -> None:
    if task.request.is_eager:  # in process it is part of the call that started it
        return
    known = {"request": getattr(task.request, "log_request", None), "task": task_id, "tool": task.name}
    _current.set({name: value for name, value in known.items() if value is not None})
    task.request.log_started = time.monotonic()


@signals.task_postrun.connect
def _task_ends(task: Any = None, state: str | None = None, retval: Any = None, **_: Any) -> None:
    started = getattr(task.request, "log_started", None)
    if started is None or retval == 0:  # a wake that found nothing to wake is no news
        return
    milliseconds = round((time.monotonic() - started) * 1000)
    _requests.info("task", extra={"call": {"code": (state or "").lower() or None, "ms": milliseconds}})


# ---- lines


def scrubbed(text: str) -> str:
    """Without what would let a reader of the log in."""
    return _SECRETS.sub(lambda found: f"{''.join(part or '' for part in found.groups())}…", text)


def _known(record: logging.LogRecord) -> dict[str, Any]:
    found = {**fields(), **getattr(record, "call", {})}
    return {
        name: value if isinstance(value, int) else scrubbed(str(value)[: 2 * _MOST_CHARS])[:_MOST_CHARS]
        for name, value in found.items()
        if value is not None
    }


class Json(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": scrubbed(record.getMessage()),
            **_known(record),
        }
        if record.exc_info:
            line["exception"] = scrubbed(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=False)


class Text(logging.Formatter):
    """For people: the message, and in brackets what it is about."""

    def __init__(self) -> None:
        super().__init__("%(levelname)s %(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        known = " ".join(f"{name}={value}" for name, value in _known(record).items())
        head, *trace = scrubbed(super().format(record)).split("\n")
        return "\n".join([f"{head} [{known}]" if known else head, *trace])


def configuration(kind: str, level: str) -> dict[str, Any]:
    """For `logging.config`. A line for each request is written as JSON only: it is for machines."""
    formatter = {"json": "processes.logs.Json", "text": "processes.logs.Text"}[kind]
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {kind: {"()": formatter}},
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": kind}},
        "root": {"handlers": ["console"], "level": level},
        "loggers": {
            "processes.requests": {"level": level if kind == "json" else "WARNING"},
            # refusals are answers of the protocol, not events of the log
            "django.request": {"level": "ERROR"},
            # their lines hold addresses, which may hold secrets
            "httpx": {"level": "WARNING"},
            "httpcore": {"level": "WARNING"},
            # theirs tell what a task gave back
            "celery.app.trace": {"level": "WARNING"},
            "celery.worker.strategy": {"level": "WARNING"},
            "botocore": {"level": "WARNING"},
            "boto3": {"level": "WARNING"},
        },
    }
