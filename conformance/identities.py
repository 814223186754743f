"""Who calls: two agents with bearer keys, two people and an operator with a token or a browser's session.

Credentials are a JSON file

    {"agents": [{"key": "…"}, {"key": "…"}],
     "people": [{"user": "ada", "password": "…", "value": "ada@example.org"}, {"bearer": "…"}],
     "operator": {"user": "olga", "password": "…"},
     "session": {"signIn": "/sign-in/"}}

or the environment: CONFORMANCE_AGENT_1, _AGENT_2, _PERSON_1, _PERSON_2 and _OPERATOR, each a key, a token, or
`user:password[:value]`. `value` is how the server names the person in run data (an e-mail address).
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import httpx

from conformance.failures import CannotRunError

ENVIRONMENT = {
    "agents": ("CONFORMANCE_AGENT_1", "CONFORMANCE_AGENT_2"),
    "people": ("CONFORMANCE_PERSON_1", "CONFORMANCE_PERSON_2"),
    "operator": ("CONFORMANCE_OPERATOR",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """How a person signs in with a form and how later calls prove that they come from the same browser."""

    sign_in: str = "/sign-in/"
    user_field: str = "username"
    password_field: str = "password"  # noqa: S105 - the name of a form's field
    csrf_field: str = "csrfmiddlewaretoken"
    csrf_cookie: str = "csrftoken"
    csrf_header: str = "X-CSRFToken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A bearer, or a user with a password. `value`: see the module."""

    bearer: str = ""
    user: str = ""
    password: str = ""
    value: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    agents: tuple[Identity, Identity]
    people: tuple[Identity, Identity]
    operator: Identity
    session: Session


def from_file(path: Path, **session: str | None) -> Credentials:
    """Raises CannotRunError where the file says too little or something unknown."""
    try:
        raw = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise CannotRunError(f"the credentials can't be read: {error}") from None
    except ValueError:
        raise CannotRunError(f"{path} is no JSON file in UTF-8") from None
    if not isinstance(raw, dict):
        raise CannotRunError(f"{path} must hold a JSON object")
    return _credentials(raw, session)


def from_environment(environment: Mapping[str, str], **session: str | None) -> Credentials:
    """Raises CannotRunError with the names of the variables that are missing."""
    missing = [name for names in ENVIRONMENT.values() for name in names if not environment.get(name)]
    if missing:
        raise CannotRunError(
            f"credentials are needed: --credentials FILE, or the variables {', '.join(missing)}"
        )
    raw: dict[str, Any] = {
        "agents": [{"key": environment[name]} for name in ENVIRONMENT["agents"]],
        "people": [_spelled(environment[name]) for name in ENVIRONMENT["people"]],
        "operator": _spelled(environment[ENVIRONMENT["operator"][0]]),
    }
    return _credentials(raw, session)


def _spelled(text: str) -> dict[str, str]:
    user, colon, rest = text.partition(":")
    if not colon:
        return {"bearer": text}
    password, _, value = rest.partition(":")
    return {"user": user, "password": password, "value": value}


def _credentials(raw: dict[str, Any], session: Mapping[str, str | None]) -> Credentials:
    agents = [_identity(entry, f"agents[{i}]", "key") for i, entry in enumerate(raw.get("agents", []))]
    people = [_identity(entry, f"people[{i}]", "bearer") for i, entry in enumerate(raw.get("people", []))]
    if len(agents) != 2 or len(people) != 2:  # noqa: PLR2004 - a pair of each
        raise CannotRunError("the credentials must name two agents and two people")
    if "operator" not in raw:
        raise CannotRunError("the credentials must name an operator")
    given = {**_session(raw.get("session", {})), **{key: value for key, value in session.items() if value}}
    return Credentials(
        agents=(agents[0], agents[1]),
        people=(people[0], people[1]),
        operator=_identity(raw["operator"], "operator", "bearer"),
        session=replace(Session(), **given),
    )


def _identity(entry: Any, place: str, bearer: str) -> Identity:
    known = {bearer, "user", "password", "value"}
    if not isinstance(entry, dict) or not set(entry) <= known or not all(map(_is_text, entry.values())):
        raise CannotRunError(f"{place} must be an object of texts with keys among {', '.join(sorted(known))}")
    identity = Identity(
        bearer=entry.get(bearer, ""),
        user=entry.get("user", ""),
        password=entry.get("password", ""),
        value=entry.get("value", ""),
    )
    if not identity.bearer and not (identity.user and identity.password):
        raise CannotRunError(f"{place} needs {bearer}, or user and password")
    return identity


def _session(raw: Any) -> dict[str, str]:
    names = {_camel(field.name): field.name for field in fields(Session)}
    if not isinstance(raw, dict) or not set(raw) <= set(names) or not all(map(_is_text, raw.values())):
        raise CannotRunError(f"session must be an object of texts with keys among {', '.join(names)}")
    return {names[key]: value for key, value in raw.items()}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


# Signing in.


def prove(http: httpx.Client, identity: Identity, session: Session, name: str) -> None:
    """Make the client call as this identity: with a bearer, or after signing in. Raises CannotRunError."""
    if identity.bearer:
        http.headers["Authorization"] = f"Bearer {identity.bearer}"
        return
    address = urljoin(str(http.base_url), session.sign_in)
    try:
        form = http.get(address)
        if not form.is_success:
            raise CannotRunError(
                f"{name} can't sign in: {session.sign_in} answered {form.status_code}; see --sign-in"
            )
        token = _hidden(form.text, session.csrf_field) or http.cookies.get(session.csrf_cookie, "")
        before = dict(http.cookies)
        answer = http.post(
            address,
            data={
                session.user_field: identity.user,
                session.password_field: identity.password,
                session.csrf_field: token or "",
            },
            headers={"Referer": address, "Origin": _origin(http)},
        )
    except httpx.HTTPError as error:
        raise CannotRunError(f"{name} can't sign in: {type(error).__name__}: {error}") from None
    if answer.is_error or dict(http.cookies) == before:
        raise CannotRunError(
            f"{name} can't sign in: the form was answered with {answer.status_code} and no session"
        )
    http.headers["Referer"] = address
    http.headers["Origin"] = _origin(http)
    http.event_hooks["request"].append(_csrf(http, session))


def _csrf(http: httpx.Client, session: Session) -> Any:
    """A hook that repeats the cookie's token in the header, as the server's own page would."""

    def add(request: httpx.Request) -> None:
        if token := http.cookies.get(session.csrf_cookie):
            request.headers[session.csrf_header] = token

    return add


def _origin(http: httpx.Client) -> str:
    url = http.base_url
    port = f":{url.port}" if url.port else ""
    return f"{url.scheme}://{url.host}{port}"


def _hidden(page: str, name: str) -> str:
    """The value of a form's hidden field, in whichever order its attributes stand; "" where there is none."""
    for tag in re.findall(r"<input\b[^>]*>", page, re.IGNORECASE):
        attributes = dict(re.findall(r"([a-zA-Z-]+)\s*=\s*[\"']([^\"']*)[\"']", tag))
        if attributes.get("name") == name:
            return unescape(attributes.get("value", ""))
    return ""
