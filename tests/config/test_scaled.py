"""Scaled mode, as an environment makes it: read by a process of its own, as every server does."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHARED = {
    "SECRET_KEY": "k" * 50,
    "RECEIPT_KEY": "k" * 43,
    "DATABASE_URL": "postgres://u:p@127.0.0.1:1/db",
    "UPLOADS_DIR": "/srv/uploads",
}
REDIS, RABBIT = "redis://127.0.0.1:1/0", "amqp://u:p@127.0.0.1:1//"
TELL = """
import json
import django
django.setup()
from django.conf import settings
from django.core import checks
from django.core.cache import caches
names = ["CELERY_TASK_ALWAYS_EAGER", "CELERY_RESULT_BACKEND", "CELERY_TASK_ACKS_LATE", "CACHE_URL",
         "CELERY_BROKER_TRANSPORT_OPTIONS", "MEDIA_ROOT", "CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT"]
told = {name: str(getattr(settings, name)) for name in names}
told["cache"] = type(caches["default"]).__name__
told["log"] = list(settings.LOGGING["formatters"])
told["checks"] = sorted(message.id for message in checks.run_checks())
print(json.dumps(told))
"""


def told(tmp_path, **environment):
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    result = subprocess.run(
        [sys.executable, "-c", TELL],
        cwd=ROOT,
        env={**kept, "VAR_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "config.settings", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(result.stdout.splitlines()[-1])


def test_embedded_is_what_nothing_set_gives(tmp_path):
    found = told(tmp_path)
    assert found["CELERY_TASK_ALWAYS_EAGER"] == "True" and found["checks"] == []
    assert (found["cache"], found["log"]) == ("LocMemCache", ["text"])


@pytest.mark.parametrize(
    ("environment", "cache"),
    [
        ({"BROKER_URL": REDIS}, REDIS),
        ({"BROKER_URL": RABBIT, "RESULT_URL": REDIS}, REDIS),
        ({"BROKER_URL": REDIS, "CACHE_URL": "redis://cache:6379/1"}, "redis://cache:6379/1"),
    ],
)
def test_scaled(tmp_path, environment, cache):
    found = told(tmp_path, **SHARED, **environment, LOG_FORMAT="json")
    assert found["checks"] == []
    assert found["CELERY_TASK_ALWAYS_EAGER"] == "False" and found["CELERY_TASK_ACKS_LATE"] == "True"
    assert found["CELERY_RESULT_BACKEND"] == REDIS
    assert (found["cache"], found["CACHE_URL"], found["log"]) == ("RedisCache", cache, ["json"])
    assert found["MEDIA_ROOT"] == "/srv/uploads"
    assert float(found["CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT"]) > 2 * 60


def test_what_machines_must_share_is_asked_for(tmp_path):
    found = told(tmp_path, BROKER_URL=RABBIT)
    assert found["checks"] == ["checks.E030", "config.E004", "config.E005", "config.E006", "config.W001"]
