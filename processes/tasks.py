"""Celery tasks. Each is safe to run anywhere, any number of times."""

from celery import shared_task

from processes import waking


@shared_task(name="processes.wake")
def wake() -> int:
    """Waits that are due, work that is overdue. Runs under beat (`CELERY_BEAT_SCHEDULE`)."""
    return waking.wake()
