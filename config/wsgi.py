"""WSGI entry: `gunicorn config.wsgi`. Without a broker the server keeps the time itself."""

import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()

if not settings.CELERY_BROKER_URL:
    from processes import timers

    timers.start()
