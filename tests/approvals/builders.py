"""Cases for the screens, made by the real tools: processes as people write them, and a few runs of each."""

import base64
from typing import Any

from processes.callers import Caller
from tests.world import World

SUPPLIER = """\
---
name: supplier-screening
description: Screen a new supplier and set it up.
inputs:
  vendorName: string
  amount: { type: number, description: yearly spend }
steps:
  - id: check_vendor
    agent: |
      Look the vendor up on the OFAC and EU lists. Add the report and the words you
      looked for. Take approve without a match, declined with one.
    output: { cleared: boolean, note: { type: string, optional: true } }
    evidence: [file]
    next:
      - { to: approve, when: No list has a match }
      - { to: declined, when: A list has a match }
    due: 4h
    check:
      - ask: The report bears out the cleared verdict.
        pass: 0.9
        fail: 0.5
      - ask: What does the summary do?
        one_of:
          states: Says whether the vendor is clear, and by which lists.
          hedges: Leaves the verdict open, or takes half of it back.
          unclear: Cannot tell.
        pass: [states]
        unsure: [unclear]
        confidence: 0.8
      - ask: How far does the screening go?
        levels:
          - No list is covered.
          - One list is covered.
          - Both lists are covered, and the search terms are given.
        pass: 2
        confidence: 0.8
  - id: approve
    approve: Approve when the supplier is cleared and its papers are complete.
    person: finance
    on_reject: check_vendor
    due: 2d
    next: set_up_account
  - id: set_up_account
    task: Open the supplier's account and enter its terms.
    person: procurement
    output:
      vendorNumber: string
      paymentTermsDays: number
      currency: { type: string, one_of: [EUR, GBP, USD] }
      firstOrder: { type: date, optional: true }
      creditCheckDone: boolean
      categories: { type: list, items: string }
      accountOwner: person
    evidence: [file]
    due: 1d
    next: onboarded
  - { id: onboarded, finish: onboarded }
  - { id: declined, finish: declined }
---
# Supplier screening

Start it for every new supplier before the first order.
"""

REFUND = """\
---
name: refund-review
description: Decide on a refund.
inputs: { order: string, paid: number }
steps:
  - id: assess_refund
    agent: Read the messages, find the clause that applies, and propose the amount.
    output: { reason: string, clause: string, amount: number }
    evidence: [link]
    advisory: true
    check:
      - ask: The reason given is the one in the customer's messages.
        pass: 0.9
        fail: 0.5
      - ask: Which policy clause applies?
        one_of:
          return-14: Return within 14 days.
          faulty: Faulty on arrival.
          none: No clause applies.
        pass: [return-14, faulty]
        confidence: 0.8
  - id: approve_refund
    approve: Approve the refund when a policy clause covers it and the amount is what the customer paid.
    person: support
    due: 1d
    next: done
  - { id: done, finish: refunded }
---
"""

REPORT = """\
SCREENING REPORT  R-118
Subject   Marlow Paper Ltd
          registered 07 100 200
Run       2026-11-30 09:51 UTC

1 OFAC lists
  Terms   "Marlow Paper"
          "Marlow Papers"
  Matches 0

2 EU list
  Terms   not recorded
  Matches 0 (cached, 2026-10-02)

Result    none found
Covers    the company, not its owners
"""
TERMS = "list,term,matches\nOFAC,Marlow Paper,0\nOFAC,Marlow Papers,0\n"

UNSURE = [0.89, ("states", 0.91), (1, 0.66)]
PASSES = [0.97, ("states", 0.95), (2, 0.9)]
FAILS = [0.3, ("hedges", 0.9), (0, 0.88)]


class Desk:
    """Two processes, an agent, people of three groups, and runs in whatever state a test asks for."""

    def __init__(self, world: World, evaluator: Any) -> None:
        self.world, self.evaluator = world, evaluator
        world.publish(SUPPLIER, finance="Finance", procurement="Procurement", escalations="Finance")
        world.publish(REFUND, support="Support", escalations="Support")
        self.agent = world.agent("screening-agent")
        self.buyer = world.person("bea", "Procurement")

    def upload(
        self, name: str = "screening-report.txt", content: str | bytes = REPORT, kind: str = "text/plain"
    ) -> str:
        data = content.encode() if isinstance(content, str) else content
        return str(
            self.world.call(
                self.agent, "upload", fileName=name, contentType=kind,
                contentBase64=base64.b64encode(data).decode(),
            )["id"]
        )  # fmt: skip

    def supplier(self, name: str = "Marlow Paper", answers: Any = None, **given: Any) -> dict[str, Any]:
        """A run whose first step was handed in and judged; unsure unless told otherwise."""
        run = self.started(name)
        return self.hand_in(run, answers or UNSURE, **given)

    def started(self, name: str = "Marlow Paper", amount: Any = 48_000, **more: Any) -> dict[str, Any]:
        return self.world.call(
            self.buyer, "start_run", process="supplier-screening",
            inputs={"vendorName": name, "amount": amount}, **more,
        )  # fmt: skip

    def hand_in(self, run: dict[str, Any], answers: Any, **given: Any) -> dict[str, Any]:
        self.evaluator.script = [answers]
        token = self.world.claim(self.agent, run, "check_vendor")["token"]
        files = given.pop("files", None) or [self.upload()]
        return self.world.call(self.agent, "submit", token=token, **{**self.work(files), **given})

    def work(self, files: list[str]) -> dict[str, Any]:
        return {
            "output": {"cleared": True},
            "evidence": [{"kind": "file", "ref": ref} for ref in files],
            "summary": "Marlow Paper is cleared: neither the OFAC list nor the EU list knows it.",
            "next": "approve",
            "reason": "no list has a match",
        }

    def refund(self, order: str = "Refund 48 213", answers: Any = None, paid: Any = 312.4) -> dict[str, Any]:
        run = self.world.call(
            self.buyer, "start_run", process="refund-review", inputs={"order": order, "paid": paid}
        )
        self.evaluator.script = [answers or [0.93, ("return-14", 0.86)]]
        token = self.world.claim(self.agent, run, "assess_refund")["token"]
        return self.world.call(
            self.agent, "submit", token=token,
            output={
                "reason": "Bought the boots in two sizes; the pair that pinches goes back unworn.",
                "clause": "return-14", "amount": paid,
            },
            evidence=[{"kind": "link", "ref": "https://shop.example.org/orders/90112"}],
            summary="Covered by the 14 days.",
        )  # fmt: skip

    def item(self, run: dict[str, Any]) -> str:
        return str(self.world.item(self.agent, run)["id"])

    def decide(self, caller: Caller, run: dict[str, Any], decision: str, **given: Any) -> dict[str, Any]:
        return self.world.decide(caller, run, decision, **given)
