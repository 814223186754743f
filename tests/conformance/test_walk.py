"""Every process of the public data reaches every outcome that it declares, and docs/conformance.md says so."""

import pytest

from tests.conformance import walker

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not walker.files(), reason=f"no conformance data at {walker.SHARED} (set SHARED_DIR)"),
]
STALE = "docs/conformance.md is out of date: python -m tests.conformance.walker"


def committed():
    text = walker.TABLE.read_text("utf-8")
    assert text.startswith(walker.HEAD), STALE
    return text.removeprefix(walker.HEAD).splitlines()


@pytest.mark.parametrize("path", walker.files(), ids=walker.label)
def test_every_outcome_is_reached(path):
    walk = walker.walk(path)
    assert set(walk.ended) == walker.declared(path)
    name = walker.label(path)
    assert walker.rows(name, walk) == [row for row in committed() if row.startswith(f"| {name} |")], STALE


def test_the_table_holds_these_processes_and_no_others():
    named = [row.split(" | ")[0].removeprefix("| ") for row in committed()]
    assert sorted(set(named)) == sorted(walker.label(path) for path in walker.files()), STALE
    assert named == sorted(named)
