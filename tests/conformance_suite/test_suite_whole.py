"""This server conforms, chapter by chapter."""

import pytest

from conformance.cases import CHAPTERS
from conformance.registry import SHORT_LEASE as OF_LEASES
from tests.conformance_suite.inprocess import LONG_LEASE, SHORT_LEASE

NOT_HERE = "refuse.not-offered"  # skipped: there is nothing that this server does not offer


@pytest.mark.long
@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.name)
def test_this_server_conforms(server, chapter):
    waits = any(OF_LEASES in case.needs for case in chapter.cases)
    told = server.run(chapter.name, publish=True, lease=SHORT_LEASE if waits else LONG_LEASE)
    assert told.code == 0, told.text
    assert len(told.verdicts) == len(chapter.cases)
    assert {case for case, verdict in told.verdicts.items() if verdict != "ok"} <= {NOT_HERE}, told.text
