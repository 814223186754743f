import copy
import math
import pickle
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks import codec

NUMBERS = [
    "0", "-0", "1", "1.0", "1.10", "0.1", "1e400", "1E-400", "-1.5e+3", "12345678901234567890",
    "0.1000000000000000055", "123456789012345678901234567890.000000000000000001",
]  # fmt: skip

TEXT = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=20)
NUMBER = st.one_of(
    st.integers().map(str),
    st.decimals(allow_nan=False, allow_infinity=False).filter(lambda d: abs(d.adjusted()) < 100_000).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
).map(codec.Number)
JSON = st.recursive(
    st.none() | st.booleans() | TEXT | NUMBER,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers_come_back_as_they_were_sent(text):
    assert codec.dumps(codec.loads(f'{{"a":[{text}]}}')) == f'{{"a":[{text}]}}'


@given(JSON)
def test_what_is_written_reads_back_equal_and_writes_the_same_again(value):
    text = codec.dumps(value)
    assert codec.loads(text) == value
    assert codec.dumps(codec.loads(text)) == text


@given(st.dictionaries(TEXT, JSON, max_size=5))
def test_canonical_text_does_not_depend_on_the_order_of_keys(value):
    backwards = dict(reversed(list(value.items())))
    assert codec.canonical(value) == codec.canonical(backwards)


def test_equal_values_that_were_sent_differently_stay_different_texts():
    assert codec.loads("1.0") == codec.loads("1")
    assert codec.canonical(codec.loads("1.0")) != codec.canonical(codec.loads("1"))


def test_a_number_survives_copying_and_pickling():
    number = codec.loads("1.10")
    assert copy.deepcopy([number])[0].text == copy.copy(number).text == "1.10"
    assert pickle.loads(pickle.dumps(number)).text == "1.10"  # noqa: S301 - our own bytes


def test_a_boolean_is_no_number():
    assert not codec.is_number(codec.loads("true"))
    assert codec.is_number(codec.loads("1"))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("NaN", "NaN is no JSON number"),
        ("[Infinity]", "Infinity is no JSON number"),
        ("-Infinity", "-Infinity is no JSON number"),
        ('{"a":1,"a":2}', "stands twice"),
        ('"\\u0000"', "U+0000"),
        ('{"\\u0000":1}', "U+0000"),
        ('"\\ud800"', "U+D800"),
        ("[" * 66 + "]" * 66, "deeper"),
        ("[" * 100_000, ""),
        ("1e100001", "out of range"),
        ("1" * 1001, "1001 characters"),
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[1,]", "not JSON"),
        ("01", "not JSON"),
        (b"\xff", "not UTF-8 at byte 0"),
    ],
)
def test_what_cant_be_carried_is_refused(text, why):
    with pytest.raises(codec.CodecError, match=None) as refused:
        codec.loads(text)
    assert why in str(refused.value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_float_that_is_no_json_number_is_not_written(value):
    with pytest.raises(codec.CodecError):
        codec.dumps([value])


@pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes"])
def test_what_has_no_json_form_is_a_type_error(value):
    with pytest.raises(TypeError):
        codec.dumps(value)


def test_python_numbers_are_written_exactly():
    assert codec.dumps([1, -2.5, Decimal("1.50"), True]) == "[1,-2.5,1.50,true]"


@pytest.mark.parametrize("text", ["0", "-0", "0e400", "0e301", "-0e99999", "0e-400", "0.0"])
def test_a_zero_is_plain_zero_whatever_its_exponent(text):
    assert codec.plain(codec.loads(text)) == 0
