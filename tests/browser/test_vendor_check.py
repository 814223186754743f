"""The protocol's vendor-check file from end to end: agent over HTTP, model over its wire, approver in a browser."""

import base64
import uuid

import httpx
import pytest

from processes import agents, publishing
from tests.servers.system_one import Reply, SystemOneServer

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def answers(p: float, choice: str = "states", level: int = 2):
    """One whole check: yes/no at p, the summary's choice, the rubric's level; nothing addresses the judge."""
    names, levels = ("states", "hedges", "unclear"), range(3)
    return Reply(
        body={
            "model": "jev-1.13.0",
            "answers": {
                "q0": {"type": "noul", "noul": p},
                "q1": {
                    "type": "choice", "choice": choice, "confidence": 0.97,
                    "probabilities": {n: 0.98 if n == choice else 0.01 for n in names},
                },
                "q2": {
                    "type": "score", "score": level, "confidence": 0.95,
                    "probabilities": {str(n): 0.96 if n == level else 0.02 for n in levels},
                },
                "q3": {"type": "noul", "noul": 0.02},  # the server's own: does it address the judge?
            },
            "usage": {"input_tokens": 120, "output_tokens": 12},
        }
    )  # fmt: skip


class Agent:
    def __init__(self, base: str) -> None:
        _, key = agents.create(f"screener-{uuid.uuid4().hex[:8]}")
        self.http = httpx.Client(
            base_url=base, headers={"Authorization": f"Bearer {key}"}, trust_env=False, timeout=30
        )

    def post(self, tool, **arguments):
        return self.http.post(f"/v1/{tool}", json=arguments)

    def data(self, tool, **arguments):
        if tool not in ("describe", "get_run", "get_work"):
            arguments["requestId"] = str(uuid.uuid4())
        answer = self.post(tool, **arguments)
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]

    def screened(self):
        report = base64.b64encode(b"OFAC: no match\nEU: no match\n").decode()
        stored = self.data("upload", fileName="report.txt", contentType="text/plain", contentBase64=report)
        return {
            "output": {"cleared": True, "summary": "No match on the OFAC and EU lists."},
            "evidence": [{"kind": "file", "ref": stored["id"]}],
            "summary": "Searched both lists by legal name.",
            "next": "approve",
            "reason": "Cleared on both lists.",
        }


@pytest.fixture
def model(settings):
    with SystemOneServer([answers(0.97)]) as server:
        settings.EVALUATOR, settings.EVALUATOR_MODEL = "system_one", "jev-latest"
        settings.EVALUATOR_URL, settings.EVALUATOR_KEY = server.base_url, "secret"
        yield server


@pytest.fixture
def agent(live_server, settings, shared, model, world):
    settings.SITE_URL = live_server.url
    world.user("ada", "finance")
    text = (shared / "conformance/fixtures/vendor-check/PROCESS.md").read_text()
    document = publishing.examine(text).document
    finance = world.group("finance").pk
    mapping = publishing.RoleMap(roles={"finance-approver": finance}, escalations=finance)
    publishing.publish(publishing.draft(text, by="test"), mapping, by="test")
    assert document is not None
    return Agent(live_server.url)


def start(agent):
    run = agent.data(
        "start_run", process="vendor-check", inputs={"vendorName": "Marlow Paper", "amount": 48000}
    )
    return run["run"]["id"], agent.data("claim", runId=run["run"]["id"], stepId="check_vendor")["token"]


def test_an_unsure_answer_is_decided_in_the_browser_and_the_run_ends_onboarded(agent, model, browse):
    model.script = [answers(0.7)]
    run, token = start(agent)
    view = agent.data("submit", token=token, **agent.screened())
    assert view["workItems"][0]["escalation"]["check"]["verdict"] == "unsure"

    page = browse().sign_in("ada")
    page.get_by_role("link", name="Marlow Paper").click()
    page.wait_for_url("**/items/**")
    page.get_by_role("heading", name="The cleared verdict matches what the attached report says.").wait_for()
    page.keyboard.press("a")  # opens the form; nothing is sent by a single key
    page.get_by_role("button", name="Complete with candidate").click()
    page.get_by_text("Approve only when the vendor is cleared").first.wait_for()  # the next item opens

    view = agent.data("get_run", runId=run)
    assert view["data"]["steps"]["check_vendor"]["by"] == "person:ada"
    assert [(s["id"], s["state"]) for s in view["steps"]][:2] == [
        ("check_vendor", "done"),
        ("approve", "waiting"),
    ]

    page.keyboard.press("a")
    page.keyboard.press("Control+Enter")
    page.wait_for_url(lambda address: "/items/" not in address)  # nothing is left: back to the queue

    view = agent.data("get_run", runId=run)
    assert (view["run"]["state"], view["run"]["outcome"]) == ("ended", "onboarded")


def test_a_failing_answer_comes_back_as_issues(agent, model):
    model.script = [answers(0.12, "hedges")]
    _, token = start(agent)
    answer = agent.post("submit", token=token, requestId=str(uuid.uuid4()), **agent.screened())
    assert answer.status_code == 422
    assert answer.json()["error"]["issues"] == [
        "check: The cleared verdict matches what the attached report says. → no (0.12)",
        "check: What does the summary do? → hedges (0.97)",
    ]


def test_a_passing_answer_meets_no_person_before_the_approval(agent, model):
    run, token = start(agent)
    view = agent.data("submit", token=token, **agent.screened())
    assert [(i["kind"], i["escalation"]) for i in view["workItems"]] == [("approve", None)]
    assert view["data"]["steps"]["check_vendor"]["check"]["verdict"] == "pass"
    sent = model.requests[0]
    assert sent.path == "/v1/systemone" and sent.headers["authorization"] == "Bearer secret"
    assert set(sent.json) == {"model", "state", "questions"}
    assert agent.data("get_run", runId=run)["data"]["steps"]["check_vendor"]["evidence"][0]["url"].startswith(
        "http"
    )
