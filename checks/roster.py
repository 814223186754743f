"""The evaluator in force: what the admin keeps as a chain, else what the environment names.

It is read once per process and kept for some seconds (`checks.kept`), so that asking after it costs a call no statement.
"""

import logging
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from django.conf import settings

from checks.evaluators import Config, Evaluator, built, of_settings
from checks.evaluators.chain import Chain, Member
from checks.evaluators.named import config_of as config_of_preset
from checks.evaluators.presets import PRESETS, Preset
from checks.kept import Kept
from checks.models import Evaluator as Row

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Table:
    """`rows` False: the table is empty, and the environment decides."""

    rows: bool
    chain: Evaluator | None


def _read() -> _Table:
    rows = list(Row.objects.all())
    members = [member for row in rows if row.enabled and (member := member_of(row)) is not None]
    return _Table(bool(rows), Chain(members) if members else None)


_table = Kept("evaluators", _read)
# a change is told to all processes; `forget`: as if nothing had been read yet
changed, forget = _table.changed, _table.forget


def current() -> Evaluator | None:
    it = _table.current()
    return it.chain if it.rows else of_settings()


def known() -> Evaluator | None:
    """As last read; asks neither the database nor the cache."""
    it = _table.known()
    return it.chain if it is not None and it.rows else of_settings()


def hosts() -> tuple[str, ...]:
    """Who comes to see what is judged, in the order they are asked; nobody where word match is alone."""
    it = current()
    if isinstance(it, Chain):
        return it.hosts
    own = host(settings.EVALUATOR_URL)
    return (own,) if it is not None and it.is_model and own else ()


# ---- from a row


def member_of(row: Row) -> Member | None:
    config = config_of(row)
    if config is None:
        _log.error("the evaluator %s names a preset that there is no more; it is left out", row.name)
        return None
    return Member(
        name=row.name,
        evaluator=built(config),
        seconds=row.seconds,
        host=host(config.base),
        input_price=row.input_price,
        output_price=row.output_price,
    )


def config_of(row: Row) -> Config | None:
    if row.preset and row.preset not in PRESETS:
        return None
    preset = PRESETS.get(row.preset) or Preset(label="", wire=row.wire, base="", model="")
    base = base_of(row)
    return replace(
        config_of_preset(preset, base, _key(row, base)),
        model=row.model or preset.model,
        at_once=row.at_once or preset.at_once,
        guarded=True,
    )


def base_of(row: Row) -> str:
    """The row's own base, else its preset's."""
    preset = PRESETS.get(row.preset)
    return (row.base or (preset.base_of(row.account) if preset else "")).rstrip("/")


def host(base: str) -> str:
    """Empty where it is no address."""
    try:
        return urlsplit(base).hostname or ""
    except ValueError:
        return ""


def origin(base: str) -> str:
    """What a key is bound to: scheme, host and port; empty where it is no address."""
    try:
        url = urlsplit(base)
        port = url.port
    except ValueError:
        return ""
    if not url.hostname:
        return ""
    return f"{url.scheme}://{url.hostname}:{port or (443 if url.scheme == 'https' else 80)}"


def _key(row: Row, base: str) -> str:
    """The key goes only where it was chosen for."""
    return settings.EVALUATOR_KEYS.get(row.key_variable, "") if row.key_origin == origin(base) else ""
