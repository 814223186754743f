"""What the page of a process shows: text, issues, roles, differences, versions."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from processes import published_proof
from processes.admin import texts
from processes.admin.forms import Entered, RolesForm
from processes.document import Issue
from processes.models import Process, Run, Version
from processes.publishing import Examined, latest, proposal


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A sentence at the head of the page, with more under it."""

    text: str
    more: str = ""
    kind: str = "error"  # error: refused; stale: somebody else was faster


def stamp(version: Version | None) -> str:
    """What tells whether a draft is still the one that was on the page."""
    return version.created_at.isoformat() if version is not None else ""


def drafted(process: Process | str) -> Version | None:
    named = {"process": process} if isinstance(process, Process) else {"process__name": process}
    return Version.objects.filter(published_at__isnull=True, **named).select_related("process").first()


def versions(process: Process) -> QuerySet[Version]:
    """A process's versions, newest first, with the number of their runs; no text is loaded."""
    return (
        process.versions.defer("text", "receipt")
        .annotate(run_count=runs_of("version"))
        .order_by(F("number").desc(nulls_first=True))
    )


def runs_of(path: str) -> Coalesce:
    """How many runs a version (`version`) or process (`version__process`) has, counted apart."""
    counted = (
        Run.objects.filter(**{path: OuterRef("pk")})
        .order_by()
        .values(path)
        .annotate(n=Count("pk"))
        .values("n")
    )
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


def context(
    process: Process | None,
    shown: Version | None,
    text: Entered,
    examined: Examined,
    *,
    roles: Any = None,
) -> dict[str, Any]:
    """For `version.html`. `shown` None: a text that is not kept yet."""
    published = shown is not None and shown.published_at is not None
    in_use = latest(process) if process is not None else None
    before = _before(shown, in_use)
    issues = examined.issues
    mapped = list(shown.roles.select_related("group").order_by("pk")) if published and shown else []
    return {
        "process": process,
        "version": shown,
        "published": published,
        "in_use": in_use,
        "next_number": 1 + (in_use.number or 0 if in_use is not None else 0),
        "entered": text,
        "lines": texts.numbered(text.text, issues) if text.text else [],
        "line_count": len(texts.split(text.text)),
        "issues": [(texts.place(issue), issue) for issue in issues],
        "checked": texts.checked(text.text, issues),
        "document": examined.document,
        "roles": None if published else _roles(examined, roles, process, in_use),
        "mapped": mapped,
        "proof": published_proof.of_version(shown, {role.name: role.group_id for role in mapped}, before)
        if shown
        else None,
        "questions": _questions(examined),
        "before": before,
        "differences": texts.differences(before.text, text.text) if before is not None else [],
        "versions": versions(process) if process is not None else [],
    }


def _before(shown: Version | None, in_use: Version | None) -> Version | None:
    """The version that a text is compared with: the one in use, or for a published one its predecessor."""
    if shown is None or shown.number is None:
        return in_use
    return (
        Version.objects.filter(process=shown.process_id, number__lt=shown.number).order_by("-number").first()
    )


def _roles(
    examined: Examined, posted: Any, process: Process | None, in_use: Version | None
) -> RolesForm | None:
    document = examined.document
    if document is None:
        return None
    newest = in_use if process is not None else latest(document.name)
    return RolesForm(document, proposal(document, newest), posted)


def _questions(examined: Examined) -> int:
    document = examined.document
    return sum(len(step.check) for step in document.steps.values()) if document is not None else 0


def named_otherwise(process: Process, examined: Examined) -> Examined:
    """On the page of a process, a text by another name is an issue."""
    document = examined.document
    if document is None or document.name == process.name:
        return examined
    issue = Issue(
        step="",
        key="name",
        line=None,
        message=f"This is the page of {process.name}, and the text is named {document.name}. Keep the name, "
        "or import the text as a process of its own.",
    )
    return Examined(document=None, issues=(issue, *examined.issues))
