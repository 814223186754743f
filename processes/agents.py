"""Agents: made with a key that is shown once, and revoked."""

from django.db import transaction
from django.utils import timezone

from checks import keys
from processes.models import Agent


def create(name: str) -> tuple[Agent, str]:
    """A new agent and its key, which nobody can read again. The name must be free and a slug."""
    with transaction.atomic():
        key, text = keys.issue(name)
        agent = Agent(name=name, key=key)
        agent.full_clean(exclude=["key"])
        agent.save()
    return agent, text


def new_key(agent: Agent) -> str:
    """Replace an agent's key; the old one is dead at once."""
    with transaction.atomic():
        keys.revoke(agent.key, timezone.now())
        key, text = keys.issue(agent.name)
        agent.key = key
        agent.save(update_fields=["key"])
    return text


def revoke(agent: Agent) -> None:
    """The agent can't call any more; what it did stays on record."""
    keys.revoke(agent.key, timezone.now())
