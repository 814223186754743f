"""Whoever publishes a process with a check is told which host will see its runs, and says yes to it."""

import pytest

from checks import roster
from processes.publishing import draft
from tests.processes.staff import AUTHOR, sign_in
from tests.processes.test_admin_versions import form_of, page_of
from tests.processes.test_publishing import PLAIN
from tests.world import SCREENING

pytestmark = pytest.mark.django_db
HOST = "models.example.org"


@pytest.fixture
def elsewhere(settings, client):
    settings.EVALUATOR, settings.EVALUATOR_MODEL = "system_one", "m-1"
    settings.EVALUATOR_URL = f"https://{HOST}"
    roster.forget()
    yield sign_in(client, *AUTHOR)
    roster.forget()


def groups(world):
    return {"role-finance": world.group("Finance").pk}


def test_nothing_is_published_before_somebody_said_yes(client, elsewhere, world):
    version = draft(SCREENING, by="person:ada")
    assert f"{HOST} may see what runs of this process hold" in client.get(page_of(version)).content.decode()
    sent = form_of(client, version, **groups(world))
    html = client.post(page_of(version), sent).content.decode()
    assert "Nothing was published." in html
    assert "Say whether the model may see its runs." in html
    version.refresh_from_db()
    assert version.number is None
    client.post(page_of(version), {**sent, "consent": "on"})
    version.refresh_from_db()
    assert version.number == 1


def test_a_process_without_a_check_is_not_asked_about(client, elsewhere):
    assert "may see what runs" not in client.get(page_of(draft(PLAIN, by="p"))).content.decode()


def test_word_match_sees_nothing_elsewhere(client, elsewhere, settings):
    settings.EVALUATOR, settings.EVALUATOR_URL, settings.EVALUATOR_MODEL = "heuristic", "", ""
    roster.forget()
    assert "may see what runs" not in client.get(page_of(draft(SCREENING, by="p"))).content.decode()


def test_the_command_says_so_too(elsewhere, tmp_path, capsys):
    from django.core.management import call_command

    path = tmp_path / "PROCESS.md"
    path.write_text(SCREENING)
    call_command("publish", str(path), "--role", "finance=Finance")
    assert f"{HOST} will be shown what its runs hold" in capsys.readouterr().out
