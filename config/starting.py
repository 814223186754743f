"""What a server process does beside answering: ask evaluators, and without a broker keep the time itself."""

from django.conf import settings

from processes import evaluating, timers


def start() -> None:
    """Once in each server process, from its entry point; commands and tests don't."""
    evaluating.start()
    if not settings.CELERY_BROKER_URL:
        timers.start()
