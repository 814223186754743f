"""A chain by the environment alone: `EVALUATOR=groq,workers_ai` names presets in the order in which they are asked.

Each has its key in EVALUATOR_KEY_<PRESET>, and EVALUATOR_ACCOUNT where its address holds an account.
"""

from functools import lru_cache
from urllib.parse import urlsplit

from django.conf import settings

from checks.evaluators import Config, Evaluator, built
from checks.evaluators.chain import Chain, Member
from checks.evaluators.presets import PRESETS, Preset


def names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def unknown(text: str) -> list[str]:
    """What of it names no preset."""
    return [name for name in names(text) if name not in PRESETS]


def key_variable(name: str) -> str:
    return f"EVALUATOR_KEY_{name.upper()}"


def chain() -> Evaluator:
    """One instance per set of settings. KeyError where a name is no preset's (`checks.E001` says so at the start)."""
    wanted = names(settings.EVALUATOR)
    keys = tuple(settings.EVALUATOR_KEYS.get(key_variable(name), "") for name in wanted)
    return _chain(wanted, keys, settings.EVALUATOR_ACCOUNT, settings.EVALUATOR_SECONDS)


@lru_cache(maxsize=8)
def _chain(wanted: tuple[str, ...], keys: tuple[str, ...], account: str, seconds: float) -> Evaluator:
    members = []
    for name, key in zip(wanted, keys, strict=True):
        preset = PRESETS[name]
        base = preset.base_of(account)
        evaluator = built(config_of(preset, base, key))
        members.append(
            Member(name=name, evaluator=evaluator, seconds=seconds, host=urlsplit(base).hostname or "")
        )
    return Chain(members)


def config_of(preset: Preset, base: str, key: str) -> Config:
    return Config(
        kind=preset.wire,
        base=base,
        model=preset.model,
        key=key,
        logprobs=preset.logprobs,
        at_once=preset.at_once,
        extra=preset.extra,
        again=preset.again,
        path=preset.path,
        envelope=preset.envelope,
    )
