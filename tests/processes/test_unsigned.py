"""A server whose key can't sign: whoever calls is told to come again, whoever runs it why, and nothing is lost or paid for."""

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from checks.models import Verdict
from checks.receipts import keys
from processes.models import HistoryEntry, Request, Submission, Version
from processes.publishing import draft
from tests.processes.flows import cast
from tests.processes.staff import AUTHOR, sign_in
from tests.processes.test_admin_versions import choices, form_of, page_of
from tests.processes.test_publishing import PLAIN
from tests.world import SCREENING, rid

pytestmark = pytest.mark.django_db(transaction=True)
WORK = {"output": {"cleared": True, "finding": "no match"}, "summary": "s", "next": "approve", "reason": "r"}


@pytest.fixture
def broken(settings):
    """`broken()` breaks the key, `broken(mended=True)` mends it."""
    whole = settings.RECEIPT_KEY

    def put(*, mended=False):
        settings.RECEIPT_KEY = whole if mended else "x"
        keys.forget()

    yield put
    put(mended=True)


@pytest.fixture
def c(world, evaluator):
    world.publish(SCREENING, finance="finance", escalations="finance")
    return cast(world)


def test_no_model_is_asked_and_the_same_call_goes_on_once_it_is_mended(world, c, evaluator, broken, caplog):
    run = world.start(c.agent)
    call = {"token": world.claim(c.agent, run)["token"], **WORK, "requestId": rid()}
    broken()
    refused = world.refused(c.agent, "submit", **call)
    assert (refused.code, refused.retry_after) == ("retry", 60) and "sign" in refused.message
    assert "RECEIPT_KEY holds no key" in caplog.text and "RECEIPT_KEY" not in refused.message
    assert evaluator.asked == [] and not Submission.objects.exists() and not Verdict.objects.exists()
    broken(mended=True)
    assert world.call(c.agent, "submit", **call)["data"]["steps"]["screen"]["check"]["verdict"] == "pass"


def test_one_that_breaks_while_a_model_is_asked_takes_nothing_back(world, c, evaluator, broken):
    run = world.start(c.agent)
    evaluator.before = broken
    refused = world.refused(c.agent, "submit", token=world.claim(c.agent, run)["token"], **WORK)
    assert refused.code == "retry"
    assert Submission.objects.get().state == "checking" and not Verdict.objects.exists()
    assert not HistoryEntry.objects.filter(what="checked").exists()


def test_a_decision_is_made_once_it_is_mended(world, c, evaluator, broken):
    evaluator.script = [[0.7]]
    run = world.start(c.agent)
    world.call(c.agent, "submit", token=world.claim(c.agent, run)["token"], **WORK)
    item = world.item(c.ada, run)
    call = {**item["decide"]["arguments"], "decision": "completed", "requestId": rid()}
    broken()
    assert world.refused(c.ada, "decide", **call).code == "retry"
    assert not Request.objects.filter(request_id=call["requestId"]).exists()
    broken(mended=True)
    world.call(c.ada, "decide", **call)


def test_the_file_is_not_published_and_says_why(world, c, broken, tmp_path):
    file = tmp_path / "PROCESS.md"
    file.write_text(SCREENING.replace("name: screening", "name: screening-too"))
    broken()
    with pytest.raises(CommandError, match=r"it can't be signed\. RECEIPT_KEY holds no key"):
        call_command("publish", str(file), "--role", "finance=finance", "--escalations", "finance")
    assert Version.objects.filter(published_at__isnull=False).count() == 1


def test_nor_on_its_page(world, client, broken):
    sign_in(client, *AUTHOR)
    version = draft(PLAIN, by="person:ada")
    sent = form_of(client, version, **choices(world), escalations=world.group("Desk").pk)
    broken()
    page = client.post(page_of(version), sent).content.decode()
    assert "it can&#x27;t be signed." in page and "RECEIPT_KEY holds no key" in page
    version.refresh_from_db()
    assert version.number is None and not version.roles.exists()


def test_the_page_says_why_nothing_is_exported(world, c, client, broken):
    run = world.start(c.agent)["run"]["id"]
    client.force_login(User.objects.create_superuser("root"))
    broken()
    answer = client.get(f"/admin/processes/run/{run}/receipts/export/", follow=True)
    assert answer.redirect_chain == [(f"/admin/processes/run/{run}/receipts/", 302)]
    assert "RECEIPT_KEY holds no key" in answer.content.decode()
