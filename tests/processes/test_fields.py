from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks import codec
from checks.codec import Number
from processes.fields import TYPES, Field, fits, parse_datetime_strict, read_fields, value_issues
from processes.rules import Findings, Rule


def declared(**raw):
    """Declarations as an author writes them, which must be good."""
    findings = Findings()
    fields = read_fields(raw, ("inputs",), findings)
    assert findings.all == []
    return fields


def told(raw):
    findings = Findings()
    fields = read_fields(raw, ("inputs",), findings)
    return fields, [(finding.rule, finding.path) for finding in findings.all]


# Declarations; each rule's message is in the table of test_document.


def test_a_field_is_a_type_or_a_map():
    source = {
        "type": "list",
        "description": "Each once",
        "optional": True,
        "items": {"type": "list", "items": "date"},
    }

    fields = declared(name="string", days=source)

    assert fields["name"] == Field(type="string", source="string")
    assert fields["days"].items.items.type == "date"
    assert fields["days"].description == "Each once"
    assert fields["days"].optional
    assert fields["days"].source == source


@pytest.mark.parametrize("kind", TYPES)
def test_every_type_can_be_named_and_listed(kind):
    assert declared(a=kind, b={"type": "list", "items": kind})["b"].items.type == kind


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("string", ["", "a"]),
        ("number", [1, Decimal("0.1"), -3]),
        ("boolean", [True]),
        ("date", ["2028-02-29"]),
        ("datetime", ["2026-10-06T09:00:00+02:00"]),
        ("person", ["ada@example.org"]),
    ],
)
def test_one_of_holds_values_of_the_fields_type(kind, values):
    assert declared(a={"type": kind, "one_of": values})["a"].one_of == tuple(values)


def test_all_that_is_wrong_with_declarations_is_told_at_once():
    fields, findings = told(
        {
            "a": {"typ": "string", "optional": 1, "one_of": []},
            "b": {"type": "nmber", "one_of": ["x"], "items": {"type": "list", "items": 5}},
            "": 7,
            "c": {"type": "number", "one_of": [True, None, "1", [1], 1]},
        }
    )

    assert findings == [
        (Rule.FIELD_NAME, ("inputs", "")),
        (Rule.UNKNOWN_KEY, ("inputs", "a", "typ")),
        (Rule.NOT_BOOLEAN, ("inputs", "a", "optional")),
        (Rule.ONE_OF, ("inputs", "a", "one_of")),
        (Rule.FIELD_TYPE, ("inputs", "b", "type")),
        (Rule.FIELD_SHAPE, ("inputs", "b", "items", "items")),
        (Rule.FIELD_SHAPE, ("inputs", "")),
        *((Rule.ONE_OF_VALUE, ("inputs", "c", "one_of", index)) for index in range(4)),
    ]
    assert fields.keys() == {"a", "b", "", "c"}


@pytest.mark.parametrize("raw", [None, [], "string", 5, True])
def test_fields_that_are_no_map_are_none(raw):
    assert told(raw) == (None, [(Rule.FIELDS, ("inputs",))])


# Values.


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("string", ["", " ", "1"], [1, True, None, [], {}]),
        (
            "number",
            [0, -1, 10**400, 0.5, Decimal("1E+3"), Number("1e400"), Number("0.1000000000000000055")],
            ["1", True, False, None, float("nan"), float("inf"), Decimal("NaN"), Decimal("sNaN"), Decimal("-Infinity")],
        ),
        ("boolean", [True, False], [0, 1, "true", None, Number("1")]),
        (
            "date",
            ["2026-10-06", "2028-02-29", "0001-01-01", "9999-12-31"],
            ["2026-02-29", "2026-13-01", "2026-00-01", "0000-01-01", "2026-1-1", "20261006", "2026-10-06T00:00:00Z",
             "2026-10-06\n", " 2026-10-06", "٢٠٢٦-10-06", "2026-W41-2", "", None, 20261006],
        ),
        (
            "datetime",
            ["2026-10-06T09:00:00Z", "2026-10-06t09:00:00.123456789z", "2026-10-06T09:00:00-00:00", "2026-10-06T23:59:59+23:59"],
            ["2026-10-06T09:00:00", "2026-10-06 09:00:00Z", "2026-10-06T09:00Z", "2026-10-06T24:00:00Z", "2026-10-06T09:60:00Z",
             "2026-10-06T09:00:61Z", "2026-10-06T09:00:00+24:00", "2026-10-06T09:00:00+0200", "2026-10-06T09:00:00+02",
             "2026-10-06T09:00:00.Z", "2026-10-06T09:00:00Z\n", "2026-02-30T09:00:00Z", "2026-10-06", "", None, 0],
        ),
        ("list", [[], [1, None]], ["a", {}, None, Number("1")]),
        ("object", [{}, {"a": None}], [[], "a", None]),
        ("person", ["ada@example.org", "x"], ["", " \n", None, 5, {"id": 1}]),
    ],
)  # fmt: skip
def test_what_fits_a_type(kind, good, bad):
    fields = declared(x=kind)

    for value in good:
        assert value_issues(fields, {"x": value}, "output") == [], value
    for value in bad:
        assert value_issues(fields, {"x": value}, "output") == [f"output.x: expected {kind}"], value


def test_an_unknown_type_fits_nothing():
    assert not fits("", "a")


def test_all_issues_come_in_the_order_of_declaration_and_undeclared_ones_last():
    fields = declared(
        a="string",
        b="boolean",
        c={"type": "string", "one_of": ["x", "y z"]},
        d={"type": "list", "items": "string"},
        e={"type": "number", "optional": True},
        f={"type": "date", "optional": True},
    )

    issues = value_issues(
        fields, {"z": 1, "d": ["ok", 5, None], "c": "X", "b": "yes", "f": None, "y": None}, "output"
    )

    assert issues == [
        "output.a: missing",
        "output.b: expected boolean",
        "output.c: not one of x, y z",
        "output.d[1]: expected string",
        "output.d[2]: expected string",
        "output.f: expected date",
        "output.z: not declared",
        "output.y: not declared",
    ]


def test_lists_are_checked_all_the_way_down():
    fields = declared(
        m={
            "type": "list",
            "items": {"type": "list", "items": {"type": "number", "one_of": [1, Decimal("2.5")]}},
        }
    )

    values = codec.loads('{"m": [[1, 1.0, 2.50, 25e-1], [], 3, [true, 2, "1"]]}')

    assert value_issues(fields, values, "inputs") == [
        "inputs.m[2]: expected list",
        "inputs.m[3][0]: expected number",
        "inputs.m[3][1]: not one of 1, 2.5",
        "inputs.m[3][2]: expected number",
    ]


def test_one_of_tells_truth_values_and_numbers_apart():
    fields = declared(b={"type": "boolean", "one_of": [True]}, n={"type": "number", "one_of": [1, 0]})

    assert value_issues(fields, {"b": True, "n": 1}, "output") == []
    assert value_issues(fields, {"b": False, "n": 0.0}, "output") == ["output.b: not one of true"]
    assert value_issues(fields, {"b": 1, "n": True}, "output") == [
        "output.b: expected boolean",
        "output.n: expected number",
    ]


def test_one_of_compares_numbers_exactly():
    fields = declared(n={"type": "number", "one_of": [Decimal("0.1")]})

    assert value_issues(fields, codec.loads('{"n": 0.10}'), "output") == []
    assert value_issues(fields, codec.loads('{"n": 0.1000000000000000055}'), "output") == [
        "output.n: not one of 0.1"
    ]


@pytest.mark.parametrize("values", [None, [], "a", 5])
def test_values_that_are_no_map_are_one_issue(values):
    assert value_issues(declared(a="string"), values, "inputs") == ["inputs: expected object"]


json_values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.decimals(), st.text(max_size=12), st.dates().map(str),
        st.from_regex(r"-?[0-9]{1,30}(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,5})?", fullmatch=True).map(Number),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)),
    max_leaves=8,
)  # fmt: skip
raw_fields = st.recursive(
    st.one_of(st.sampled_from([*TYPES, "nope"]), json_values),
    lambda inner: st.dictionaries(
        st.sampled_from(["type", "items", "one_of", "optional", "x"]), inner, max_size=4
    ),
    max_leaves=6,
)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from("abcd"), raw_fields, max_size=4), json_values)
def test_no_declaration_and_no_value_raises(raw, values):
    fields, _ = told(raw)

    issues = value_issues(fields, values, "output")

    assert all(issue.startswith("output") for issue in issues)
    assert (set(values) <= set(fields)) if not issues else True


# Points in time.


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-10-06T09:00:00Z", datetime(2026, 10, 6, 9, tzinfo=UTC)),
        ("2026-10-06T09:00:00+02:00", datetime(2026, 10, 6, 7, tzinfo=UTC)),
        ("2026-10-06T00:30:00-05:45", datetime(2026, 10, 6, 6, 15, tzinfo=UTC)),
        ("2026-10-06t09:00:00.5z", datetime(2026, 10, 6, 9, 0, 0, 500_000, tzinfo=UTC)),
        ("2026-10-06T09:00:00." + "1" * 5000 + "Z", datetime(2026, 10, 6, 9, 0, 0, 111_111, tzinfo=UTC)),
        # leap seconds stand at the end of a UTC minute before midnight
        ("2016-12-31T23:59:60Z", datetime(2017, 1, 1, tzinfo=UTC)),
        ("2017-01-01T01:59:60.25+02:00", datetime(2017, 1, 1, tzinfo=UTC)),
        ("2016-12-31T22:59:60Z", None),
        # what the calendar has not or UTC can't hold
        ("0000-01-01T00:00:00Z", None),
        ("0001-01-01T00:00:00+00:01", None),
        ("9999-12-31T23:59:59-00:01", None),
        ("9999-12-31T23:59:60Z", None),
        ("2026-02-29T00:00:00Z", None),
        (None, None),
        (b"2026-10-06T09:00:00Z", None),
    ],
)
def test_a_datetime_becomes_an_instant_in_utc(text, instant):
    found = parse_datetime_strict(text)

    assert found == instant
    assert found is None or found.utcoffset().total_seconds() == 0


@given(st.datetimes(timezones=st.just(UTC)))
def test_every_instant_is_read_back(instant):
    assert parse_datetime_strict(instant.isoformat()) == instant
    assert parse_datetime_strict(instant.isoformat().replace("+00:00", "Z")) == instant
