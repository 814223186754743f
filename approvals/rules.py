"""Which groups have a rule, remembered together, so that opening an item asks the database nothing about it.

A change in the admin is told through the cache (`checks.memory`); processes that share none notice it within half a minute.
"""

from checks import memory

_KEY = "own-work-forbidden"
KEPT_SECONDS = 30.0


def forbidding() -> frozenset[int]:
    """The groups whose members may not decide on their own work. A statement when nothing is remembered."""
    from approvals.models import GroupRule

    found: frozenset[int] | None = memory.get(_KEY)
    if found is None:
        found = frozenset(GroupRule.objects.filter(forbid_own_work=True).values_list("group", flat=True))
        memory.put(_KEY, found, KEPT_SECONDS)
    return found


def changed() -> None:
    memory.forget(_KEY)
