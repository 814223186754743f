"""System checks of the evaluator's settings, `checks.E001`… and `checks.W001`…: wrong combinations, before they cost a run."""

import ipaddress
from typing import Any
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.core import checks as system_checks

from checks.evaluators import EVALUATORS, NONE, named
from checks.evaluators.presets import PRESETS

# what each wire adds to its base
PATHS = {"system_one": "/v1/systemone", "decisions": "/v1/decisions", "chat": "/chat/completions"}


def register() -> None:
    system_checks.register(check_evaluator)


def check_evaluator(**_: Any) -> list[system_checks.CheckMessage]:
    """Every problem with EVALUATOR and the settings that go with it. Never shows a value."""
    kind = settings.EVALUATOR or NONE
    if kind != NONE and kind not in EVALUATORS:
        return _presets(kind)
    if kind not in PATHS:
        return _unused(kind)
    return [*_address(), *_model(), *_key()]


def _presets(text: str) -> list[system_checks.CheckMessage]:
    """Of a list of presets, such as groq,workers_ai."""
    if named.unknown(text) or not named.names(text):
        kinds, presets = ", ".join([NONE, *EVALUATORS]), ", ".join(PRESETS)
        hint = f"Set it to one of {kinds}; or, in the order to ask in, with commas, to some of {presets}."
        return [_error("E001", "EVALUATOR names no evaluator that exists.", hint)]
    found = _unused(text)
    for name in named.names(text):
        if PRESETS[name].needs_key and not settings.EVALUATOR_KEYS.get(named.key_variable(name)):
            message = f"EVALUATOR names {name}, but {named.key_variable(name)} is not set."
            found.append(_error("E008", message, "Set it to that server's key, or leave the name out."))
        if PRESETS[name].needs_account and not settings.EVALUATOR_ACCOUNT:
            message = f"EVALUATOR names {name}, but EVALUATOR_ACCOUNT is not set."
            found.append(_error("E009", message, "Set it to the account's id, which stands in the address."))
    return found


def _unused(kind: str) -> list[system_checks.CheckMessage]:
    names = [
        name for name in ("EVALUATOR_URL", "EVALUATOR_MODEL", "EVALUATOR_KEY") if getattr(settings, name)
    ]
    if not names:
        return []
    what = "is" if len(names) == 1 else "are"
    message = f"{', '.join(names)} {what} set, but EVALUATOR is {kind} and does not use {'it' if what == 'is' else 'them'}."
    return [_warning("W001", message, f"Set EVALUATOR to one of {', '.join(PATHS)}, or unset the rest.")]


def _address() -> list[system_checks.CheckMessage]:
    added = PATHS[settings.EVALUATOR]
    example = "https://api.openai.com/v1" if settings.EVALUATOR == "chat" else "http://localhost:11434"
    hint = f"Set it to the address before {added}, e.g. {example}."
    if not settings.EVALUATOR_URL:
        return [_error("E002", f"EVALUATOR is {settings.EVALUATOR}, but EVALUATOR_URL is not set.", hint)]
    url = split(settings.EVALUATOR_URL)
    if url is None:
        return [_error("E003", "EVALUATOR_URL is no http or https address.", hint)]
    found: list[system_checks.CheckMessage] = []
    if url.username is not None or url.query or url.fragment:
        message = "EVALUATOR_URL holds credentials, a query or a fragment."
        found.append(_error("E004", message, "Leave them out; a key belongs in EVALUATOR_KEY."))
    path = url.path.rstrip("/")
    twice = next((end for end in (added, "/v1") if path.endswith(end) and added.startswith(end)), None)
    if twice is not None:
        message = f"EVALUATOR_URL ends in {twice}, which is added to it."
        found.append(_error("E005", message, hint))
    return found


def _model() -> list[system_checks.CheckMessage]:
    if settings.EVALUATOR_MODEL:
        return []
    message = f"EVALUATOR is {settings.EVALUATOR}, but EVALUATOR_MODEL is not set."
    return [_error("E006", message, "Set it to a model name that the server knows.")]


def _key() -> list[system_checks.CheckMessage]:
    key = settings.EVALUATOR_KEY
    if not key:
        return []
    found: list[system_checks.CheckMessage] = []
    if not key.isascii() or not key.isprintable() or " " in key:
        message = "EVALUATOR_KEY holds characters that no HTTP header carries."
        found.append(_error("E007", message, "Set it to the bare key: no spaces, line ends or quotes."))
    url = split(settings.EVALUATOR_URL)
    if url is not None and url.scheme == "http" and not _is_local(url.hostname or ""):
        message = "EVALUATOR_KEY is sent over plain http to another machine."
        found.append(_warning("W002", message, "Use https in EVALUATOR_URL."))
    return found


def split(address: str) -> SplitResult | None:
    """The parts of an http(s) address with a host and a legal port, else None."""
    if any(char.isspace() or not char.isprintable() for char in address):
        return None
    try:
        url = urlsplit(address)
        port = url.port
    except ValueError:
        return None
    return url if url.scheme in {"http", "https"} and url.hostname and port != 0 else None


def _is_local(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _error(number: str, message: str, hint: str) -> system_checks.CheckMessage:
    return system_checks.Error(message, hint=hint, id=f"checks.{number}")


def _warning(number: str, message: str, hint: str) -> system_checks.CheckMessage:
    return system_checks.Warning(message, hint=hint, id=f"checks.{number}")
