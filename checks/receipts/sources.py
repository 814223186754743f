"""Which tables hold receipts. An app adds its own at start-up, so that nothing here knows of runs."""

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from checks.records import Receipted

# how the names of a table's chains begin ("run:") → the table
sources: dict[str, type[Receipted]] = {}


def add(begins: str, model: type[Receipted]) -> None:
    """A chain is of one table alone: no two tables' chains begin alike."""
    sources[begins] = model


def tables(chain: str | None = None) -> Iterator[type[Receipted]]:
    """All of them, or the one at most that a chain of this name is of."""
    for begins, model in sources.items():
        if chain is None or chain.startswith(begins):
            yield model


def known(chain: str) -> bool:
    """Whether anything was ever signed into a chain of this name. One statement."""
    return any(rows(model).filter(chain=chain).exists() for model in tables(chain))


def rows(model: type[Receipted]) -> QuerySet[Any]:
    """All that have a receipt."""
    return model._meta.base_manager.filter(receipt__isnull=False)
