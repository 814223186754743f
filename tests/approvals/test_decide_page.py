"""The decision's form, as a browser sends it: what is shown, who may not, what is not sent."""

import re

import pytest
from django.urls import reverse

from approvals.models import GroupRule
from processes import pipeline
from processes.models import Submission, WorkItem
from processes.runs import LostLockError
from tests.approvals.decide_scene import (
    CHANGED,
    TASK,
    a_file,
    ada,
    approval,
    ben,
    house,
    kept_open,
    row,
    task,
    told,
    unsure,
)
from tests.approvals.deciding import OUTPUT, PAIR, Desk, Page, open_item, supply

pytestmark = pytest.mark.django_db
__all__ = ["ada", "approval", "ben", "house", "task", "unsure"]


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


class TestFactsOfATask:
    FILE = """\
---
name: task-sums
description: A person adds it up.
steps:
  - id: add
    task: Add it up.
    person: finance
    output: { total: number, note: string }
    facts:
      - { type: numeric, value: output.total, expected: 12, tolerance: 0.5 }
      - { type: regex, value: output.note, expected: '^<b> ' }
  - { id: done, finish: added }
---
"""

    def test_are_told_beside_its_fields_before_it_is_sent(self, house, ada, settings):
        settings.FACTS_1 = True
        house.publish(self.FILE, finance="finance")
        house.call(house.agent("any"), "start_run", process="task-sums", inputs={})
        html = ada.opens(open_item()).html
        form = html[html.index('id="decision"') :]
        assert "Will be checked" in form
        assert "<code>total</code> must come to 12, give or take 0.5." in form
        assert "<code>note</code> must match the pattern “^&lt;b&gt; ”." in form

    def test_are_not_told_where_there_are_none(self, ada, task):
        assert "Will be checked" not in ada.opens(task).html

    def test_are_not_told_of_an_escalated_step_which_is_held_to_none(self, house, ada, settings):
        settings.FACTS_1 = True
        agents = self.FILE.replace("    task:", "    agent:").replace("    person: finance\n", "")
        house.publish(agents, escalations="finance")
        worker = house.agent("any")
        run = house.call(worker, "start_run", process="task-sums", inputs={})
        house.call(worker, "escalate", token=house.claim(worker, run, "add")["token"], note="Too hard.")
        page = ada.opens(open_item())
        assert "output.total" in page.sends
        assert "Will be checked" not in page.html
