"""Facts as a step declares them: what `value` stands for, of every kind."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks import facts
from checks.facts import declared
from checks.facts.shapes import Entry

TX = "0x" + "a1" * 32
V = {"value": "output.x"}


def read(entry):
    (fact,), problems = declared.read([entry])
    assert problems == []
    return fact


@pytest.mark.parametrize(
    ("entry", "fills", "network"),
    [
        ({"type": "equals", "expected": "a"}, "", False),
        ({"type": "regex", "expected": "a"}, "", False),
        ({"type": "numeric", "expected": 1}, "", False),
        ({"type": "json_schema", "schema": {"type": "object"}}, "", False),
        ({"type": "url_contains", "text": "a"}, "url", True),
        ({"type": "url_contains", "pattern": "a"}, "url", True),
        ({"type": "url_contains", "url": "https://a.example/"}, "text", True),
        ({"type": "onchain", "chain": "base", "kind": "tx_confirmed"}, "tx", True),
        ({"type": "onchain", "chain": "base", "kind": "token_balance_at_least", "amount": 5}, "address", True),
        ({"type": "onchain", "chain": "base", "kind": "token_balance_at_least", "address": "0x" + "b2" * 20}, "amount", True),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_value_stands_for_the_text_or_the_one_key_left_out(entry, fills, network):
    fact = read({**entry, **V})
    assert (fact.fills, fact.network, fact.path) == (fills, network, "output.x")
    assert fact.as_json() == {**entry, **V}
    assert facts.kind_of(fact.type).network is network


def test_every_kind_can_be_declared():
    assert {kind.rpartition(".")[2] for kind in facts.FACTS} == set(facts.FACTS)
    for kind in facts.FACTS:
        assert isinstance(facts.kind_of(kind).fills({}), tuple)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "a list of one or more"),
        ([], "a list of one or more"),
        ([1], "a fact is a map"),
        ([{"type": "equals", "expected": "a"}], "value must name a field"),
        ([{"type": "equals", "expected": "a", "value": "output."}], "value must name a field"),
        ([{"type": "equals", "expected": "a", "value": ["output.x"]}], "value must name a field"),
        ([{"type": [], **V}], "type is not one of"),
        (
            [{"type": "onchain", "chain": "base", "kind": "tx_confirmed", "tx": TX, **V}],
            "value stands for tx",
        ),
        ([{"type": "equals", "expected": "a", "why": "b", **V}], "why: not known here"),
        ([{"type": "onchain", "chain": "base", "kind": "token_balance_at_least", **V}], "amount: missing"),
    ],
)
def test_what_is_wrong_is_told(value, words):
    _, problems = declared.read(value)
    assert any(words in message for _, message in problems), problems


@pytest.mark.parametrize(
    ("entry", "value", "passed"),
    [
        ({"type": "equals", "expected": "yes"}, " yes ", True),
        ({"type": "equals", "expected": "true"}, True, True),
        ({"type": "equals", "expected": Decimal("12.50")}, Decimal("12.5"), True),
        ({"type": "equals", "expected": 12}, 13, False),
        ({"type": "numeric", "expected": 3}, "1 + 2", True),
        ({"type": "json_schema", "schema": {"type": "array", "minItems": 2}}, ["a", "b"], True),
        ({"type": "json_schema", "schema": {"type": "object", "required": ["a"]}}, {"b": 1}, False),
        ({"type": "regex", "expected": "^[A-Z]{2}$"}, "DE", True),
    ],
)
def test_a_value_of_any_type_is_checked_as_text(entry, value, passed):
    (found,) = declared.check([read({**entry, **V})], {"x": value})
    assert found.outcome.passed is passed and found.failed is not passed


def test_what_was_not_handed_in_fails():
    (found,) = declared.check([read({"type": "equals", "expected": "a", **V})], {})
    assert found.failed and found.outcome.detail == "output.x was not handed in."


@pytest.mark.parametrize(
    ("entry", "value", "words"),
    [
        ({"type": "url_contains", "text": "a"}, "", "url: is empty"),
        ({"type": "url_contains", "text": "a"}, "x" * 9000, "9000 characters"),
        ({"type": "onchain", "chain": "base", "kind": "token_balance_at_least", "address": "0x" + "b2" * 20}, "many", "whole number"),
        ({"type": "onchain", "chain": "base", "kind": "tx_confirmed"}, "0xno", "not the form of a transaction"),
    ],
)  # fmt: skip
def test_a_value_that_can_be_nothing_of_the_kind_fails_without_a_call(entry, value, words):
    (found,) = declared.check([read({**entry, **V})], {"x": value})
    assert found.failed and words in found.outcome.detail


_values = st.sampled_from(
    [
        *facts.FACTS,
        "output.x",
        "",
        "a",
        "(",
        0,
        1,
        -1,
        Decimal("1.5"),
        True,
        None,
        [],
        ["a"],
        {},
        {"type": "array"},
        {"a": 1},
    ]
)
_keys = st.sampled_from(
    ["type", "value", "expected", "schema", "text", "url", "pattern", "chain", "kind", "amount", "other"]
)


@given(st.lists(st.dictionaries(_keys, _values, max_size=5), max_size=4))
def test_reading_never_raises_and_gives_facts_or_problems(raw):
    found, problems = declared.read(raw)
    wrong = {index for index, _ in problems}
    assert len(found) == len(raw) or None in wrong
    assert all(fact is not None or index in wrong for index, fact in enumerate(found)) and (found or problems)
    for fact in (fact for index, fact in enumerate(found) if index not in wrong):
        # what was read can be read again with a value in its place
        entry = Entry({**fact.raw, **({fact.fills: "1"} if fact.fills else {})}, "")
        facts.kind_of(fact.type).read(entry)
        assert entry.problems == []


@given(_values)
def test_any_value_has_an_outcome(value):
    found = declared.check(
        [read({"type": "equals", "expected": "a", **V}), read({"type": "numeric", "expected": 1, **V})],
        {"x": value},
    )
    assert len(found) == 2
    assert all(each.outcome.detail for each in found)
