"""Facts that need nobody else: equals, regex, numeric, json_schema; and how entries are read."""

import hashlib
import itertools
import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks import codec, facts
from checks.facts import json_schema
from checks.facts.numeric import ExpressionError, evaluate, worded
from checks.facts.regex import compiled, search


def read(*entries):
    return facts.read(codec.loads(codec.dumps(list(entries))))


def outcome(text, **entry):
    found, problems = read(entry)
    assert problems == []
    return facts.run(found, text)[0]


def problems(*entries):
    found, wrong = read(*entries)
    assert (found == ()) is bool(wrong)
    return wrong


def schema(text, **of):
    return outcome(text, type="json_schema", schema=of)


class TestEquals:
    def test_compares_the_trimmed_output(self):
        assert outcome("  yes\n", type="equals", expected="yes").passed
        assert not outcome("Yes", type="equals", expected="yes").passed

    def test_a_text_of_digits_is_a_text(self):
        assert not outcome("2 + 2", type="equals", expected="4").passed

    def test_a_number_is_worked_out(self):
        assert outcome("2 + 2", type="equals", expected=4).passed
        assert outcome("1.50", type="equals", expected=1.5).passed
        assert not outcome("four", type="equals", expected=4).passed

    @pytest.mark.parametrize("expected", [True, None, ["4"], {}])
    def test_other_types_are_refused(self, expected):
        assert len(problems({"type": "equals", "expected": expected})) == 1

    def test_blanks_at_the_ends_of_either_dont_count(self):
        assert outcome("a", type="equals", expected=" a\n").passed
        assert outcome("\t", type="equals", expected="").passed
        assert not outcome("a  b", type="equals", expected="a b").passed

    def test_says_what_it_compared_with_every_blank(self):
        it = outcome(" a  b\n\u00a0c ", type="equals", expected="a b")
        assert it.detail == "The output is “a  b\\n\\u00a0c”; expected is “a b”."

    def test_hashes_the_output_as_given(self):
        expected = hashlib.sha256(" é\n".encode()).hexdigest()
        assert outcome(" é\n", type="equals", expected="é").evidence_hash == expected


class TestRegex:
    def test_is_searched(self):
        it = outcome("order A-17 is out", type="regex", expected=r"[A-Z]-\d+")
        assert (it.passed, it.detail) == (True, "The pattern “[A-Z]-\\d+” is found at character 7.")
        assert not outcome("order", type="regex", expected=r"\d").passed

    @pytest.mark.parametrize("pattern", ["(?=a)", "(?<!a)b", r"(a)\1", "(", "((a{99}){99}){99}", "a{2000}"])
    def test_what_a_linear_engine_does_not_know_is_named(self, pattern):
        (problem,) = problems({"type": "regex", "expected": pattern})
        assert problem.startswith("checks[0].expected: no pattern that is taken here: ")

    def test_is_linear(self):
        assert not outcome("a" * 16_000, type="regex", expected="(a|a|aa)*(a|a)*$b").passed

    @pytest.mark.parametrize(
        "pattern", ["(?:a?b?){1,500}$c", "(a?){1000}b", "((a{0,30}){0,30})z", "[ab]*a[ab]{500}c"]
    )
    def test_a_pattern_that_is_large_reaches_only_so_far_and_says_so(self, pattern):
        started = time.monotonic()
        it = outcome("ab" * 100_000, type="regex", expected=pattern)
        assert time.monotonic() - started < 4
        assert it.passed or "characters were searched: the pattern is too large for more)." in it.detail

    def test_a_pattern_is_shown_with_its_blanks(self):
        it = outcome("Notices", type="regex", expected="^Notice  ")
        assert it.detail == "The pattern “^Notice  ” is not found in the output."

    @pytest.mark.parametrize(
        ("pattern", "text"),
        [
            (r"^[\p{L} ]*$", "abc " * 3980 + " <script>1</script>"),
            (r"^[\p{L} ]*\z", "abc " * 3980 + " <script>1</script>"),
            (r"[\p{L} ]*\b$", "abc " * 3980 + "1"),
            (r"\A(?:[\p{L}]{3} )*\z", "abc " * 3980 + "!"),
            (r"(?m)^[\p{L} ]*$", "abc " * 3980 + "!"),
            (r"(?:\p{L}|x)\b", "a" * 15_000 + "b" + "c" * 900 + "!"),
            (r"^(?:\p{L})+\B$", "a" * 15_000 + "!"),
            (r"^(?:[\p{L} ]*|$)$", "abc " * 3980 + "!"),
        ],
    )
    def test_where_it_stops_is_no_end_and_no_boundary(self, pattern, text):
        it = outcome(text, type="regex", expected=pattern)
        assert not it.passed
        assert "characters were searched: the pattern is too large for more)." in it.detail

    def test_what_lies_within_its_reach_is_found_all_the_same(self):
        text = "abc\n" * 3980
        assert outcome(text, type="regex", expected=r"(?m)^\p{L}+$").passed
        assert outcome("abc " * 3980, type="regex", expected=r"\p{L}\b").passed

    @given(
        st.text(alphabet="ab \né", max_size=12),
        st.lists(
            st.sampled_from([*"ab.^$", r"\b", r"\B", r"\z", r"\A", "(?m)$", "(?m)^", "(?:a|$)", "b*", "[^a]+", " ?", r"\pL"]),
            max_size=5,
        ).map("".join),
        st.integers(0, 12),
    )  # fmt: skip
    def test_what_is_found_in_a_part_is_found_in_the_whole(self, text, source, reach):
        pattern = compiled(source)
        at, _ = search(pattern, text, reach * pattern.programsize)
        assert at is None or pattern.search(text) is not None
        # of a text that goes on, however it does
        at, _ = search(pattern, text, 10**6, cut=True)
        assert at is None or all(pattern.search(text + more) for more in ("a", " ", "\n", "é", "ab b"))

    def test_takes_what_is_no_utf8_calmly(self):
        assert outcome("día", type="regex", expected="^d.a$").passed


class TestNumeric:
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("4", 4),
            (" 2+2 \n", 4),
            ("2 + 3 * 4", 14),
            ("(2 + 3) * 4", 20),
            ("10 / 4", Fraction(5, 2)),
            ("1/3*3", 1),
            ("0.1 + 0.2", Fraction(3, 10)),
            ("8 - 3 - 2", 3),
            ("16 / 4 / 2", 2),
            ("-3 + 5", 2),
            ("2 * -3", -6),
            ("--4", 4),
            ("007", 7),
            (".5", Fraction(1, 2)),
            ("99999999999999999999 + 1", 10**20),
            ("(" * 50 + "1" + ")" * 50, 1),
        ],
    )
    def test_is_exact(self, text, value):
        assert evaluate(text) == value

    @pytest.mark.parametrize(
        "text",
        ["", " ", "2 ** 3", "2 // 3", "1e5", "0x10", "1_000", "1,000", "four", "2 +", "(2", "2)", "()", "2 2", "1/0",
         "1/(2-2)", "2 % 3", "2^3", "x=2", "__import__('os')", "1.", "1.2.3", "٣", "²", "½", "\u2212 1", "2\u00a0+ 2",
         "(" * 60 + "1" + ")" * 60, "-" * 60 + "1", "1" * 1001, "1+" * 600 + "1", "2\x00"],
    )  # fmt: skip
    def test_refuses(self, text):
        with pytest.raises(ExpressionError):
            evaluate(text)

    def test_tolerance(self):
        assert outcome("10/3", type="numeric", expected=3.33, tolerance=0.01).passed
        assert not outcome("10/3", type="numeric", expected=3.33, tolerance=0.003).passed
        assert outcome(
            "3.34", type="numeric", expected=3.33, tolerance=0.01
        ).passed  # the bound itself is within

    def test_says_what_it_came_to(self):
        it = outcome("10/4", type="numeric", expected=2.5)
        assert it.detail == "The output comes to 2.5; expected is 2.5."
        assert outcome("1/3", type="numeric", expected=1).detail == "The output comes to 1/3; expected is 1."

    @pytest.mark.parametrize(
        ("value", "words"),
        [
            ("4." + "0" * 44 + "1", "4." + "0" * 38 + "… (46 digits)"),
            ("4." + "0" * 30 + "1", "4." + "0" * 30 + "1"),
            ("123456789012345678901234567890.5", "123456789012345678901234567890.5"),
            ("-0.05", "-0.05"),
            ("-" + "9" * 60, "-" + "9" * 39 + "… (60 digits)"),
            ("1/3", "1/3"),
            ("-1/" + "3" * 50, "-0." + "0" * 37 + "…"),
            ("0", "0"),
        ],
    )
    def test_a_number_is_shown_whole_or_with_a_sign_that_it_is_not(self, value, words):
        assert worded(Fraction(value)) == words

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("\u00a04", "the character U+00A0 (NO-BREAK SPACE) is no digit"),
            ("2 \u2212 1", "the character U+2212 (MINUS SIGN) is no digit"),
            ("٣", "the character U+0663 (ARABIC-INDIC DIGIT THREE) is no digit"),
            ("2\x00", "the character U+0000 is no digit"),
            ("four apples", "'four apples' is no digit"),
        ],
    )
    def test_what_is_no_digit_is_named(self, text, words):
        assert words in outcome(text, type="numeric", expected=4).detail

    def test_long_numbers_are_cut_in_the_detail(self):
        assert len(outcome("9" * 999, type="numeric", expected=1).detail) < 120

    @pytest.mark.parametrize(
        "bad", [{"expected": "4"}, {}, {"expected": 4, "tolerance": -1}, {"expected": True}]
    )
    def test_its_entry_is_read_strictly(self, bad):
        assert len(problems({"type": "numeric", **bad})) == 1

    def test_an_expected_number_is_bounded(self):
        found, wrong = facts.read(codec.loads('[{"type":"numeric","expected":1e99999}]'))
        assert (found, wrong) == ((), ["checks[0].expected: exponents go to 1000"])

    @given(st.text(alphabet="0123456789.+-*/() ", max_size=60))
    def test_never_raises_anything_else_and_agrees_with_python(self, text):
        try:
            value = evaluate(text)
        except ExpressionError:
            return
        if "." not in text:
            spaced = "".join(f" Fraction({part}) " if part.isdigit() else part for part in _parts(text))
            assert eval(spaced, {"Fraction": Fraction}) == value  # noqa: S307 - of digits and operators alone


def _parts(text):
    """Digits together, without the leading zeros that Python refuses."""
    import re

    return [str(int(part)) if part.isdigit() else part for part in re.findall(r"\d+|\D", text)]


class TestJsonSchema:
    @pytest.mark.parametrize(
        ("text", "of"),
        [
            ('{"crew": 3}', {"type": "object", "required": ["crew"], "properties": {"crew": {"type": "integer"}}}),
            ("3.0", {"type": "integer"}),
            ("1e2", {"type": "integer"}),
            ("null", {"type": ["string", "null"]}),
            ('"né"', {"minLength": 2, "maxLength": 2}),
            ("[1, 2]", {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}),
            ("5", {"minimum": 5, "maximum": 5, "exclusiveMinimum": 4.99, "exclusiveMaximum": 5.01}),
            ("5", {"minLength": 9, "required": ["a"], "items": {}}),
            ("1.0", {"enum": [1]}),
            ('{"a": [1, true]}', {"enum": [{"a": [1.0, True]}]}),
            ("[]", {}),
        ],
    )  # fmt: skip
    def test_fits(self, text, of):
        assert schema(text, **of).passed

    @pytest.mark.parametrize(
        ("text", "of", "why"),
        [
            ("{}", {"required": ["crew"]}, "output.crew: missing"),
            ('{"crew": "3"}', {"properties": {"crew": {"type": "integer"}}}, "output.crew: expected integer"),
            ("3.5", {"type": "integer"}, "output: expected integer"),
            ("true", {"type": "number"}, "output: expected number"),
            ("true", {"enum": [1]}, "output: not one of 1"),
            ("[[1], [2, 3]]", {"items": {"items": {"maximum": 2}}}, "output[1][1]: 3, must be at most 2"),
            ("5", {"exclusiveMinimum": 5}, "output: 5, must be more than 5"),
            ("5", {"exclusiveMaximum": 5}, "output: 5, must be less than 5"),
            ("4", {"minimum": 5}, "output: 4, must be at least 5"),
            ('"a"', {"minLength": 2}, "output: 1 characters, at least 2"),
            ("[1, 2]", {"maxItems": 1}, "output: 2 items, at most 1"),
            ("not json", {}, "can't be read as JSON"),
            ('{"a": 1, "a": 2}', {}, "can't be read as JSON"),
            ("NaN", {}, "can't be read as JSON"),
        ],
    )
    def test_does_not_fit(self, text, of, why):
        it = schema(text, **of)
        assert not it.passed
        assert why in it.detail

    def test_many_mismatches_are_not_all_told(self):
        it = schema(str(list(range(100))), items={"type": "string"})
        assert it.detail.count("expected string") == 5
        assert it.detail.endswith("and more.")

    @pytest.mark.parametrize(
        "of",
        [
            {"additionalProperties": False},
            {"pattern": "a"},
            {"$ref": "https://example.com/s.json"},
            {"anyOf": []},
            {"properties": {"a": {"format": "date"}}},
            {"items": {"properties": {"a": {"uniqueItems": True}}}},
            {"type": "text"},
            {"type": []},
            {"type": {}},
            {"properties": []},
            {"properties": {"a": True}},
            {"items": []},
            {"required": "a"},
            {"required": [1]},
            {"enum": []},
            {"enum": list(range(201))},
            {"minLength": -1},
            {"maxItems": 1.5},
            {"minimum": "1"},
            {"maximum": True},
        ],
    )
    def test_a_schema_beyond_the_subset_is_refused(self, of):
        wrong = problems({"type": "json_schema", "schema": of})
        assert len(wrong) == 1
        assert wrong[0].startswith("checks[0].schema")

    def test_an_unknown_keyword_is_named_with_those_that_are_known(self):
        (wrong,) = problems({"type": "json_schema", "schema": {"pattern": "a"}})
        assert wrong.startswith(
            "checks[0].schema.pattern: not a keyword that is checked here; those are type, "
        )

    def test_a_deep_or_large_schema_is_refused(self):
        deep = {}
        for _ in range(20):
            deep = {"items": deep}
        wide = {"properties": {str(i): {} for i in range(600)}}
        assert "too large" in problems({"type": "json_schema", "schema": deep})[0]
        assert "too large" in problems({"type": "json_schema", "schema": wide})[0]

    @pytest.mark.parametrize(
        ("text", "option", "equal"),
        [("true", 1, False), ("false", 0, False), ("1", True, False), ("1.0", 1, True), ("1e2", 100, True),
         ('{"a": 1}', {"a": 1, "b": None}, False), ('{"b": 2, "a": 1}', {"a": 1, "b": 2}, True),
         ("[1, 2]", [2, 1], False), ("[]", {}, False), ('"1"', 1, False), ("null", False, False)],
    )  # fmt: skip
    def test_equality_is_that_of_json(self, text, option, equal):
        assert schema(text, enum=[option]).passed is equal

    def test_a_list_of_values_is_read_once_however_often_it_is_asked(self, monkeypatch):
        options, items = list(range(200)), 5_000
        read_, count = json_schema._comparable, itertools.count()
        monkeypatch.setattr(json_schema, "_comparable", lambda value: (next(count), read_(value))[1])
        assert schema(str([199] * items), items={"enum": options}).passed
        assert next(count) <= items + len(options)

    @pytest.mark.parametrize("of", [{"required": ["a", "a"]}, {"type": ["string", "string"]}])
    def test_names_are_given_once(self, of):
        assert "each once" in problems({"type": "json_schema", "schema": of})[0]


class TestReading:
    def test_every_problem_of_every_entry_is_told(self):
        wrong = problems(
            {"type": "equals", "expected": []}, 3, {"type": "magic"}, {"type": "regex", "flags": "i"}
        )
        assert [line.split(":")[0] for line in wrong] == [
            "checks[0].expected", "checks[1]", "checks[2].type", "checks[3].expected", "checks[3].flags",
        ]  # fmt: skip

    def test_the_number_of_checks_is_bounded(self):
        url = {"type": "url_contains", "url": "https://example.com/", "text": "a"}
        assert problems(*[url] * 4) == ["checks: 4 of type url_contains; at most 3 are taken"]
        assert problems(*[{"type": "equals", "expected": "a"}] * 21) == [
            "checks: 21 checks; at most 20 are taken"
        ]

    def test_of_too_many_the_other_breaches_are_told_too(self):
        wrong = problems({"type": "regex", "expected": "("}, 3, *[{"type": "equals", "expected": []}] * 19)
        assert wrong[0] == "checks: 21 checks; at most 20 are taken"
        assert [line.split(":")[0] for line in wrong[1:4]] == [
            "checks[0].expected",
            "checks[1]",
            "checks[2].expected",
        ]
        assert len(wrong) == 21  # the count, and those of the first 20

    def test_what_is_told_is_bounded(self):
        many = {"type": "equals", "expected": "a", **{f"k{n}": 1 for n in range(300)}}
        wrong = problems(many)
        assert (len(wrong), wrong[-1]) == (101, "checks: 200 more problems")

    def test_a_kind_that_is_not_one_is_all_that_is_told(self):
        entry = {"type": "onchain", "chain": "base", "kind": "foo", "tx": "0x", "amount": 1}
        assert problems(entry) == ["checks[0].kind: not one of tx_confirmed, token_balance_at_least"]

    @pytest.mark.parametrize("value", [{}, "equals", 1, None])
    def test_checks_are_a_list(self, value):
        assert facts.read(value) == ((), ["checks: expected a list"])

    def test_a_url_check_wants_a_text_or_a_pattern(self):
        url = {"type": "url_contains", "url": "https://example.com/"}
        assert problems(url) == ["checks[0].text: give either text or pattern"]
        assert problems({**url, "text": "a", "pattern": "b"}) == [
            "checks[0].text: give either text or pattern"
        ]
        assert problems({**url, "text": None})[0] == "checks[0].text: null is no value"

    @pytest.mark.parametrize("amount", ["-1", "1.5", "1e3", 1.5, "", True, "9" * 79, None])
    def test_an_amount_is_a_whole_number(self, amount):
        entry = {
            "type": "onchain",
            "chain": "base",
            "kind": "token_balance_at_least",
            "address": "0x",
            "amount": amount,
        }
        assert len(problems(entry)) == 1

    def test_a_chain_is_one_that_is_known(self):
        wrong = problems({"type": "onchain", "chain": "bitcoin", "kind": "tx_confirmed", "tx": "a"})
        assert wrong == ["checks[0].chain: not one of base, solana"]

    def test_a_fault_of_ours_passes_nothing(self, monkeypatch):
        (fact,), _ = read({"type": "equals", "expected": "a"})
        monkeypatch.setattr(type(fact), "check", lambda *_: 1 / 0)
        it = facts.run([fact], "a")[0]
        assert (it.passed, it.unreachable) == (False, True)
