"""An export as `checks.receipts.export` reads it, line by line from the database: a few statements, however much there is.

Checkpoints come first, so that whatever they cover was there before the receipts are read.
"""

import functools
import hashlib
import operator
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import batched
from typing import Any

from django.conf import settings
from django.db.models import Min, Q, QuerySet
from django.utils import timezone

from checks import codec
from checks.receipts import jws, keys, keyset, merkle, payload, sources
from checks.receipts.encoding import b64, digest
from checks.receipts.export import HEADER
from checks.receipts.merkle import Leaf
from checks.receipts.models import Checkpoint, CheckpointHead
from checks.receipts.payload import CHECKPOINTS
from checks.records import Receipted

AT_ONCE = 500
CHAINS_AT_ONCE = 100  # of which each statement names the first receipt


def lines(*, chain: str | None = None, since: datetime | None = None) -> Iterator[bytes]:
    """Every line with its end. `chain`: of this one alone; `since`: each chain from its first receipt signed then or later.

    Raises NoKeyError, before the first line, where there is no key to sign the end with.
    """
    return _lines(_Writing(keys.current()), chain, since)


def _lines(writing: "_Writing", chain: str | None, since: datetime | None) -> Iterator[bytes]:
    header = (1, settings.SITE_URL, keyset.told(timezone.now()), chain, since and keyset.told(since), _jwks())
    yield writing.line(dict(zip(HEADER, header, strict=True)))
    for value in _checkpoints(chain):
        writing.checkpoints += 1
        yield writing.receipt(value)
    for model in sources.tables(chain):
        for name, seq, receipt in _rows(model, chain, since):
            writing.receipts += 1
            yield writing.receipt({"chain": name, "seq": seq, "receipt": receipt})
        if chain is not None and writing.receipts:
            break  # a chain is of one table alone
    heads = list(writing.heads.values())
    for some in batched(heads, AT_ONCE):
        yield writing.line({"heads": [list(head) for head in some]})
    yield writing.end(heads)


class _Writing:
    """What the last line signs of those before it, gathered on the way."""

    def __init__(self, private: keys.Private) -> None:
        self._private = private
        self.receipts = self.checkpoints = 0
        self.heads: dict[str, Leaf] = {}
        self._header, self._lines, self._whole = "", 0, hashlib.sha256()

    def line(self, value: dict[str, Any]) -> bytes:
        data = codec.dumps(value).encode("utf-8") + b"\n"
        if not self._lines:
            self._header = b64(hashlib.sha256(data).digest())
        self._lines += 1
        self._whole.update(data)
        return data

    def receipt(self, value: dict[str, Any]) -> bytes:
        chain, seq = value["chain"], value["seq"]
        self.heads[chain] = (chain, seq, digest(value["receipt"]))
        return self.line(value)

    def end(self, heads: list[Leaf]) -> bytes:
        said = {
            "header": self._header,
            "digest": b64(self._whole.digest()),
            "lines": self._lines,
            "checkpoints": self.checkpoints,
            "receipts": self.receipts,
            "chains": len(self.heads.keys() - {CHECKPOINTS}),
            "root": b64(merkle.root(heads)) if heads else None,
        }
        data = payload.write_export(said, iss=settings.SITE_URL, at=timezone.now())
        return (
            codec.dumps({"end": jws.sign(data, self._private.key, self._private.kid, jws.EXPORT)}).encode(
                "utf-8"
            )
            + b"\n"
        )


def _jwks() -> dict[str, Any]:
    return keyset.write(keys.published().values())


def _rows(model: type[Receipted], chain: str | None, since: datetime | None) -> Iterator[tuple[Any, ...]]:
    rows = sources.rows(model)
    if chain is not None:
        rows = rows.filter(chain=chain)
    if since is None:
        yield from _told(rows)
        return
    # whole from there on, though a clock may have gone back in between
    firsts = rows.filter(signed_at__gte=since).order_by("chain").values_list("chain").annotate(Min("seq"))
    for some in batched(firsts.iterator(AT_ONCE), CHAINS_AT_ONCE):
        begun = (Q(chain=name, seq__gte=first) for name, first in some)
        yield from _told(rows.filter(functools.reduce(operator.or_, begun)))


def _told(rows: QuerySet[Any]) -> Iterator[tuple[Any, ...]]:
    return rows.order_by("chain", "seq").values_list("chain", "seq", "receipt").iterator(AT_ONCE)


def _checkpoints(chain: str | None) -> Iterator[dict[str, Any]]:
    """Every checkpoint with the heads that it covers; where one chain was asked for, with the way from its head to the root."""
    rows = Checkpoint.objects.order_by("seq")
    for some in batched(rows.iterator(AT_ONCE), 50):
        wanted = _covering(some, chain)
        covered: dict[Any, list[Leaf]] = {}
        heads = CheckpointHead.objects.filter(checkpoint__in=wanted)
        for number, name, seq, hash_ in heads.values_list("checkpoint", "chain", "seq", "hash").iterator(
            AT_ONCE
        ):
            covered.setdefault(number, []).append((name, seq, hash_))
        for row in some:
            leaves = merkle.ordered(covered.get(row.pk, []))
            told = {"chain": row.chain, "seq": row.seq, "receipt": row.receipt}
            if chain is None:
                yield {**told, "covers": [list(leaf) for leaf in leaves]}
            else:
                yield {**told, "place": _place(leaves, chain)}


def _covering(rows: Iterable[Checkpoint], chain: str | None) -> list[Any]:
    numbers = [row.pk for row in rows]
    if chain is None:
        return numbers
    return list(
        CheckpointHead.objects.filter(checkpoint__in=numbers, chain=chain).values_list(
            "checkpoint", flat=True
        )
    )


def _place(leaves: list[Leaf], chain: str) -> dict[str, Any] | None:
    index = next((place for place, leaf in enumerate(leaves) if leaf[0] == chain), None)
    if index is None:
        return None
    path = [b64(node) for node in merkle.path(leaves, index)]
    return {"head": list(leaves[index]), "index": index, "path": path}
