"""The processes of the load: a check with an approval and rework, a fork with an event and a time, overdue work."""

TEAM = "chaos-team"

WORK = """\
---
name: chaos-work
description: A checked step, and an approval that may send it back.
inputs: { mark: string }
steps:
  - id: write
    agent: Write it.
    output: { mark: string, quality: string }
    check:
      - { ask: Is its quality good?, pass: 0.9, fail: 0.5 }
  - { id: sign, approve: Sign it., person: chaos-team, on_reject: write }
  - { id: done, finish: signed }
---
"""
FORK = """\
---
name: chaos-fork
description: Work, an event and a time at once; then a person's task.
inputs: { mark: string, at: datetime }
steps:
  - { id: both, parallel: [left, news, pause], next: file }
  - { id: left, agent: Do the left part., output: { mark: string, quality: string }, evidence: [file], next: join }
  - { id: news, wait_for: news, next: join }
  - { id: pause, wait_until: inputs.at, next: join }
  - { id: file, task: File it., person: chaos-team, output: { mark: string } }
  - { id: done, finish: filed }
---
"""
LATE = """\
---
name: chaos-late
description: Work that is overdue as soon as it is there.
inputs: { mark: string }
steps:
  - { id: slow, agent: Take your time., due: 0m, output: { mark: string, quality: string } }
  - { id: done, finish: late }
---
"""
ALL = (WORK, FORK, LATE)
