"""Two bases for tables whose rows are evidence: written once, or with the written columns named."""

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
