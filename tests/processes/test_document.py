import hashlib
import json
import time
from datetime import timedelta
from decimal import Decimal

import pytest
from broken_files import ROWS
from hypothesis import given, settings
from hypothesis import strategies as st
from process_samples import LOAN, MOVE, SHARED, document, issues, line_of, process

from processes.document import JOIN, KINDS, Issue, parse
from processes.rules import Rule
from processes.steps import Route


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.rule}-{row.key}"[:60])
def test_one_broken_place_gives_its_one_issue(row):
    found = issues(row.text)

    assert [(issue.rule, issue.step, issue.key, issue.line) for issue in found] == [
        (row.rule, row.step, row.key, row.line)
    ], [str(issue) for issue in found]
    assert row.says in found[0].message


def test_every_rule_is_broken_by_some_row():
    assert {row.rule for row in ROWS} == {rule.code for rule in Rule}


def test_every_message_is_a_sentence_that_says_how_to_mend_it():
    for row in ROWS:
        (issue,) = issues(row.text)
        assert issue.message[-1] in ".?"
        assert "{" not in issue.message.replace("- {id", "").replace("{systems", "").replace("{amount", "") or (
            "{" in row.new
        )
        assert "None" not in issue.message
        assert len(issue.message) < 350
