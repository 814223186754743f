"""A decision that is sent: once, with its files, copied in, and what is left behind."""

import uuid

import pytest
from django.core.files.storage import default_storage
from django.urls import reverse

from checks import codec
from processes.models import Run, Submission, Upload
from tests.approvals.decide_scene import (
    CHANGED,
    TASK,
    a_file,
    ada,
    approval,
    ben,
    data,
    house,
    kept_open,
    row,
    task,
    told,
    unsure,
)
from tests.approvals.deciding import OUTPUT, Desk, Page, open_item
from tests.world import rid

pytestmark = pytest.mark.django_db
__all__ = ["ada", "approval", "ben", "house", "task", "unsure"]


def test_a_double_click_decides_once(ada, unsure):
    page = ada.opens(unsure)
    first, second = (ada.sends(page, decision="return", note_return="Again.") for _ in range(2))
    assert (first.status_code, second.status_code) == (303, 303)
    assert row(unsure).run.history.filter(what="returned").count() == 1


def test_a_double_click_with_a_file_stores_it_once(house, ada, task):
    page = ada.opens(task)
    first, second = (ada.sends(page, **TASK, files=[a_file()]) for _ in range(2))
    assert (first.status_code, second.status_code) == (303, 303)
    assert Upload.objects.filter(by="person:ada").count() == 1


def test_a_sent_form_from_the_browsers_history_does_nothing_new(ada, unsure):
    page = ada.opens(unsure)
    ada.sends(page, decision="return", note_return="Again.")
    back = Page(ada.sends(page, decision="fail", note_fail="No."))
    assert back.status == 409
    assert back.notice.startswith("You have already decided this item: returned")
    assert row(unsure).decision == "returned"


def test_another_persons_request_is_not_answered(ada, ben, unsure):
    taken = rid()
    page = ben.opens(unsure)
    ada.sends(ada.opens(unsure), decision="return", note_return="x", requestId=taken)
    assert Page(ben.sends(page, decision="return", note_return="x", requestId=taken)).status == 409


def test_a_request_that_was_used_elsewhere_gets_a_new_one(house, ada, unsure):
    used = rid()
    house.call(house.worker, "start_run", process="forms", inputs={"supplier": "x"}, requestId=used)
    page = Page(ada.sends(ada.opens(unsure), decision="return", note_return="x", requestId=used))
    assert (page.status, kept_open(unsure)) == (409, True)
    assert "sent before" in page.notice
    assert page.sends["requestId"] != [used]
    assert ada.sends(page).status_code == 303


@pytest.mark.parametrize("request_id", ["", "x" * 500, "not-a-uuid"])
def test_a_made_up_request_id_is_replaced(ada, unsure, request_id):
    assert ada.sends(ada.opens(unsure), decision="candidate", requestId=request_id).status_code == 303


def test_a_file_survives_a_form_that_comes_back(house, ada, task):
    page = Page(ada.sends(ada.opens(task), **{**TASK, "output__opened": "2026-02-31"}, files=[a_file()]))
    assert page.status == 422
    assert "already uploaded" in page.html
    assert "no day of the calendar" in page.notice
    assert "evidence" not in page.notice
    assert ada.sends(page, output__opened="2026-11-30").status_code == 303
    (cited,) = data(task)["steps"]["account"]["evidence"]
    assert Upload.objects.get(pk=cited["ref"]).file_name == "terms.pdf"


def test_an_uploaded_file_can_be_left_out(ada, task):
    page = Page(ada.sends(ada.opens(task), decision="", files=[a_file()]))
    assert len(page.sends["stored"]) == 1
    page = Page(ada.sends(page, **TASK, drop=["stored"]))
    assert "evidence: file required" in page.notice


def test_the_same_file_attached_again_is_cited_once(ada, task):
    page = Page(ada.sends(ada.opens(task), decision="", files=[a_file()]))
    assert ada.sends(page, **TASK, files=[a_file()]).status_code == 303
    assert len(data(task)["steps"]["account"]["evidence"]) == 1


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (a_file(content=b""), "terms.pdf: is empty"),
        (a_file(content=b"x" * 2048), "terms.pdf: larger than 1.0 KB"),
    ],
)
def test_a_file_that_cannot_be_stored(settings, ada, task, file, said):
    settings.MAX_UPLOAD_BYTES = 1024
    page = Page(ada.sends(ada.opens(task), **TASK, files=[file, a_file("good.txt", b"ok", "text/plain")]))
    assert page.status == 422
    assert said in page.notice
    assert page.links == ["#d-files"]
    assert len(page.sends["stored"]) == 1
    assert kept_open(task)


def test_a_strange_media_type_is_stored_as_bytes(ada, task):
    assert ada.sends(ada.opens(task), **TASK, files=[a_file(kind="no type")]).status_code == 303
    assert Upload.objects.get(by="person:ada").content_type == "application/octet-stream"


@pytest.mark.parametrize("token", ["", "x", "x:y:z", "WyJmXzAiLCAieCJd:1abc:sig"])
def test_a_made_up_upload_is_not_cited(ada, task, token):
    page = Page(ada.sends(ada.opens(task), **TASK, stored=[token]))
    assert (page.status, page.sends.get("stored")) == (422, None)


def test_an_upload_is_nobody_elses(ada, ben, task):
    page = Page(ada.sends(ada.opens(task), decision="", files=[a_file()]))
    back = Page(ben.sends(ben.opens(task), **TASK, stored=page.sends["stored"]))
    assert (back.status, back.sends.get("stored")) == (422, None)


def test_a_file_whose_bytes_are_gone_is_named(ada, task):
    page = Page(ada.sends(ada.opens(task), decision="", files=[a_file()]))
    default_storage.delete(Upload.objects.get(by="person:ada").path)
    page = Page(ada.sends(page, **TASK))
    assert page.status == 422
    assert "terms.pdf: its bytes are gone" in page.notice


def test_a_file_beside_a_note_is_not_stored(ada, unsure):
    ada.sends(ada.opens(unsure), decision="return", note_return="Again.", files=[a_file()])
    assert not Upload.objects.filter(by="person:ada").exists()


def test_copying_shows_the_candidate_and_sends_nothing(ada, unsure):
    page = Page(ada.sends(ada.opens(unsure), copy="1", output__total="1"))
    assert (page.status, page.chosen, kept_open(unsure)) == (200, ["changes"], True)
    assert page.sends["output.cleared"] == ["true"]
    assert page.sends["output.total"] == ["1"]
    assert page.sends["kept"] == ["0", "1"]
    assert page.sends["next"] == ["sign"]


def test_a_copy_sent_unchanged_is_the_candidate_to_the_character(ada, unsure):
    page = Page(ada.sends(ada.opens(unsure), copy="1"))
    assert ada.sends(page).status_code == 303
    assert codec.dumps(data(unsure)["steps"]["screen"]["output"]) == codec.dumps(OUTPUT)
    assert Submission.objects.get(attempt__step__name="screen").state == "accepted"


def test_returned(ada, unsure):
    response = ada.sends(ada.opens(unsure), decision="return", note_return="Search\r\nagain.")
    assert (response.status_code, response.headers["Location"]) == (303, reverse("queue"))
    assert told(response) == "Returned to screening-agent. Nothing else waits for you."
    handoff = codec.loads(row(unsure).attempt.handoff)
    assert handoff["returned"]["note"] == "Search\nagain."
    assert handoff["returned"]["by"] == "person:ada"


def test_completed_with_the_candidate_leads_to_the_next_item(ada, unsure):
    response = ada.sends(ada.opens(unsure), decision="candidate", note_return="left", output__total="x")
    assert response.headers["Location"] == reverse("case", args=[open_item()])
    assert told(response) == "Screen is completed. Next: Marlow Paper."
    assert data(unsure)["steps"]["screen"]["output"] == OUTPUT


def test_completed_with_changes(ada, unsure):
    page = ada.opens(unsure)
    response = ada.sends(
        page, **{**CHANGED, "kept": ["0"]}, link="https://example.org/b", files=[a_file()], output__risk="low"
    )
    assert response.status_code == 303
    done = data(unsure)["steps"]["screen"]
    assert codec.dumps(done["output"]) == '{"cleared":false,"total":0.10,"risk":"low"}'
    assert [item["kind"] for item in done["evidence"]] == ["file", "file", "link"]
    assert (done["next"], done["reason"], done["by"]) == ("sign", "no match", "person:ada")


def test_the_chosen_route_is_taken(ada, unsure):
    response = ada.sends(ada.opens(unsure), **{**CHANGED, "next": "declined"})
    assert told(response) == "Screen is completed. The run has ended: declined. Nothing else waits for you."


@pytest.mark.parametrize(
    ("choice", "note", "what"),
    [("candidate", "", "approved"), ("candidate", "Fine.", "approved"), ("return", "No.", "rejected"),
     ("fail", "No.", "failed")],
)  # fmt: skip
def test_an_approval_is_decided(ada, approval, choice, note, what):
    response = ada.sends(ada.opens(approval), decision=choice, **{f"note_{choice}": note})
    assert (response.status_code, row(approval).decision) == (303, what)
    assert data(approval)["steps"]["sign"].get("note", "") == note


def test_a_rejection_tells_where_it_went(ada, approval):
    response = ada.sends(ada.opens(approval), decision="return", note_return="No.")
    assert told(response) == "Rejected: back to Screen. Nothing else waits for you."


def test_a_task_is_completed_with_its_file(house, ada, task):
    response = ada.sends(ada.opens(task), **TASK, files=[a_file()])
    assert told(response) == "Account is completed. Next: Marlow Paper."
    assert codec.dumps(data(task)["steps"]["account"]["output"]) == (
        '{"number":"A-1","grade":2,"opened":"2026-11-30"}'
    )


def test_a_task_that_is_unsure_says_so(house, ada, task):
    house.scripted.script = [[0.7]]
    response = ada.sends(ada.opens(task), **TASK, files=[a_file()])
    assert told(response).startswith("Handed in. The check was unsure, so a person looks at it.")
    page = ada.opens(open_item())
    assert "Return to finance Ctrl Enter" in page.buttons
    assert ada.sends(page, decision="return", note_return="Look again.").status_code == 303
    assert row(open_item()).step.name == "account"


def test_an_agents_own_escalation_has_no_candidate(house, ada):
    run = house.start(house.worker, "forms", supplier="x")
    token = house.claim(house.worker, run, "screen")["token"]
    house.call(house.worker, "escalate", token=token, note="I can't.")
    page = ada.opens(open_item())
    assert page.choices == ["return", "changes", "fail"]
    assert "Return to screening-agent Ctrl Enter" in page.buttons
    assert ada.sends(page, decision="fail", note_fail="Nobody can.").status_code == 303
    assert Run.objects.get().outcome == "failed"


def test_htmx_is_led_on_by_a_header(ada, unsure):
    ada.headers = {"HX-Request": "true"}
    response = ada.sends(ada.opens(unsure), decision="candidate")
    assert response.status_code == 200
    assert response.headers["HX-Redirect"] == reverse("case", args=[open_item()])


def test_an_operator_decides_an_escalation_of_another_group(house, unsure):
    olga = Desk(house.users["olga"])
    assert olga.sends(olga.opens(unsure), decision="candidate").status_code == 303


def test_a_fresh_request_id_is_a_uuid(ada, unsure):
    one, two = ada.opens(unsure), ada.opens(unsure)
    assert uuid.UUID(one.sends["requestId"][0]) != uuid.UUID(two.sends["requestId"][0])
