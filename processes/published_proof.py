"""A publication's receipt held against its version: signature, place, whether it is under a checkpoint, and what it promises."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery

from checks.models import CheckpointHead
from checks.receipts import anchoring, keys, verifying
from checks.receipts.encoding import digest
from processes import receipting
from processes.models import Version
from processes.proofs import Content, opened, part_salts


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """`wrong`: a sentence for each thing that does not hold. `covered`: whether a checkpoint covers it or one after it."""

    content: Content = Content.CHANGED
    wrong: list[str] = field(default_factory=list)
    opened_by: Mapping[str, str] = field(default_factory=dict)
    covered: bool = False
    proved_by: int = 0


def with_heads(rows: QuerySet[Version]) -> QuerySet[Version]:
    """Versions with what checkpoints cover of their chain from their receipt on: the next head's place and hash."""
    heads = CheckpointHead.objects.filter(chain=OuterRef("chain"), seq__gte=OuterRef("seq")).order_by("seq")
    return rows.annotate(
        covered_seq=Subquery(heads.values("seq")[:1]), covered_hash=Subquery(heads.values("hash")[:1])
    )


def of_version(version: Any, roles: Mapping[str, int], before: Version | None) -> Proof | None:
    """None where there is no receipt. `version`: from `with_heads`; `before`: the one published before it. One statement,
    and two more where its key was revoked.
    """
    if not version.receipt:
        return None
    published = keys.published()
    examined = verifying.examine(version.receipt, published)
    proved_by = anchoring.reach(version.chain, examined.revoked, published).proves(version.seq)
    wrong = [] if examined.valid or proved_by else [examined.reason]
    if examined.payload is None:
        return Proof(wrong=wrong)
    if version.covered_seq == version.seq and version.covered_hash != digest(version.receipt):
        wrong.append("A checkpoint covers another receipt in its place.")
    wrong += _place(version, examined.payload, before)
    salt = bytes(version.salt) if version.salt is not None else None
    content, changed = opened(examined.payload, receipting.parts_of_publication(version, roles), salt, _NAMES)
    return Proof(
        content=content,
        wrong=[*wrong, *changed],
        opened_by=part_salts(salt, examined.payload["commitments"]),
        covered=version.covered_seq is not None,
        proved_by=proved_by,
    )


_NAMES = {
    "output": "the file", "evidence": "who stands behind its roles", "note": "the line of what it changes",
    "by": "who published it", "process": "its process and number",
}  # fmt: skip


def _place(version: Version, payload: Mapping[str, object], before: Version | None) -> list[str]:
    """What it says of its place, against its row and the one before it."""
    seq, prev = 1, None
    if before is not None and before.receipt:
        seq, prev = (before.seq or 0) + 1, digest(before.receipt)
    wrong = []
    if (payload["seq"], payload["prev"]) != (seq, prev):
        wrong.append(
            "It does not follow the receipt of the version before it: one is missing, or out of its place."
        )
    chain = receipting.PROCESS_CHAIN + str(version.process_id)
    if (payload["chain"], payload["subject"]) != (chain, f"version:{version.pk}"):
        wrong.append("It is of another version.")
    if (version.chain, version.seq) != (payload["chain"], payload["seq"]):
        wrong.append("Its row tells another place than it does.")
    return wrong
