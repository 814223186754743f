"""Wrong about who may do what: claims, tokens, leases, rights."""

from contextlib import contextmanager
from dataclasses import replace
from unittest import mock

from django.contrib.auth.models import Group

from processes import tokens, view
from processes.callers import CallerKind
from processes.document import Document
from processes.models import WorkItem
from processes.tools import claim
from tests.conformance_suite.inprocess import SHORT_LEASE
from tests.conformance_suite.mutants.registry import after, at_the_door, forgiving, mutant


class EqualToAll(int):
    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = int.__hash__


@mutant("two-holders", "A claimed step can be claimed by another agent.", "claim.two-agents", "claim.race")
def two_holders():
    return forgiving(claim, "_refuse_unless_claimable", "claimed_by_other")


@mutant("holder-claims-again", "The holder of a claim can claim once more.", "claim.twice")
def holder_claims_again():
    return forgiving(claim, "_refuse_unless_claimable", "claimed_by_you")


@mutant("token-of-anybody", "A token serves whichever agent shows it.", "token.another-agents")
def token_of_anybody():
    real = tokens._mac
    return mock.patch.object(tokens, "_mac", lambda payload, _, secret: real(payload, 0, secret))


@mutant("token-unsigned", "A token is believed without its signature.", "token.altered")
def token_unsigned():
    return mock.patch.object(tokens, "constant_time_compare", return_value=True)


@mutant("token-outlives-renewal", "The token before a renewal goes on working.", "renew.old-token")
def token_outlives_renewal():
    return after(tokens, "verify", lambda found, *_: replace(found, generation=EqualToAll(found.generation)))


@mutant("token-in-view", "A run's body ends in the token that was given last.", "token.in-no-view")
@contextmanager
def token_in_view():
    given = [""]

    def keep(token, *_):
        given[0] = token
        return token

    def show(full, *_, **__):
        is_run = "body" in full and "token" not in full
        return {**full, "body": f"{full['body']}{given[0]}"} if is_run else full

    with after(tokens, "derive", keep), after(view, "refill", show):
        yield


@mutant("lease-misstated", "describe tells a lease that is a minute longer than a claim's.", "claim.lease")
def lease_misstated():
    return at_the_door("describe", lambda call, *given: {**call(*given), "leaseSeconds": 660})


@mutant("lease-forever", "A lease that is over still holds.", "lease.stale-token", lease=SHORT_LEASE)
def lease_forever():
    return mock.patch.object(view, "lease_over", return_value=False)


@mutant("agent-decides", "An agent's decision counts like a person's.", "guarantee.people-decide")
def agent_decides():
    def decide(call, caller, given):
        groups = frozenset(Group.objects.values_list("pk", flat=True))
        return call(replace(caller, kind=CallerKind.PERSON, groups=groups, operator=True), given)

    return at_the_door("decide", decide)


@mutant("anybody-decides", "Whoever asks decides in the assignee's place.", "decide.not-theirs")
def anybody_decides():
    def decide(call, caller, given):
        item = WorkItem.objects.filter(pk=given.get("workItemId", "")).first()
        return call(replace(caller, user=item.person_id) if item and item.person_id else caller, given)

    return at_the_door("decide", decide)


@mutant("anybody-cancels", "Everybody may cancel a run.", "cancel.operators-only")
def anybody_cancels():
    return at_the_door("cancel", lambda call, caller, given: call(replace(caller, operator=True), given))


@mutant("anybody-sends-events", "A person who is no operator may send events.", "event.not-people")
def anybody_sends_events():
    return at_the_door("send_event", lambda call, caller, given: call(replace(caller, operator=True), given))


@mutant(
    "agent-as-initiator",
    "An agent can start a process with a step for its initiator.",
    "start.initiator-by-agent",
)
def agent_as_initiator():
    return mock.patch.object(Document, "has_initiator", False)
