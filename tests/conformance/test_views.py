"""Run views, claims and work items in every situation fit the public schemas.

A row of the table is a situation (a function: how a run comes there) and what the views show there. The last test
holds the rows against all that a view can show, so that nothing new is forgotten.
"""

import pytest

from checks.models import CheckLimits
from processes import contracts, document
from processes.errors import ToolError
from tests.conformance.kinds import FAILS, FAR, UNSURE, WORDS, Stage, shown
from tests.processes import flows
from tests.processes.public import FOLDER, shape_issues

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no public schemas at {FOLDER} (set SHARED_DIR)"),
]


@pytest.fixture
def stage(world, evaluator):
    made = Stage(world, evaluator)
    with made.clock:
        yield made


# ---- ways there


def new(stage, **given):
    stage.publish()
    return stage.start(**{"at": FAR, **given})


def claimed(stage):
    new(stage)
    stage.claim()
    return stage.view()


def left(stage):
    """The lease ran out, with a note of how far it went."""
    new(stage)
    stage.call(stage.agent, "renew", token=stage.claim()["token"], progress="Half of it.")
    view = stage.expire()
    stage.claim()
    return view


def bounced(stage):
    new(stage)
    stage.submit(script=FAILS)
    view = stage.expire()
    stage.claim()
    return view


def unsure(stage):
    new(stage)
    return stage.submit(script=UNSURE)


def unsure_again(stage):
    """After rework: the step has a history, and the check that waits."""
    rejected(stage)
    return stage.submit(script=UNSURE, summary="Wrote it anew.")


def returned(stage):
    unsure(stage)
    view = stage.decide("returned", note="Say more.")
    stage.claim()
    return view


def escalated(stage):
    new(stage)
    return stage.escalate()


def given_up(stage):
    escalated(stage)
    return stage.decide("failed", note="It can't be done.")


def unanswered(stage):
    """The evaluator is down for three errors in a row."""
    new(stage)
    stage.claim()
    call = {"token": stage.claims[-1]["token"], **WORDS, "next": "drop", "reason": "r", "requestId": "q"}
    evidence = stage.evidence()
    stage.evaluator.script = ["down"]
    codes = []
    for _ in range(2):
        with pytest.raises(ToolError) as caught:
            stage.call(stage.agent, "submit", **call, evidence=evidence)
        codes.append(caught.value.code)
    assert codes == ["retry", "retry"]
    stage.call(stage.agent, "submit", **call, evidence=evidence)
    return stage.view()


def candidate_taken(stage):
    unsure(stage)
    return stage.decide("completed")


def forked(stage, **given):
    new(stage, **given)
    return stage.submit()


def overdue(stage):
    forked(stage)
    return stage.later(2)


def task_bounced(stage):
    forked(stage)
    stage.evaluator.script = [[0.1]]
    with pytest.raises(ToolError, match="not accepted"):
        stage.decide("completed", **WORDS)
    return stage.view()


def task_failed(stage):
    forked(stage)
    return stage.decide("failed", note="No time.")


def joined(stage, **given):
    forked(stage, **given)
    stage.decide("completed", **WORDS)
    return stage.submit("left")


def rejected(stage):
    joined(stage)
    return stage.decide("rejected", note="Once more.")


def reworked(stage):
    rejected(stage)
    stage.submit(summary="Wrote it anew.")
    stage.decide("completed", **WORDS)
    stage.submit("left")
    return stage.decide("approved")


def approve_failed(stage):
    joined(stage)
    return stage.decide("failed", note="Nobody wants it.")


def pausing(stage, **given):
    joined(stage, **given)
    return stage.decide("approved")


def until(stage, **given):
    pausing(stage, **given)
    return stage.later(2)


def never(stage):
    """A wait for a time that nobody gave."""
    stage.publish()
    stage.start()
    stage.submit()
    stage.decide("completed", **WORDS)
    stage.submit("left")
    stage.decide("approved")
    return stage.later(2)


def awaiting(stage):
    return until(stage, at="2020-01-01T00:00:00Z")


def paid(stage):
    awaiting(stage)
    return stage.event()


def timed_out(stage):
    awaiting(stage)
    return stage.later(72)


def dropped(stage):
    new(stage)
    return stage.submit(next="drop", reason="Not worth it.")


def cancelled(way):
    def go(stage):
        way(stage)
        return stage.cancel()

    go.__name__ = f"cancelled_when_{way.__name__}"
    return go


def trial(stage):
    return joined(stage, mode="test")


def truncated(stage):
    CheckLimits(check_state_bytes=1024, why="Small.", by="test").save()
    new(stage, long="x" * 2000)
    return stage.submit(script=UNSURE)


def shared_task(stage):
    stage.publish(flows.FILED, readers="finance")
    stage.start("filed")
    stage.submit("report", output={"text": "t"}, evidence=stage.evidence())
    return stage.view()


def task_unsure(stage):
    stage.publish(flows.CHECKED_TASK.replace("check: The text is kind.", CHOICE), writers="finance")
    stage.start("checked-task")
    stage.evaluator.script = [[("unclear", 0.9)]]
    return stage.decide("completed", **WORDS)


CHOICE = "check: [{ ask: What is it?, one_of: { kind: It is., unclear: Perhaps. }, pass: [kind], unsure: [unclear] }]"


def turned_down(stage):
    stage.publish(flows.ERRAND)
    stage.start("errand", what="pens")
    stage.submit("fetch", output={"amount": 5, "tags": ["a"]}, summary="Fetched it.")
    return stage.decide("rejected", note="Too dear.")


def nobody_there(stage):
    """The person that a task names is none of ours."""
    stage.publish(flows.PEOPLE)
    stage.start("people", owner="ada@example.org")
    boss = {"output": {"boss": "nobody@example.org"}, "summary": "s", "next": "allow", "reason": "r"}
    return stage.decide("completed", **boss)


def advised(verdict, script):
    def go(stage):
        stage.publish(
            flows.ADVISORY.replace("check: The text is kind.", "check: [{ ask: Kind?, fail: 0.5 }]")
        )
        stage.start("advisory")
        return stage.submit("write", script, **flows.TEXT)

    go.__name__ = f"advised_{verdict}"
    return go


# ---- and what is to be seen there

SITUATIONS = {
    new: {"agent ready", "agent None", "task None", "approve None", "wait None", "wait_until None", "wait_for None",
          "parallel None", "finish None", "run active", "outcome None", "mode live"},
    claimed: {"agent claimed", "handoff none"},
    left: {"agent ready", "handoff progress"},
    bounced: {"agent ready", "handoff check", "handoff issues", "verdict fail", "fail yes_no", "fail choice",
              "fail rubric"},
    unsure: {"agent waiting", "run waiting", "item agent", "escalated agent", "candidate", "verdict unsure",
             "unsure yes_no", "unsure choice", "unsure rubric", "asks for output", "asks for evidence",
             "asks for next", "assigned to a group"},
    unsure_again: {"history", "history of verdict pass", "history of evidence file", "verdict unsure"},
    returned: {"agent ready", "handoff returned", "handoff check", "handoff issues"},
    escalated: {"escalated agent", "no candidate"},
    given_up: {"agent failed", "run ended", "outcome failed", "ended by somebody"},
    unanswered: {"escalated agent"},
    candidate_taken: {"agent done", "verdict unsure"},
    forked: {"agent done", "parallel waiting", "task waiting", "item task", "assigned to a person", "item due",
             "evidence file", "evidence link", "verdict pass", "pass yes_no", "pass choice",
             "pass rubric"},
    overdue: {"overdue"},
    task_bounced: {"item task", "item's handoff check", "item's handoff issues"},
    task_failed: {"task failed", "agent cancelled", "parallel cancelled", "decision failed"},
    joined: {"parallel done", "task done", "approve waiting", "item approve"},
    rejected: {"agent ready", "approve None", "decision rejected", "history"},
    reworked: {"history of decision rejected", "decision approved"},
    approve_failed: {"approve failed", "decision failed", "outcome failed"},
    pausing: {"wait waiting", "approve done", "run waiting"},
    until: {"wait done", "wait_until waiting"},
    never: {"wait_until failed", "outcome failed", "ended by the server"},
    awaiting: {"wait_until done", "wait_for waiting"},
    paid: {"wait_for done", "finish done", "outcome paid", "ended by the server"},
    timed_out: {"wait_for done", "outcome unpaid"},
    dropped: {"finish done", "outcome dropped", "parallel None"},
    trial: {"mode test", "item of a test"},
    truncated: {"truncated"},
    shared_task: {"item task", "assigned to a group", "asks for evidence"},
    task_unsure: {"escalated task", "candidate", "unsure choice"},
    turned_down: {"run ended", "outcome rejected", "decision rejected"},
    nobody_there: {"approve failed", "outcome failed", "ended by the server"},
    cancelled(new): {"run cancelled", "agent cancelled"},
    cancelled(forked): {"task cancelled", "parallel cancelled"},
    cancelled(joined): {"approve cancelled"},
    cancelled(pausing): {"wait cancelled"},
    cancelled(until): {"wait_until cancelled"},
    cancelled(awaiting): {"wait_for cancelled"},
    advised("pass", [0.95]): {"advisory pass"},
    advised("fail", [0.1]): {"advisory fail"},
    advised("unsure", [0.7]): {"advisory unsure"},
    advised("error", "down"): {"advisory error"},
}  # fmt: skip


@pytest.mark.parametrize("way", SITUATIONS, ids=lambda way: way.__name__)
def test_a_situation_fits_the_public_schemas(stage, way):
    view = way(stage)
    assert SITUATIONS[way] <= set(shown(view, stage.claims)), sorted(set(shown(view, stage.claims)))
    for again in (view, stage.view()):
        assert not [*contracts.result_issues("get_run", again), *shape_issues("run-view", again)]
        assert not shape_issues("run-data", again["data"])
        for item in again["workItems"]:
            assert not shape_issues("work-item", item)
            checks = [(item["escalation"] or {}).get("check"), (item["handoff"] or {}).get("check")]
            assert not [issue for check in checks if check for issue in shape_issues("check-verdict", check)]
    for caller in (stage.agent, stage.ada, stage.ops):
        stage.call(caller, "get_work")
        stage.call(caller, "list_runs")


# ---- nothing is left out

STATES = {
    "agent": "None ready claimed waiting done failed cancelled",
    "task": "None waiting done failed cancelled",
    "approve": "None waiting done failed cancelled",
    "wait": "None waiting done cancelled",
    "wait_until": "None waiting done failed cancelled",
    "wait_for": "None waiting done cancelled",
    "parallel": "None waiting done cancelled",
    "finish": "None done",
}
RESULTS = ("pass", "fail", "unsure")


def everything():
    yield from (f"{kind} {state}" for kind, states in STATES.items() for state in states.split())
    shapes = contracts.schema("get_run", "result")["$defs"]
    yield from (f"run {state}" for state in ("active", "waiting", "ended", "cancelled"))
    yield from (f"mode {mode}" for mode in shapes["mode"]["enum"])
    yield from (f"item {kind}" for kind in shapes["workItem"]["properties"]["kind"]["enum"])
    yield from (f"handoff {key}" for key in ("none", *shapes["handoff"]["properties"]))
    yield from (f"decision {word}" for word in shapes["stepData"]["properties"]["decision"]["enum"])
    yield from (f"evidence {kind}" for kind in shapes["evidenceKind"]["enum"])
    verdict = shapes["checkVerdict"]["properties"]
    question = verdict["questions"]["items"]["properties"]
    yield from (f"{result} {kind}" for result in RESULTS for kind in question["kind"]["enum"])
    yield from (f"advisory {word}" for word in verdict["verdict"]["enum"])
    yield from (f"verdict {word}" for word in RESULTS)
    yield from (f"outcome {word}" for word in ("None", "paid", "rejected", "failed"))
    yield from ("escalated agent", "escalated task", "candidate", "no candidate", "history", "overdue")
    yield from ("truncated", "item of a test", "assigned to a group", "assigned to a person")


def test_the_table_shows_everything():
    assert set(STATES) == set(document.KINDS)
    assert set(everything()) <= set().union(*SITUATIONS.values())
