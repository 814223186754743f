"""What a transition does to a run, without a database: states, run data, effects.

Waits, events and branches have their own file.
"""

from datetime import UTC, datetime, timedelta

import pytest

from processes import engine
from processes.document import parse
from processes.engine import Assignee, Closed, Happened, Opened
from processes.states import IllegalMoveError, RunState, StepState
from tests.processes.flows import ERRAND, LOOPS, PEOPLE

AT = datetime(2026, 11, 30, 9, 0, 0, 123456, tzinfo=UTC)
STAMP = "2026-11-30T09:00:00.123Z"
FINANCE, ADA = Assignee(group=1), Assignee(person=7)


class Everybody:
    """Roles are all finance's; `ada` is the only person."""

    def __init__(self, initiator: Assignee | None = ADA) -> None:
        self._initiator = initiator

    def role(self, name: str) -> Assignee | None:
        return FINANCE

    def initiator(self) -> Assignee | None:
        return self._initiator

    def person(self, value: object) -> Assignee | None:
        return ADA if value == "ada" else None


def begun(text: str, people: Everybody | None = None, **inputs: object) -> engine.Now:
    document = parse(text).document
    assert document is not None
    return engine.start(document, people or Everybody(), inputs, by="agent:a", at=AT)


def states(now: engine.Now) -> dict[str, str]:
    return {name: str(step.state) for name, step in now.steps.items()}


def last(now: engine.Now) -> list[str]:
    return [effect.what for effect in now.effects if isinstance(effect, Happened)]


OUT = {"output": {"amount": 1}, "evidence": [], "summary": "s"}


def test_start_enters_the_first_step():
    now = begun(ERRAND, what="pens")
    assert states(now) == {"fetch": "ready", "sign": "", "done": ""}
    assert now.data == {"inputs": {"what": "pens"}, "steps": {}}
    assert now.steps["fetch"].ready_at == AT and now.steps["fetch"].due_at == AT + timedelta(days=1)
    assert now.effects == [Happened("started", "", "agent:a"), Opened("fetch", None)]
    assert now.state is RunState.ACTIVE


def test_a_claim_may_follow_a_claim_whose_lease_ended():
    now = begun(ERRAND)
    engine.claim(now, "fetch", by="agent:a")
    engine.claim(now, "fetch", by="agent:b")
    assert states(now)["fetch"] == "claimed"
    assert now.effects[-1] == Happened("claimed", "fetch", "agent:b")


def test_complete_records_and_enters_the_next():
    now = begun(ERRAND)
    engine.claim(now, "fetch", by="agent:a")
    engine.complete(now, "fetch", OUT, by="agent:a")
    assert states(now) == {"fetch": "done", "sign": "waiting", "done": ""}
    assert now.data["steps"]["fetch"] == {**OUT, "by": "agent:a", "at": STAMP, "history": []}
    assert now.effects[-3:] == [
        Closed("fetch"),
        Happened("completed", "fetch", "agent:a"),
        Opened("sign", FINANCE),
    ]
    assert now.state is RunState.WAITING and now.steps["fetch"].completed == 1


def test_approve_finishes_the_run_as_the_server():
    now = begun(ERRAND)
    engine.claim(now, "fetch", by="agent:a")
    engine.complete(now, "fetch", OUT, by="agent:a")
    engine.approve(now, "sign", by="person:ada", note="Fine.")
    assert now.data["steps"]["sign"] == {
        "decision": "approved", "note": "Fine.", "by": "person:ada", "at": STAMP, "history": [],
    }  # fmt: skip
    assert (now.state, now.outcome, now.ended_by, now.ended_note) == (
        RunState.ENDED,
        "fetched",
        "server",
        None,
    )
    assert "done" not in now.data["steps"]


def test_a_route_is_taken():
    now = begun(PEOPLE, owner="ada")
    engine.complete(
        now,
        "choose",
        {"output": {"boss": "x"}, "evidence": [], "next": "over", "reason": "r"},
        by="person:ada",
    )
    assert now.outcome == "settled" and states(now)["allow"] == ""


@pytest.mark.parametrize(("people", "step"), [(Everybody(), "choose"), (Everybody(), "allow")])
def test_nobody_behind_a_path_fails_step_and_run(people, step):
    now = begun(PEOPLE, people, owner="ada" if step == "allow" else "nobody")
    if step == "allow":
        done = {"output": {"boss": "nobody"}, "evidence": [], "next": "allow", "reason": "r"}
        engine.complete(now, "choose", done, by="person:ada")
    assert states(now)[step] == "failed"
    assert (now.outcome, now.ended_by) == ("failed", "server")
    assert "leads to nobody" in (now.ended_note or "")
    assert now.data["steps"][step]["decision"] == "failed"


def test_an_initiator_is_whoever_started():
    now = begun(PEOPLE, owner="ada")
    done = {"output": {"boss": "ada"}, "evidence": [], "next": "allow", "reason": "r"}
    engine.complete(now, "choose", done, by="person:ada")
    engine.approve(now, "allow", by="person:ada")
    assert now.effects[-1] == Opened("mine", ADA)


def looped() -> engine.Now:
    """At the second approval."""
    now = begun(LOOPS)
    engine.claim(now, "draft", by="agent:a")
    engine.complete(now, "draft", {"output": {}, "evidence": [], "summary": "d1"}, by="agent:a")
    engine.complete(now, "edit", {"output": {"words": 1}, "evidence": []}, by="person:eve")
    engine.approve(now, "first", by="person:ada")
    return now


def test_reject_takes_back_the_target_and_all_after_it():
    now = looped()
    now.effects.clear()
    engine.reject(now, "second", by="person:bo", note="Again.")
    assert states(now) == {"draft": "ready", "edit": "", "first": "", "second": "", "done": ""}
    assert [now.steps[name].completed for name in ("draft", "edit", "first", "second")] == [None] * 4
    assert now.steps["edit"].due_at is None and now.steps["draft"].due_at == AT + timedelta(hours=2)
    steps = now.data["steps"]
    assert steps["second"] == {
        "decision": "rejected", "note": "Again.", "by": "person:bo", "at": STAMP, "history": [],
    }  # fmt: skip
    assert steps["draft"] == {
        "history": [{"output": {}, "evidence": [], "summary": "d1", "by": "agent:a", "at": STAMP}]
    }
    assert now.effects == [
        Closed("second"),
        Happened("rejected", "second", "person:bo", "Again."),
        Opened("draft", None),
    ]


def test_a_step_before_the_target_keeps_its_value():
    now = begun(LOOPS)
    engine.claim(now, "draft", by="agent:a")
    engine.complete(now, "draft", {"output": {}, "evidence": [], "summary": "d1"}, by="agent:a")
    engine.complete(now, "edit", {"output": {"words": 1}, "evidence": []}, by="person:eve")
    engine.reject(now, "first", by="person:ada", note="n")
    assert states(now)["draft"] == "done" and now.data["steps"]["draft"]["summary"] == "d1"
    assert states(now)["edit"] == "waiting"


def test_history_grows_oldest_first_over_three_rounds():
    now = begun(LOOPS)
    engine.claim(now, "draft", by="agent:a")
    engine.complete(now, "draft", {"output": {}, "evidence": [], "summary": "d"}, by="agent:a")
    for words in (1, 2, 3):
        engine.complete(now, "edit", {"output": {"words": words}, "evidence": []}, by="person:eve")
        engine.reject(now, "first", by="person:ada", note=f"no {words}")
    steps = now.data["steps"]
    assert [old["output"]["words"] for old in steps["edit"]["history"]] == [1, 2, 3]
    assert steps["first"]["note"] == "no 3"
    assert [old["note"] for old in steps["first"]["history"]] == ["no 1", "no 2"]


def test_escalate_and_give_back_leave_no_mark():
    now = begun(ERRAND)
    before = dict(now.data["steps"])
    engine.claim(now, "fetch", by="agent:a")
    engine.escalate(now, "fetch", by="server", note="unsure", check={"verdict": "unsure"})
    assert states(now)["fetch"] == "waiting" and now.state is RunState.WAITING
    assert now.data["steps"]["fetch"] == {"check": {"verdict": "unsure"}, "history": []}
    assert engine.give_back(now, "fetch", by="person:ada", note="Again.") is None
    assert now.data["steps"] == before and states(now)["fetch"] == "ready"
    assert now.steps["fetch"].due_at == AT + timedelta(days=1)


def test_a_check_beside_history_is_no_completion():
    now = looped()
    engine.reject(now, "second", by="person:bo", note="n")
    engine.claim(now, "draft", by="agent:a")
    engine.escalate(now, "draft", by="server", note="unsure", check={"verdict": "unsure"})
    engine.complete(now, "draft", {"output": {}, "evidence": [], "check": {"verdict": "unsure"}}, by="p")
    assert len(now.data["steps"]["draft"]["history"]) == 1


def test_an_escalated_task_goes_back_to_its_assignee():
    now = begun(LOOPS)
    engine.claim(now, "draft", by="agent:a")
    engine.complete(now, "draft", {"output": {}, "evidence": []}, by="agent:a")
    engine.escalate(now, "edit", by="server", note="unsure")
    assert engine.give_back(now, "edit", by="person:ops", note="n") == FINANCE
    assert states(now)["edit"] == "waiting"


@pytest.mark.parametrize("verb", ["fail", "cancel"])
def test_the_end_cancels_what_was_unfinished_and_nothing_else(verb):
    now = begun(ERRAND)
    engine.claim(now, "fetch", by="agent:a")
    now.effects.clear()
    if verb == "cancel":
        engine.cancel(now, by="person:ops", reason="r")
        assert states(now) == {"fetch": "cancelled", "sign": "", "done": ""}
        assert (now.state, now.outcome) == (RunState.CANCELLED, "")
    else:
        engine.escalate(now, "fetch", by="agent:a", note="n")
        engine.fail(now, "fetch", by="person:ops", note="r")
        assert states(now) == {"fetch": "failed", "sign": "", "done": ""}
        assert (now.state, now.outcome) == (RunState.ENDED, "failed")
    assert (now.ended_note, now.live) == ("r", False)
    assert Closed("fetch") in now.effects


@pytest.mark.parametrize(
    "illegal",
    [
        lambda now: engine.claim(now, "sign", by="agent:a"),
        lambda now: engine.complete(now, "fetch", OUT, by="agent:a"),  # ready, not claimed
        lambda now: engine.fail(now, "fetch", by="p", note="n"),
        lambda now: engine.escalate(now, "fetch", by="p", note="n"),
        lambda now: engine.give_back(now, "fetch", by="p", note="n"),
    ],
)
def test_what_is_not_a_legal_move_is_a_fault(illegal):
    with pytest.raises(IllegalMoveError):
        illegal(begun(ERRAND))


def test_every_verb_says_once_what_happened():
    now = looped()
    engine.reject(now, "second", by="p", note="n")
    assert last(now) == ["started", "claimed", "completed", "completed", "approved", "rejected"]
    assert now.steps["draft"].state is StepState.READY
