"""Who calls: an agent with its key, a person with a browser session, or nobody."""

from dataclasses import dataclass, field
from enum import StrEnum

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import AbstractBaseUser, Permission, User
from django.db.models import CharField, Exists, OuterRef, Q, QuerySet, StringAgg, Value
from django.db.models.functions import Cast

from checks import keys
from processes.models import Agent

OPERATE = "processes.operate"


class CallerKind(StrEnum):
    NOBODY = "nobody"
    AGENT = "agent"
    PERSON = "person"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """`id` is what records say (`agent:NAME`, `person:USERNAME`)."""

    kind: CallerKind = CallerKind.NOBODY
    id: str = ""
    agent: int | None = None
    user: int | None = None
    groups: frozenset[int] = field(default_factory=frozenset)
    operator: bool = False
    # an agent that is limited: the processes it may work; None = all
    processes: frozenset[int] | None = None
    vouched_by: int | None = None

    def may_work(self, process: int) -> bool:
        return self.processes is None or process in self.processes


NOBODY = Caller()


def of_agent(key_text: str) -> Caller | None:
    """The agent that this key belongs to; None when it proves nothing. One statement."""
    prefix = keys.parse_prefix(key_text)
    only = StringAgg(Cast("processes", CharField()), delimiter=Value(","))
    agents = Agent.objects.annotate(only=only).select_related("key")
    agent = agents.filter(key__prefix=prefix or "").first()
    if not keys.proves(agent.key if agent else None, key_text) or agent is None:
        return None
    allowed = _numbers(agent.only) if agent.limited else None
    return Caller(
        kind=CallerKind.AGENT,
        id=f"agent:{agent.name}",
        agent=agent.pk,
        processes=allowed,
        vouched_by=agent.vouched_by_id,
    )


def of_user(user: AbstractBaseUser) -> Caller:
    """A signed-in person, with groups and the operators' permission. No statement for a session's user (see
    `Sessions`), else one.
    """
    if not isinstance(user, User) or not user.is_active:
        return NOBODY
    known = user if hasattr(user, "group_ids") else _people().get(pk=user.pk)
    groups, operates = known.group_ids or "", known.operates  # type: ignore[attr-defined]
    return Caller(
        kind=CallerKind.PERSON,
        id=f"person:{user.get_username()}",
        user=user.pk,
        groups=_numbers(groups),
        operator=user.is_superuser or operates,
    )


def _numbers(joined: str | None) -> frozenset[int]:
    return frozenset(int(number) for number in (joined or "").split(",") if number)


def _people() -> QuerySet[User]:
    """Users with their groups' numbers, as `1,2`, and whether they operate."""
    operate = Permission.objects.filter(content_type__app_label="processes", codename="operate").filter(
        Q(user=OuterRef("pk")) | Q(group__user=OuterRef("pk"))
    )
    group_ids = StringAgg(Cast("groups", CharField()), delimiter=Value(","))
    return User.objects.annotate(group_ids=group_ids, operates=Exists(operate))


class Sessions(ModelBackend):
    """Django's own backend, but that a session's user comes with what `of_user` asks, in the same statement."""

    def get_user(self, user_id: int) -> User | None:
        user = _people().filter(pk=user_id).first()
        return user if user is not None and self.user_can_authenticate(user) else None
