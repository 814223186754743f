"""Ids of rows, and a constraint that many tables share."""

import secrets
from typing import Any

from django.db import models
from django.db.models import Q


def known(column: str, words: Any, name: str) -> models.CheckConstraint:
    """The database refuses any other word in this column."""
    return models.CheckConstraint(condition=Q(**{f"{column}__in": [str(word) for word in words]}), name=name)


def run_id() -> str:
    return f"r_{secrets.token_hex(10)}"


def item_id() -> str:
    return f"w_{secrets.token_hex(10)}"


def upload_id() -> str:
    """Unguessable: a file can be cited by whoever knows its id and uploaded it."""
    return f"f_{secrets.token_hex(16)}"
