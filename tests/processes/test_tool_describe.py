"""describe: what this server speaks and offers."""

import pytest
from django.test import override_settings

from checks.models import CheckLimits
from processes import contracts
from processes.callers import NOBODY
from processes.tools import TOOLS

pytestmark = pytest.mark.django_db


def test_anybody_may_ask(world):
    for caller in (NOBODY, world.agent(), world.person("ada")):
        found = world.call(caller, "describe")
        assert contracts.result_issues("describe", found) == []
        assert (found["protocol"], found["version"]) == ("agentprocess", "core-2")
        assert found["leaseSeconds"] == 600 and found["person"] == {"format": "email"}


def test_it_lists_the_tools_that_there_are(world):
    assert world.call(NOBODY, "describe")["tools"] == list(TOOLS)


def test_checks_are_offered_only_while_somebody_answers(world):
    assert "check-1" not in world.call(NOBODY, "describe")["profiles"]
    with override_settings(EVALUATOR="heuristic"):
        assert "check-1" in world.call(NOBODY, "describe")["profiles"]


def test_the_limits_are_those_in_force(world):
    default = {"checkPass": 0.9, "checkFail": None, "checkConfidence": 0.8, "checkStateBytes": 65_536}
    assert world.call(NOBODY, "describe")["limits"] == {"runDataBytes": 262_144, **default}
    for level in (0.5, 0.7):
        CheckLimits.objects.create(check_pass=level, check_fail=0.25, why="a test", by="test")
    found = world.call(NOBODY, "describe")["limits"]
    assert (found["checkPass"], found["checkFail"]) == (0.7, 0.25)


def test_it_takes_no_arguments(world):
    refused = world.refused(NOBODY, "describe", verbose=True)
    assert (refused.code, refused.issues) == ("invalid", ["verbose: not an argument of describe"])
