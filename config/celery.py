"""The Celery application. Embedded mode runs tasks in process (`CELERY_TASK_ALWAYS_EAGER`)."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("countersign")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
