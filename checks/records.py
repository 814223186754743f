"""Bases for tables whose rows are evidence: written once, or with the written columns named; and with a receipt."""

from typing import Any, NoReturn

from django.db import models


class AppendOnlyError(RuntimeError):
    """Somebody tried to change or delete a record. A correction is a new record."""


class AppendOnlyQuerySet(models.QuerySet[Any]):
    def _refuse(self) -> NoReturn:
        raise AppendOnlyError(f"{self.model._meta.label} is append-only; write a new record instead")

    def update(self, **kwargs: Any) -> NoReturn:
        self._refuse()

    def delete(self) -> NoReturn:
        self._refuse()

    def bulk_update(self, *args: Any, **kwargs: Any) -> NoReturn:
        self._refuse()

    def update_or_create(self, *args: Any, **kwargs: Any) -> NoReturn:
        self._refuse()


class AppendOnly(models.Model):
    """Rows can be added and read, never changed or deleted, by code or admin."""

    objects = AppendOnlyQuerySet.as_manager()

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise AppendOnlyError(f"{self._meta.label} is append-only; write a new record instead")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise AppendOnlyError(f"{self._meta.label} is append-only; it can't be deleted")


class Named(models.Model):
    """A save of an existing row names its columns, so that no stale column is ever written back."""

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding and not kwargs.get("update_fields"):
            raise TypeError(f"name the columns: {self._meta.label}.save(update_fields=[…])")
        super().save(*args, **kwargs)


class Receipted(models.Model):
    """A row with its receipt beside it, so that the receipt costs no statement of its own; all null where it has none.

    A chain's rows are all of one table, which `receipts.sources` knows. Its Meta adds `*receipted("name")` to its constraints.
    """

    chain = models.CharField(max_length=100, null=True, editable=False)  # noqa: DJ001 - unique together, where there is one
    seq = models.PositiveIntegerField(null=True, editable=False)
    receipt = models.TextField(null=True, editable=False)  # noqa: DJ001 - likewise all or none
    signed_at = models.DateTimeField(null=True, editable=False, db_index=True)

    class Meta:
        abstract = True


def receipted(name: str) -> list[models.BaseConstraint]:
    """What the database holds of a `Receipted` table, by the table's name in theirs."""
    nothing = {"chain__isnull": True, "seq__isnull": True, "receipt__isnull": True, "signed_at__isnull": True}
    return [
        models.UniqueConstraint(fields=["chain", "seq"], name=f"{name}_one_receipt_a_place"),
        models.CheckConstraint(
            condition=models.Q(**nothing) | models.Q(**dict.fromkeys(nothing, False), seq__gte=1),
            name=f"{name}_receipt_all_or_none",
        ),
    ]
