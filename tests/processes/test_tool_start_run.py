"""start_run: inputs against their fields, then a run whose first step is entered."""

import pytest
from django.utils import timezone

from checks import codec
from processes import contracts, publishing
from processes.callers import NOBODY
from processes.models import HistoryEntry, Process, Run
from tests.processes.flows import ERRAND, PEOPLE, errand, states

pytestmark = pytest.mark.django_db

ALL_TYPES = """\
---
name: typed
description: One input of each type.
inputs:
  s: string
  n: number
  b: boolean
  d: date
  t: { type: datetime, optional: true }
  l: { type: list, items: { type: string, one_of: [x, y] } }
  o: object
  p: person
  c: { type: number, one_of: [1, 2.5], optional: true }
steps:
  - id: done
    finish: done
---
"""
FIT = {"s": "", "n": 1, "b": False, "d": "2026-02-28", "l": [], "o": {}, "p": "ada@example.org"}


def test_an_agent_starts_a_run(world):
    agent = world.agent("starter")
    view = errand(world, agent, inputs={"what": "pens", "amount": 3})
    assert contracts.result_issues("start_run", view) == []
    assert states(view) == {"fetch": "ready", "sign": None, "done": None}
    about = view["run"]
    assert (about["state"], about["mode"], about["version"]) == ("active", "live", 1)
    assert (about["startedBy"], about["ended"], about["outcome"]) == ("agent:starter", None, None)
    assert view["data"] == {"inputs": {"what": "pens", "amount": 3}, "steps": {}}
    assert view["body"] == "The body.\n"
    assert "replayed" not in view
    row = Run.objects.get()
    assert (row.subject, row.initiator) == ("pens", None)
    assert [entry.what for entry in HistoryEntry.objects.all()] == ["started"]


def test_a_person_starts_a_run_and_is_its_initiator(world):
    ada = world.person("ada")
    assert errand(world, ada)["run"]["startedBy"] == "person:ada"
    assert Run.objects.get().initiator_id == ada.user


def test_a_test_run_says_so(world):
    view = errand(world, world.agent(), mode="test")
    assert view["run"]["mode"] == "test" and Run.objects.get().test


def test_an_older_version_on_request_else_the_latest(world):
    world.publish(ERRAND)
    world.publish(ERRAND.replace("Fetch it.", "Fetch it soon."))
    agent = world.agent()
    assert errand(world, agent)["run"]["version"] == 2
    assert errand(world, agent, version=1)["run"]["version"] == 1


def test_a_first_step_that_ends_the_run_has_ended_it_when_the_call_returns(world):
    world.publish(ALL_TYPES)
    view = world.call(world.agent(), "start_run", process="typed", inputs=FIT)
    assert contracts.result_issues("start_run", view) == []
    assert (view["run"]["state"], view["run"]["outcome"]) == ("ended", "done")
    assert view["run"]["ended"]["by"] == "server" and view["run"]["ended"]["note"] is None
    assert view["data"]["steps"] == {}


@pytest.mark.parametrize("owner", ["nobody@example.org", "gone@example.org", "two@example.org"])
def test_a_person_who_can_not_be_found_fails_the_run_with_a_note(world, owner):
    world.publish(PEOPLE)
    world.user("gone", is_active=False)
    for name in ("one", "two"):
        user = world.user(name)
        user.email = "two@example.org"
        user.save()
    view = world.call(world.person("ada"), "start_run", process="people", inputs={"owner": owner})
    assert contracts.result_issues("start_run", view) == []
    assert (view["run"]["state"], view["run"]["outcome"]) == ("ended", "failed")
    assert view["run"]["ended"]["by"] == "server"
    assert view["run"]["ended"]["note"] == "inputs.owner leads to nobody who can be asked"
    assert states(view)["choose"] == "failed" and view["workItems"] == []
    record = view["data"]["steps"]["choose"]
    assert (record["decision"], record["by"], record["history"]) == ("failed", "server", [])


def test_every_issue_of_the_inputs_at_once(world):
    world.publish(ALL_TYPES)
    wrong = {"n": True, "b": "yes", "d": "2026-02-30", "t": "2026-01-01T00:00:00", "l": ["x", "z", 1],
             "o": None, "p": " ", "c": 2, "more": 1}  # fmt: skip
    refused = world.refused(world.agent(), "start_run", process="typed", inputs=wrong)
    assert refused.code == "invalid"
    assert refused.issues == [
        "inputs.s: missing", "inputs.n: expected number", "inputs.b: expected boolean",
        "inputs.d: expected date", "inputs.t: expected datetime", "inputs.l[1]: not one of x, y",
        "inputs.l[2]: expected string", "inputs.o: expected object", "inputs.p: expected person",
        "inputs.c: not one of 1, 2.5", "inputs.more: not declared",
    ]  # fmt: skip
    assert not Run.objects.exists()


def test_null_is_never_a_value(world):
    refused = world.refused(world.agent(), "start_run", process=_published(world), inputs={"what": None})
    assert refused.issues == ["inputs.what: expected string"]


def test_inputs_too_large_for_a_run(world, settings):
    settings.RUN_DATA_BYTES = 1024
    refused = world.refused(world.agent(), "start_run", process=_published(world), inputs={"what": "é" * 600})
    assert refused.code == "invalid"
    assert refused.issues == [
        "run data: 1233 bytes, at most 1024; put large content in a file",
    ]
    fits = world.call(world.agent(), "start_run", process="errand", inputs={"what": "x" * (1024 - 33)})
    assert len(codec.dumps(fits["data"])) == 1024


@pytest.mark.parametrize(
    "arguments",
    [
        {"process": "unknown"}, {"process": "draft"}, {"process": "retired"}, {"version": 2},
        {"version": 9007199254740991}, {"process": ""}, {"process": "é"},
    ],
)  # fmt: skip
def test_what_is_not_published_is_not_found(world, arguments):
    world.publish(ERRAND)
    world.publish(ERRAND.replace("errand", "retired"))
    Process.objects.filter(name="retired").update(retired_at=timezone.now())
    publishing.draft(ERRAND.replace("errand", "draft"), by="test")
    refused = world.refused(
        world.agent(), "start_run", **{"process": "errand", "inputs": {"what": "x"}, **arguments}
    )
    assert refused.code == "not_found"


def test_an_agent_may_not_start_what_has_work_for_its_initiator(world):
    world.publish(PEOPLE)
    refused = world.refused(world.agent(), "start_run", process="people", inputs={"owner": "ada@example.org"})
    assert (refused.code, refused.issues) == (
        "invalid",
        ["initiator: a person must start this process"],
    )


def test_a_limited_agent_starts_only_its_own(world):
    process = _published(world)
    refused = world.refused(world.agent(only=[]), "start_run", process=process, inputs={"what": "x"})
    assert refused.code == "forbidden"
    world.call(world.agent(only=[process]), "start_run", process=process, inputs={"what": "x"})


def test_nobody_starts_nothing(world):
    refused = world.refused(NOBODY, "start_run", process=_published(world), inputs={"what": "x"})
    assert refused.code == "forbidden"


@pytest.mark.parametrize(
    ("arguments", "issue"),
    [
        ({}, "process: missing"),
        ({"process": 3}, "process: expected string"),
        ({"process": "errand", "inputs": []}, "inputs: expected object"),
        ({"process": "errand", "inputs": {}, "version": 0}, "version: 0 is less than 1"),
        ({"process": "errand", "inputs": {}, "version": 1.5}, "version: expected whole number"),
        ({"process": "errand", "inputs": {}, "mode": "dry"}, 'mode: "dry" is not one of live, test'),
        ({"process": "errand", "inputs": {}, "requestId": ""}, "requestId: empty"),
        ({"process": "errand", "inputs": {}, "by": "me"}, "by: not an argument of start_run"),
    ],
)
def test_arguments_that_break_the_contract(world, arguments, issue):
    refused = world.refused(world.agent(), "start_run", **arguments)
    assert refused.code == "invalid" and issue in refused.issues


def _published(world) -> str:
    return world.publish(ERRAND).process.name
