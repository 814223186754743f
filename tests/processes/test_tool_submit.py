"""submit without a check: the objective rules, evidence, routes, limits. With one: test_checking.py."""

import base64

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from checks import codec
from processes import contracts
from processes.callers import NOBODY
from processes.models import HistoryEntry, Run, Submission, Upload
from tests.processes.flows import DONE, FILED, cast, errand, expire, signing, states, work
from tests.world import rid

pytestmark = pytest.mark.django_db

ROUTED = """\
---
name: routed
description: Two ways.
steps:
  - id: look
    agent: Look.
    next: [good, bad]
  - id: good
    finish: good
  - id: bad
    finish: bad
---
"""


def claimed(world, agent, **arguments):
    run = errand(world, agent, **arguments)
    return run, world.claim(agent, run, "fetch")["token"]


def upload(world, caller, content: bytes = b"report") -> str:
    text = base64.b64encode(content).decode()
    return world.call(caller, "upload", fileName="r.txt", contentType="text/plain", contentBase64=text)["id"]


def file(ref: str) -> dict[str, str]:
    return {"kind": "file", "ref": ref}


LINK = {"kind": "link", "ref": "https://example.org/source"}


def test_the_step_is_done_and_the_next_is_ready_when_the_call_returns(world):
    agent = world.agent("worker")
    run, token = claimed(world, agent)
    view = world.call(agent, "submit", token=token, **DONE)
    assert contracts.result_issues("submit", view) == []
    assert states(view) == {"fetch": "done", "sign": "waiting", "done": None}
    assert view["run"]["state"] == "waiting" and len(view["workItems"]) == 1
    step = view["data"]["steps"]["fetch"]
    assert set(step) == {"output", "evidence", "summary", "by", "at", "history"}
    assert (step["by"], step["at"]) == ("agent:worker", view["run"]["updatedAt"])
    row = Submission.objects.get()
    assert (row.state, row.by, row.number, row.verdict) == ("accepted", "agent:worker", 1, None)
    told = [(entry.what, entry.step) for entry in HistoryEntry.objects.all()]
    assert told == [("started", ""), ("claimed", "fetch"), ("submitted", "fetch"), ("completed", "fetch")]
    assert world.view(agent, run)["data"] == view["data"]


def test_a_route_is_taken_with_its_reason(world):
    world.publish(ROUTED)
    agent = world.agent()
    run = world.call(agent, "start_run", process="routed", inputs={})
    view = work(world, agent, run, "look", output={}, summary="s", next="bad", reason="It is broken.")
    assert view["run"]["outcome"] == "bad"
    assert (view["data"]["steps"]["look"]["next"], view["data"]["steps"]["look"]["reason"]) == (
        "bad",
        "It is broken.",
    )


def test_a_refusal_changes_nothing_but_the_handoff(world):
    agent = world.agent()
    run, token = claimed(world, agent)
    before = Run.objects.values("data", "snapshot", "state").get()
    refused = world.refused(agent, "submit", token=token, output={}, summary="s")
    assert (refused.code, refused.issues) == ("not_accepted", ["output.amount: missing"])
    assert Run.objects.values("data", "snapshot", "state").get() == before
    assert not Submission.objects.exists()
    assert [entry.what for entry in HistoryEntry.objects.all()] == ["started", "claimed"]
    expire(run)
    assert world.claim(agent, run, "fetch")["handoff"] == {"issues": refused.issues}


def test_the_claim_stands_after_a_refusal(world):
    agent = world.agent()
    _, token = claimed(world, agent)
    world.refused(agent, "submit", token=token, output={}, summary="s")
    assert states(world.call(agent, "submit", token=token, **DONE))["fetch"] == "done"


@pytest.mark.parametrize(
    ("given", "issues"),
    [
        ({"output": {}, "summary": " "}, ["summary: missing", "output.amount: missing"]),
        ({"output": {"amount": "5"}}, ["output.amount: expected number"]),
        ({"output": {"amount": True}}, ["output.amount: expected number"]),
        ({"output": {"amount": None}}, ["output.amount: expected number"]),
        ({"output": {"amount": 1, "kind": "huge"}}, ["output.kind: not one of small, large"]),
        ({"output": {"amount": 1, "tags": ["a", 1, "c"]}},
         ["output.tags[1]: expected string", "output.tags[2]: not one of a, b"]),
        ({"output": {"amount": 1, "more": 1, "and": 2}},
         ["output.more: not declared", "output.and: not declared"]),
        ({"next": "sign"}, ["next: not allowed"]),
        ({"reason": "Because."}, ["reason: not allowed"]),
        ({"evidence": [file("f_0")]}, ["evidence f_0: not found"]),
    ],
)  # fmt: skip
def test_issues(world, given, issues):
    agent = world.agent()
    _, token = claimed(world, agent)
    refused = world.refused(agent, "submit", token=token, **{**DONE, **given})
    assert (refused.code, refused.issues) == ("not_accepted", issues)


@pytest.mark.parametrize(
    ("given", "issues"),
    [
        ({}, ["next: required, one of good, bad", "reason: required"]),
        ({"next": "look", "reason": "r"}, ["next: required, one of good, bad"]),
        ({"next": "good"}, ["reason: required"]),
        ({"next": "good", "reason": " \n"}, ["reason: required"]),
    ],
)
def test_issues_of_a_route(world, given, issues):
    world.publish(ROUTED)
    agent = world.agent()
    run = world.call(agent, "start_run", process="routed", inputs={})
    token = world.claim(agent, run, "look")["token"]
    refused = world.refused(agent, "submit", token=token, output={}, summary="s", **given)
    assert (refused.code, refused.issues) == ("not_accepted", issues)


# ---- evidence


def filed(world, agent):
    world.publish(FILED, readers="readers")
    run = world.call(agent, "start_run", process="filed", inputs={})
    return run, world.claim(agent, run, "report")["token"]


def hand_in(world, agent, token, *evidence):
    return world.call(agent, "submit", token=token, output={}, summary="s", evidence=list(evidence))


def refusal(world, agent, token, *evidence):
    sent = {"output": {}, "summary": "s", "evidence": list(evidence)}
    return world.refused(agent, "submit", token=token, **sent).issues


def test_evidence_of_every_kind_is_kept_with_its_hash(world):
    agent = world.agent()
    _, token = filed(world, agent)
    ref = upload(world, agent)
    view = hand_in(world, agent, token, file(ref), LINK)
    kept, link = view["data"]["steps"]["report"]["evidence"]
    assert kept["sha256"] == Upload.objects.get().sha256 and kept["url"] and link == LINK


def test_missing_kinds(world):
    agent = world.agent()
    _, token = filed(world, agent)
    assert refusal(world, agent, token) == ["evidence: file required", "evidence: link required"]
    assert refusal(world, agent, token, LINK) == ["evidence: file required"]
    # a link never stands in for a file, whatever it names
    assert refusal(world, agent, token, {"kind": "link", "ref": upload(world, agent)}) == [
        "evidence: file required"
    ]


def test_a_file_that_is_not_there(world):
    agent = world.agent()
    _, token = filed(world, agent)
    assert refusal(world, agent, token, file("f_none"), LINK) == [
        "evidence f_none: not found",
        "evidence: file required",
    ]


def test_somebody_elses_file_does_not_exist(world):
    agent = world.agent()
    _, token = filed(world, agent)
    ref = upload(world, world.agent())
    assert refusal(world, agent, token, file(ref), LINK)[0] == f"evidence {ref}: not found"


def test_naming_a_file_elsewhere_in_the_run_does_not_cite_it(world):
    """Else whoever learns an id could take the file for their own run by a link or an output."""
    agent = world.agent()
    world.publish(FILED, readers="readers")
    run = world.call(agent, "start_run", process="filed", inputs={})
    stolen = upload(world, world.agent())
    mine = upload(world, agent)
    named = {"text": stolen}
    link = {"kind": "link", "ref": stolen}
    work(world, agent, run, "report", output=named, summary=stolen, evidence=[file(mine), link])
    rose = world.person("rose", "readers")
    refused = world.refused(rose, "decide", **_completed(world, rose, run), evidence=[file(stolen)])
    assert refused.issues == [f"evidence {stolen}: not found", "evidence: file required"]


def test_within_the_run_that_cites_it_anybody_may(world):
    agent = world.agent()
    run, token = filed(world, agent)
    ref = upload(world, agent)
    hand_in(world, agent, token, file(ref), LINK)
    rose = world.person("rose", "readers")
    view = world.call(rose, "decide", **_completed(world, rose, run), evidence=[file(ref)])
    assert view["run"]["outcome"] == "read"
    # but not in another run
    other = world.agent()
    second = world.call(other, "start_run", process="filed", inputs={})
    token = world.claim(other, second, "report")["token"]
    assert refusal(world, other, token, file(ref), LINK)[0] == f"evidence {ref}: not found"


def _completed(world, person, run):
    item = world.item(person, run)
    return {
        "runId": run["run"]["id"],
        "workItemId": item["id"],
        "snapshot": item["snapshot"],
        "decision": "completed",
    }


def test_bytes_that_changed_or_are_gone(world):
    agent = world.agent()
    _, token = filed(world, agent)
    changed, gone = upload(world, agent), upload(world, agent)
    default_storage.delete(Upload.objects.get(pk=gone).path)
    path = Upload.objects.get(pk=changed).path
    default_storage.delete(path)
    default_storage.save(path, ContentFile(b"Report"))
    assert refusal(world, agent, token, file(changed), file(gone), LINK) == [
        f"evidence {changed}: changed since it was uploaded",
        f"evidence {gone}: its bytes are gone",
        "evidence: file required",
    ]


# ---- limits


def test_run_data_that_would_outgrow_its_bound(world, settings):
    agent = world.agent()
    _, token = claimed(world, agent)
    settings.RUN_DATA_BYTES = 2000
    large = {**DONE, "output": {"amount": 1, "detail": {"text": "x" * 2000}}}
    refused = world.refused(agent, "submit", token=token, **large)
    assert refused.code == "not_accepted" and refused.issues[0].startswith("run data: ")
    assert world.call(agent, "submit", token=token, **DONE)


def test_the_bound_holds_to_the_byte(world, settings):
    agent = world.agent()
    run, token = claimed(world, agent)
    sent = {**DONE, "output": {"amount": 1, "detail": {"text": "x" * 500}}}
    probe = work(world, agent, errand(world, agent), "fetch", **sent)
    exact = len(Run.objects.get(pk=probe["run"]["id"]).data)
    settings.RUN_DATA_BYTES = exact - 1
    refused = world.refused(agent, "submit", token=token, **sent)
    assert refused.issues == [f"run data: {exact} bytes, at most {exact - 1}; put large content in a file"]
    settings.RUN_DATA_BYTES = exact
    world.call(agent, "submit", token=token, **sent)
    assert len(Run.objects.get(pk=run["run"]["id"]).data) == exact


def test_numbers_are_kept_as_they_were_sent(world):
    agent = world.agent()
    run, token = claimed(world, agent)
    text = '{"amount":1e400,"detail":{"a":0.1000000000000000055,"b":12345678901234567890,"c":1.0}}'
    view = world.call(agent, "submit", token=token, output=codec.loads(text), summary="s")
    assert codec.dumps(view["data"]["steps"]["fetch"]["output"]) == text
    assert codec.dumps(world.view(agent, run)["data"]["steps"]["fetch"]["output"]) == text


# ---- refusals before the work is looked at


def test_stale_tokens(world):
    agent, other = world.agent(), world.agent()
    run, token = claimed(world, agent)
    expire(run)
    assert world.refused(agent, "submit", token=token, **DONE).code == "stale"
    world.claim(other, run, "fetch")
    assert world.refused(agent, "submit", token=token, **DONE).code == "stale"
    assert not Submission.objects.exists()


def test_a_token_works_once(world):
    agent = world.agent()
    _, token = claimed(world, agent)
    world.call(agent, "submit", token=token, **DONE)
    assert world.refused(agent, "submit", token=token, **DONE).code == "stale"


def test_another_agents_token_is_invalid_even_on_an_ended_run(world):
    c = cast(world)
    run, token = claimed(world, c.agent)
    assert world.refused(c.other, "submit", token=token, **DONE).code == "invalid"
    world.call(c.ops, "cancel", runId=run["run"]["id"], reason="r")
    assert world.refused(c.other, "submit", token=token, **DONE).code == "invalid"


def test_run_ended_comes_before_stale_and_issues(world):
    c = cast(world)
    run, token = claimed(world, c.agent)
    expire(run)
    world.call(c.ops, "cancel", runId=run["run"]["id"], reason="r")
    refused = world.refused(c.agent, "submit", token=token, output={}, summary="")
    assert (refused.code, refused.issues) == ("conflict", ["run_ended"])


def test_only_agents_submit(world):
    agent = world.agent()
    _, token = claimed(world, agent)
    for caller in (NOBODY, world.person("ada", "finance"), world.person("ops", operator=True)):
        assert world.refused(caller, "submit", token=token, **DONE).code == "forbidden"


@pytest.mark.parametrize(
    ("changed", "issue"),
    [
        ({"token": None}, "token: expected string"),
        ({"output": None}, "output: expected object"),
        ({"output": []}, "output: expected object"),
        ({"summary": None}, "summary: expected string"),
        ({"summary": "s" * 2001}, "summary: 2001 characters are more than 2000"),
        ({"evidence": {}}, "evidence: expected list"),
        ({"evidence": [{"kind": "note", "ref": "x"}]},
         'evidence[0].kind: "note" is not one of file, link'),
        ({"evidence": [{"kind": "link", "ref": ""}]}, "evidence[0].ref: empty"),
        ({"evidence": [{**LINK, "sha256": "0" * 64}]}, "evidence[0].sha256: not known here"),
        ({"evidence": [LINK] * 51}, "evidence: 51 items are more than 50"),
        ({"next": None}, "next: expected string"),
        ({"note": "n"}, "note: not an argument of submit"),
    ],
)  # fmt: skip
def test_arguments(world, changed, issue):
    refused = world.refused(world.agent(), "submit", **{"token": "t", **DONE, **changed})
    assert (refused.code, refused.issues) == ("invalid", [issue])


@pytest.mark.parametrize("missing", ["token", "output", "summary", "requestId"])
def test_missing_arguments(world, missing):
    from processes import pipeline
    from processes.errors import ToolError

    given = {"token": "t", **DONE, "requestId": rid()}
    del given[missing]
    with pytest.raises(ToolError) as refused:
        pipeline.call("submit", world.agent(), given)
    assert (refused.value.code, refused.value.issues) == ("invalid", [f"{missing}: missing"])


def test_a_run_that_waits_for_its_signature_takes_no_more_work(world):
    agent = world.agent()
    run = signing(world, agent)
    assert world.refused(agent, "claim", runId=run["run"]["id"], stepId="fetch").code == "conflict"
