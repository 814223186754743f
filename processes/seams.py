"""Seams that the layer above fills at start-up, so that nothing here imports upward.

Policies are asked under the run's lock, before a decision moves the run; who is left to decide, as an item opens for
a group. Observers follow in the transaction of every write: what they write stands or falls with it. None of them may
ask a model, the network or the mail.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from django.db.models import QuerySet

from processes.callers import Caller
from processes.errors import Code
from processes.models import Run, Submission, WorkItem
from processes.states import Decision
from processes.versions import Compiled


@dataclass(frozen=True, slots=True)
class Allow:
    pass


@dataclass(frozen=True, slots=True)
class Refuse:
    """The caller is told why: `forbidden`, unless the code says otherwise."""

    message: str
    code: Code = "forbidden"
    issues: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Hold:
    """Answer ok and leave the item open: the decision is kept by whoever held it."""


Ruling = Allow | Refuse | Hold


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A decision about to be taken."""

    run: Run
    item: WorkItem
    caller: Caller
    decision: Decision
    # what is decided on (the held submission, or those that the run rests on), for a rule to ask whose it is
    work: QuerySet[Submission]


@dataclass(slots=True, kw_only=True)
class Change:
    """What a write did to a run's work items, after they were saved."""

    run: Run
    compiled: Compiled
    opened: list[WorkItem] = field(default_factory=list)
    closed: list[WorkItem] = field(default_factory=list)
    # for an opened item: the submission (with its verdict) that it is about, where there is one
    about: dict[str, Submission] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """An item that is about to open for a group, and the work that it is to decide on."""

    group: int
    work: QuerySet[Submission]


Policy = Callable[[Asked], Ruling]
Observer = Callable[[Change], None]

# what the others need from the cache, read before a run is locked: nobody waits for the network under the lock
preparations: list[Callable[[], object]] = []
policies: list[Policy] = []
# each tells whether its rule leaves none of the group to decide; the item then is the operators'
shortages: list[Callable[[Opening], bool]] = []
observers: list[Observer] = []


def prepare() -> None:
    for preparation in preparations:
        preparation()


def nobody_left(opening: Opening) -> bool:
    return any(shortage(opening) for shortage in shortages)


def ruling(asked: Asked) -> Ruling:
    """The first ruling that is not Allow."""
    for policy in policies:
        found = policy(asked)
        if not isinstance(found, Allow):
            return found
    return Allow()
