"""Every fault on every wire: the right verdict or an error, never a guess, within the deadline; told in the docs."""

import pytest

from tests.checks import fault_table
from tests.checks.faults import FAULTS

SLACK = 2.0  # seconds for a busy machine


@pytest.fixture(scope="module")
def found():
    return fault_table.outcomes()


def test_no_fault_passes_that_leaves_the_answer_less_than_whole(found):
    wrong = {
        cell: str(it)
        for cell, it in found.items()
        if it is not None and it.verdict != ("pass" if cell[1] in FAULTS[cell[0]].passes else "error")
    }
    assert not wrong


def test_each_is_over_in_time(found):
    """A check is asked twice at most."""
    late = {
        cell: it.seconds
        for cell, it in found.items()
        if it is not None and it.seconds > 2 * FAULTS[cell[0]].seconds + SLACK
    }
    assert not late


def test_the_docs_tell_it(found):
    assert fault_table.written() == fault_table.table(found), "python -m tests.checks.fault_table writes it"
