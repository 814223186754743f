"""WSGI entry: `gunicorn -c config/gunicorn.py config.wsgi`."""

import io
import os

from django.core.management import call_command
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()

# a server that can't work says so before it answers anybody
call_command("check", stdout=io.StringIO())

from config import starting  # noqa: E402 - it needs the settings

starting.start()
