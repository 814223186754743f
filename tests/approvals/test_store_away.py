"""A file store that is away: a case can be read and decided as before, and nothing that was typed is lost."""

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from django.core.files.storage import default_storage

from approvals.screens import store
from processes import pipeline
from processes.errors import ToolError
from processes.models import Upload
from processes.runs import LostLockError
from tests.approvals.decide_scene import (
    CHANGED,
    TASK,
    a_file,
    ada,
    approval,
    house,
    kept_open,
    row,
    task,
    unsure,
)
from tests.approvals.deciding import Page

pytestmark = pytest.mark.django_db
__all__ = ["ada", "approval", "house", "task", "unsure"]

AWAY = [
    OSError("could not connect to the store at 10.0.0.9"),
    EndpointConnectionError(endpoint_url="http://10.0.0.9"),
    ClientError({"Error": {"Code": "SlowDown"}, "ResponseMetadata": {"HTTPStatusCode": 503}}, "GetObject"),
]
of_each_kind = pytest.mark.parametrize("error", AWAY, ids=lambda error: type(error).__name__)


@pytest.fixture
def away(monkeypatch):
    """`away(error)` takes the store away, `away(None)` brings it back; gives what was asked of it."""
    says, asked = [None], []

    def told(verb):
        real = getattr(default_storage, verb)

        def answer(*given):
            asked.append(verb)
            if says[0] is not None:
                raise says[0]
            return real(*given)

        return answer

    for verb in ("open", "save"):
        monkeypatch.setattr(default_storage, verb, told(verb))

    def switch(error):
        says[0] = error
        asked.clear()
        return asked

    return switch


@of_each_kind
def test_a_case_is_read_and_decided_without_its_files(ada, approval, away, error):
    away(error)
    page = ada.opens(approval)
    assert page.status == 200
    assert "report.txt" in page.html and "It can't be opened now" in page.html
    assert "recorded at upload" in page.html and "10.0.0.9" not in page.html
    assert "match their hashes" not in page.html and "Download" not in page.html
    assert ada.sends(page, decision="candidate").status_code == 303
    assert row(approval).decision == "approved"


def test_a_store_that_is_away_is_asked_once_for_a_page(house, ada, unsure, away):
    token = house.claim(house.worker, house.start(house.worker, "forms", supplier="Two"), "screen")["token"]
    files = [
        house.call(house.worker, "upload", fileName=name, contentType="text/plain", contentBase64="cmVwb3J0")
        for name in ("one.txt", "two.txt")
    ]
    house.scripted.script = [[0.7]]
    handed_in = house.submit(
        house.worker, token, output={"cleared": True, "total": 1}, next="sign",
        evidence=[{"kind": "file", "ref": file["id"]} for file in files] + [{"kind": "link", "ref": "https://e.org"}],
    )  # fmt: skip
    (item,) = handed_in["workItems"]
    asked = away(AWAY[0])
    page = ada.opens(item["id"])
    assert (page.html.count("can't be opened now"), asked) == (2, ["open"])


@of_each_kind
def test_a_file_that_is_not_stored_brings_the_form_back(ada, task, away, error):
    away(error)
    page = Page(ada.sends(ada.opens(task), **TASK, files=[a_file("one.pdf"), a_file("two.pdf")]))
    assert (page.status, kept_open(task)) == (503, True)
    assert "The file store does not answer. Send again in a moment." in page.notice
    assert "evidence: one.pdf: not stored; attach it again" in page.notice and "two.pdf" in page.notice
    assert page.links == ["#d-files"] * 2 and "files" in page.invalid
    assert (page.chosen, page.sends["output.number"]) == (["changes"], ["A-1"])
    away(None)
    assert ada.sends(page, files=[a_file()]).status_code == 303


def test_without_a_decision_too(ada, task, away):
    away(AWAY[0])
    page = Page(ada.sends(ada.opens(task), **{**TASK, "decision": ""}, files=[a_file()]))
    assert (page.status, page.sends["output.number"]) == (503, ["A-1"])
    assert "one.pdf" not in page.notice and "terms.pdf: not stored" in page.notice


def test_what_was_stored_before_stays_stored(ada, task, away):
    page = Page(ada.sends(ada.opens(task), **{**TASK, "decision": ""}, files=[a_file()]))
    away(AWAY[0])
    page = Page(ada.sends(page, **TASK, files=[a_file("two.pdf")]))
    assert (page.status, len(page.sends["stored"])) == (503, 1)
    away(None)
    assert ada.sends(page).status_code == 303


def test_a_copy_tells_of_the_file_that_is_lost(ada, unsure, away):
    away(AWAY[0])
    page = Page(ada.sends(ada.opens(unsure), copy="1", output__total="1", files=[a_file()]))
    assert (page.status, page.sends["output.total"]) == (200, ["1"])
    assert "terms.pdf: not stored; attach it again" in page.html


@of_each_kind
def test_a_decision_whose_files_cannot_be_looked_at_comes_back(ada, unsure, away, error):
    """Files that the candidate cites are hashed anew by the decision itself."""
    away(error)
    page = Page(ada.sends(ada.opens(unsure), **CHANGED))
    assert (page.status, kept_open(unsure)) == (503, True)
    assert "The file store does not answer. Send again in a moment." in page.notice
    assert (page.chosen, page.sends["output.total"]) == (["changes"], ["0.10"])
    away(None)
    assert ada.sends(page).status_code == 303


def test_a_decision_that_cites_nothing_needs_no_store(ada, unsure, away):
    away(AWAY[0])
    assert ada.sends(ada.opens(unsure), decision="return", note_return="Again.").status_code == 303


def test_an_item_that_is_decided_meanwhile_says_so_first(ada, unsure, away):
    page = ada.opens(unsure)
    ada.sends(page, decision="return", note_return="Again.")
    away(AWAY[0])
    back = Page(ada.sends(page, **CHANGED, files=[a_file()]))
    assert back.status == 409 and "already decided" in back.notice


def test_a_day_that_is_full_tells_when_to_come_back(ada, task, settings):
    settings.UPLOADS_PER_DAY = 0
    response = ada.sends(ada.opens(task), **TASK, files=[a_file()])
    page = Page(response)
    assert (page.status, response.headers["Retry-After"]) == (503, "3600")
    assert "Send again in an hour." in page.notice and "terms.pdf: at most 0 in 24 hours" in page.notice


def test_a_file_that_ran_into_another_write_is_no_error_of_the_page(ada, task, monkeypatch):
    call = pipeline.call

    def broken(tool, *given):
        if tool == "upload":
            raise LostLockError("run r_1 moved on from revision 3")
        return call(tool, *given)

    monkeypatch.setattr(pipeline, "call", broken)
    page = Page(ada.sends(ada.opens(task), **TASK, files=[a_file()]))
    assert page.status == 503 and "Somebody wrote at the same moment" in page.notice
    assert not Upload.objects.filter(by="person:ada").exists()


@pytest.mark.parametrize("fault", [ValueError("ours"), ToolError("invalid", "theirs")])
def test_nothing_else_is_taken_for_an_absent_store(fault):
    with pytest.raises(type(fault)), store.asked("nothing"):
        raise fault
