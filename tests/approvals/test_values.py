"""A value as a person types it, and back, to the character."""

import pytest

from approvals.values import Shape, UnreadableError, options, shape_of, text_of, value_of
from checks import codec
from processes.fields import Field


@pytest.mark.parametrize(
    "text", ["0.10", "0.1000000000000000055", "12345678901234567890", "1e400", "-0", "1E+2", " 7 "]
)
def test_a_number_keeps_its_characters(text):
    value = value_of(Shape.NUMBER, Field(type="number"), text)
    assert codec.dumps(value) == text.strip()


@pytest.mark.parametrize(
    "text",
    ["12,50", "1_000", "+5", ".5", "5.", "007", "0x1f", "٣", "NaN", "Infinity", "-", "1e", "true", '"1"', "null",
     "[1]", "1 000", "1e999999", "9" * 1001],
)  # fmt: skip
def test_what_is_no_number(text):
    with pytest.raises(UnreadableError):
        value_of(Shape.NUMBER, Field(type="number"), text)


@pytest.mark.parametrize(
    "text", ["2026-02-31", "2026-2-3", "31.12.2026", "tomorrow", "20261130", "2026-11-30T10:00Z"]
)
def test_what_is_no_date(text):
    with pytest.raises(UnreadableError, match="no d"):
        value_of(Shape.DATE, Field(type="date"), text)


@pytest.mark.parametrize(
    "text", ["2026-11-30", "2026-11-30T10:00:00", "2026-11-30 10:00:00Z", "2026-02-31T10:00:00Z"]
)
def test_what_is_no_datetime(text):
    with pytest.raises(UnreadableError, match="offset"):
        value_of(Shape.DATETIME, Field(type="datetime"), text)


@pytest.mark.parametrize("text", ["2026-11-30T14:30:00+01:00", "2026-11-30T14:30:00.123Z"])
def test_a_datetime_stays_as_typed(text):
    assert value_of(Shape.DATETIME, Field(type="datetime"), f" {text} ") == text


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("object", "[]"),
        ("object", "{"),
        ("object", '{"a": 1, "a": 2}'),
        ("object", "x"),
        ("list", "{}"),
        ("list", "1"),
    ],
)
def test_what_is_no_json_of_its_type(kind, text):
    with pytest.raises(UnreadableError):
        value_of(Shape.JSON, Field(type=kind), text)


def test_a_line_is_named_in_its_error():
    numbers = Field(type="list", items=Field(type="number"))
    with pytest.raises(UnreadableError, match="line 3: x is no number"):
        value_of(Shape.LINES, numbers, "1\n\nx")


@pytest.mark.parametrize(
    ("items", "text", "value"),
    [
        (Field(type="string"), "a\n\n  b  \n", ["a", "b"]),
        (None, "1\n2", ["1", "2"]),
        (Field(type="boolean"), "true\nfalse", [True, False]),
        (Field(type="string", one_of=("x", "y")), "y", ["y"]),
        (Field(type="string"), "[]", []),
    ],
)
def test_a_list_has_an_entry_per_line(items, text, value):
    field = Field(type="list", items=items)
    assert shape_of(field) is Shape.LINES
    assert value_of(Shape.LINES, field, text) == value


@pytest.mark.parametrize(
    ("field", "held"),
    [
        (Field(type="list", items=Field(type="object")), None),
        (Field(type="list", items=Field(type="list")), None),
        (Field(type="list"), [{"a": 1}]),
        (Field(type="list"), codec.loads("[1, 2]")),
        (Field(type="list", items=Field(type="string")), ["two\nlines"]),
        (Field(type="list", items=Field(type="string")), [" padded"]),
        (Field(type="list", items=Field(type="string")), ["[]"]),
        (Field(type="list", items=Field(type="string")), [""]),
    ],
)
def test_a_list_that_lines_would_change_is_json(field, held):
    assert shape_of(field, held) is Shape.JSON


@pytest.mark.parametrize(
    "value",
    ['{"b": 1.50, "a": [1, {}], "c": {"d": []}}', "[]", "{}", '[{"x": "\\"<b>"}, "é", 1e400, null]'],
)
def test_json_comes_back_as_it_was(value):
    value = codec.loads(value)
    kind = "object" if isinstance(value, dict) else "list"
    text = text_of(Shape.JSON, value)
    assert codec.dumps(value_of(Shape.JSON, Field(type=kind), text)) == codec.dumps(value)


def test_options_stand_for_their_values():
    assert options(Field(type="boolean")) == {"true": True, "false": False}
    assert options(Field(type="number", one_of=(1, 2))) == {"1": 1, "2": 2}
    assert options(Field(type="string", one_of=("", "a"))) == {'""': "", "a": "a"}
    with pytest.raises(UnreadableError, match="one of true, false"):
        value_of(Shape.OPTIONS, Field(type="boolean"), "True")
