"""The form as it is drawn: nothing chosen, nothing filled in, every error beside its field."""

from dataclasses import replace

import pytest

from approvals.choices import choices, onward
from approvals.controls import describe
from approvals.forms import FILE, Typed
from processes.fields import Field
from tests.approvals.casework import case, right, typed, unsure


@pytest.mark.parametrize(
    ("one", "values", "keys"),
    [
        (unsure(), ["return", "candidate", "changes", "fail"], "racf"),
        (case(escalated=True), ["return", "changes", "fail"], "raf"),
        (case("approve"), ["candidate", "return", "fail"], "arf"),
        (case("account"), ["changes", "fail"], "af"),
    ],
)
def test_the_choices_of_each_item(one, values, keys):
    found = choices(one)
    assert [choice.value for choice in found] == values
    assert "".join(choice.key for choice in found) == keys


@pytest.mark.parametrize("one", [unsure(), case(escalated=True), case("approve"), case("account")])
def test_a_fresh_form_chooses_and_fills_in_nothing(one):
    form = describe(one, Typed())
    assert not form.chosen
    assert not any(control.typed for control in form.controls)
    assert not any(option.chosen for control in form.controls for option in control.options)
    assert not form.evidence or not any(
        option.chosen for option in (*form.evidence.kept, *form.evidence.stored)
    )


def test_each_choice_tells_its_consequence_and_its_reader():
    returned, candidate, changed, failed = choices(unsure())
    assert returned.send == "Return to screening-agent"
    assert "the agent reads this" in returned.reader
    assert candidate.say.startswith("The run goes on to Approve with the submission as it is: cleared true, ")
    assert "2 pieces of evidence" in candidate.say
    assert "route that you choose" in changed.say
    assert "the run ends failed" in failed.reader


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (case("approve", reworker="screening-agent"), "screening-agent starts Check vendor again"),
        (case("approve"), "Check vendor starts again"),
        (case("sign"), "the run ends rejected"),
    ],
)
def test_a_rejection_says_where_it_goes(one, said):
    assert said in next(choice for choice in choices(one) if choice.send == "Reject").reader


def test_where_a_run_goes_on():
    document = case().document
    assert onward(document, "approve") == "the run goes on to Approve"
    assert onward(document, "declined") == "the run ends: declined"
    assert onward(document, "join") == "this branch is done"


def control(one, name, sent=None, errors=None):
    return next(found for found in describe(one, sent or Typed(), errors).controls if found.label == name)


@pytest.mark.parametrize(
    ("step", "name", "widget", "rows"),
    [("check_vendor", "cleared", "radios", None), ("check_vendor", "total", "line", None),
     ("check_vendor", "terms", "text", 2), ("check_vendor", "owner", "line", None), ("check_vendor", "rows", "text", 3),
     ("check_vendor", "tags", "text", 3), ("account", "number", "text", 1), ("account", "grade", "select", None)],
)  # fmt: skip
def test_each_type_has_its_input(step, name, widget, rows):
    found = control(unsure() if step == "check_vendor" else case(step), name)
    assert found.widget == widget
    assert rows in (None, found.rows)


def test_long_options_are_a_select():
    long = Field(type="string", one_of=("x" * 40, "y" * 40), optional=True, source="string")
    one = unsure()
    found = control(replace(one, step=replace(one.step, output={"clause": long})), "clause")
    assert (found.widget, len(found.options), found.optional) == ("select", 2, True)


def test_an_optional_choice_can_be_taken_back():
    risk = control(unsure(), "risk", typed(output__risk=""))
    assert [(option.text, option.chosen) for option in risk.options] == [
        ("low", False),
        ("high", False),
        ("", True),
    ]
    assert [option.text for option in control(unsure(), "cleared").options] == ["true", "false"]


def test_the_candidate_stands_beside_its_field():
    assert control(unsure(), "cleared").held == "true"
    assert control(unsure(), "total").held == "48000.10"
    assert control(unsure(), "terms").held == "in the submission"
    assert control(unsure(), "owner").held == ""


def test_errors_link_to_inputs_that_take_the_focus():
    errors = {"": ("all",), FILE: ("file required",), "output.cleared": ("missing",), "reason": ("required",)}
    assert describe(unsure(), right(), errors).wrong() == (
        ("", "", "all"),
        ("cleared", "d-o0-0", "missing"),
        ("evidence", "d-files", "file required"),
        ("reason", "d-reason", "required"),
    )


def test_a_notes_error_stands_on_the_chosen_note_only():
    form = describe(unsure(), typed(decision="fail"), {"note": ("needed",)})
    assert form.wrong() == (("Why it fails", "d-note-fail", "needed"),)
    assert [panel.note.errors for panel in form.panels if panel.note] == [(), ("needed",)]


def test_what_was_typed_comes_back_but_the_choice_when_it_is_taken_away():
    sent = right(output__total=" 12,50", note_fail="no").unchosen()
    form = describe(unsure(), sent)
    assert not form.chosen
    assert control(unsure(), "total", sent).text == " 12,50"
    assert next(panel.note.text for panel in form.panels if panel.choice.value == "fail") == "no"
    assert [option.chosen for option in form.evidence.kept] == [True, True]


def test_every_id_is_there_once():
    form = describe(replace(unsure(), worker="x"), right(link=["https://a.example", "https://b.example"]))
    ids = [one.id for one in form.controls] + [option.id for one in form.controls for option in one.options]
    ids += [option.id for option in form.evidence.kept]
    assert len(ids) == len(set(ids))
    assert not any(" " in one or '"' in one for one in ids)
