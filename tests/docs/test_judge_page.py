"""The page on the judge says what the code does."""

import re

from checks import claims, codec, facts
from checks.evaluators import criteria
from checks.facts import addresses, equals, json_schema, numeric, onchain, regex, url_contains
from checks.facts.json_schema import KEYWORDS
from checks.judge import requests
from tests.checks.measured_claims import PAGE, page

TEXT = PAGE.read_text("utf-8")


def test_the_measured_table_is_that_of_the_engine_as_it_is():
    assert page(TEXT) == TEXT, "run python -m tests.checks.measured_claims --write"


def test_the_example_passes_without_a_model():
    sent = codec.loads(TEXT.split("## Judge: what is sent\n\n", 1)[1].split("\n\n|", 1)[0])
    found = claims.weigh(claims.of(sent["agent_output"]), sent["evidence"])
    assert [str(claim.status) for claim in found] == ["supported", "supported"]
    assert [criteria.shown(text, sent["agent_output"]) for text in sent["criteria"]] == [criteria.SHOWN]


def test_every_fact_is_told_and_no_other():
    part = TEXT.split("## Facts", 1)[1].split("| limit |", 1)[0]
    assert set(re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE)) == set(facts.FACTS)


def test_every_keyword_of_schemas_is_told_and_no_other():
    told = TEXT.split("- **Schemas** know ", 1)[1].split(", with", 1)[0]
    assert tuple(re.findall(r"`(\w+)`", told)) == KEYWORDS


def test_the_limits_of_facts_are_told():
    table = TEXT.split("| limit | |", 1)[1].split("\n\n", 1)[0]
    for limit in (
        addresses.MAX_URL_CHARS, url_contains.MAX_TEXT_CHARS, regex.MAX_CHARS, equals.MAX_CHARS,
        numeric.MAX_EXPONENT, numeric.MAX_CHARS, numeric.MAX_DEPTH, json_schema.MAX_NODES, json_schema.MAX_DEPTH,
        json_schema.MAX_ENUM, codec.MAX_DEPTH, codec.MAX_NUMBER_CHARS, onchain.MAX_CONFIRMATIONS,
    ):  # fmt: skip
        assert re.search(rf"\b{limit:,}\b", table), limit


def test_the_limits_are_told():
    for limit in (requests.TASK, requests.OUTPUT, requests.EVIDENCE, requests.CRITERION, requests.TOGETHER):
        assert re.search(rf"\b{limit:,}\b", TEXT), limit
    assert f"{requests.MAX_BODY_BYTES:,} bytes" in TEXT
