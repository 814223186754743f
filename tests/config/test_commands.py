"""Commands with odd arguments: one line that says what is wrong, and never a stack trace."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from checks.models import Key

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("agent", "create", ""), "1 to 64 characters"),
        (("agent", "create", "x" * 101), "1 to 64 characters"),
        (("agent", "create", "odd name"), "slug"),
        (("agent", "revoke", "nobody"), "no agent nobody"),
        (("judge_key", "create", ""), "1 to 100 characters"),
        (("judge_key", "create", "two\nlines"), "1 to 100 characters"),
        (("judge_key", "create", "k", "--calls-per-day", "-1"), "from 0 to"),
        (("judge_key", "create", "k", "--calls-per-day", "9" * 30), "from 0 to"),
        (("demo", "--port", "99999999"), "no port"),
        (("demo", "--port", "0"), "no port"),
    ],
)
def test_a_wrong_argument_is_named(command, words):
    with pytest.raises(CommandError, match=words):
        call_command(*command)
    assert not Key.objects.exists()


@pytest.mark.parametrize(
    "command",
    [("judge_key", "list"), ("receipt_key", "list"), ("agent", "create", "a"), ("export_receipts",)],
)
def test_before_the_first_migrate(tmp_path, command):
    kept = {k: v for k, v in os.environ.items() if k not in ("DATABASE_URL", "DJANGO_SETTINGS_MODULE")}
    done = subprocess.run(
        [sys.executable, "manage.py", *command], cwd=ROOT, env={**kept, "VAR_DIR": str(tmp_path)}, text=True,
        capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert "Run: manage.py migrate" in done.stderr and "Traceback" not in done.stderr
