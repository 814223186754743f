"""The callers that the suite asks for, made as an admin would make them: two agents, two people, an operator."""

import secrets
from typing import Any

from django.contrib.auth.models import Group, Permission, User

from conformance.library import TEAM
from processes import agents
from processes.people import person_value


def make_callers() -> dict[str, Any]:
    """The suite's credentials. The two people are in the team's group and are no operators."""
    team, _ = Group.objects.get_or_create(name=TEAM)
    operator, signs = _person("olga")
    operator.user_permissions.add(Permission.objects.get(codename="operate"))
    return {
        "agents": [{"key": agents.create(f"conform-{name}")[1]} for name in ("one", "two")],
        "people": [_member(team, name) for name in ("ada", "ben")],
        "operator": signs,
    }


def _member(team: Group, name: str) -> dict[str, str]:
    user, signs = _person(name)
    user.groups.add(team)
    return signs


def _person(name: str) -> tuple[User, dict[str, str]]:
    password = secrets.token_urlsafe(16)
    user = User.objects.create_user(name, f"{name}@example.org", password)
    return user, {"user": name, "password": password, "value": person_value(user)}
