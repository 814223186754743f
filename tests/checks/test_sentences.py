import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks import claims
from checks.sentences import LONG_CHARS, split


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One thing. Another thing! A third…  And a fourth.", ["One thing.", "Another thing!", "A third…", "And a fourth."]),
        ("Dr. Amara Osei met Mr. Vogt. They agreed.", ["Dr. Amara Osei met Mr. Vogt.", "They agreed."]),
        ("J. R. Hale signed. K. signed, too.", ["J. R. Hale signed.", "K. signed, too."]),
        ("It costs 3.50 EUR. Version 2.1.3 is out.", ["It costs 3.50 EUR.", "Version 2.1.3 is out."]),
        ("It met Renko Inc. Friday. It met Renko Inc. The price rose.", ["It met Renko Inc. Friday.", "It met Renko Inc.", "The price rose."]),
        ("It came on Oct. 3. See Fig. 4 and No. 7.", ["It came on Oct. 3.", "See Fig. 4 and No. 7."]),
        ("It left at 5 p.m. The next one left at 6 a.m. sharp.", ["It left at 5 p.m.", "The next one left at 6 a.m. sharp."]),
        ("Some fruit, e.g. Apples, vs. Pears.", ["Some fruit, e.g. Apples, vs. Pears."]),
        ('He said "It works." Then he left.', ['He said "It works."', "Then he left."]),
        ("It works (mostly.) It does.", ["It works (mostly.)", "It does."]),
        ("the domain is example.com and nothing else", ["the domain is example.com and nothing else"]),
        ("A line that goes\non here. And ends", ["A line that goes on here.", "And ends"]),
        ("First paragraph\n\nSecond paragraph", ["First paragraph", "Second paragraph"]),
        ("# Heading\nText.\n\nOther\n=====\n", ["Text.", "Other"]),
        ("We found:\n- one leak\n- two cracks. Both old.\n* a third", ["one leak", "two cracks.", "Both old.", "a third"]),
        ("1. First do this\n2) Then that\n(a) and so on\n  with more", ["First do this", "Then that", "and so on with more"]),
        ("Name: Lena\nRole: chair", ["Name: Lena", "Role: chair"]),
        ("Is it so? It is. Why?", ["It is."]),
        ("**Bold** and `code` and _this_ and snake_case.", ["Bold and code and this and snake_case."]),
        ("> quoted text", ["quoted text"]),
        ("| item | price |\n|---|---:|\n| nut | 3 |\n| fig | |", ["item: nut; price: 3", "item: fig"]),
        ("Before.\n```\nx = 1\ny = 2\n```\nAfter.", ["Before.", "x = 1 y = 2", "After."]),
        ("```\nnever closed", ["never closed"]),
        ('{"crewSize": 3, "lead": {"name": "Lena"}, "ok": true, "tags": ["a", "b"], "none": null}',
         ["crew Size: 3; lead name: Lena; ok: true; tags: a, b"]),
        ('[{"name": "Ann", "owes": 30}, {"name": "Bob", "owes": 40}]', ["name: Ann; owes: 30", "name: Bob; owes: 40"]),
        ('{"id": 5, "lines": [{"item": "nut", "n": 3}, {"item": "fig", "n": 4}]}',
         ["id: 5", "id: 5; lines item: nut; lines n: 3", "id: 5; lines item: fig; lines n: 4"]),
        ('{"summary": "The pump leaks. The valve is new.", "ok": true, "note": "Is it?"}',
         ["ok: true", "The pump leaks.", "The valve is new."]),
        ('[{"name": "Ann", "note": "She paid. It was late."}, {"name": "Bob"}]',
         ["name: Ann; note: She paid.; note: It was late.", "name: Bob"]),
        ('["first thing", "second thing"]', ["first thing", "second thing"]),
        ('{"approved": null}', ['{"approved": null}']),
        ("[1.50]", ["1.50"]),
        ("{not json}", ["{not json}"]),
        ("42", ["42"]),
        ("", []),
        ("...\n---\n??", []),
        ("crlf.\r\nNext one.", ["crlf.", "Next one."]),
    ],
)  # fmt: skip
def test_is_split_into(text, parts):
    assert list(split(text, 40)) == parts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        # a mark is cut only where a list stands
        ("Note: the fee is 5. Warning: do not touch.", ["Note: the fee is 5.", "Warning: do not touch."]),
        ("Span: pages 10 - 20", ["Span: pages 10 - 20"]),
        ("Balance: - 500 euros", ["Balance: - 500 euros"]),
        ("The late fee is\n25. It is due today.", ["The late fee is 25.", "It is due today."]),
        ("The late fee is\n1. It is due today.", ["The late fee is 1.", "It is due today."]),
        ("The balance is\n- 500 euros.", ["The balance is - 500 euros."]),
        ("1. The fee for a year is\n25. It is due today.\n2. No more", ["The fee for a year is 25.", "It is due today.", "No more"]),
        ("25. It is due today.", ["25. It is due today."]),
        # where lines count on there is one
        ("What we saw.\n1. One\n2. Two\n\nMore.\n\n3. Three", ["What we saw.", "One", "Two", "More.", "Three"]),
        ("Steps:\n3. Open it\n4. Close it", ["Open it", "Close it"]),
        ("1. One\n   a) This\n   b) That\n2. Two", ["One", "This", "That", "Two"]),
        ("Found:\n1. A leak", ["A leak"]),
        ("||two|\n|-|-|\n|a|3|", ["a; two: 3"]),
    ],
)  # fmt: skip
def test_nothing_but_a_mark_of_a_list_is_cut(text, parts):
    assert list(split(text, 40)) == parts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "the ferry leaves from pier 3. it was sold to denmark for 9 million euros. ok?",
            ["the ferry leaves from pier 3.", "it was sold to denmark for 9 million euros."],
        ),
        ("Паром отходит от причала 3. Он был продан. Да?", ["Паром отходит от причала 3.", "Он был продан."]),
        ("渡轮从3号码头出发。它被卖了！是吗？", ["渡轮从3号码头出发。", "它被卖了！"]),
        ("هل هو مفتوح؟ الميناء مغلق.", ["الميناء مغلق."]),
        ("नौका घाट से जाती है। वह बिक गई।", ["नौका घाट से जाती है।", "वह बिक गई।"]),
        (
            "fruit, e.g. apples, v1.2 from example.com is it",
            ["fruit, e.g. apples, v1.2 from example.com is it"],
        ),
        ("The pt. denies chest pain.", ["The pt. denies chest pain."]),
        ("It left at 5 p.m. and came back.", ["It left at 5 p.m. and came back."]),
        ('He asked "Why?" and left.', ['He asked "Why?" and left.']),
        ("Well... it works. now it does!", ["Well... it works.", "now it does!"]),
    ],
)
def test_sentences_end_in_any_script_and_without_capitals(text, parts):
    assert list(split(text, 40)) == parts


@pytest.mark.parametrize("text", ["是", "X", "🙂", "Is it? Is it not?", "# Title\n\nWhy?", "It leaves at:"])
def test_what_says_nothing_is_no_claim(text):
    assert split(text, 40) == ()


_WORDS = st.sampled_from(
    [
        "the",
        "fee",
        "of",
        "pier",
        "is",
        "due",
        "today",
        "Ann",
        "3",
        "25",
        "1",
        "2",
        "1,200",
        "9",
        "grade",
        "500",
        "x7",
        "a",
    ]
)


@given(
    st.lists(
        st.lists(st.tuples(_WORDS, st.sampled_from([" ", " ", "\n"])), min_size=1, max_size=12),
        min_size=1,
        max_size=6,
    )
)
def test_no_letter_and_no_digit_of_prose_is_lost_whatever_its_lines(sentences):
    text = ""
    for words in sentences:
        text += "So " + "".join(word + gap for word, gap in words).rstrip() + "." + words[-1][1]
    kept = "".join(char for char in "".join(split(text, 40)) if char.isalnum())
    assert kept == "".join(char for char in text if char.isalnum())


def test_more_than_fit_are_put_together_and_none_is_lost():
    text = " ".join(f"Item {number} is there." for number in range(100))
    parts = split(text, 40)
    assert len(parts) == 40
    assert " ".join(parts) == text
    assert [part for whole in parts for part in whole.parts] == list(split(text, 100))


@given(st.lists(st.text(st.sampled_from("abc1,"), min_size=1, max_size=900), min_size=1, max_size=40))
def test_a_long_one_is_parted_and_nothing_of_it_is_lost(words):
    text = "So " + " ".join(words)
    parts = split(text, 1_000)
    assert all(0 < len(part) <= LONG_CHARS for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("# Approved: transfer 1,000 EUR", ["Approved: transfer 1,000 EUR"]),
        ("## It is done. ##\nNext.", ["It is done.", "Next."]),
        ("# Q3 results 2026\n### What was read?\n# **Why**", []),
    ],
)
def test_a_heading_that_says_something_is_a_statement(text, parts):
    assert list(split(text, 40)) == parts


@given(st.text(max_size=400))
def test_whatever_it_is_it_is_split(text):
    parts = split(text, 5)
    assert len(parts) <= 5
    assert all(parts)


@given(
    st.lists(
        st.sampled_from(["a.", "B", "- x", "|a|b|", "|-|-|", "```", "# h", "\n", "Dr.", "1.", "?", ": "]),
        max_size=60,
    )
)
def test_odd_layouts_are_split(pieces):
    split(" ".join(pieces).replace(" \n ", "\n"), 40)


@pytest.mark.parametrize(
    "text",
    [
        "." * 16_000,
        "." * 16_000 + " B",
        "a" * 16_000 + "! B",
        "a." * 8_000 + "! B",
        "1" * 16_000,
        "1," * 8_000,
        "1" + " " * 16_000 + "x",
        "|a|\n" + "-" * 16_000 + "x",
        "1 May " * 2_600,
        "\"'" * 8_000,
        "*_" * 8_000,
        "{" * 16_000,
    ],
    ids=range(12),
)
def test_no_text_takes_long(text):
    started = time.monotonic()
    claims.weigh(claims.of(text), [text[:4000]] * 2)
    assert time.monotonic() - started < 3  # of a text that is quadratic it would be minutes
