"""Words, rows, trees, differences and the map, without a database."""

from datetime import UTC, datetime, timedelta

import pytest

from approvals.reading import content, differences, maps, words
from checks import codec
from processes.document import parse
from processes.states import HistoryEvent
from tests.approvals.builders import SUPPLIER

NOW = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)


# ---- words


@pytest.mark.parametrize(
    ("after", "text", "state"),
    [
        (timedelta(minutes=100), "due in 1 h 40", "soon"),
        (timedelta(minutes=40), "due in 40 min", "soon"),
        (timedelta(hours=5), "due in 5 h", ""),
        (timedelta(hours=13), "due today 23:00", ""),
        (timedelta(hours=24), "due tomorrow 10:00", ""),
        (timedelta(days=3), "due Thu 10:00", ""),
        (timedelta(days=30), "due 30 Dec 10:00", ""),
        (timedelta(days=60), "due 29 Jan 2027", ""),
        (timedelta(minutes=-20), "overdue 20 min", "late"),
        (timedelta(days=-2), "overdue 2 d", "late"),
    ],
)
def test_due(after, text, state):
    due = words.due(NOW + after, NOW)
    assert (due.text, due.state) == (text, state)


def test_no_due():
    assert words.due(None, NOW) is None


def test_ages_and_names():
    assert words.age(NOW - timedelta(minutes=26), NOW) == "26 min old"
    assert words.age(NOW - timedelta(seconds=3), NOW) == "new"
    assert words.ago(NOW - timedelta(hours=30), NOW) == "1 d ago"
    assert words.name("agent:screening-agent") == "screening-agent"
    assert words.name("server") == "server"
    assert words.name("odd:name") == "odd:name"
    assert words.title("check_vendor") == "Check vendor"
    assert words.title("") == ""
    assert (words.size(1), words.size(630), words.size(20_480), words.size(3_500_000)) == (
        "1 byte", "0.6 KB", "20 KB", "3.3 MB",
    )  # fmt: skip
    assert words.short_id("r_4f2a91c0de") == "4f2a 91"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1, "in a moment"),
        (10, "in a moment"),
        (11, "in a minute"),
        (60, "in a minute"),
        (61, "in 2 minutes"),
        (3540, "in 59 minutes"),
        (3541, "in an hour"),
        (3600, "in an hour"),
        (3601, "in 2 hours"),
    ],
)
def test_when_to_come_back(seconds, text):
    assert words.wait(seconds) == text


def test_times_are_told_in_utc():
    far = NOW.astimezone(tz=None)
    assert words.clock(far, NOW) == "10:00"
    assert words.stamp(far) == "2026-11-30T10:00:00Z"


@pytest.mark.parametrize(
    ("what", "verdict", "text"),
    [
        ("started", "", "started the run"),
        ("checked", "fail", "bounced attempt 2"),
        ("checked", "unsure", "was unsure about attempt 2"),
        ("returned", "", "returned attempt 2"),
        ("approved", "", "approved at Check vendor"),
        ("something-new", "", "something-new"),
    ],
)
def test_history(what, verdict, text):
    assert words.happened(what, step="check_vendor", attempt=2, verdict=verdict) == text


@pytest.mark.parametrize("what", list(HistoryEvent))
def test_all_that_a_history_may_tell_has_words(what):
    text = words.happened(str(what), step="check_vendor", attempt=2, verdict="")
    assert text != what and (" " in text) and "{" not in text


# ---- rows and trees


def fields():
    return parse(SUPPLIER).document.steps["set_up_account"].output


def test_rows_follow_the_declaration_and_keep_numbers():
    given = codec.loads(
        '{"paymentTermsDays": 1e400, "vendorNumber": "V-1", "categories": ["a", "b"], "more": {"x": 0.10}}'
    )
    rows = {row.name: row for row in content.rows(given, fields())}
    assert list(rows)[:2] == ["vendorNumber", "paymentTermsDays"]
    assert rows["paymentTermsDays"].text.head == "1e400"
    assert rows["paymentTermsDays"].number
    assert rows["categories"].text.head == "a, b"
    assert rows["currency"].text is None
    assert rows["more"].node.below[0].text.head == "0.10"


def test_long_text_is_cut_at_a_word_and_kept_whole():
    long = "lorem ipsum " * 100
    text = content.text(long)
    assert text.head.endswith("ipsum …")
    assert text.whole == long
    assert text.length == "1 200"
    assert content.text("X" * 700).head == "X" * 600 + " …"
    assert content.text("short").whole == ""


def test_a_huge_tree_is_bounded_and_nothing_is_lost():
    node = content.tree("data", {"list": list(range(5000))})
    (inner,) = node.below
    assert len(inner.below) <= content.NODES
    assert inner.below[-1].key == "…"
    assert "4999" in inner.below[-1].text.whole


def test_run_data_names_what_each_step_holds():
    data = {
        "inputs": {"a": True},
        "steps": {"one": {"output": {"x": 1}, "evidence": [], "summary": "s", "history": [{}]}},
    }
    inputs, one, two, three = content.run_tree(data, {"one": "done", "two": "waiting", "three": ""})
    assert inputs.open
    assert inputs.below[0].text.head == "true"
    assert one.about == "output, summary, history of 1"
    assert (two.about, three.about) == ("nothing recorded yet", "not reached")


def test_an_authors_prose_loses_only_the_breaks_of_its_file():
    text = content.prose("One line\nand the next.\n\nA list:\n- a\n- b\n1. c\n")
    assert text.head == "One line and the next.\n\nA list:\n- a\n- b\n1. c"


# ---- differences


def test_word_by_word():
    pieces = differences.pieces(
        "It is cleared. Searched by name.", "It is cleared: no match. Searched by name."
    )
    assert [(piece.kind, piece.text) for piece in pieces] == [
        ("same", "It is cleared"), ("ins", ": no match"), ("same", ". Searched by name."),
    ]  # fmt: skip


def test_fields_that_stayed_are_named_only():
    before = {
        "output": {"cleared": True, "old": "x"},
        "evidence": [{"kind": "file", "ref": "f_1"}],
        "summary": "a",
    }
    after = {"output": {"cleared": True}, "evidence": [{"kind": "file", "ref": "f_2"}], "summary": "a b"}
    changes = {
        change.name: change
        for change in differences.between(before, after, {"f_1": "one.txt", "f_2": "two.txt"})
    }
    assert changes["output.cleared"].unchanged
    assert [piece.kind for piece in changes["output.old"].pieces] == ["del"]
    assert "".join(piece.text for piece in changes["evidence"].pieces if piece.kind != "del") == "two.txt"
    assert differences.changed(list(changes.values())) == 3


def test_texts_too_long_or_too_different_stand_whole():
    assert [piece.kind for piece in differences.pieces("a " * 2000, "a " * 2000 + "b")] == ["del", "ins"]
    assert [piece.kind for piece in differences.pieces("one two", "three four five")] == ["del", "ins"]


def test_a_long_unchanged_stretch_is_cut():
    same = "word " * 200
    pieces = differences.pieces(same + "x", same + "y")
    assert pieces[0].kind == "same"
    assert len(pieces[0].text) < 100


# ---- the map


def test_a_map_has_lanes_and_no_step_on_another():
    document = parse(SUPPLIER).document
    drawn = maps.draw(document, {"check_vendor": "waiting"}, "check_vendor", unsure=True)
    assert [lane.label for lane in drawn.lanes] == ["Agent", "Finance", "Procurement", "Server"]
    assert drawn.current == "Check vendor"
    assert not drawn.wide
    first = drawn.boxes[0]
    assert (first.kind, first.unsure, first.x) == ("current", True, 10)
    for box in drawn.boxes:
        for other in drawn.boxes:
            assert box is other or box.y != other.y or abs(box.x - other.x) >= 100 + 14


def test_edges_run_through_no_step():
    document = parse(SUPPLIER).document
    drawn = maps.draw(document, {}, "approve", unsure=False)
    paths = [edge.path for edge in drawn.edges]
    assert paths == ["M110 36H140V75", "M38 50V210H85", "M190 94H220V133", "M90 94H70V55", "M270 152H300V191"]
    assert [edge.back for edge in drawn.edges].count(True) == 1


def test_the_same_as_a_list():
    document = parse(SUPPLIER).document
    lines = maps.draw(document, {"check_vendor": "done", "approve": "waiting"}, "approve", unsure=False).lines
    assert lines[0].text == "Agent; done; then Approve or declined"
    assert (
        lines[1].text
        == "Finance; waits for a person; then Set up account; a rejection goes back to Check vendor"
    )
    assert [line.current for line in lines].count(True) == 1


def test_parallel_branches_are_drawn_and_joined():
    text = """\
---
name: both
description: Two at once.
steps:
  - { id: fork, parallel: [left, right], next: after }
  - { id: left, agent: Left., next: join }
  - { id: right, agent: Right., next: join }
  - { id: after, agent: After., next: done }
  - { id: done, finish: done }
---
"""
    drawn = maps.draw(parse(text).document, {}, "after", unsure=False)
    at = {box.label: box.x for box in drawn.boxes}
    assert at["Left"] != at["Right"]
    assert at["After"] > max(at["Left"], at["Right"])


def test_a_very_long_process_is_a_list():
    steps = "".join(f"  - {{ id: s{n}, agent: Do., next: s{n + 1} }}\n" for n in range(80))
    text = f"---\nname: long\ndescription: Long.\nsteps:\n{steps}  - {{ id: s80, finish: done }}\n---\n"
    drawn = maps.draw(parse(text).document, {}, "s3", unsure=False)
    assert drawn.boxes == ()
    assert len(drawn.lines) == 81
