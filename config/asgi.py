"""ASGI entry. Like the WSGI one: it says what is wrong before it answers anybody, and asks and wakes by itself."""

import io
import os

from django.core.asgi import get_asgi_application
from django.core.management import call_command

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_asgi_application()
call_command("check", stdout=io.StringIO())

from config import starting  # noqa: E402 - it needs the settings

starting.start()
