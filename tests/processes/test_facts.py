"""The profile facts-1: what a step's facts do to its work, and who learns of it."""

import hashlib

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from checks import codec
from checks.models import FactResult
from processes import publishing
from processes.models import Run, Submission
from tests.processes.facts_scene import (
    MANY_WRONG,
    POST,
    RIGHT,
    SUMS,
    c,
    claimed,
    on,
    results,
    told,
)
from tests.processes.flows import cast, work
from tests.processes.http import Http
from tests.processes.looking import looking
from tests.servers.tls import page
from tests.world import rid

pytestmark = pytest.mark.django_db(transaction=True)
__all__ = ["c", "on"]


class TestAtHand:
    def test_what_holds_completes_the_step_and_is_recorded(self, world, c):
        _, claim = claimed(world, c, "sums", "add")
        view = world.call(c.agent, "submit", token=claim["token"], output=RIGHT, summary="s")
        assert view["run"]["state"] == "ended"
        assert set(view["data"]["steps"]["add"]) == {"output", "evidence", "summary", "by", "at", "history"}
        assert results() == [("numeric", True, False, 1), ("json_schema", True, False, 1)]
        assert told() == ["started", "claimed", "submitted", "facts_hold", "completed", "finished"]
        rows = FactResult.objects.get(type="json_schema")
        assert rows.evidence_hash == hashlib.sha256(b"[10,2.5]").hexdigest()
        assert rows.about == Submission.objects.get().pk and rows.path == "output.rows"

    def test_a_number_is_compared_as_one_however_it_was_sent(self, world, c):
        world.publish(SUMS.replace("expected: 12.5, tolerance: 0.1", "expected: 0.0000001"))
        _, claim = claimed(world, c, "sums", "add")
        output = codec.loads('{"total": 1e-7, "rows": [1, 2]}')
        view = world.call(c.agent, "submit", token=claim["token"], output=output, summary="s")
        assert view["run"]["state"] == "ended"
        assert FactResult.objects.get(type="numeric").evidence_hash == hashlib.sha256(b"1e-7").hexdigest()

    def test_what_does_not_hold_bounces_with_every_fact_named_and_can_be_mended(self, world, c):
        run, claim = claimed(world, c, "sums", "add")
        refused = world.refused(
            c.agent, "submit", token=claim["token"], output={"total": 3, "rows": [1]}, summary="s"
        )
        assert refused.code == "not_accepted"
        assert [line.split(":")[0] + line.split(":")[1] for line in refused.issues] == [
            "fact output.total (numeric)", "fact output.rows (json_schema)",
        ]  # fmt: skip
        assert Submission.objects.get().state == "not_accepted"
        assert world.view(c.agent, run)["data"]["steps"] == {}
        view = world.call(c.agent, "submit", token=claim["token"], output=RIGHT, summary="s")
        assert view["run"]["state"] == "ended"
        assert told()[2:] == ["submitted", "facts_fail", "submitted", "facts_hold", "completed", "finished"]

    def test_the_next_holder_is_told(self, world, c):
        run, claim = claimed(world, c, "sums", "add")
        refused = world.refused(
            c.agent, "submit", token=claim["token"], output={**RIGHT, "total": 3}, summary="s"
        )
        world.call(c.agent, "escalate", token=claim["token"], note="help")
        assert world.item(c.ops, run)["handoff"]["issues"] == refused.issues

    def test_no_model_is_asked_of_what_does_not_hold(self, world, c, evaluator, monkeypatch):
        _, claim = claimed(world, c, "judged", "post")
        with looking(monkeypatch, page(b"all well")) as server:
            bad = {**POST, "title": "small"}
            assert world.refused(
                c.agent, "submit", token=claim["token"], output=bad, summary="s"
            ).code == "not_accepted"  # fmt: skip
        assert (evaluator.asked, server.asked) == ([], [])  # nor is the page fetched

    def test_a_persons_task_is_held_to_them_too(self, world, c):
        run = world.call(c.ada, "start_run", process="task-sums", inputs={})
        item = world.item(c.ada, run)
        call = {**item["decide"]["arguments"], "decision": "completed", "requestId": rid()}
        refused = world.refused(c.ada, "decide", **{**call, "output": {"total": 11}})
        assert refused.code == "not_accepted" and refused.issues[0].startswith(
            "fact: output.total (equals): "
        )
        view = world.decide(c.ada, run, "completed", output={"total": 12})
        assert view["run"]["outcome"] == "added"


class TestWhoLearns:
    def test_a_claim_tells_what_will_be_checked_and_a_repeated_one_too(self, world, c):
        run = world.call(c.agent, "start_run", process="sums", inputs={})
        call = {"runId": run["run"]["id"], "stepId": "add", "requestId": rid()}
        for _ in range(2):
            claim = world.call(c.agent, "claim", **call)
            first, second = claim["extensions"]["facts-1"]["facts"]
            assert first == {
                "type": "numeric",
                "expected": first["expected"],
                "tolerance": first["tolerance"],
                "value": "output.total",
            }
            assert second["schema"] == {"type": "array", "minItems": 2}

    def test_a_step_without_facts_tells_nothing_of_them(self, world, c):
        world.publish(
            SUMS.replace("name: sums", "name: bare").split("    facts:")[0]
            + "  - { id: done, finish: added }\n---\n"
        )
        run = world.call(c.agent, "start_run", process="bare", inputs={})
        assert "extensions" not in world.claim(c.agent, run, "add")

    def test_the_results_of_a_run_are_read_over_rest(self, world, c):
        run, claim = claimed(world, c, "sums", "add")
        world.refused(c.agent, "submit", token=claim["token"], output={**RIGHT, "total": 3}, summary="s")
        world.call(c.agent, "submit", token=claim["token"], output=RIGHT, summary="s")
        http = Http(key=world.keys[c.agent.id])
        address = f"/v1/runs/{run['run']['id']}/facts"
        with CaptureQueriesContext(connection) as captured:
            response = http.client.get(address, headers=http.headers)
        assert response.status_code == 200 and len(captured) <= 10
        data = response.json()["data"]
        assert data["runId"] == run["run"]["id"]
        assert [(f["submission"], f["value"], f["passed"]) for f in data["facts"]] == [
            (1, "output.total", False), (1, "output.rows", True),
            (2, "output.total", True), (2, "output.rows", True),
        ]  # fmt: skip
        assert set(data["facts"][0]) == {
            "stepId", "attempt", "submission", "asked", "type", "value", "passed", "unreachable", "detail",
            "evidenceHash", "at",
        }  # fmt: skip
        assert http.client.post(address, headers=http.headers).status_code == 405

    def test_only_by_whoever_may_read_the_run(self, world, c):
        run, _ = claimed(world, c, "sums", "add")
        address = f"/v1/runs/{run['run']['id']}/facts"
        stranger = world.agent(only=["linked"])
        http = Http(key=world.keys[stranger.id])
        assert http.client.get(address, headers=http.headers).status_code == 403
        nobody = Http()
        assert nobody.client.get(address).status_code == 401
        assert http.client.get("/v1/runs/r_nothing/facts", headers=http.headers).status_code == 404
        person = Http(user=User.objects.get(username="ada"))
        assert person.client.get(address, headers=person.headers).status_code == 200

    def test_an_approver_sees_them_on_the_case(self, world, c, evaluator, monkeypatch, client):
        evaluator.script = [[0.7]]
        run, claim = claimed(world, c, "judged", "post")
        with looking(monkeypatch, page(b"all well <script>alert(1)</script>")):
            world.call(c.agent, "submit", token=claim["token"], output=POST, summary="s")
        client.force_login(User.objects.get(username="ada"))
        case = client.get(f"/items/{world.item(c.ada, run)['id']}/").content.decode()
        assert "checked by the server itself" in case and "The text “all well” is on the page." in case
        assert "hold for attempt 1" in case


class TestTheProfile:
    def test_off_it_publishes_no_facts_and_is_not_told(self, world, settings):
        settings.FACTS_1 = False
        examined = publishing.examine(SUMS)
        assert [(issue.step, issue.key) for issue in examined.issues] == [("add", "facts")]
        assert "FACTS_1=1" in examined.issues[0].message
        assert "facts-1" not in world.call(cast(world).agent, "describe")["profiles"]

    def test_on_it_is_told(self, world):
        assert "facts-1" in world.call(cast(world).agent, "describe")["profiles"]
        assert publishing.examine(SUMS).issues == ()

    def test_every_issue_of_every_fact_is_told_at_once(self, world):
        file = SUMS.replace(
            "rows: { type: list", "note: { type: string, optional: true }, rows: { type: list"
        )
        file = file.replace("    facts:\n", MANY_WRONG)
        messages = [str(issue) for issue in publishing.examine(file).issues]
        for place, words in [
            ("[0]", "no pattern"),
            ("[1]", "optional"),
            ("[2]", "output.gone"),
            ("[3]", "list"),
        ]:
            assert any(f"facts{place}" in text and words in text for text in messages), (words, messages)

    def test_what_was_published_is_held_to_them_even_when_it_is_off(self, world, c, settings):
        settings.FACTS_1 = False
        _, claim = claimed(world, c, "sums", "add")
        refused = world.refused(
            c.agent, "submit", token=claim["token"], output={**RIGHT, "total": 3}, summary="s"
        )
        assert refused.code == "not_accepted" and Run.objects.get().state == "active"


def test_an_agent_works_a_step_with_facts_like_any_other(world, c):
    run = world.call(c.agent, "start_run", process="sums", inputs={})
    work(world, c.agent, run, "add", output=RIGHT, summary="s")
    assert world.view(c.agent, run)["run"]["outcome"] == "added"
