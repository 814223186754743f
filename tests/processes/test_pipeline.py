"""The one pipeline: arguments first, a requestId's effect once, everything of a call in one transaction."""

import pytest
from django.db import IntegrityError, OperationalError

from checks import codec
from processes import pipeline
from processes.callers import NOBODY
from processes.errors import CODES, ToolError
from processes.models import HistoryEntry, Request, Run
from processes.tools import TOOLS
from tests.processes.flows import DONE, FILED, cast, errand, expire, signing
from tests.processes.test_tool_upload import given
from tests.world import rid

pytestmark = pytest.mark.django_db


@pytest.fixture
def c(world):
    made = cast(world)
    made.world = world
    return made


def write_of(c, tool):
    """(caller, arguments) of a sound write, its run ready for it."""
    world = c.world
    if tool == "upload":
        return c.agent, given()
    run = errand(world, c.agent)
    about = {"runId": run["run"]["id"]}
    if tool == "start_run":
        return c.agent, {"process": "errand", "inputs": {"what": "x", "amount": 1}}
    if tool == "claim":
        return c.agent, {**about, "stepId": "fetch"}
    if tool == "cancel":
        return c.ops, {**about, "reason": "r"}
    if tool == "send_event":
        return c.agent, {**about, "name": "arrived", "data": {"a": 1}}
    token = world.claim(c.agent, run, "fetch")["token"]
    if tool == "decide":
        world.call(c.agent, "submit", token=token, **DONE)
        call = world.item(c.ada, run)["decide"]["arguments"]
        return c.ada, {**{k: v for k, v in call.items() if k != "requestId"}, "decision": "approved"}
    return c.agent, {"token": token, **{"renew": {}, "submit": DONE, "escalate": {"note": "n"}}[tool]}


WRITES = sorted(name for name, entry in TOOLS.items() if entry.writes)
OTHERWISE = {
    "start_run": {"mode": "test"}, "claim": {"stepId": "sign"}, "renew": {"progress": "p"},
    "upload": {"fileName": "other"}, "submit": {"summary": "other"}, "escalate": {"note": "other"},
    "decide": {"note": "other"}, "cancel": {"reason": "other"}, "send_event": {"name": "other"},
}  # fmt: skip
every_write = pytest.mark.parametrize("tool", WRITES)


def facts() -> tuple[int, int, int]:
    return Run.objects.count(), HistoryEntry.objects.count(), Request.objects.count()


@every_write
def test_the_same_call_again_gives_the_first_result_and_changes_nothing(c, tool):
    caller, arguments = write_of(c, tool)
    arguments["requestId"] = "same"
    first = c.world.call(caller, tool, **arguments)
    before = facts()
    for _ in range(2):
        again = c.world.call(caller, tool, **dict(reversed(arguments.items())))
        # `replayed` stands on run views only
        assert again.pop("replayed", None) is (True if "run" in first else None)
        assert codec.canonical(again) == codec.canonical(first)
    assert facts() == before


@every_write
def test_even_after_the_lease_and_the_run_ended(c, tool):
    caller, arguments = write_of(c, tool)
    arguments["requestId"] = "same"
    first = c.world.call(caller, tool, **arguments)
    for run in Run.objects.filter(state__in=["active", "waiting"]):
        expire({"run": {"id": run.pk}})
        c.world.call(c.ops, "cancel", runId=run.pk, reason="r")
    again = c.world.call(caller, tool, **arguments)
    again.pop("replayed", None)
    assert codec.canonical(again) == codec.canonical(first)


@every_write
def test_other_arguments_are_a_conflict(c, tool):
    caller, arguments = write_of(c, tool)
    arguments["requestId"] = "same"
    c.world.call(caller, tool, **arguments)
    refused = c.world.refused(caller, tool, **{**arguments, **OTHERWISE[tool]})
    assert (refused.code, refused.issues) == ("conflict", ["requestId: used before"])


@every_write
def test_another_caller_is_a_conflict(c, tool):
    caller, arguments = write_of(c, tool)
    arguments["requestId"] = "same"
    c.world.call(caller, tool, **arguments)
    other = {c.agent.id: c.other, c.ops.id: c.ada, c.ada.id: c.ops}[caller.id]
    refused = c.world.refused(other, tool, **arguments)
    assert (refused.code, refused.issues) == ("conflict", ["requestId: used before"])


@every_write
def test_the_stored_result_holds_no_token_body_or_address(c, tool):
    caller, arguments = write_of(c, tool)
    data = c.world.call(caller, tool, **arguments, requestId="same")
    stored = Request.objects.get(pk="same")
    assert (stored.caller, stored.tool) == (caller.id, tool)
    assert (stored.run_id is None) == (tool == "upload")
    if "token" in data:
        assert data["token"] not in stored.result
        assert data["token"].partition(".")[2] not in stored.result
    assert "The body." not in stored.result and "/v1/files" not in stored.result
    view = codec.loads(stored.result)["view"]
    assert not {"body", "token"} & set(view)


@every_write
def test_a_call_that_failed_is_not_recorded(c, tool):
    caller, arguments = write_of(c, tool)
    before = Request.objects.count()
    broken = {
        "start_run": {"process": "none"}, "claim": {"stepId": "none"}, "renew": {"token": "x"},
        "upload": {"contentBase64": "?"}, "submit": {"output": {}}, "escalate": {"note": " "},
        "decide": {"snapshot": "old"}, "cancel": {"runId": "r_none"}, "send_event": {"runId": "r_none"},
    }[tool]  # fmt: skip
    c.world.refused(caller, tool, **{**arguments, **broken}, requestId="same")
    assert Request.objects.count() == before
    c.world.call(caller, tool, **arguments, requestId="same")  # so a retry can succeed


def test_a_replay_makes_addresses_anew(c, world):
    world.publish(FILED, readers="readers")
    run = world.call(c.agent, "start_run", process="filed", inputs={})
    ref = world.call(c.agent, "upload", **given())["id"]
    token = world.claim(c.agent, run, "report")["token"]
    evidence = [{"kind": "file", "ref": ref}, {"kind": "link", "ref": "x"}]
    call = {"token": token, "output": {}, "summary": "s", "evidence": evidence, "requestId": "same"}
    first = world.call(c.agent, "submit", **call)
    again = world.call(c.agent, "submit", **call)
    for view in (first, again):
        assert ref in view["data"]["steps"]["report"]["evidence"][0]["url"]
    assert "url" not in Request.objects.get(pk="same").result


def test_the_same_id_for_another_tool_is_a_conflict(c, world):
    run = errand(world, c.agent, requestId="same")
    refused = world.refused(c.agent, "claim", runId=run["run"]["id"], stepId="fetch", requestId="same")
    assert refused.issues == ["requestId: used before"]


def test_numbers_are_compared_as_they_were_sent(c, world):
    errand(world, c.agent)
    call = {"process": "errand", "requestId": "same"}
    world.call(c.agent, "start_run", **call, inputs=codec.loads('{"what":"x","amount":1.0}'))
    for other in ('{"what":"x","amount":1}', '{"what":"x","amount":1.00}'):
        refused = world.refused(c.agent, "start_run", **call, inputs=codec.loads(other))
        assert refused.code == "conflict"
    world.call(c.agent, "start_run", **call, inputs=codec.loads('{"amount":1.0,"what":"x"}'))


def test_request_ids_are_told_apart_to_the_letter(c, world):
    one, two = errand(world, c.agent, requestId="a"), errand(world, c.agent, requestId="A")
    assert one["run"]["id"] != two["run"]["id"]
    assert errand(world, c.agent, requestId="q" * 128)
    refused = world.refused(c.agent, "start_run", process="errand", inputs={}, requestId="q" * 129)
    assert refused.issues == ["requestId: 129 characters are more than 128"]


# ---- the beats


def test_unknown_tools(c, world):
    for tool in ("none", "", "Claim", "x" * 500):
        with pytest.raises(ToolError) as refused:
            pipeline.call(tool, c.agent, {})
        assert refused.value.code == "not_found" and len(refused.value.message) < 100


def test_arguments_come_before_who_calls_and_the_request(c, world):
    assert world.refused(NOBODY, "claim", runId=1, stepId="s").code == "invalid"
    assert world.refused(NOBODY, "claim", runId="r", stepId="s").code == "forbidden"
    errand(world, c.agent, requestId="same")
    assert world.refused(c.agent, "claim", runId=1, stepId="s", requestId="same").code == "invalid"


def test_reads_keep_nothing(c, world):
    for tool in ("describe", "list_processes", "get_work"):
        world.call(c.agent, tool)
    assert not Request.objects.exists()


def test_a_busy_database_is_a_retry_and_a_fault_is_ours(c, world, monkeypatch):
    def fail(error):
        def run(_call):
            raise error

        entry = pipeline.Entry(run, TOOLS["get_work"].who)
        monkeypatch.setitem(TOOLS, "get_work", entry)

    fail(OperationalError("database is locked"))
    refused = world.refused(c.agent, "get_work")
    assert (refused.code, refused.retry_after) == ("retry", 1)
    for fault in (IntegrityError("x"), KeyError("x")):
        fail(fault)
        with pytest.raises(type(fault)):
            world.call(c.agent, "get_work")


def test_every_code_is_one_of_the_protocols():
    assert set(CODES) == {"invalid", "not_accepted", "stale", "conflict", "forbidden", "not_found", "retry"}


def test_a_held_answer_is_recorded_too(c, world, monkeypatch):
    from processes import seams

    run = signing(world, c.agent)
    monkeypatch.setattr(seams, "policies", [lambda _asked: seams.Hold()])
    call = {**world.item(c.ada, run)["decide"]["arguments"], "decision": "approved", "requestId": rid()}
    view = world.call(c.ada, "decide", **call)
    assert view["workItems"][0]["id"] == call["workItemId"]
    assert world.call(c.ada, "decide", **call)["replayed"] is True
