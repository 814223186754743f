"""Rules on decisions, enforced below every door. See `processes.seams`."""

from django.contrib.auth.models import User
from django.db.models import CharField, Exists, F, OuterRef, Q, Value
from django.db.models.functions import Concat

from approvals import rules
from approvals.models import GroupRule
from processes.models import Agent
from processes.seams import Allow, Asked, Opening, Refuse, Ruling


def own_work(asked: Asked) -> Ruling:
    """Where the item's group says so, nobody decides on their own work; a vouched-for agent counts as its person.

    Doing a task is no decision on work; accepting an unchanged candidate is one like any other. One statement.
    """
    item = asked.item
    if item.group_id is None or (item.kind == "task" and not item.escalated):
        return Allow()
    vouched = Agent.objects.filter(vouched_by=asked.caller.user)
    own = Q(by=asked.caller.id) | Q(
        by__in=vouched.values(id_of=Concat(Value("agent:"), "name", output_field=CharField()))
    )
    rule = GroupRule.objects.filter(group=item.group_id, forbid_own_work=True)
    if rule.filter(Exists(asked.work.filter(own))).exists():
        return Refuse(
            "You can't decide on your own work here (a rule of this group). Ask another member or an operator."
        )
    return Allow()


def nobody_impartial(opening: Opening) -> bool:
    """Whether everybody of a group that may not decide on its own work has worked on this. No statement for a group
    without that rule, one for others.
    """
    if opening.group not in rules.forbidding():
        return False
    by = opening.work.values("by")
    agents = Agent.objects.annotate(named=Concat(Value("agent:"), F("name"), output_field=CharField()))
    vouched = agents.filter(vouched_by=OuterRef("pk"), named__in=by)
    members = User.objects.filter(groups=opening.group, is_active=True).annotate(
        named=Concat(Value("person:"), F("username"), output_field=CharField())
    )
    return not members.exclude(Q(named__in=by) | Exists(vouched)).exists()
