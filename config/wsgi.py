"""WSGI entry: `gunicorn config.wsgi`. Without a broker the server keeps the time itself."""

import io
import os

from django.conf import settings
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()

# a server that can't work says so before it answers anybody
call_command("check", stdout=io.StringIO())

from processes import evaluating, timers  # noqa: E402 - they need the settings

evaluating.start()
if not settings.CELERY_BROKER_URL:
    timers.start()
