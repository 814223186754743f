"""Process files of our own for the tests, and what it takes to break them in one place."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from processes.document import Document, Issue, parse

SHARED = Path(os.environ.get("SHARED_DIR") or Path(__file__).resolve().parents[2].parent / "shared")

LOAN = """\
---
name: equipment-loan
description: Lend a device to a colleague and get it back in one piece.
inputs:
  device: string
  borrower: person
  days: { type: number, one_of: [7, 14, 30.5] }
  from: datetime
  extras: { type: list, items: { type: string, one_of: [case, cable] }, optional: true }
requires:
  systems: [asset-register, calendar]
steps:
  - id: look_up
    agent: Find the device in the asset register and say whether it is free.
    output:
      free: boolean
      keeper: person
      condition: { type: string, description: As the register has it }
    evidence: [link, file]
    due: 4h
    check:
      - ask: Does the summary name the device that was asked for?
        pass: 0.9
        fail: 0.25
      - ask: How well is the condition described?
        levels: [Not at all., In a word., With every known damage.]
        pass: 1
        confidence: 0.75
    advisory: true
    next:
      - { to: allow, when: The device is free }
      - refuse
  - id: allow
    approve: Lend this device to this colleague?
    person: steps.look_up.output.keeper
    on_reject: look_up
    due: 2d
  - id: start
    wait_until: inputs.from
  - id: hand_over
    task: Hand the device over and note its condition.
    person: stock-keeper
  - id: returned
    wait_for: device-returned
    timeout: 30d
    on_timeout: remind
    next: settle
  - id: remind
    task: Ask for the device.
    person: initiator
    next: settle
  - id: settle
    wait: 15m
  - id: done
    finish: returned
  - id: refuse
    finish: refused
---

# Lending equipment

Start this when somebody asks for a device.
"""

MOVE = """\
---
name: office-move
description: Pack three floors at once, then open the new office.
steps:
  - id: announce
    agent: Tell everybody the date.
  - id: pack
    parallel: [archive, kitchen, desks]
    next: inspect
  - id: archive
    agent: Box the archive.
    next: archive_seal
  - id: archive_seal
    approve: Is every box sealed?
    person: archivist
    on_reject: archive
    next: join
  - id: kitchen
    wait_for: kitchen-empty
    timeout: 2d
    on_timeout: kitchen_call
    next: join
  - id: kitchen_call
    task: Ask the movers where they are.
    person: mover
    next: join
  - id: desks
    agent: Label the desks.
    next: [desks_more, join]
  - id: desks_more
    wait: 1h
    next: join
  - id: inspect
    approve: Is the old office empty?
    person: mover
    on_reject: pack
  - id: open
    finish: opened
---
"""


@dataclass(frozen=True)
class Row:
    """One edit of a good file and the one issue that it must lead to.

    `at` is the line that the issue must name: its number, a piece of the first line that holds it, or
    None for an issue without a line.
    """

    rule: str
    old: str
    new: str
    step: str
    key: str
    at: str | int | None
    says: str
    base: str

    @property
    def text(self) -> str:
        assert self.old in self.base, f"{self.old!r} is not in the base"
        return self.base.replace(self.old, self.new, 1)

    @property
    def line(self) -> int | None:
        return line_of(self.text, self.at) if isinstance(self.at, str) else self.at


def line_of(text: str, piece: str) -> int:
    """The 1-based line of the first one that holds the piece."""
    return next(number for number, line in enumerate(text.split("\n"), 1) if piece in line)


def document(text: str) -> Document:
    """The document of a file that must be good."""
    parsed = parse(text)
    assert parsed.document is not None, [str(issue) for issue in parsed.issues]
    assert parsed.issues == ()
    return parsed.document


def issues(text: str) -> tuple[Issue, ...]:
    """The issues of a file that must be bad."""
    parsed = parse(text)
    assert parsed.document is None
    assert parsed.issues
    return parsed.issues


def process(steps: Iterable[str]) -> str:
    """A file of bare steps, each in flow style."""
    return (
        "---\nname: bare\ndescription: Bare.\nsteps:\n" + "".join(f"  - {step}\n" for step in steps) + "---\n"
    )
