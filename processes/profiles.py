"""What this server offers, and so what a process may use."""

from checks import evaluators
from processes.document import Document
from processes.engine import ENTER

PROTOCOL = "agentprocess"
VERSION = "core-2"


def profiles() -> list[str]:
    """Profiles in force. check-1 only while an evaluator is configured."""
    offered = []
    if "parallel" in ENTER:
        offered.append("parallel-1")
    if evaluators.configured() is not None:
        offered.append("check-1")
    return offered


def refusals(document: Document) -> list[tuple[str, str, int, str]]:
    """Why this server can't run a sound document: (step, key, line, reason and how to mend it)."""
    found = []
    checked = evaluators.configured() is not None
    for step in document.steps.values():
        if step.kind not in ENTER:
            found.append(
                (
                    step.id,
                    step.kind,
                    step.line,
                    f"This server can't run {step.kind} steps yet. Leave the step out.",
                )
            )
        if step.check and not checked:
            found.append(
                (
                    step.id,
                    "check",
                    step.line,
                    "No evaluator is configured, so nobody would answer the check. Set EVALUATOR "
                    "(see docs/settings.md), or remove check.",
                )
            )
    return found
