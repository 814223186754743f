import json
from decimal import Decimal

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from processes.rules import Rule
from processes.yamlcore import MAX_DEPTH, MAX_EVENTS, load

PARSERS = [yaml.SafeLoader] + ([yaml.CSafeLoader] if hasattr(yaml, "CSafeLoader") else [])


@pytest.fixture(params=PARSERS, ids=lambda parser: parser.__name__)
def read(request):
    def reader(text, first_line=1):
        return load(text, first_line, parser=request.param)

    return reader


def value(loaded):
    assert loaded.complete
    assert loaded.findings == ()
    return loaded.value


def told(loaded):
    return [(finding.rule, finding.path, finding.line) for finding in loaded.findings]


@pytest.mark.parametrize(
    ("word", "meaning"),
    [
        # text, whatever YAML 1.1 made of it
        *((word, word) for word in ("yes", "No", "on", "OFF", "y", "n", "tRUE", "nUll", "<<", "=")),
        *((word, word) for word in ("2026-10-06", "2026-10-06T10:00:00Z", "12:30", "1_000", "0b11", "0O17", "-0x1", "+0o7")),
        *((word, word) for word in (".", "+", "e3", "1e", "1e+", ".e3", "0x", "1.2.3", ".INf", "+.nan", "0xg", "١")),
        # the words of the core schema
        *((word, None) for word in ("~", "null", "Null", "NULL", "")),
        *((word, True) for word in ("true", "True", "TRUE")),
        *((word, False) for word in ("false", "False", "FALSE")),
        ("0", 0),
        ("-0", 0),
        ("+12", 12),
        ("017", 17),
        ("0o17", 15),
        ("0xfF", 255),
        ("9007199254740991", 2**53 - 1),
        ("-9007199254740991", 1 - 2**53),
        ("1e3", Decimal(1000)),
        ("1.50", Decimal("1.5")),
        ("-.5", Decimal("-0.5")),
        ("5.", Decimal(5)),
        ("+1.E-2", Decimal("0.01")),
        ("1.7976931348623157e308", Decimal("1.7976931348623157e308")),
        ("5e-324", Decimal("5e-324")),
        # quotes make text of anything
        ('"true"', "true"),
        ("'1'", "1"),
        ('"~"', "~"),
        ('"\\u2028\\t\\n\\x41"', "\u2028\t\nA"),
        ("|\n  1\n", "1\n"),
        (">-\n  null\n", "null"),
    ],
)  # fmt: skip
def test_a_word_means_what_the_core_schema_says(read, word, meaning):
    found = value(read(f"a: {word}"))["a"]

    assert found == meaning
    assert type(found) is type(meaning)


def test_a_decimal_keeps_its_digits(read):
    assert str(value(read("a: 0.30"))["a"]) == "0.30"


@pytest.mark.parametrize("parser", PARSERS)
def test_maps_lists_and_lines(parser):
    text = "# c\na:\n  - b: 1\n    c: [x,\n        y]\n  - z\n\n'd e': {f: g}\n? long\n: |\n  t\n"

    loaded = load(text, 10, parser=parser)

    assert value(loaded) == {"a": [{"b": 1, "c": ["x", "y"]}, "z"], "d e": {"f": "g"}, "long": "t\n"}
    assert dict(loaded.lines) == {
        (): 11,
        ("a",): 11,
        ("a", 0): 12,
        ("a", 0, "b"): 12,
        ("a", 0, "c"): 13,
        ("a", 0, "c", 0): 13,
        ("a", 0, "c", 1): 14,
        ("a", 1): 15,
        ("d e",): 17,
        ("d e", "f"): 17,
        ("long",): 18,
    }


def test_crlf_reads_like_lf(read):
    text = "a: |\n  b\n  c\nd: 'e\n\n  f'\n"

    assert value(read(text.replace("\n", "\r\n"))) == value(read(text)) == {"a": "b\nc\n", "d": "e\nf"}


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n"])
def test_nothing_is_none(read, text):
    assert value(read(text)) is None


def test_refusals_do_not_stop_the_reading(read):
    text = "a: &x 1\nb: *x\nc: !!int 3\na: {d: *y}\n1: e\n? {f: g}\n: h\n*x : i\nj: .inf\nk: 1e999\nl: ok\n"

    loaded = read(text)

    assert loaded.complete
    assert told(loaded) == [
        (Rule.ANCHOR, ("a",), 1),
        (Rule.ALIAS, ("b",), 2),
        (Rule.TAG, ("c",), 3),
        (Rule.DUPLICATE, ("a",), 4),
        (Rule.ALIAS, ("a", "d"), 4),
        (Rule.KEY_NOT_TEXT, ("1",), 5),
        (Rule.KEY_NOT_TEXT, (), 6),
        (Rule.ALIAS, (), 8),
        (Rule.NOT_FINITE, ("j",), 9),
        (Rule.INEXACT, ("k",), 10),
    ]
    assert loaded.value == {"a": 1, "b": None, "c": "3", "1": "e", "j": None, "k": None, "l": "ok"}
    assert loaded.lost == {("b",), ("c",), ("1",), ("j",), ("k",)}
    assert ("a", "d") not in loaded.lines


def test_the_first_of_two_equal_keys_counts(read):
    loaded = read('a: 1\n"a": [2, {a: 3, a: 4}]\n')

    assert told(loaded) == [(Rule.DUPLICATE, ("a",), 2), (Rule.DUPLICATE, ("a", 1, "a"), 2)]
    assert loaded.value == {"a": 1}
    assert loaded.lines[("a",)] == 1


@pytest.mark.parametrize(
    "text", ["a: {b", "a: 'b", "a: b: c", "a:\n\t- b", "- a\nb", "a: @b", "a: 1\n...\nb: 2", 'a: "\\q"']
)
def test_malformed_text_is_a_finding_with_its_line(read, text):
    loaded = read(text)

    assert not loaded.complete
    (finding,) = loaded.findings
    assert finding.rule is Rule.SYNTAX
    assert 1 <= finding.line <= 3


def test_findings_before_malformed_text_are_kept(read):
    loaded = read("a: *x\nb: [\n")

    assert [finding.rule for finding in loaded.findings] == [Rule.ALIAS, Rule.SYNTAX]


@pytest.mark.parametrize(
    "text", ["--- \na: 1\n", "a: 1\n--- x\n", "%YAML 1.1\n--- \na: 1\n", "a: 1\n...\n--- \nb: 1\n"]
)
def test_more_than_one_bare_document_is_refused(read, text):
    loaded = read(text)

    assert not loaded.complete
    assert [finding.rule for finding in loaded.findings] == [Rule.MARKER]


@pytest.mark.parametrize("opening", ["[", "{a: ", "- "])
def test_depth_is_bounded(read, opening):
    closing = {"[": "]", "{": "}"}.get(opening[0], "")

    assert value(read(opening * MAX_DEPTH + closing * MAX_DEPTH)) is not None
    deeper = read(opening * (MAX_DEPTH + 1) + closing * (MAX_DEPTH + 1))
    assert [finding.rule for finding in deeper.findings] == [Rule.DEEP]


def test_the_number_of_values_is_bounded(read):
    # beside the words: two events each of stream, document and list, and the last is not reached
    assert value(read("[" + "a, " * (MAX_EVENTS - 6) + "]"))
    assert [finding.rule for finding in read("[" + "a, " * (MAX_EVENTS - 5) + "]").findings] == [Rule.LONG]


@pytest.mark.parametrize(
    "char", ["\x00", "\x1b", "\x7f", "\x85", "\x9f", "\u2028", "\u2029", "\ufeff", "\ud800", "\uffff"]
)
def test_characters_without_a_place_in_yaml_are_refused(read, char):
    loaded = read(f"a: b\nc: d{char}e\n", 5)

    assert not loaded.complete
    assert told(loaded) == [(Rule.CONTROL, (), 6)]
    assert f"U+{ord(char):04X}" in loaded.findings[0].message


def test_a_lone_carriage_return_is_refused(read):
    assert told(read("a: b\rc: d\r\n")) == [(Rule.CONTROL, (), 1)]


@pytest.mark.parametrize("char", [r"\0", r"\x07", r"\e", r"\N", r"\x7f"])
def test_control_characters_behind_escapes_are_refused(read, char):
    loaded = read(f'a: "{char}"\n"{char}": b\n')

    assert told(loaded) == [(Rule.CONTROL, ("a",), 1), (Rule.CONTROL, (), 2)]


def test_a_lone_surrogate_behind_an_escape_is_refused(read):
    loaded = read('a: "\\ud800"\n')

    assert loaded.findings[0].rule in {Rule.CONTROL, Rule.SYNTAX}


def test_a_number_of_five_thousand_digits_is_refused_unread(read):
    for word in ("9" * 5000, "0x" + "f" * 5000, "0." + "1" * 5000, "1e" + "9" * 5000):
        assert told(read(f"a: {word}")) == [(Rule.INEXACT, ("a",), 1)]


@pytest.mark.parametrize(
    "word",
    ["9007199254740992", "-9007199254740992", "0x20000000000000", "0.1000000000000000055", "1e400", "-1e400", "1e-400", "1e23456789012345678901",
     "9007199254740993.0", "123456789.123456789123456789"],
)  # fmt: skip
def test_numbers_that_rfc_8785_would_change_are_refused(read, word):
    assert told(read(f"a: {word}")) == [(Rule.INEXACT, ("a",), 1)]


words = st.sampled_from(
    ["a", "b: ", "1", "1.5", "~", "true", ": ", "- ", "? ", "\n", "\n  ", "\n    ", "[", "]", "{", "}", ", ", "'", '"', "#", " #",
     "|\n", ">-\n", "&a ", "*a ", "!b ", "!!str ", "%", "@", "\t", "---", "...", "\\", "é", "😀", ".inf", "<<: "]
)  # fmt: skip


@settings(deadline=None)
@given(st.one_of(st.text(max_size=80), st.lists(words, max_size=40).map("".join)))
def test_no_text_raises(text):
    for parser in PARSERS:
        loaded = load(text, parser=parser)
        assert loaded.complete or loaded.findings


json_values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(1 - 2**53, 2**53 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(
            st.characters(
                exclude_categories=["Cs", "Cc"], exclude_characters="\u2028\u2029\ufeff\ufffe\uffff"
            )
        ),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text("abc 1é~", max_size=5), inner, max_size=4)
    ),
    max_leaves=20,
)


@settings(deadline=None)
@given(json_values, st.sampled_from([None, 1]))
def test_json_is_read_as_what_it_says(written, indent):
    text = json.dumps(written, ensure_ascii=False, indent=indent)

    for parser in PARSERS:
        assert value(load(text, parser=parser)) == json.loads(text, parse_float=Decimal)
