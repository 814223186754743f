"""The Celery application. Embedded mode runs tasks in process (`CELERY_TASK_ALWAYS_EAGER`)."""

import logging.config
import os
from typing import Any

from celery import Celery, signals

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("countersign")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@signals.setup_logging.connect
def _as_the_server_logs(**_: Any) -> None:
    """Celery would put handlers of its own in the place of ours."""
    from django.conf import settings

    logging.config.dictConfig(settings.LOGGING)
