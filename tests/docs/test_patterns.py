"""The four patterns of a check, each an example that runs: replace, pre-screen, earn, route."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.processes.test_tool_upload import given
from tests.world import World

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
pytestmark = pytest.mark.django_db


@dataclass
class Desk:
    """One example, published for a group of people; its agent, one of the people, and who answers the check."""

    world: World
    evaluator: Any
    name: str

    def __post_init__(self):
        text = (EXAMPLES / self.name / "PROCESS.md").read_text()
        self.world.publish(
            text, escalations="desk", **dict.fromkeys(("finance", "support", "service"), "desk")
        )
        self.agent, self.ada = self.world.agent(), self.world.person("ada", "desk")

    def start(self, **inputs):
        return self.world.start(self.agent, self.name, **inputs)

    def _work(self, run, step, answers, work):
        self.evaluator.script = [answers]
        return {
            "token": self.world.claim(self.agent, run, step)["token"], "output": {}, "summary": "Done.", **work,
        }  # fmt: skip

    def submit(self, run, step, answers=(), **work):
        return self.world.call(self.agent, "submit", **self._work(run, step, answers, work))

    def refused(self, run, step, answers, **work):
        return self.world.refused(self.agent, "submit", **self._work(run, step, answers, work))

    def decide(self, run, decision, **more):
        return self.world.decide(self.ada, run, decision, **more)

    def waiting(self, run):
        """The steps at which people are asked for this run."""
        return [item["stepId"] for item in self.world.view(self.ada, run)["workItems"]]


@pytest.fixture
def desk(world, evaluator, request):
    return Desk(world, evaluator, request.param)


class TestReplace:
    pytestmark = pytest.mark.parametrize("desk", ["address-change"], indirect=True)
    work = {
        "output": {"address": "1 Mill Lane, Ely", "from": "2026-12-01", "quote": "Please note my address."}
    }

    @pytest.fixture
    def run(self, desk):
        return desk.start(customer="C-1", letter="Please note my address: 1 Mill Lane, Ely.")

    def test_nobody_sees_what_the_check_is_sure_of(self, desk, run):
        desk.submit(run, "read", [0.97, ("customer", 0.95)], **self.work)
        assert desk.waiting(run) == []
        assert desk.submit(run, "enter", output={"entry": "E-7"})["run"]["outcome"] == "changed"

    def test_a_person_sees_what_it_can_not_tell(self, desk, run):
        desk.submit(run, "read", [0.7, ("customer", 0.95)], **self.work)
        assert desk.waiting(run) == ["read"]
        desk.decide(run, "completed")
        assert desk.submit(run, "enter", output={"entry": "E-7"})["run"]["outcome"] == "changed"

    def test_what_is_wrong_goes_back_to_the_agent(self, desk, run):
        refused = desk.refused(run, "read", [0.1, ("customer", 0.95)], **self.work)
        assert refused.code == "not_accepted" and "no (0.1)" in refused.issues[0]
        assert desk.waiting(run) == []


@pytest.mark.parametrize("desk", ["supplier-screening"], indirect=True)
def test_pre_screen(desk):
    """The approval stays; its approver reads the check's answers, and sees the unsure ones first."""
    work = {
        "output": {"cleared": True, "finding": "No match.", "termsUsed": ["Acme"]}, "next": "approve", "reason": "None.",
    }  # fmt: skip
    for answers, verdict in (
        ([0.95, ("states", 0.9), (2, 0.9)], "pass"),
        ([0.7, ("states", 0.9), (2, 0.9)], "unsure"),
    ):
        run = desk.start(supplier="Acme", country="GB", yearlySpend=1)
        ref = desk.world.call(desk.agent, "upload", **given())["id"]
        desk.submit(run, "screen", answers, **work, evidence=[{"kind": "file", "ref": ref}])
        if verdict == "unsure":
            assert desk.waiting(run) == ["screen"]
            desk.decide(run, "completed")
        assert desk.waiting(run) == ["approve"]
        assert desk.world.view(desk.ada, run)["data"]["steps"]["screen"]["check"]["verdict"] == verdict
        desk.decide(run, "approved")
        assert desk.waiting(run) == ["open_account"]


@pytest.mark.parametrize("desk", ["refund-review"], indirect=True)
@pytest.mark.parametrize(
    ("answers", "verdict"),
    [([0.95, ("clear", 0.9)], "pass"), ([0.6, ("clear", 0.9)], "unsure"), ([0.1, ("clear", 0.9)], "fail")],
)
def test_earn(desk, answers, verdict):
    """Advisory: whatever the check says, it blocks nothing and stands beside the person's decision."""
    run = desk.start(order="1", message="It is broken.", amount=5)
    desk.submit(
        run, "assess", answers, output={"refund": True, "clause": "faulty", "explanation": "Refunded."}
    )
    check = desk.world.view(desk.ada, run)["data"]["steps"]["assess"]["check"]
    assert (check["verdict"], check["advisory"]) == (verdict, True)
    assert desk.waiting(run) == ["decide"]
    assert desk.decide(run, "approved")["run"]["outcome"] == "answered"


@pytest.mark.parametrize("desk", ["complaint-reply"], indirect=True)
@pytest.mark.parametrize(
    ("answers", "verdict", "way"),
    [
        ([0.95, ("nothing", 0.9)], "pass", "send"),
        ([0.95, ("unclear", 0.9)], "unsure", "look"),
        ([0.95, ("something", 0.9)], "fail", "write"),
        ("down", "error", "write"),
    ],
)
def test_route(desk, answers, verdict, way):
    """The next step reads the verdict in the run's data, as its instructions say, and chooses the way."""
    ways = {"pass": "send", "unsure": "look", "fail": "write", "error": "write"}
    run = desk.start(complaint="Nobody answers the phone.")
    desk.submit(run, "draft", answers, output={"reply": "We are sorry."})
    read = desk.world.view(desk.agent, run)["data"]["steps"]["draft"]["check"]["verdict"]
    assert read == verdict
    view = desk.submit(run, "route", next=ways[read], reason=f"The verdict is {read}.")
    assert {step["id"] for step in view["steps"] if step["state"] in {"ready", "waiting"}} == {way}
    if way == "look":
        desk.decide(run, "approved")
        way = "send_after"
    if way == "write":
        ended = desk.decide(
            run, "completed", output={"reply": "Please accept our apology."}, summary="Written anew."
        )
    else:
        ended = desk.submit(run, way)
    assert ended["run"]["outcome"] == "answered"
