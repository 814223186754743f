"""A published version as the engine needs it: parsed once per process and kept, for it never changes."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from processes.document import Document, parse
from processes.models import Role, Version


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    id: int
    process_id: int
    process: str
    number: int
    document: Document
    sha256: str  # of the file as it was published
    roles: Mapping[str, int]  # role name → group
    escalations: int | None


class BrokenVersionError(RuntimeError):
    """A published text that no longer parses: somebody changed the database by hand."""


@lru_cache(maxsize=256)
def compiled(version_id: int) -> Compiled:
    """Two statements the first time, none afterwards."""
    version = Version.objects.select_related("process").get(pk=version_id)
    parsed = parse(version.text)
    if parsed.document is None or version.number is None:
        raise BrokenVersionError(f"{version} can't be run: {'; '.join(map(str, parsed.issues)) or 'a draft'}")
    roles = dict(Role.objects.filter(version_id=version_id).values_list("name", "group_id"))
    return Compiled(
        id=version.pk,
        process_id=version.process_id,
        process=version.process.name,
        number=version.number,
        document=parsed.document,
        sha256=hashlib.sha256(version.text.encode("utf-8")).hexdigest(),
        roles=roles,
        escalations=version.escalations_id,
    )
