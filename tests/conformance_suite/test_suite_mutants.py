"""Each deliberately wrong server fails the cases that are meant to catch it; this server, as it is, passes them."""

import re
from pathlib import Path

import pytest

from conformance.cases import all_cases
from tests.conformance_suite.mutants import MUTANTS

PARTS = 4  # of the cases that can run together, so that workers share them
BROKEN = "Something broke on our side"  # how the server tells of a fault that it did not foresee
ROOT = Path(__file__).resolve().parents[2]


def groups():
    """The cases that must catch a mutant, by what they need: `(how to run them, cases)`."""
    found = {}
    for mutant in MUTANTS.values():
        found.setdefault((mutant.publishes, mutant.lease), set()).update(mutant.cases)
    for (publish, lease), cases in found.items():
        parts = PARTS if len(cases) > PARTS else 1
        for part in range(parts):
            yield {"publish": publish, "lease": lease}, sorted(cases)[part::parts]


@pytest.mark.parametrize(("how", "cases"), list(groups()))
def test_this_server_passes_what_the_wrong_ones_fail(server, how, cases):
    told = server.run(*cases, **how)
    assert told.code == 0, told.text
    assert set(told.verdicts.values()) == {"ok"}, told.text


@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_server_is_caught(server, name):
    mutant = MUTANTS[name]
    with mutant.patch():
        told = server.run(*mutant.cases, publish=mutant.publishes, lease=mutant.lease)
    assert told.code == 1, told.text
    assert told.failed == set(mutant.cases), told.text
    assert BROKEN not in told.text, f"{name} does not work at all, so it proves nothing: {told.text}"


def test_there_are_enough_and_they_name_cases():
    assert len(MUTANTS) >= 25
    known = {case.id for case in all_cases()}
    assert all(mutant.cases and set(mutant.cases) <= known for mutant in MUTANTS.values())


def test_only_tests_know_of_mutants():
    imports = re.compile(r"^\s*(from|import) tests\b", re.MULTILINE)
    for part in ("config", "approvals", "processes", "checks", "conformance", "manage.py"):
        for path in (ROOT / part).rglob("*.py") if (ROOT / part).is_dir() else [ROOT / part]:
            assert not imports.search(path.read_text("utf-8")), path
