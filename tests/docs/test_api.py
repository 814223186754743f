"""docs/api.md against the server: the same tools, for the same callers."""

import re
from pathlib import Path

import pytest

from processes.callers import CallerKind
from processes.errors import CODES
from processes.tools import TOOLS

TEXT = (Path(__file__).resolve().parents[2] / "docs/api.md").read_text()
ROWS = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \| [^|]+\|$", TEXT, re.MULTILINE))
WHO = {
    "anyone": set(CallerKind),
    "agents": {CallerKind.AGENT},
    "people": {CallerKind.PERSON},
    "operators": {CallerKind.PERSON},
}


def test_every_tool_has_a_row_and_no_other():
    assert set(ROWS) - set(CODES) == set(TOOLS)


# whom these refuse at a place of their own in the order of errors, the registration lets call
@pytest.mark.parametrize("tool", sorted(set(TOOLS) - {"decide", "cancel"}))
def test_it_is_for_whom_the_row_says(tool):
    told = set[CallerKind]().union(*(WHO[one] for one in ROWS[tool].split(", ")))
    assert told == TOOLS[tool].who


def test_every_code_has_a_row():
    assert set(CODES) <= set(ROWS)
