"""Which groups have a rule, kept by every process (`checks.kept`), so that opening an item asks the database nothing about it."""

from checks.kept import Kept


def _read() -> frozenset[int]:
    from approvals.models import GroupRule

    return frozenset(GroupRule.objects.filter(forbid_own_work=True).values_list("group", flat=True))


_forbidding = Kept("own-work-forbidden", _read)
changed, forget, prepare = _forbidding.changed, _forbidding.forget, _forbidding.current


def forbidding() -> frozenset[int]:
    """The groups whose members may not decide on their own work, as `prepare` found them: this is asked under a run's lock."""
    known = _forbidding.known()
    return _read() if known is None else known
