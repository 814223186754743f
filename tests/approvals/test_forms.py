"""What a person types becomes the `decide` arguments, or an error beside its field."""

import pytest

from approvals.forms import CHOOSE, FILE, LINK, Stored, by_field, copied, place, read
from checks import codec
from tests.approvals.casework import HELD, case, right, typed, unsure

# ---- refusals


@pytest.mark.parametrize("decision", ["", "approved", "completed", "Return", "return "])
def test_without_a_known_choice_nothing_is_read(decision):
    reading = read(unsure(), typed(decision=decision, note_return="x"))
    assert reading.errors == {"": (CHOOSE,)}
    assert not reading.arguments


@pytest.mark.parametrize(
    ("step", "choice"), [("approve", "changes"), ("account", "return"), ("account", "candidate")]
)
def test_a_choice_of_another_kind_of_item_is_none(step, choice):
    assert read(case(step), typed(decision=choice)).errors == {"": (CHOOSE,)}


def test_there_is_no_candidate_to_complete_with():
    assert read(case(escalated=True), typed(decision="candidate")).errors == {"": (CHOOSE,)}


@pytest.mark.parametrize(
    ("step", "choice"), [("check_vendor", "return"), ("approve", "return"), ("account", "fail")]
)
@pytest.mark.parametrize("note", ["", "  \r\n "])
def test_a_note_is_needed(step, choice, note):
    one = unsure() if step == "check_vendor" else case(step)
    assert list(read(one, typed(decision=choice, **{f"note_{choice}": note})).errors) == ["note"]


def test_a_note_of_another_choice_does_not_count():
    assert "note" in read(unsure(), typed(decision="return", note_fail="because")).errors


@pytest.mark.parametrize(
    ("field", "text", "said"),
    [
        ("output__cleared", "yes", "choose one of true, false"),
        ("output__total", "12,50", "12,50 is no number"),
        ("output__risk", "medium", "choose one of low, high"),
        ("output__seen_on", "2026-02-31", "no day of the calendar"),
        ("output__seen_at", "2026-11-30", "offset"),
        ("output__amounts", "1\nmany", "line 2"),
        ("output__more", "{", "not JSON"),
        ("output__rows", "{}", "a list"),
        ("output__terms", "a\x00b", "U+0000"),
        ("summary", "\x00", "U+0000"),
        ("reason", "\x00", "U+0000"),
    ],
)
def test_what_cannot_be_read_is_told_beside_its_field(field, text, said):
    reading = read(unsure(), right(**{field: text}))
    assert list(reading.errors) == [field.replace("__", ".")]
    assert said in reading.errors[field.replace("__", ".")][0]


@pytest.mark.parametrize(
    "link", ["report", "javascript:alert(1)", "https://", "https:///x", "http://a b", "ftp://a/b"]
)
def test_a_link_is_an_address_of_the_web(link):
    assert list(read(unsure(), right(link=[link, "https://example.org"])).errors) == [LINK]


def test_one_bad_value_brings_everything_else_to_light():
    sent = typed(decision="changes", output__total="x", output__tags="a")
    errors = read(unsure(), sent).errors
    assert errors["output.cleared"] == ("missing",)
    assert "no number" in errors["output.total"][0]
    assert errors[FILE] == ("file required",)
    assert errors[LINK] == ("link required",)
    assert errors["next"] == ("required, one of approve, declined",)
    assert errors["reason"] == ("required",)


@pytest.mark.parametrize(
    ("line", "key", "words"),
    [
        ("output.cleared: expected boolean", "output.cleared", "expected boolean"),
        ("output.tags[2]: expected string", "output.tags", "entry 3: expected string"),
        ('output.strange "name: missing', 'output.strange "name', "missing"),
        ("evidence: file required", FILE, "file required"),
        ("evidence: link required", LINK, "link required"),
        ("evidence f_0: not found", FILE, "report.txt: not found"),
        ("next: required, one of a, b", "next", "required, one of a, b"),
        ("reason: required", "reason", "required"),
        ("summary: 2001 characters are more than 2000", "summary", "2001 characters are more than 2000"),
        ("note: 4001 characters are more than 4000", "note", "4001 characters are more than 4000"),
        ("check: Is it so? → no (0.12)", "", "check: Is it so? → no (0.12)"),
        ("run data: 9 bytes, at most 8; put large content in a file", "",
         "run data: 9 bytes, at most 8; put large content in a file"),
        ("output.unknown: not declared", "", "output.unknown: not declared"),
        ("evidence", "", "evidence"),
        ("", "", ""),
    ],
)  # fmt: skip
def test_the_protocols_issues_find_their_field(line, key, words):
    assert place(unsure(), line) == (key, words)


def test_several_issues_of_one_field_stand_together():
    lines = ["output.tags[0]: expected string", "output.tags[1]: expected string"]
    assert by_field(unsure(), lines) == {
        "output.tags": ("entry 1: expected string", "entry 2: expected string")
    }


# ---- what is sent


def test_the_candidate_is_taken_without_naming_anything_of_it():
    sent = right(decision="candidate", note_return="left over", output__total="x")
    assert read(unsure(), sent).arguments == {"decision": "completed"}


@pytest.mark.parametrize(
    ("step", "choice", "decision"),
    [("check_vendor", "return", "returned"), ("check_vendor", "fail", "failed"), ("approve", "return", "rejected"),
     ("approve", "fail", "failed"), ("approve", "candidate", "approved"), ("account", "fail", "failed")],
)  # fmt: skip
def test_a_note_goes_with_its_decision_and_nothing_else(step, choice, decision):
    one = unsure() if step == "check_vendor" else case(step)
    sent = right(decision=choice, summary="left over", **{f"note_{choice}": " why\r\nnot "})
    assert read(one, sent).arguments == {"decision": decision, "note": "why\nnot"}


def test_an_approval_needs_no_note():
    assert read(case("approve"), typed(decision="candidate", note_candidate=" ")).arguments == {
        "decision": "approved"
    }


def test_changes_send_everything_they_hold():
    sent = right(
        output__total="0.10", output__terms=" net 30 ", output__risk="high", output__tags="x\r\ny",
        output__more='{"a": 0.10}', output__owner=" ada@example.org ", **{"output-11": "odd"},
        link=["https://example.org/a", " "], summary="Mine.", unknown="ignored", output__unknown="ignored",
        stored=[Stored("f_9", "new.pdf", "t")],
    )  # fmt: skip
    arguments = read(unsure(), sent).arguments
    assert codec.dumps(arguments["output"]) == (
        '{"cleared":true,"total":0.10,"terms":"net 30","risk":"high","tags":["x","y"],"more":{"a":0.10},'
        '"owner":"ada@example.org","strange \\"name":"odd"}'
    )
    assert arguments["evidence"] == [
        {"kind": "file", "ref": "f_0"},
        {"kind": "link", "ref": "https://example.org/r"},
        {"kind": "file", "ref": "f_9"},
        {"kind": "link", "ref": "https://example.org/a"},
    ]
    assert {key: arguments[key] for key in ("summary", "next", "reason")} == {
        "summary": "Mine.", "next": "approve", "reason": "clear",
    }  # fmt: skip
    assert set(arguments) == {"decision", "output", "evidence", "summary", "next", "reason"}


def test_empty_fields_are_left_out_and_output_never_is():
    assert read(case("account"), typed(decision="changes", output__number=" ", summary="")).arguments == {
        "decision": "completed",
        "output": {},
    }


@pytest.mark.parametrize("kept", ["7", "-1", "x", "f_0"])
def test_evidence_that_the_candidate_does_not_have_is_not_cited(kept):
    assert read(unsure(), right(kept=[kept])).arguments["evidence"] == []


def test_stored_files_are_only_cited_where_files_are_asked_for():
    one = case("account")
    sent = typed([Stored("f_9", "x", "t")], decision="changes", link="https://example.org")
    assert "evidence" not in read(one, sent).arguments


def test_the_candidate_copied_and_sent_unchanged_is_the_candidate():
    arguments = read(unsure(), copied(unsure(), typed())).arguments
    assert codec.dumps(arguments["output"]) == codec.dumps(HELD["output"])
    assert [item["ref"] for item in arguments["evidence"]] == ["f_0", "https://example.org/r"]
    assert {key: arguments[key] for key in ("summary", "next", "reason")} == {
        key: HELD[key] for key in ("summary", "next", "reason")
    }


def test_copying_overwrites_nothing_that_was_typed():
    sent = copied(unsure(), typed(output__cleared="false", kept=["1"], summary="Mine.", note_return="keep"))
    assert sent.one("decision") == "changes"
    assert sent.one("output.cleared") == "false"
    assert sent.one("output.total") == "48000.10"
    assert sent.one("summary") == "Mine."
    assert sent.all("kept") == ("1",)
    assert sent.one("note-return") == "keep"
