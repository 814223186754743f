"""Rules on decisions, enforced below every door. See `processes.seams`."""

from approvals.models import GroupRule
from processes.models import Agent
from processes.seams import Allow, Asked, Refuse, Ruling


def own_work(asked: Asked) -> Ruling:
    """Where the item's group says so, nobody decides on their own work; a vouched-for agent counts as its person.

    Accepting an unchanged candidate is a decision like any other here.
    """
    group = asked.item.group_id
    if group is None or not GroupRule.objects.filter(group=group, forbid_own_work=True).exists():
        return Allow()
    workers = asked.workers()
    names = [worker.removeprefix("agent:") for worker in workers if worker.startswith("agent:")]
    vouched = Agent.objects.filter(name__in=names, vouched_by=asked.caller.user).exists()
    if asked.caller.id in workers or vouched:
        return Refuse(
            "You can't decide on your own work here (a rule of this group). Ask another member or an operator."
        )
    return Allow()
