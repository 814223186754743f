"""How a text is shown: lines, issues under them, differences."""

from processes.admin.texts import MAX_COMPARED, MAX_WHOLE, checked, differences, numbered, place, split
from processes.document import Issue


def issue(line, step="", key="", message="Wrong."):
    return Issue(step=step, key=key, line=line, message=message)


def shown(lines):
    return [(line.number, len(line.issues)) for line in lines]


def test_lines_are_those_of_an_editor():
    assert split("a\r\nb\x0bc\u2028d\n\ne") == ["a", "b\x0bc\u2028d", "", "e"]
    assert split("a\n") == ["a"]
    assert split("") == []


def test_every_line_has_its_issues():
    assert shown(numbered("a\nb\n", (issue(2), issue(2), issue(None)))) == [(1, 0), (2, 2)]


def test_a_short_text_is_checked_whole_and_a_long_one_around_its_issues():
    assert shown(checked("a\nb\nc\n", (issue(2),))) == [(1, 0), (2, 1), (3, 0)]
    long = "x\n" * (MAX_WHOLE + 500)
    found = checked(long, (issue(5), issue(1200)))
    assert [line.number for line in found] == [0, *range(2, 9), 0, *range(1197, 1204)]
    assert checked("a\n", ()) == []


def test_an_issue_beyond_the_last_line_breaks_nothing():
    assert shown(checked("a", (issue(1),))) == [(1, 1)]


def test_places_are_paths():
    assert place(issue(1, "read", "check[0].fail")) == "steps.read.check[0].fail"
    assert place(issue(1, "steps[2]", "id")) == "steps[2].id"
    assert place(issue(1, "", "name")) == "name"


def test_differences_name_both_lines():
    old = "".join(f"{n}\n" for n in range(1, 21))
    found = differences(old, old.replace("10\n", "ten\n"))
    assert [line.kind for line in found] == ["gap", *["same"] * 3, "del", "ins", *["same"] * 3, "gap"]
    assert [(line.old, line.new, line.text) for line in found[4:6]] == [(10, None, "10"), (None, 10, "ten")]


def test_line_ends_are_no_difference():
    assert differences("a\nb\n", "a\r\nb\r\n") == []


def test_very_long_texts_are_not_compared():
    assert differences("x\n" * MAX_COMPARED, "y\n") is None


def test_an_indented_difference_is_marked_from_its_words():
    (line,) = differences("", "  a: 1")
    assert (line.indent, line.words) == ("  ", "a: 1")
