"""Deciding in the browser: the form, every refusal with what was typed kept, and where it leads."""

import re
import uuid

import pytest
from django.contrib.messages import get_messages
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from approvals.models import GroupRule
from checks import codec
from processes import pipeline
from processes.models import Run, Submission, Upload, WorkItem
from processes.runs import LostLockError
from tests.approvals.deciding import FORMS, OUTPUT, PAIR, Desk, Page, open_item, supply
from tests.world import rid

pytestmark = pytest.mark.django_db

CHANGED = {
    "decision": "changes", "output__cleared": "false", "output__total": "0.10", "kept": ["0", "1"],
    "next": "sign", "reason": "no match",
}  # fmt: skip
TASK = {
    "decision": "changes", "output__number": "A-1", "output__grade": "2", "output__opened": "2026-11-30",
    "summary": "Opened.",
}  # fmt: skip


def a_file(name="terms.pdf", content=b"%PDF", kind="application/pdf"):
    return SimpleUploadedFile(name, content, kind)


@pytest.fixture
def house(world, evaluator, settings, tmp_path):
    """Ada and Ben may decide; Cy is in another group; Olga operates."""
    settings.MEDIA_ROOT = tmp_path
    world.publish(FORMS, finance="finance", escalations="finance")
    world.scripted = evaluator
    world.worker = world.agent("screening-agent")
    world.users = {
        "ada": world.user("ada", "finance"),
        "ben": world.user("ben", "finance"),
        "cy": world.user("cy", "legal"),
        "olga": world.user("olga", operator=True),
    }
    return world


@pytest.fixture
def ada(house):
    return Desk(house.users["ada"])


@pytest.fixture
def ben(house):
    return Desk(house.users["ben"])


@pytest.fixture
def unsure(house):
    """An unsure submission's item."""
    house.scripted.script = [[0.7]]
    supply(house, house.worker)
    return open_item()


@pytest.fixture
def approval(house):
    """Nobody was unsure: an approval's item."""
    house.scripted.script = [[0.95]]
    supply(house, house.worker)
    return open_item()


@pytest.fixture
def task(house, approval, ada):
    """The approval is given: the task's item."""
    ada.sends(ada.opens(approval), decision="candidate")
    return open_item()


def row(item):
    return WorkItem.objects.get(pk=item)


def data(item):
    return codec.loads(row(item).run.data)


def kept_open(item):
    """Nothing was sent: the item is open and nobody decided."""
    return (row(item).state, row(item).decision) == ("open", "")


def told(response):
    return [str(message) for message in get_messages(response.wsgi_request)][-1]


# ---- the form


def test_nothing_is_chosen_and_nothing_filled_in(ada, unsure):
    page = ada.opens(unsure)
    assert page.choices == ["return", "candidate", "changes", "fail"]
    assert page.chosen == []
    hidden = {"csrfmiddlewaretoken", "snapshot", "seen", "requestId"}
    assert {name for name, values in page.sends.items() if any(values)} == hidden
    assert page.buttons == [
        "", "Return to screening-agent Ctrl Enter", "Complete with candidate Ctrl Enter",
        "Copy the candidate's values", "Complete with changes Ctrl Enter", "Fail the step Ctrl Enter",
    ]  # fmt: skip


def test_an_approval_has_its_own_choices(ada, approval):
    page = ada.opens(approval)
    assert page.choices == ["candidate", "return", "fail"]
    assert "screening-agent starts Screen again and reads this in run data" in page.html


def test_a_task_shows_its_fields(ada, task):
    page = ada.opens(task)
    assert page.choices == ["changes", "fail"]
    assert {"output.number", "output.grade", "output.opened", "summary"} <= set(page.sends)


@pytest.mark.parametrize("kind", ["unsure", "approval", "task"])
def test_ids_stand_once_and_no_style_or_script_is_inline(ada, request, kind):
    page = ada.opens(request.getfixturevalue(kind))
    assert len(page.ids) == len(set(page.ids))
    form = page.html[page.html.index('id="decision"') :]
    assert not re.search(r"<script(?![^>]*\bsrc=)|\sstyle=|\son\w+=|hx-on", form)


def test_what_an_agent_wrote_is_only_text(house, ada):
    evil = "<img src=x onerror=alert(1)>\"'</textarea><script>"
    house.scripted.script = [[0.7]]
    token = house.claim(house.worker, house.start(house.worker, "forms", supplier=evil), "screen")["token"]
    file = house.call(
        house.worker, "upload", fileName="<b>.txt", contentType="text/plain", contentBase64="eA=="
    )
    house.submit(
        house.worker, token, output={**OUTPUT, "terms": evil}, summary=evil, reason=evil, next="sign",
        evidence=[{"kind": "file", "ref": file["id"]}, {"kind": "link", "ref": evil}],
    )  # fmt: skip
    page = Page(ada.sends(ada.opens(open_item()), copy="1"))
    assert page.sends["output.terms"] == [evil]
    assert "<img" not in page.html
    assert "<b>.txt" not in page.html
    assert "</textarea><script>" not in page.html


# ---- who may not


def test_nobody_decides_without_signing_in(client, unsure):
    response = client.post(reverse("decide", args=[unsure]), {"decision": "candidate"})
    assert (response.status_code, kept_open(unsure)) == (302, True)
    assert "next=" in response.headers["Location"]


def test_csrf_is_needed(house, unsure):
    from django.test import Client

    client = Client(enforce_csrf_checks=True)
    client.force_login(house.users["ada"])
    response = client.post(reverse("decide", args=[unsure]), {"decision": "candidate"})
    assert (response.status_code, kept_open(unsure)) == (403, True)


@pytest.mark.parametrize("method", ["get", "head"])
def test_a_reload_of_the_decision_leads_to_the_item(ada, unsure, method):
    response = getattr(ada.client, method)(reverse("decide", args=[unsure]))
    assert response.status_code == 302
    assert response.headers["Location"] == reverse("case", args=[unsure])


@pytest.mark.parametrize("method", ["put", "delete", "patch"])
def test_other_methods_are_refused(ada, unsure, method):
    assert getattr(ada.client, method)(reverse("decide", args=[unsure])).status_code == 405


@pytest.mark.parametrize("item", ["w_0", "x", "%00", "w_0%0A", "r_1"])
def test_an_item_that_is_not_there(ada, house, item):
    assert ada.client.post(f"/items/{item}/decide/", {"decision": "fail"}).status_code == 404


def test_another_groups_item_is_not_decided(house, ada, unsure):
    cy = Desk(house.users["cy"])
    page = ada.opens(unsure)
    response = cy.client.post(page.url, {**page.sends, "decision": "candidate"})
    assert response.status_code in {403, 404}
    assert kept_open(unsure)


def test_who_may_not_decide_gets_no_form(house, unsure):
    page = Desk(house.users["cy"]).opens(unsure)
    assert page.choices == []
    assert "This item is for somebody else; you may read it." in page.html


def test_a_decided_item_says_by_whom(ada, ben, unsure):
    ben.sends(ben.opens(unsure), decision="candidate")
    page = ada.opens(unsure)
    assert page.choices == []
    assert "ben has decided this item: completed." in page.html


def test_a_groups_rule_refuses_ones_own_work(house, ada, task):
    GroupRule.objects.create(group=house.group("finance"), forbid_own_work=True)
    ada.sends(ada.opens(task), **TASK, files=[a_file()])
    last = open_item()
    page = Page(ada.sends(ada.opens(last), decision="candidate", note_candidate="Mine."))
    assert page.status == 403
    assert "your own work" in page.notice
    assert page.sends["note-candidate"] == ["Mine."]
    assert kept_open(last)


# ---- what is not sent


@pytest.mark.parametrize("decision", [None, "", "approved", "completed", "x"])
def test_without_a_choice_nothing_is_sent(ada, unsure, decision):
    page = ada.opens(unsure)
    page = Page(
        ada.sends(page, note_return="Keep me.", **({"decision": decision} if decision is not None else {}))
    )
    assert (page.status, page.chosen, kept_open(unsure)) == (400, [], True)
    assert "Choose a decision first" in page.notice
    assert page.sends["note-return"] == ["Keep me."]


def test_a_task_takes_no_return(ada, task):
    assert Page(ada.sends(ada.opens(task), decision="return", note_return="x")).status == 400
    assert kept_open(task)


@pytest.mark.parametrize(("choice", "note"), [("return", ""), ("return", " \n"), ("fail", "")])
def test_a_note_is_asked_for_beside_its_field(ada, unsure, choice, note):
    page = Page(
        ada.sends(ada.opens(unsure), decision=choice, **{f"note_{choice}": note, "output__total": "x"})
    )
    assert (page.status, page.chosen, page.invalid) == (422, [choice], {f"note-{choice}"})
    assert page.links == [f"#d-note-{choice}"]
    assert page.sends["output.total"] == ["x"]
    assert kept_open(unsure)


def test_a_note_that_is_too_long_is_refused_by_the_contract(ada, unsure):
    page = Page(ada.sends(ada.opens(unsure), decision="return", note_return="x" * 4001))
    assert (page.status, page.invalid) == (400, {"note-return"})
    assert "4001 characters are more than 4000" in page.notice
    assert page.sends["note-return"] == ["x" * 4001]


@pytest.mark.parametrize(
    ("field", "text", "said"),
    [
        ("output__total", "12,50", "total: 12,50 is no number"),
        ("output__total", "", "total: missing"),
        ("output__terms", "a\x00b", "U+0000"),
        ("next", "", "next: required, one of sign, declined"),
        ("next", "approve", "next: required, one of sign, declined"),
        ("reason", "  ", "reason: required"),
        ("summary", "x" * 2001, "summary: 2001 characters are more than 2000"),
        ("link", "javascript:alert(1)", "evidence: write the whole address"),
        ("kept", ["1"], "evidence: file required"),
        ("kept", ["0"], "evidence: link required"),
        ("output__risk", "medium", "risk: choose one of low, high"),
    ],
)
def test_what_is_wrong_stands_beside_its_field_and_all_is_kept(ada, unsure, field, text, said):
    page = Page(ada.sends(ada.opens(unsure), **{**CHANGED, "note_return": "Keep me.", field: text}))
    assert page.status in {400, 422}
    assert said in page.notice
    assert page.chosen == ["changes"]
    assert page.sends["output.cleared"] == ["false"]
    assert page.sends["note-return"] == ["Keep me."]
    for link in page.links:
        assert link.removeprefix("#") in page.ids
    name = field.replace("__", ".")
    if name.startswith("output") and name != "output.risk":
        assert page.sends[name] == ([text] if "\x00" not in text else ["a�b"]) or "\x00" in text
        assert page.invalid == {name}
    assert kept_open(unsure)


def test_several_things_are_counted(ada, unsure):
    page = Page(ada.sends(ada.opens(unsure), decision="changes", output__total="x"))
    assert page.notice.startswith(
        "Not accepted: 6 things to put right. Nothing was sent, all you typed is kept."
    )
    assert page.links == ["#d-o0-0", "#d-o1", "#d-files", "#d-link-0", "#d-next", "#d-reason"]


def test_a_check_that_fails_is_told_in_its_words(house, ada, task):
    house.scripted.script = [[0.12]]
    page = Page(ada.sends(ada.opens(task), **TASK, files=[a_file()]))
    assert page.status == 422
    assert "check: The account fits the supplier. → no (0.12)" in page.notice
    assert page.sends["output.number"] == ["A-1"]
    assert len(page.sends["stored"]) == 1
    assert kept_open(task)


def test_a_form_of_an_older_run_is_stale(ada, unsure):
    page = ada.opens(unsure)
    before = page.sends["requestId"]
    page = Page(ada.sends(page, decision="return", note_return="Search again.", snapshot="0" * 64, seen="1"))
    assert (page.status, page.chosen, kept_open(unsure)) == (409, [], True)
    assert "The run has changed since you opened it. Nothing was sent." in page.notice
    assert "screening-agent submitted attempt 1" in page.notice
    assert "started the run" not in page.notice
    assert page.sends["note-return"] == ["Search again."]
    assert page.sends["requestId"] != before
    again = ada.sends(page, decision="return")
    assert (again.status_code, row(unsure).decision) == (303, "returned")


def test_a_sibling_branch_makes_a_form_stale(house, ada, ben):
    """What really happens: somebody else completes a step of the same run in the meantime."""
    house.publish(PAIR, finance="finance")
    house.call(house.worker, "start_run", process="pair", inputs={"supplier": "x"})
    left, right = (WorkItem.objects.get(step__name=name).pk for name in ("left", "right"))
    mine = ada.opens(left)
    ben.sends(ben.opens(right), decision="changes", output__c="done")
    page = Page(ada.sends(mine, decision="changes", output__a="1.50", output__b="Keep me.", note_fail="No."))
    assert (page.status, page.chosen, kept_open(left)) == (409, [], True)
    assert "ben completed Right" in page.notice
    assert "screening-agent started" not in page.notice
    assert page.sends["output.a"] == ["1.50"]
    assert page.sends["note-fail"] == ["No."]
    response = ada.sends(page, decision="changes")
    assert told(response) == "Left is completed. The run has ended: done. Nothing else waits for you."


def test_a_stale_form_is_told_so_before_its_errors(ada, unsure):
    page = Page(ada.sends(ada.opens(unsure), decision="changes", output__total="x", snapshot="1" * 64))
    assert (page.status, page.invalid) == (409, set())
    assert page.sends["output.total"] == ["x"]


@pytest.mark.parametrize("broken", ["", "x y", "ü" * 10, "0" * 500, "<b>"])
def test_a_form_without_a_snapshot_is_stale(ada, unsure, broken):
    assert Page(ada.sends(ada.opens(unsure), decision="candidate", snapshot=broken)).status == 409
    assert kept_open(unsure)


@pytest.mark.parametrize("seen", ["", "-1", "x", "9" * 50, "²"])
def test_a_made_up_history_number_does_no_harm(ada, unsure, seen):
    page = Page(ada.sends(ada.opens(unsure), decision="candidate", snapshot="0" * 64, seen=seen))
    assert page.status == 409


def test_a_form_with_errors_keeps_what_its_sender_had_seen(ada, unsure):
    """Only a stale form gets a new snapshot, so that nobody decides on what they have not read."""
    shown = ada.opens(unsure)
    page = Page(ada.sends(shown, decision="return", note_return=""))
    for name in ("snapshot", "seen", "requestId"):
        assert page.sends[name] == shown.sends[name]


def test_the_second_of_two_people_reads_who_was_first(ada, ben, unsure, house):
    mine = ada.opens(unsure)
    ben.sends(ben.opens(unsure), decision="return", note_return="Search again.")
    page = Page(ada.sends(mine, **CHANGED, note_fail="Broken."))
    assert page.status == 409
    assert page.notice.startswith("ben has already decided this item: returned")
    assert page.choices == []
    assert {"Broken.", "0.10", "no match"} <= set(page.readonly)
    assert page.links == [reverse("queue")]


def test_the_second_is_offered_the_next_item(ada, ben, unsure, house):
    supply(house, house.worker)
    other = WorkItem.objects.exclude(pk=unsure).get(state="open").pk
    mine = ada.opens(unsure)
    ben.sends(ben.opens(unsure), decision="fail", note_fail="No.")
    page = Page(ada.sends(mine, decision="candidate"))
    assert page.status == 409
    assert page.links == [reverse("case", args=[other])]


def test_an_ended_run_takes_no_decision(house, ada, unsure):
    mine = ada.opens(unsure)
    olga = house.person("otto", operator=True)
    house.call(olga, "cancel", runId=row(unsure).run_id, reason="Started twice.")
    page = Page(ada.sends(mine, decision="return", note_return="Keep me."))
    assert page.status == 409
    assert page.notice.startswith("The run was cancelled by otto, ")
    assert "Nothing was sent. Started twice." in page.notice
    assert page.readonly == ["Keep me."]


def test_an_unreadable_form_of_an_ended_run_is_told_of_its_end(house, ada, unsure):
    mine = ada.opens(unsure)
    house.call(house.person("otto", operator=True), "cancel", runId=row(unsure).run_id, reason="Twice.")
    page = Page(ada.sends(mine, decision="changes", output__total="x"))
    assert page.status == 409
    assert "otto" in page.notice


def test_while_it_is_checked_the_same_form_waits(house, ada, task):
    page = ada.opens(task)
    second = []

    def twice():
        house.scripted.before = None
        second.append(ada.sends(page, **TASK, files=[a_file()]))

    house.scripted.before = twice
    first = ada.sends(page, **TASK, files=[a_file()])
    assert first.status_code == 303
    (waiting,) = second
    assert (waiting.status_code, waiting.headers["Retry-After"]) == (503, "2")
    back = Page(waiting)
    assert "being checked. Send again in a moment" in back.notice
    assert back.sends["requestId"] == page.sends["requestId"]
    assert back.chosen == ["changes"]
    again = ada.sends(back)
    assert (again.status_code, row(task).decision) == (303, "completed")


def test_a_write_that_ran_into_another_keeps_what_was_typed(ada, task, monkeypatch):
    """A guard of ours that failed: nothing was written, nothing is lost, and nobody sees a trace."""
    page = ada.opens(task)
    call = pipeline.call

    def broken(tool, *given):
        if tool != "decide":
            return call(tool, *given)
        monkeypatch.setattr(pipeline, "call", call)
        raise LostLockError("run r_1 moved on from revision 3")

    monkeypatch.setattr(pipeline, "call", broken)
    back = Page(ada.sends(page, **TASK, files=[a_file()]))
    assert (back.status, kept_open(task)) == (503, True)
    assert "Somebody wrote at the same moment. Send again" in back.notice and "revision" not in back.html
    assert ada.sends(back).status_code == 303


def test_an_evaluator_that_does_not_answer_asks_to_send_again(house, ada, task):
    house.scripted.script = ["down"]
    page = Page(ada.sends(ada.opens(task), **TASK, files=[a_file()]))
    assert (page.status, kept_open(task)) == (503, True)
    assert "The evaluator did not answer. Send again in a moment." in page.notice and "down" in page.notice
    house.scripted.script = [[0.95]]
    assert ada.sends(page).status_code == 303
    assert Submission.objects.filter(attempt__step__name="account").count() == 1


# ---- sent once


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


# ---- files


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


# ---- copying


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


# ---- what is sent


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
