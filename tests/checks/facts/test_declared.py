"""Facts as a step declares them: what `value` stands for, of every kind."""

import hashlib
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks import codec, facts
from checks.facts import declared
from checks.facts.shapes import Entry

TX = "0x" + "a1" * 32
OWNER = "0x" + "b2" * 20
V = {"value": "output.x"}
BALANCE = {"chain": "base", "kind": "token_balance_at_least"}


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
        ([1], "A fact is a map"),
        ([{"type": "equals", "expected": "a"}], "value must name a field"),
        ([{"type": "equals", "expected": "a", "value": "output."}], "value must name a field"),
        ([{"type": "equals", "expected": "a", "value": ["output.x"]}], "value must name a field"),
        ([{"type": [], **V}], "type is not one of"),
        (
            [{"type": "onchain", "chain": "base", "kind": "tx_confirmed", "tx": TX, **V}],
            "value stands for tx",
        ),
        (
            [{"type": "equals", "expected": "a", "Why": "b", **V}],
            "Why: not known here; known are expected, type, value",
        ),
        (
            [{"type": "url_contains", "text": "a", "tekst": "b", **V}],
            "tekst: not known here; known are pattern, text, type, value",
        ),
        (
            [{"type": "url_contains", **V}],
            "value stands for url where text or pattern is given, and for text",
        ),
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


def test_a_kind_that_is_not_one_is_all_that_is_told():
    _, problems = declared.read([{"type": "onchain", "chain": "base", "kind": "foo", "address": "0x", **V}])
    assert problems == [((0,), "kind: not one of tx_confirmed, token_balance_at_least")]


def test_too_many_are_told_with_what_is_wrong_with_the_first():
    _, problems = declared.read(
        [{"type": "regex", "expected": "(", **V}, *[{"type": "numeric", "expected": 1, **V}] * 20]
    )
    assert [place for place, _ in problems] == [(), (0,)]


class TestWhatCanNeverHold:
    """A file that asks for it is refused, for no work could ever be accepted."""

    @pytest.mark.parametrize(
        ("entry", "key", "words"),
        [
            ({"type": "url_contains", "url": "https://127.0.0.1/"}, "url", "not public. Name a public https address"),
            ({"type": "url_contains", "url": "http://x"}, "url", "does not start with https://"),
            ({"type": "onchain", **BALANCE, "address": "0xabc"}, "address", "0x and 40 hexadecimal digits"),
            ({"type": "onchain", **BALANCE, "amount": 1, "token": "0xabc"}, "token", "not the form of an address on base"),
            ({"type": "onchain", **BALANCE, "chain": "solana", "amount": 1, "token": "0xabc"}, "token", "the base58 of 32 bytes"),
        ],
    )  # fmt: skip
    def test_is_told_at_its_key_with_the_mend(self, entry, key, words):
        _, ((place, message),) = declared.read([{**entry, **V}])
        assert place == (0, key)
        assert message.startswith(f"{key} can never hold: ") and words in message

    @pytest.mark.parametrize("entry", [{"type": "numeric", "expected": 1}, {"type": "equals", "expected": 1}])
    def test_a_number_is_asked_of_what_can_be_one(self, entry):
        assert read({**entry, **V}).takes == {"string", "number"}

    @pytest.mark.parametrize(
        "entry", [{"type": "equals", "expected": "1"}, {"type": "regex", "expected": "1"}, {"type": "json_schema", "schema": {}}]
    )  # fmt: skip
    def test_a_text_is_asked_of_anything(self, entry):
        assert read({**entry, **V}).takes is None


class TestANumber:
    """JSON's exponents are no part of an expression, but of a number that was handed in."""

    @pytest.mark.parametrize("kind", ["numeric", "equals"])
    @pytest.mark.parametrize(
        ("expected", "sent", "passed"),
        [
            ("0.0000001", "1e-7", True),
            ("1e-7", "0.0000001", True),
            ("0.0000001", "1.00E-7", True),
            ("100", "1E+2", True),
            ("-2500", "-2.5e3", True),
            ("0", "0e400", True),
            ("0", "0e99999", True),
            ("1e-7", "1.1e-7", False),
            ("1", "1e99999", False),
            ("1", "1e-99999", False),
        ],
    )
    def test_is_compared_as_one_however_it_was_written(self, kind, expected, sent, passed):
        fact = read({"type": kind, "expected": codec.Number(expected), **V})
        (found,) = declared.check([fact], {"x": codec.Number(sent)})
        assert found.outcome.passed is passed, found.outcome.detail
        assert len(found.outcome.detail) < 300
        # the evidence is of what was handed in
        assert found.outcome.evidence_hash == hashlib.sha256(sent.encode()).hexdigest()

    def test_as_text_is_what_was_sent(self):
        fact = read({"type": "regex", "expected": "^1e-7$", **V})
        assert declared.check([fact], {"x": codec.Number("1e-7")})[0].outcome.passed

    def test_in_a_text_is_an_expression_still(self):
        fact = read({"type": "numeric", "expected": 100, **V})
        assert declared.check([fact], {"x": "1e2"})[0].failed

    def test_an_amount_may_have_an_exponent(self):
        fact = read({"type": "onchain", **BALANCE, "address": "0x" + "b2" * 20, **V})
        bound = declared._bind(fact, {"x": codec.Number("1e18")})
        assert bound.fact.amount == 10**18


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"type": "equals", "expected": " yes"}, "must be “yes”"),
        ({"type": "equals", "expected": Decimal("12.50")}, "must come to 12.5"),
        ({"type": "numeric", "expected": 3, "tolerance": Decimal("0.1")}, "must come to 3, give or take 0.1"),
        ({"type": "regex", "expected": "^Notice "}, "must match the pattern “^Notice ”"),
        ({"type": "json_schema", "schema": {"type": "array"}}, 'must fit the JSON schema {"type":"array"}'),
        ({"type": "url_contains", "text": "all well"}, "must be the address of a page that holds the text “all well”"),
        ({"type": "url_contains", "pattern": "a+"}, "must be the address of a page that matches the pattern “a+”"),
        ({"type": "url_contains", "url": "https://a.example/"}, "must stand on the page https://a.example/"),
        ({"type": "onchain", "chain": "base", "kind": "tx_confirmed"}, "must be a transaction on base that went well"),
        ({"type": "onchain", "chain": "base", "kind": "tx_confirmed", "confirmations": 9}, "must be a transaction on base that went well and has 9 confirmations"),
        ({"type": "onchain", **BALANCE, "amount": 5}, "must be an address that holds at least 5 of base's own coin, in its smallest unit"),
        ({"type": "onchain", **BALANCE, "address": OWNER, "token": OWNER}, f"must be at most what {OWNER} holds of the token {OWNER}, in its smallest unit"),
    ],
)  # fmt: skip
def test_what_is_wanted_is_said_in_words(entry, words):
    assert read({**entry, **V}).wanted == words


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
    wrong = {place[0] for place, _ in problems if place}
    assert len(found) == len(raw) or not raw
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
