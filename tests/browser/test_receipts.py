"""Verifying a run's receipts in a real browser, and their export offline with what the server publishes."""

import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from django.contrib.auth.models import User
from django.db import models

from processes.models import Submission
from tests.browser.looking import accessible
from tests.processes.flows import cast
from tests.world import SCREENING

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def run(world, evaluator):
    User.objects.create_superuser("root", "root@example.org", "pass-word-1")
    world.publish(SCREENING, finance="finance", escalations="finance")
    c = cast(world)
    evaluator.script = [[0.7]]
    run = world.start(c.agent)
    world.submit(c.agent, world.claim(c.agent, run)["token"])
    world.decide(c.ada, run, "completed")
    world.decide(c.ada, run, "rejected", note="Not this supplier.")
    return run["run"]["id"]


@pytest.mark.parametrize(
    ("width", "dark", "script"), [(1440, False, True), (390, True, True), (1440, False, False)]
)
def test_from_the_run_to_its_receipts_and_what_no_longer_holds(browse, run, width, dark, script):
    look = accessible if script else (lambda _: None)
    watched = browse(width=width, dark=dark, script=script)
    page = watched.sign_in("root")
    page.goto(f"{watched.base}/admin/processes/run/{run}/change/")
    with page.expect_navigation():
        page.click("text=verify 3 receipts")
    look(page)
    assert "3 receipts verified just now" in page.inner_text("main")
    if script:
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.click("summary >> nth=0")
    assert page.inner_text(".jws >> nth=0").count(".") == 2
    assert '"pass": 0.9' in page.inner_text(".says >> nth=0")
    look(page)  # nothing in it that only a mouse could scroll
    if script:
        assert page.eval_on_selector(".says >> nth=0", "it => it.scrollHeight <= it.clientHeight")

    models.QuerySet(Submission).update(by="agent:other")
    page.reload()
    look(page)
    assert "Not all of it holds." in page.inner_text("main")
    assert page.locator("tbody tr", has_text="What is on record is not what was signed").count() == 1


def test_the_export_is_verified_without_the_server(browse, run, tmp_path):
    watched = browse()
    page = watched.sign_in("root")
    page.goto(f"{watched.base}/admin/processes/run/{run}/receipts/")
    with page.expect_download() as waiting:
        page.click("text=Export for verification elsewhere")
    file, jwks = tmp_path / "receipts.jsonl", tmp_path / "jwks.json"
    waiting.value.save_as(file)
    jwks.write_bytes(httpx.get(f"{watched.base}/.well-known/jwks.json", trust_env=False).content)

    def verify():
        command = [sys.executable, "-m", "checks.receipts", "verify", str(file), "--jwks", str(jwks)]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert verify().returncode == 0, verify().stdout
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:2] + lines[3:]))
    found = verify()
    assert found.returncode == 1 and "missing" in found.stdout
