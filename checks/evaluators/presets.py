"""Servers that many use, and what each of them wants: wire, base, model, key, quirks. Pure.

A preset's models are where to start, not a promise: servers rename theirs, and a row in the admin names its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

ACCOUNT = "{account}"
_CLOUDFLARE = f"https://api.cloudflare.com/client/v4/accounts/{ACCOUNT}/ai"


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """`base` may hold `{account}`. The rest is as in `Config`."""

    label: str
    wire: str
    base: str
    model: str
    needs_key: bool = True
    logprobs: bool = True
    at_once: int = 8
    extra: Mapping[str, Any] = field(default_factory=dict)
    again: frozenset[int] = frozenset()
    path: str | None = None
    envelope: bool = False

    @property
    def needs_account(self) -> bool:
        return ACCOUNT in self.base

    def base_of(self, account: str) -> str:
        return self.base.replace(ACCOUNT, account)


PRESETS: Mapping[str, Preset] = MappingProxyType({
    "ollama": Preset(
        label="Ollama (System One)",
        wire="system_one",
        base="http://localhost:11434",
        model="jev-latest",
        needs_key=False,
    ),
    "ollama_chat": Preset(
        label="Ollama (chat)",
        wire="chat",
        base="http://localhost:11434/v1",
        model="gpt-oss:20b",
        needs_key=False,
        at_once=2,  # one machine's own model: more only wait for each other
    ),
    "openrouter": Preset(
        label="OpenRouter (System One)",
        wire="system_one",
        base="https://openrouter.ai/api",
        model="typesafe/jev-latest",
    ),
    "openrouter_chat": Preset(
        label="OpenRouter (chat)",
        wire="chat",
        base="https://openrouter.ai/api/v1",
        model="openai/gpt-4.1-mini",
        # else it may choose a provider that drops what we ask for without a word
        extra={"provider": {"require_parameters": True}},
    ),
    "typesafe": Preset(
        label="TypeSafe",
        wire="system_one",
        base="https://api.typesafe.ai",
        model="jev-latest",
    ),
    "openai": Preset(
        label="OpenAI (decisions)",
        wire="decisions",
        base="https://api.openai.com",
        model="gpt-5-mini",
    ),
    "openai_chat": Preset(
        label="OpenAI (chat)",
        wire="chat",
        base="https://api.openai.com/v1",
        model="gpt-4.1-mini",
    ),
    "groq": Preset(
        label="Groq",
        wire="chat",
        base="https://api.groq.com/openai/v1",
        model="openai/gpt-oss-120b",
        logprobs=False,  # answers 400 to a request for them
        again=frozenset({498}),  # its capacity is used up for the moment
    ),
    "workers_ai": Preset(
        label="Workers AI (chat)",
        wire="chat",
        base=f"{_CLOUDFLARE}/v1",
        model="@cf/openai/gpt-oss-120b",
        envelope=True,
    ),
    "workers_ai_clef": Preset(
        label="Workers AI (Clef, System One)",
        wire="system_one",
        base=f"{_CLOUDFLARE}/run",
        model="clef",
        path="/@cf/cloudflare/{model}",
        envelope=True,
    ),
    "vllm": Preset(
        label="vLLM",
        wire="chat",
        base="http://localhost:8000/v1",
        model="openai/gpt-oss-20b",
        needs_key=False,
    ),
    "llama_cpp": Preset(
        label="llama.cpp (System One)",
        wire="system_one",
        base="http://localhost:8080",
        model="default",
        needs_key=False,
    ),
    "llama_cpp_chat": Preset(
        label="llama.cpp (chat)",
        wire="chat",
        base="http://localhost:8080/v1",
        model="default",
        needs_key=False,
        at_once=2,
    ),
})  # fmt: skip
