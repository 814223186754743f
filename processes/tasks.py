"""Celery tasks. Each is safe to run anywhere, any number of times."""

from typing import Any

from celery import shared_task
from django.db import OperationalError

from processes import (
    evaluating,
    heartbeats,  # noqa: F401 - its signals belong wherever tasks run
    waking,
)


@shared_task(name="processes.wake")
def wake() -> int:
    """Waits that are due, work that is overdue. Runs under beat (`CELERY_BEAT_SCHEDULE`)."""
    return waking.wake()


@shared_task(
    name="processes.evaluate",
    autoretry_for=(OperationalError,),
    retry_backoff=1,
    max_retries=5,
    ignore_result=False,
)
def evaluate(job: dict[str, Any]) -> dict[str, Any]:
    """One submission's check. Its result tells whoever waits that the answer is in the database."""
    return evaluating.evaluate(evaluating.Job(**job))
