"""The page on the judge says what the code does."""

import re

from checks import facts
from checks.facts.json_schema import KEYWORDS
from checks.judge import requests
from tests.checks.measured_claims import PAGE, page

TEXT = PAGE.read_text("utf-8")


def test_the_measured_table_is_that_of_the_engine_as_it_is():
    assert page(TEXT) == TEXT, "run python -m tests.checks.measured_claims --write"


def test_every_fact_is_told_and_no_other():
    part = TEXT.split("## Facts", 1)[1].split("\n\n- **", 1)[0]
    assert set(re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE)) == set(facts.FACTS)


def test_every_keyword_of_schemas_is_told_and_no_other():
    told = TEXT.split("- **Schemas** know ", 1)[1].split(", with", 1)[0]
    assert tuple(re.findall(r"`(\w+)`", told)) == KEYWORDS


def test_the_limits_are_told():
    for limit in (requests.TASK, requests.OUTPUT, requests.EVIDENCE, requests.CRITERION, requests.TOGETHER):
        assert re.search(rf"\b{limit:,}\b", TEXT), limit
    assert f"{requests.MAX_BODY_BYTES:,} bytes" in TEXT
