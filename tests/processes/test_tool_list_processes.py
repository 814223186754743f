"""list_processes: what can be started."""

import pytest
from django.utils import timezone

from processes import contracts, publishing
from processes.callers import NOBODY
from processes.models import Process
from processes.tools import list_processes

pytestmark = pytest.mark.django_db

TEXT = """\
---
name: {name}
description: Does {name}.
{more}
steps:
  - id: done
    finish: done
---
"""


def text(name: str, more: str = "") -> str:
    return TEXT.format(name=name, more=more)


def names(found: dict) -> list[str]:
    return [item["name"] for item in found["items"]]


def test_each_process_in_its_latest_version_by_name(world):
    for name in ("b", "a", "b"):
        world.publish(text(name))
    found = world.call(world.agent(), "list_processes")
    assert contracts.result_issues("list_processes", found) == []
    assert [(item["name"], item["version"]) for item in found["items"]] == [("a", 1), ("b", 2)]
    assert found["nextCursor"] is None


def test_inputs_and_requires_stand_as_their_author_wrote_them(world):
    more = "inputs: {n: {type: number, description: how many}, s: string}\nrequires: {systems: [crm]}"
    world.publish(text("a", more))
    (item,) = world.call(world.person("ada"), "list_processes")["items"]
    assert item["inputs"] == {"n": {"type": "number", "description": "how many"}, "s": "string"}
    assert item["requires"] == {"systems": ["crm"]}
    assert item["description"] == "Does a."


def test_drafts_and_retired_processes_are_not_there(world):
    publishing.draft(text("draft"), by="test")
    world.publish(text("retired"))
    Process.objects.filter(name="retired").update(retired_at=timezone.now())
    world.publish(text("kept"))
    publishing.draft(text("kept", "inputs: {n: number}"), by="test")
    found = world.call(world.agent(), "list_processes")
    assert [(item["name"], item["version"], item["inputs"]) for item in found["items"]] == [("kept", 1, {})]


def test_a_limited_agent_sees_its_own(world):
    for name in ("mine", "other"):
        world.publish(text(name))
    assert names(world.call(world.agent(only=["mine"]), "list_processes")) == ["mine"]
    assert names(world.call(world.agent(only=[]), "list_processes")) == []


def test_pages_are_stable_while_others_publish(world, monkeypatch):
    monkeypatch.setattr(list_processes, "PAGE", 2)
    agent = world.agent()
    for name in "bcdef":
        world.publish(text(name))
    first = world.call(agent, "list_processes")
    world.publish(text("a"))
    second = world.call(agent, "list_processes", cursor=first["nextCursor"])
    third = world.call(agent, "list_processes", cursor=second["nextCursor"])
    assert names(first) + names(second) + names(third) == list("bcdef")
    assert third["nextCursor"] is None


@pytest.mark.parametrize("cursor", ["", "x", "é", "WyJhIl0="])
def test_a_cursor_that_we_did_not_give_is_invalid(world, cursor):
    refused = world.refused(world.agent(), "list_processes", cursor=cursor)
    assert (refused.code, refused.issues) == ("invalid", ["cursor: unknown"])


def test_nobody_is_forbidden_and_strange_arguments_are_invalid(world):
    assert world.refused(NOBODY, "list_processes").code == "forbidden"
    assert world.refused(NOBODY, "list_processes", limit=3).code == "invalid"
