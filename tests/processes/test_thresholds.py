"""`processes.thresholds`: only the numbers change, whatever way the file is written in."""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from processes.document import parse
from processes.thresholds import KEYS, ThresholdsError, changes, edit, numbers

FILE = """---
name: invoice-check
description: Checks an invoice.   # kept
steps:
  - id: read
    agent: Read the invoice.
    check: Does the total match?  # asked by finance
  - id: write
    agent: Write the summary.
    check:
      # the order matters
      - ask: Is it complete?
        pass: 0.90   # since May
        fail: 0.2
      - {ask: "Is it polite?", pass: 0.5}
      - ask: What is it?
        one_of: {plain: Plain words., vague: Hedges.}
        pass: [plain]
      - ask: How good is it?
        levels: [bad, fair, good]
        pass: 1
        confidence: 0.7
  - id: done
    finish: done
---
The body, with `pass: 0.90`.
"""


def changed(text: str, **wanted: Any) -> str:
    """`write_0={"pass": "0.5"}` sets pass of the first question of step write."""
    places = {}
    for name, keys in wanted.items():
        step, _, position = name.rpartition("_")
        places[step, int(position)] = {
            key: Decimal(value) if isinstance(value, str) else value for key, value in keys.items()
        }
    return edit(text, places)


def test_a_number_is_replaced_where_it_stands():
    assert changed(FILE, write_0={"pass": "0.95"}) == FILE.replace("pass: 0.90   #", "pass: 0.95   #")


def test_the_same_number_written_otherwise_stays_as_it_is():
    assert changed(FILE, write_0={"pass": "0.9"}) == FILE


def test_a_missing_key_gets_a_line_of_its_own():
    new = changed(FILE, write_2={"confidence": "0.6"}, write_1={"fail": "0.1"})
    assert "        pass: [plain]\n        confidence: 0.6\n" in new
    assert '- {ask: "Is it polite?", pass: 0.5, fail: 0.1}\n' in new


def test_a_key_is_taken_out_and_its_comment_stays():
    new = changed(FILE, write_0={"pass": None, "fail": None}, write_1={"pass": None})
    assert "      - ask: Is it complete?\n        # since May\n      - {ask:" in new
    assert '- {ask: "Is it polite?"}\n' in new


def test_the_short_form_becomes_a_list_only_when_a_number_is_set():
    assert changed(FILE, read_0={"pass": None}) == FILE
    new = changed(FILE, read_0={"fail": "0.25"})
    assert (
        "    check:\n      - ask: Does the total match?  # asked by finance\n        fail: 0.25\n  - id: write"
        in new
    )


def test_a_level_is_a_whole_number():
    assert "pass: 2\n" in changed(FILE, write_3={"pass": 2})


def test_changes_are_told_in_words():
    told = changes(FILE, {("write", 0): {"pass": Decimal("0.8"), "fail": None}, ("read", 0): {"pass": None}})
    assert [str(change) for change in told] == [
        "pass of write, question 1: 0.90 to 0.8",
        "fail of write, question 1: 0.2 to the server's",
    ]


def test_the_body_is_never_touched():
    assert changed(FILE, write_0={"pass": "0.1", "fail": "0.1"}).endswith("with `pass: 0.90`.\n")


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({("gone", 0): {"pass": Decimal(1)}}, "Step gone has no question 1"),
        ({("write", 9): {"pass": Decimal(1)}}, "no question 10"),
        ({("write", 0): {"ask": Decimal(1)}}, "ask is no threshold"),
        ({("write", 0): {"fail": Decimal("0.99")}}, "can't be set"),
        ({("write", 0): {"pass": Decimal("1.5")}}, "can't be set"),
        ({("write", 0): {"confidence": Decimal("0.5")}}, "can't be set"),
        ({("write", 2): {"pass": Decimal("0.5")}}, "can't be set"),
        ({("write", 3): {"pass": 3}}, "can't be set"),
        ({("write", 3): {"pass": None}}, "can't be set"),
        ({("write", 0): {"pass": Decimal("0.12345678901234567")}}, "can't be set"),
    ],
)
def test_what_can_not_be_is_refused(wanted, words):
    with pytest.raises(ThresholdsError, match=words):
        edit(FILE, wanted)


def test_a_text_with_issues_is_refused_with_them():
    with pytest.raises(ThresholdsError) as refused:
        edit(FILE.replace("finish: done", "finish: "), {})
    assert refused.value.issues


def test_a_layout_that_would_lose_something_is_refused_in_words():
    text = FILE.replace(
        "      - {ask:", "      - ? ask\n        : Is it short?\n        ? pass\n        : 0.5\n      - {ask:"
    )
    with pytest.raises(ThresholdsError, match="Change them in the text itself"):
        changed(text, write_1={"pass": None})
    assert "        : 0.6\n" in changed(text, write_1={"pass": "0.6"})


LAYOUTS = {
    "literal": (
        "    check: |\n      One\n      two?\n\n",
        "      - ask: |\n          One\n          two?\n        pass: 0.5\n\n",
    ),
    "kept": ("    check: |+ # c\n      One\n\n", "      - ask: |+ # c\n          One\n\n        pass: 0.5\n"),
    "indicated": ("    check: |2\n        One\n", "      - ask: |2\n            One\n        pass: 0.5\n"),
    "below": (
        "    check: # c\n      One two?\n",
        "    check: # c\n      - ask: One two?\n        pass: 0.5\n",
    ),
    "plain lines": ("    check: One\n     two?\n", "      - ask: One\n         two?\n        pass: 0.5\n"),
    "quoted lines": (
        '    check: "One\n\n      two?"\n',
        '      - ask: "One\n\n          two?"\n        pass: 0.5\n',
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_longer_short_form_keeps_its_text(layout, line_end):
    short, long = (text.replace("\n", line_end) for text in LAYOUTS[layout])
    text = FILE.replace("\n", line_end).replace(
        f"    check: Does the total match?  # asked by finance{line_end}", short
    )
    new = changed(text, read_0={"pass": "0.5"})
    assert long in new
    assert parse(new).document.steps["read"].check[0].ask == parse(text).document.steps["read"].check[0].ask


def test_characters_beyond_the_basic_plane_do_not_shift_the_places():
    text = FILE.replace("Checks an invoice.", "Prüft 🧾🧾 Rechnungen.").replace(
        "---\nname", "\ufeff---\nname", 1
    )
    assert changed(text, write_0={"pass": "0.95"}) == text.replace("pass: 0.90   #", "pass: 0.95   #")


# Any layout.


@dataclass
class Made:
    text: str
    kinds: dict[tuple[str, int], str]
    has_short: bool


TAKES = {"yes_no": ("pass", "fail"), "choice": ("confidence",), "rubric": ("pass", "confidence")}


class Writer:
    """Writes a process file in a manner that Hypothesis chooses."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.said = 0
        self.kinds: dict[tuple[str, int], str] = {}
        self.has_short = False
        self.dash = draw(st.sampled_from([0, 2, 4]))

    def flip(self) -> bool:
        return self.draw(st.booleans())

    def remark(self) -> str:
        """A comment at the end of a line, or none."""
        if self.draw(st.integers(0, 3)):
            return ""
        self.said += 1
        return f"  # c{self.said}, pass: 0.5"

    def remarks(self, column: int) -> list[str]:
        """Comments and blank lines on lines of their own."""
        kind = self.draw(st.integers(0, 5))
        if kind > 1:
            return []
        self.said += 1
        return [""] if kind else [f"{' ' * column}# c{self.said}"]

    def question(self, kind: str) -> dict[str, str]:
        pass_at, fail = sorted([self.fraction(), self.fraction()], key=Decimal, reverse=True)
        ask = self.draw(
            st.sampled_from(["Is it fine?", '"Its: fine, {really}?"', "'Does ''it'' hold # up?'"])
        )
        found = {"ask": ask}
        if kind == "yes_no":
            found |= {"pass": pass_at} if self.flip() else {}
            found |= {"fail": fail} if self.flip() else {}
        elif kind == "choice":
            found |= {"one_of": "{yes: Fine., no: 'Not, fine.'}", "pass": "[yes]"}
            found |= {"unsure": "[no]"} if self.flip() else {}
        else:
            found |= {"levels": "[bad, 'so, so', good]", "pass": self.draw(st.sampled_from("012"))}
        if kind != "yes_no" and self.flip():
            found["confidence"] = self.fraction()
        return {key: found[key] for key in self.draw(st.permutations(list(found)))}

    def fraction(self) -> str:
        return self.draw(st.sampled_from(["0", "1", "0.5", "0.50", ".25", "7e-1", "0.123"]))

    def block(self, question: dict[str, str], column: int) -> list[str]:
        lines = []
        for key, value in question.items():
            at = " " * column
            if lines:
                lines += self.remarks(column)
            if value.startswith("[") and self.flip():
                lines.append(f"{at}{key}:{self.remark()}")
                lines += [f"{at}  - {item}{self.remark()}" for item in re.findall(r"'[^']*'|\w+", value)]
            elif value.startswith("{") and self.flip():
                lines += [
                    f"{at}{key}:",
                    f"{at}  yes: Fine.{self.remark()}",
                    f"{at}  no: |",
                    f"{at}    Not, fine.",
                ]
            elif value == "Is it fine?" and self.flip():
                lines += [f"{at}{key}: >-{self.remark()}", f"{at}    Is it", f"{at}    fine?"]
            else:
                gap = f"\n{at}   " if not self.draw(st.integers(0, 5)) else ""
                lines.append(f"{at}{key}:{gap} {value}{self.remark()}")
        dash = " " * (column - 2) + "- "
        return [dash + lines[0].removeprefix(" " * column), *lines[1:], *self.remarks(column - 2)]

    def flow(self, question: dict[str, str], column: int) -> str:
        quote = '"' if self.flip() else ""
        parts = [f"{quote}{key}{quote}: {value}" for key, value in question.items()]
        if self.flip():
            return "{ " + ", ".join(parts) + " }"
        at = "\n" + " " * (column + 2)
        return (
            "{"
            + "".join(
                f"{at}{part}{comma}{self.remark()}"
                for part, comma in zip(parts, [","] * (len(parts) - 1) + [""], strict=True)
            )
            + at
            + "}"
        )

    def check(self, step: str, column: int) -> list[str]:
        at = " " * column
        if self.flip():
            self.has_short, self.kinds[step, 0] = True, "yes_no"
            form = self.draw(
                st.sampled_from(
                    [
                        "Is it fine?",
                        '"Is it # fine?"',
                        "|\n{}  Is it\n\n{}   fine?\n",
                        "Is it\n{} fine?",
                        ">+\n{}    Is\n{}    it?\n\n",
                        "'Is\n\n{} it?'",
                    ]
                )
            )
            return f"{at}check: {form.replace('{}', at)}{self.remark() if form[-1] != chr(10) else ''}".split(
                "\n"
            )
        kinds = self.draw(st.lists(st.sampled_from(list(TAKES)), min_size=1, max_size=3))
        self.kinds |= {(step, position): kind for position, kind in enumerate(kinds)}
        questions = [self.question(kind) for kind in kinds]
        if self.flip():
            inner = f",\n{at}    ".join(self.flow(question, column + 4) for question in questions)
            return f"{at}check: [{inner}]{self.remark()}".split("\n")
        lines = [f"{at}check:{self.remark()}"]
        for question in questions:
            lines += self.remarks(column)
            if self.flip():
                lines.append(
                    f"{at}{' ' * self.dash}- {self.flow(question, column + self.dash + 2)}{self.remark()}"
                )
            else:
                lines += self.block(question, column + self.dash + 2)
        return "\n".join(lines).split("\n")


@st.composite
def files(draw: Any) -> Made:
    writer = Writer(draw)
    at = " " * (writer.dash + 2)
    lines = ["---", "name: p", f"description: d{writer.remark()}", "steps:", *writer.remarks(2)]
    for number in range(draw(st.integers(1, 2))):
        lines += [f"{' ' * writer.dash}- id: s{number}", f"{at}agent: Do it."]
        lines += writer.check(f"s{number}", writer.dash + 2)
        lines += [f"{at}due: 2d{writer.remark()}"] if writer.flip() else []
    lines += [f"{' ' * writer.dash}- {{id: end, finish: done}}", "---"]
    line_end = draw(st.sampled_from(["\n", "\r\n"]))
    body = draw(st.sampled_from(["", "Body.\n", "\n---\nmixed\r\nends\n", "no end"]))
    bom = draw(st.sampled_from(["", "\ufeff"]))
    return Made(bom + line_end.join(lines) + line_end + body, writer.kinds, writer.has_short)


@st.composite
def wanted_for(draw: Any, made: Made) -> dict[Any, dict[str, Any]]:
    fraction = st.none() | st.decimals("0", "1", places=3)
    wanted: dict[Any, dict[str, Any]] = {}
    for place, kind in made.kinds.items():
        if draw(st.booleans()):
            continue
        wanted[place] = {key: draw(fraction) for key in TAKES[kind]}
        if kind == "rubric":
            wanted[place]["pass"] = draw(st.integers(0, 2))
        if kind == "yes_no" and None not in (pair := list(wanted[place].values())):
            wanted[place] = {"pass": max(pair), "fail": min(pair)}
    return wanted


def without_numbers(front: dict[str, Any]) -> Any:
    steps = []
    for step in front["steps"]:
        check = step.get("check", [])
        check = [{"ask": check}] if isinstance(check, str) else check
        asked = [{k: v for k, v in q.items() if k not in KEYS or isinstance(v, list)} for q in check]
        steps.append({**step, "check": asked})
    return {**front, "steps": steps}


def bare(text: str) -> str:
    """A text without its numbers, white space, commas and braces."""
    text = re.sub(r"""["']?(pass|fail|confidence)["']?:\s+[0-9.e-]+(?=[\s,}])""", "", text)
    return re.sub(r"[\s,{}]+", "", text)


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_only_the_numbers_change(data):
    made = data.draw(files())
    before = parse(made.text)
    assert before.document is not None, before.issues
    wanted = data.draw(wanted_for(made))
    new = edit(made.text, wanted)

    after = parse(new).document
    expected = {
        place: {k: v for k, v in {**old, **wanted.get(place, {})}.items() if v is not None}
        for place, old in numbers(before.document).items()
    }
    assert numbers(after) == expected
    assert without_numbers(after.front) == without_numbers(before.document.front)
    assert after.body == before.document.body
    assert re.findall(r"# c\d+", new) == re.findall(r"# c\d+", made.text)
    if made.text.removeprefix("\ufeff").startswith("---\r"):
        assert not re.search(r"(?<!\r)\n", new[: len(new) - len(after.body)])
    if not made.has_short:
        assert bare(new) == bare(made.text)
    assert edit(new, wanted) == new
    assert edit(made.text, numbers(before.document)) == made.text


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_there_and_back_says_the_same(data):
    made = data.draw(files())
    document = parse(made.text).document
    back = {
        place: dict.fromkeys(TAKES[kind]) | numbers(document)[place] for place, kind in made.kinds.items()
    }
    again = edit(edit(made.text, data.draw(wanted_for(made))), back)
    assert numbers(parse(again).document) == numbers(document)
    assert without_numbers(parse(again).document.front) == without_numbers(document.front)


@given(st.text(max_size=200))
def test_any_text_is_refused_or_left_alone(text):
    with pytest.raises(ThresholdsError):
        edit(text, {})
