"""Processes with facts, and who works them, for the tests of the profile facts-1."""

import pytest

from checks.models import FactResult
from processes.models import HistoryEntry
from tests.processes.flows import cast
from tests.processes.looking import URL

SUMS = """\
---
name: sums
description: Add the invoice up.
steps:
  - id: add
    agent: Add it up.
    output: { total: number, rows: { type: list, items: number } }
    facts:
      - { type: numeric, value: output.total, expected: 12.5, tolerance: 0.1 }
      - { type: json_schema, value: output.rows, schema: { type: array, minItems: 2 } }
  - { id: done, finish: added }
---
"""
LINKED = """\
---
name: linked
description: Put it online.
steps:
  - id: post
    agent: Post it.
    output: { address: string, title: string }
    facts:
      - { type: regex, value: output.title, expected: '^[A-Z]' }
      - { type: url_contains, value: output.address, text: all well }
%s  - { id: done, finish: posted }
---
"""
CHECK = "    check: [{ ask: Is it kind?, pass: 0.9, fail: 0.5 }]\n"
TASK = """\
---
name: task-sums
description: A person adds it up.
steps:
  - id: add
    task: Add it up.
    person: finance
    output: { total: number }
    facts: [{ type: equals, value: output.total, expected: 12 }]
  - { id: done, finish: added }
---
"""
FORKED = """\
---
name: forked
description: Two at once.
steps:
  - { id: both, parallel: [post, say], next: done }
  - id: post
    agent: Post it.
    output: { address: string, title: string }
    facts: [{ type: url_contains, value: output.address, text: all well }]
    next: join
  - id: say
    agent: Say who signs.
    output: { who: person }
    check: They may sign.
    next: sign
  - { id: sign, approve: Sign., person: steps.say.output.who, next: join }
  - { id: done, finish: posted }
---
"""
MANY_WRONG = """\
    facts:
      - { type: regex, value: output.note, expected: '(?=a)' }
      - { type: regex, value: output.note, expected: 'a' }
      - { type: equals, value: output.gone, expected: a }
      - { type: url_contains, value: output.rows, text: a }
"""
RIGHT = {"total": 12.5, "rows": [10, 2.5]}
POST = {"address": URL, "title": "All of it"}


@pytest.fixture(autouse=True)
def on(settings):
    settings.FACTS_1 = True


@pytest.fixture
def c(world, evaluator):
    world.publish(SUMS)
    world.publish(LINKED % "", escalations="finance")
    world.publish(LINKED.replace("name: linked", "name: judged") % CHECK, escalations="finance")
    world.publish(TASK)
    return cast(world)


def claimed(world, c, process, step):
    run = world.call(c.agent, "start_run", process=process, inputs={})
    return run, world.claim(c.agent, run, step)


def told():
    return list(HistoryEntry.objects.values_list("what", flat=True))


def results():
    return [
        (r.type, r.passed, r.unreachable, r.asked) for r in FactResult.objects.order_by("asked", "position")
    ]
