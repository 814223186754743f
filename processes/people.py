"""Who stands behind a step's `person`: roles by the version's mapping, people by e-mail or user name."""

from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q
from django.db.models.functions import Lower

from processes.engine import Assignee
from processes.versions import Compiled


class Directory:
    """The engine's `People` over the database. A path costs one statement, a role none."""

    def __init__(self, compiled: Compiled, initiator: int | None) -> None:
        self._compiled = compiled
        self._initiator = initiator
        self.known: dict[int, User] = {}  # whom a path led to

    def role(self, name: str) -> Assignee | None:
        group = self._compiled.roles.get(name)
        return Assignee(group=group) if group is not None else None

    def initiator(self) -> Assignee | None:
        return Assignee(person=self._initiator) if self._initiator is not None else None

    def person(self, value: object) -> Assignee | None:
        """Who has this e-mail address, in any case, if that is one active user. Where nobody has it: whose user name it is."""
        if not isinstance(value, str) or not value.strip():
            return None
        wanted = value.strip()
        mail = wanted.lower()
        # a user name is one person's, so that among three at least two have the address
        found: list[Any] = list(
            User.objects.filter(is_active=True)
            .annotate(mail=Lower("email"))
            .filter(Q(mail=mail) | Q(username=wanted))[:3]
        )
        found = [user for user in found if user.mail == mail] or found
        if len(found) != 1:
            return None
        self.known[found[0].pk] = found[0]
        return Assignee(person=found[0].pk)


def person_value(user: User) -> str:
    """How a person is named in run data: the e-mail address, or the user name where there is none."""
    return user.email or user.get_username()
