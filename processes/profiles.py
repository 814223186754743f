"""What this server offers, and so what a process may use."""

from django.conf import settings

from checks import evaluators
from processes.document import Document, Issue
from processes.engine import ENTER

PROTOCOL = "agentprocess"
VERSION = "core-2"
FACTS = "facts-1"  # our own, see docs/process-files.md
OUTCOME_CHARS, ROLE_CHARS = 200, 200  # what the columns hold


def profiles() -> list[str]:
    """Profiles in force. check-1 only while an evaluator is configured."""
    offered = []
    if "parallel" in ENTER:
        offered.append("parallel-1")
    if evaluators.configured() is not None:
        offered.append("check-1")
    if settings.FACTS_1:
        offered.append(FACTS)
    return offered


UNJUDGED = (
    "No evaluator is configured, so nobody would answer the check. Add one in the admin under Evaluators, "
    "set EVALUATOR (see docs/evaluators.md), or remove check."
)


FACTS_OFF = (
    "facts belongs to the profile facts-1, which is off here. Turn it on with FACTS_1=1 (see docs/settings.md), "
    "or remove facts."
)


def refusals(document: Document) -> list[Issue]:
    """Why this server can't run a sound document, and how to mend it."""
    found = []
    checked = evaluators.configured() is not None
    for step in document.steps.values():
        if step.kind not in ENTER:
            message = f"This server can't run {step.kind} steps yet. Leave the step out."
            found.append(Issue(step=step.id, key=step.kind, line=step.line, message=message))
        if step.kind == "finish" and len(step.text) > OUTCOME_CHARS:
            message = f"The outcome is longer than {OUTCOME_CHARS} characters. Write a short word."
            found.append(Issue(step=step.id, key="finish", line=step.line, message=message))
        if "." not in step.person and len(step.person) > ROLE_CHARS:
            message = f"The role's name is longer than {ROLE_CHARS} characters. Shorten it."
            found.append(Issue(step=step.id, key="person", line=step.line, message=message))
        if step.facts and not settings.FACTS_1:
            found.append(Issue(step=step.id, key="facts", line=step.line, message=FACTS_OFF))
        if step.check and not checked:
            found.append(Issue(step=step.id, key="check", line=step.line, message=UNJUDGED))
    return found
