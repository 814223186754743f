"""Processes for the tests of the tools, each as small as what it shows, and who works them."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from unittest import mock

from django.utils import timezone

from processes.callers import Caller
from processes.models import Attempt, Version
from tests.world import World

ERRAND = """\
---
name: errand
description: Fetch an amount, then let finance sign it.
inputs:
  what: string
  amount: { type: number, optional: true }
  more: { type: object, optional: true }
steps:
  - id: fetch
    agent: Fetch it.
    output:
      amount: number
      kind: { type: string, one_of: [small, large], optional: true }
      tags: { type: list, items: { type: string, one_of: [a, b] }, optional: true }
      detail: { type: object, optional: true }
    due: 1d
  - id: sign
    person: finance
    approve: Sign what was fetched.
  - id: done
    finish: fetched
---
The body.
"""
DONE = {"output": {"amount": 5}, "summary": "Fetched it."}

FILED = """\
---
name: filed
description: Hand in a report with its source.
steps:
  - id: report
    agent: Write it.
    evidence: [file, link]
    output: { text: { type: string, optional: true } }
  - id: read
    task: Read it.
    person: readers
    evidence: [file]
  - id: done
    finish: read
---
"""

LOOPS = """\
---
name: loops
description: Two approvals that go back to different steps.
steps:
  - id: draft
    agent: Draft.
    due: 2h
  - id: edit
    task: Edit.
    person: editors
    due: 3h
    output: { words: number }
  - id: first
    approve: Good enough for the second?
    person: finance
    on_reject: edit
  - id: second
    approve: Good enough for all?
    person: board
    on_reject: draft
  - id: done
    finish: out
---
"""

PEOPLE = """\
---
name: people
description: Work for named people.
inputs:
  owner: person
steps:
  - id: choose
    task: Choose who approves.
    person: inputs.owner
    output: { boss: person }
    next:
      - { to: allow, when: Somebody should look }
      - { to: over, when: It is nothing }
  - id: allow
    approve: Allow it.
    person: steps.choose.output.boss
    next: mine
  - id: mine
    task: Tell us how it went.
    person: initiator
    next: over
  - id: over
    finish: settled
---
"""

CHECKED_TASK = """\
---
name: checked-task
description: A person's work is checked, too.
steps:
  - id: write
    task: Write it.
    person: writers
    output: { text: string }
    check: The text is kind.
  - id: done
    finish: written
---
"""

ADVISORY = """\
---
name: advisory
description: The check only records.
steps:
  - id: write
    agent: Write it.
    output: { text: string }
    check: The text is kind.
    advisory: true
  - id: sign
    approve: Sign it.
    person: finance
  - id: done
    finish: written
---
"""
TEXT = {"output": {"text": "Dear all"}, "summary": "Wrote it."}


def cast(world: World) -> SimpleNamespace:
    """Ada decides for finance, Ben is in no group, Ops operates; two agents."""
    return SimpleNamespace(
        ada=world.person("ada", "finance"),
        ben=world.person("ben"),
        ops=world.person("ops", operator=True),
        agent=world.agent("worker"),
        other=world.agent("other"),
    )


def work(world: World, agent: Caller, run: dict[str, Any], step: str, **given: Any) -> dict[str, Any]:
    """Claim a step and submit."""
    token = world.claim(agent, run, step)["token"]
    return world.call(agent, "submit", token=token, **given)


def errand(world: World, caller: Caller, **arguments: Any) -> dict[str, Any]:
    """A published errand's new run."""
    if not Version.objects.filter(process__name="errand").exists():
        world.publish(ERRAND)
    return world.call(caller, "start_run", process="errand", **{"inputs": {"what": "pens"}, **arguments})


def signing(world: World, agent: Caller, **arguments: Any) -> dict[str, Any]:
    """An errand that waits for finance's signature."""
    return work(world, agent, errand(world, agent, **arguments), "fetch", **DONE)


@contextmanager
def later(**delta: float) -> Iterator[None]:
    """The clock, moved on."""
    at = timezone.now() + timedelta(**delta)
    with mock.patch("django.utils.timezone.now", return_value=at):
        yield


def expire(run: dict[str, Any]) -> None:
    """End every lease of a run."""
    over = timezone.now() - timedelta(seconds=1)
    Attempt.objects.filter(step__run=run["run"]["id"], lease_until__isnull=False).update(lease_until=over)


def states(view: dict[str, Any]) -> dict[str, str | None]:
    return {step["id"]: step["state"] for step in view["steps"]}
