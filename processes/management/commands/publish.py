"""`manage.py publish PATH… [--role NAME=GROUP] [--escalations GROUP] [--dry-run]`."""

from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.contrib.auth.models import Group
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from checks import roster
from checks.receipts.keys import NoKeyError
from processes.document import Document
from processes.publishing import (
    UNMAPPED,
    Examined,
    RefusedError,
    RoleMap,
    draft,
    examine,
    first_approvers,
    is_in_force,
    latest,
    proposal,
    publish,
)

BY = "server"


class Command(BaseCommand):
    help = "Publish process files: each PATH is a PROCESS.md or a folder that holds one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
        parser.add_argument(
            "--role", action="append", default=[], metavar="NAME=GROUP", dest="roles",
            help="Map a role to a group (made if there is none). Default: the mapping of the version before, "
            "or a group of the role's name.",
        )  # fmt: skip
        parser.add_argument(
            "--escalations", metavar="GROUP", help="Who sees what the model is unsure of. Default: the group "
            "of the first approve step, else the operators.",
        )  # fmt: skip
        parser.add_argument("--dry-run", action="store_true", help="Check everything, publish nothing.")

    def handle(self, *args: Any, **options: Any) -> None:
        wanted = dict(_pair(text) for text in options["roles"])
        files = [_file(path) for path in options["paths"]]
        examined = [examine(_text(path), folder=folder) for path, folder in files]
        refused = 0
        for (path, _), found in zip(files, examined, strict=True):
            for issue in found.issues:
                self.stderr.write(f"{path}: {issue}")
            refused += bool(found.issues)
        if refused:
            raise CommandError(f"Nothing was published: {refused} of {len(files)} files have issues.")
        _only_roles_of([found.document for found in examined if found.document is not None], wanted)
        with transaction.atomic():  # all of them or none
            for (path, _), found in zip(files, examined, strict=True):
                try:
                    self._publish(path, found, wanted, options)
                except RefusedError as error:
                    raise self._refusal(path, error) from None
                except NoKeyError as error:
                    raise CommandError(f"Nothing was published, for it can't be signed. {error}") from None
            if options["dry_run"]:
                transaction.set_rollback(True)

    def _refusal(self, path: Path, error: RefusedError) -> CommandError:
        for issue in error.issues:
            self.stderr.write(f"{path}: {issue}")
        if all(issue.rule == UNMAPPED for issue in error.issues):
            return CommandError("Nothing was published. Name a group for each role: --role NAME=GROUP.")
        return CommandError("Nothing was published. Put right what is named above, then publish again.")

    def _publish(
        self, path: Path, found: Examined, wanted: Mapping[str, str], options: dict[str, Any]
    ) -> None:
        document = found.document
        if document is None:
            raise CommandError(f"{path}: no document")
        newest = latest(document.name)
        offered = proposal(document, newest)
        roles = dict(offered.roles)
        for role in document.roles:
            if role in wanted:
                roles[role] = _group(wanted[role]).pk
        mapping = RoleMap(roles=roles, escalations=offered.escalations)
        if options["escalations"]:
            mapping = RoleMap(roles=roles, escalations=_group(options["escalations"]).pk)
        elif offered.escalations is None and newest is None:
            mapping = RoleMap(roles=roles, escalations=first_approvers(document, roles))
        if (version := is_in_force(newest, document, mapping)) is not None:
            self.stdout.write(f"{document.name} v{version.number} says the same already")
            return
        version = publish(draft(_text(path), by=BY), mapping, by=BY)
        if options["dry_run"]:
            self.stdout.write(f"{document.name}: would be version {version.number}")
        else:
            self.stdout.write(f"{document.name}: version {version.number} is published")
        if hosts := roster.hosts() if any(step.check for step in document.steps.values()) else ():
            self.stdout.write(
                f"  {' and '.join(hosts)} will be shown what its runs hold, to answer its checks"
            )


def _pair(text: str) -> tuple[str, str]:
    name, sign, group = text.partition("=")
    if not (name.strip() and sign and group.strip()):
        raise CommandError(
            f"--role {text}: write NAME=GROUP, e.g. --role finance-approver='Finance approvers'"
        )
    return name.strip(), group.strip()


def _only_roles_of(documents: Sequence[Document], wanted: Mapping[str, str]) -> None:
    """Refuse a role that none of the processes has: a slip of the pen would map nothing and say nothing."""
    known = {role for document in documents for role in document.roles}
    if strangers := [name for name in wanted if name not in known]:
        there = "; ".join(f"{d.name} has {', '.join(d.roles) or 'no roles'}" for d in documents)
        raise CommandError(f"--role {', '.join(strangers)}: there is no such role. {there}.")


def _file(path: Path) -> tuple[Path, str]:
    """The file, and the name that its folder gives it (only when a folder was named)."""
    if path.is_dir():
        inside = path / "PROCESS.md"
        if not inside.is_file():
            raise CommandError(f"{path} holds no PROCESS.md")
        return inside, path.resolve().name
    if not path.is_file():
        raise CommandError(f"{path} is no file and no folder")
    return path, ""


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")  # as written: line ends are part of the content hash
    except UnicodeDecodeError as error:
        raise CommandError(f"{path} is not UTF-8 (byte {error.start}). Save it as UTF-8.") from None


def _group(name: str) -> Group:
    return Group.objects.get_or_create(name=name)[0]
