"""Signing, for whoever writes a row with a receipt beside it.

    signed = signing.sign(Draft(kind="decision", subject=…), Head("run:r_1", 3, hash_of_the_third))
    entry.chain, entry.seq, entry.receipt, entry.signed_at = signed   # or signing.put(entry, signed)

The caller knows the head of its chain, and holds the lock under which nobody else adds to it. Signing takes no statement; the first of a
process looks whether its key may sign.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.conf import settings
from django.utils import timezone

from checks.receipts import jws, keys, sources
from checks.receipts.encoding import digest
from checks.receipts.payload import Draft, Place, write
from checks.records import Receipted


@dataclass(frozen=True, slots=True)
class Head:
    """Where a chain ends: the last receipt's number, 0 for none, and its hash (`encoding.digest` of its text)."""

    chain: str
    seq: int = 0
    hash: str | None = None


class Signed(NamedTuple):
    chain: str
    seq: int
    receipt: str
    at: datetime

    @property
    def head(self) -> Head:
        """From which the next one goes on."""
        return Head(self.chain, self.seq, digest(self.receipt))


def ready() -> None:
    """Raises NoKeyError where nothing could be signed: to be asked before somebody pays for what would be."""
    keys.current()


def sign(draft: Draft, head: Head) -> Signed:
    """The next receipt of a chain. Raises PayloadError on a draft that is none, NoKeyError without a key."""
    private, at = keys.current(), timezone.now()
    place = Place(head.chain, head.seq + 1, head.hash)
    data = write(draft, place, iss=settings.SITE_URL, at=at)
    return Signed(place.chain, place.seq, jws.sign(data, private.key, private.kid), at)


def put(row: Receipted, signed: Signed) -> None:
    """Beside the row, which is not saved by this."""
    row.chain, row.seq, row.receipt, row.signed_at = signed


def head_of(model: type[Receipted], chain: str) -> Head:
    """Where a chain ends. One statement; only under the lock of whoever adds to the chain does it stay so."""
    last = sources.rows(model).filter(chain=chain).order_by("-seq").values_list("seq", "receipt").first()
    return Head(chain) if last is None else Head(chain, last[0], digest(last[1]))
