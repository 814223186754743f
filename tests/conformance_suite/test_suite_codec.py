from decimal import Decimal

import pytest

from conformance import codec
from conformance.codec import CodecError, Number

EXACT = ["0", "-0.0", "1.10", "1e400", "1E-400", "0.1000000000000000055", "12345678901234567890", "-5"]


@pytest.mark.parametrize("text", EXACT)
def test_a_number_comes_back_in_its_own_characters(text):
    assert codec.dumps(codec.loads(text)) == text
    assert codec.dumps(codec.loads(f'{{"a":[{text}]}}')) == f'{{"a":[{text}]}}'


def test_numbers_are_equal_by_exact_value():
    assert Number("1.0") == 1 == Number("1") == Number("1e0")
    assert Number("0.1") == 0.1
    assert Number("0.5") == Decimal("0.5")
    assert Number("0.1") != Number("0.1000000000000000055")
    assert Number("12345678901234567890") != Number("12345678901234567891")
    assert len({Number("1"), Number("1.0")}) == 1


def test_a_boolean_is_no_number_and_a_number_no_text():
    assert Number("1") != True  # noqa: E712
    assert Number("0") != False  # noqa: E712
    assert Number("5") != "5"


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a":1,"a":2}', "{", "01", '"\\x"', b"\xff"])
def test_what_is_no_json_is_refused(text):
    with pytest.raises(CodecError):
        codec.loads(text)


@pytest.mark.parametrize("text", ["NaN", "Infinity", "five"])
def test_a_number_must_be_one(text):
    with pytest.raises(CodecError):
        Number(text)


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, object()])
def test_what_has_no_json_form_is_refused(value):
    with pytest.raises(CodecError):
        codec.dumps({"a": value})


def test_texts_pass_unharmed():
    value = {"a\n": ["Grüße \U0001f600", None, True, False, {}, []]}
    assert codec.loads(codec.dumps(value)) == value


def test_a_validator_sees_numbers_near_enough():
    seen = codec.plain(codec.loads("[1.0, 0.5, 1e400, -1e400, 12345678901234567890, 1e-400]"))
    assert seen[:2] == [1, 0.5]
    assert isinstance(seen[0], int)
    assert seen[2] > 1e300 > seen[3]
    assert seen[4] == pytest.approx(12345678901234567890)
