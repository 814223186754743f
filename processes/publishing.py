"""From a text to a published version: the only writer of Process, Version and Role.

Import makes a draft; whoever imports maps each role to a group and the escalations to one; publishing is
a step of its own. The command, the admin and the tests use these functions.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from django.contrib.auth.models import Group
from django.db import transaction
from django.utils import timezone

from processes import receipting
from processes.document import Document, Issue, parse
from processes.models import Process, Role, Version
from processes.profiles import refusals

UNMAPPED = "unmapped"  # the rule of an issue about a role without a group
CHANGED = "Somebody changed or published this draft meanwhile. Look at it again before you publish it."


class RefusedError(Exception):
    """The text can't be published; every issue is named."""

    def __init__(self, issues: tuple[Issue, ...]) -> None:
        super().__init__("; ".join(str(issue) for issue in issues))
        self.issues = issues


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What a text is: a sound document or None, and every issue that keeps it from being published."""

    document: Document | None
    issues: tuple[Issue, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleMap:
    """Who stands behind a version's roles, and who sees its escalations (None = the operators)."""

    roles: Mapping[str, int]
    escalations: int | None


def examine(text: str, *, folder: str = "") -> Examined:
    """Parse, and ask whether this server can run it. `folder`: the name that the file must bear, if any."""
    parsed = parse(text)
    if parsed.document is None:
        return Examined(document=None, issues=parsed.issues)
    document = parsed.document
    found = refusals(document)
    if folder and folder != document.name:
        message = f"The folder is named {folder}. Rename one of the two, so that both are the same."
        found.insert(0, Issue(step="", key="name", line=None, message=message))
    return Examined(document=document, issues=tuple(found))


def draft(text: str, *, by: str, change: str = "", folder: str = "") -> Version:
    """Keep a sound text as its process's draft (replacing one that is there). Raises RefusedError.

    A document that this server can't run yet may be kept as a draft all the same.
    """
    examined = examine(text, folder=folder)
    document = examined.document
    if document is None:
        raise RefusedError(examined.issues)
    with transaction.atomic():
        process, _ = Process.objects.get_or_create(name=document.name)
        Process.objects.select_for_update().get(pk=process.pk)  # nobody publishes the draft under us
        version = Version.objects.filter(process=process, published_at__isnull=True).first()
        version = version or Version(process=process)
        version.text, version.description = text, document.description
        version.content_hash, version.change = document.content_hash, change[:300]
        version.created_by, version.created_at = by, timezone.now()
        if version._state.adding:
            version.save()
        else:
            version.save(
                update_fields=["text", "description", "content_hash", "change", "created_by", "created_at"]
            )
    return version


def latest(process: Process | str) -> Version | None:
    """The version that new runs get."""
    named = {"process": process} if isinstance(process, Process) else {"process__name": process}
    return Version.objects.filter(published_at__isnull=False, **named).order_by("-number").first()


def proposal(document: Document, before: Version | None) -> RoleMap:
    """The mapping to offer: that of the latest version (`before`), else groups that bear the roles' names;
    escalations to the group of the first approve step that has a role.
    """
    roles: dict[str, int] = {}
    if before is not None:
        roles = dict(before.roles.values_list("name", "group_id"))
    named = dict(Group.objects.filter(name__in=document.roles).values_list("name", "pk"))
    roles = {name: roles.get(name, named.get(name, 0)) for name in document.roles}
    roles = {name: group for name, group in roles.items() if group}
    if before is not None:
        return RoleMap(roles=roles, escalations=before.escalations_id)
    return RoleMap(roles=roles, escalations=first_approvers(document, roles))


def first_approvers(document: Document, roles: Mapping[str, int]) -> int | None:
    """The group of the first approve step that has a role: who escalations are proposed to."""
    approvers = [step.person for step in document.steps.values() if step.kind == "approve"]
    return next((roles[person] for person in approvers if person in roles), None)


def publish(version: Version, mapping: RoleMap, *, by: str) -> Version:
    """Number a draft and freeze it with its mapping.

    Raises RefusedError with every issue, also where the draft is no longer the one that was read.
    """
    with transaction.atomic():
        Process.objects.select_for_update().get(pk=version.process_id)  # numbers are given one at a time
        if not Version.objects.filter(
            pk=version.pk, published_at__isnull=True, created_at=version.created_at
        ).exists():
            raise RefusedError((Issue(step="", key="", line=None, message=CHANGED, rule="changed"),))
        document = _publishable(version, mapping)
        newest = latest(version.process)
        version.number = 1 + (newest.number or 0 if newest is not None else 0)
        version.published_by, version.published_at = by, timezone.now()
        version.escalations_id = mapping.escalations
        Role.objects.bulk_create(
            Role(version=version, name=role, group_id=mapping.roles[role]) for role in document.roles
        )
        receipt = receipting.sign_publication(version, mapping.roles, newest)
        version.save(update_fields=["number", "published_by", "published_at", "escalations", *receipt])
    return version


def forget_salt(version: str) -> bool:
    """From now on nobody opens what the receipt of this version promises; False where nobody could before."""
    return bool(Version.objects.filter(pk=int(version), salt__isnull=False).update(salt=None))


def _publishable(version: Version, mapping: RoleMap) -> Document:
    examined = examine(version.text)
    issues = list(examined.issues)
    document = examined.document
    if document is not None:
        issues += [
            Issue(
                step="",
                key="person",
                line=None,
                message=f"Role {role} is mapped to no group. Choose one.",
                rule=UNMAPPED,
            )
            for role in document.roles
            if role not in mapping.roles
        ]
    if issues or document is None:
        raise RefusedError(tuple(issues))
    return document


def retire(*processes: Process, retired: bool) -> None:
    """Take processes out of use (no new runs; running ones go on), or back into use. One statement."""
    at = timezone.now() if retired else None
    Process.objects.filter(pk__in=[process.pk for process in processes]).update(retired_at=at)


def is_in_force(newest: Version | None, document: Document, mapping: RoleMap) -> Version | None:
    """The latest version, when it says the same with the same mapping: publishing again would add nothing."""
    if newest is None or newest.content_hash != document.content_hash:
        return None
    same = dict(newest.roles.values_list("name", "group_id")) == dict(mapping.roles)
    return newest if same and newest.escalations_id == mapping.escalations else None
