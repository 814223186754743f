"""The profile facts-1: what a step's facts do to its work, and who learns of it."""

import hashlib

import pytest
from django.contrib.auth.models import User
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext

from checks.facts.fetch import Fetcher
from checks.models import FactResult, Verdict
from checks.receipts import keys, verifying
from processes import evaluating, proofs, publishing
from processes.errors import checking
from processes.models import HistoryEntry, Run, Submission
from tests.processes.flows import cast, work
from tests.processes.http import Http
from tests.processes.looking import URL, looking
from tests.servers.tls import page
from tests.world import rid

pytestmark = pytest.mark.django_db(transaction=True)

SUMS = """\
---
name: sums
description: Add the invoice up.
steps:
  - id: add
    agent: Add it up.
    output: { total: number, rows: { type: list, items: number } }
    facts:
      - { type: numeric, value: output.total, expected: 12.5, tolerance: 0.1 }
      - { type: json_schema, value: output.rows, schema: { type: array, minItems: 2 } }
  - { id: done, finish: added }
---
"""
LINKED = """\
---
name: linked
description: Put it online.
steps:
  - id: post
    agent: Post it.
    output: { address: string, title: string }
    facts:
      - { type: regex, value: output.title, expected: '^[A-Z]' }
      - { type: url_contains, value: output.address, text: all well }
%s  - { id: done, finish: posted }
---
"""
CHECK = "    check: [{ ask: Is it kind?, pass: 0.9, fail: 0.5 }]\n"
TASK = """\
---
name: task-sums
description: A person adds it up.
steps:
  - id: add
    task: Add it up.
    person: finance
    output: { total: number }
    facts: [{ type: equals, value: output.total, expected: 12 }]
  - { id: done, finish: added }
---
"""
FORKED = """\
---
name: forked
description: Two at once.
steps:
  - { id: both, parallel: [post, say], next: done }
  - id: post
    agent: Post it.
    output: { address: string, title: string }
    facts: [{ type: url_contains, value: output.address, text: all well }]
    next: join
  - id: say
    agent: Say who signs.
    output: { who: person }
    check: They may sign.
    next: sign
  - { id: sign, approve: Sign., person: steps.say.output.who, next: join }
  - { id: done, finish: posted }
---
"""
MANY_WRONG = """\
    facts:
      - { type: regex, value: output.note, expected: '(?=a)' }
      - { type: regex, value: output.note, expected: 'a' }
      - { type: equals, value: output.gone, expected: a }
      - { type: url_contains, value: output.rows, text: a }
"""
RIGHT = {"total": 12.5, "rows": [10, 2.5]}
POST = {"address": URL, "title": "All of it"}


@pytest.fixture(autouse=True)
def on(settings):
    settings.FACTS_1 = True


@pytest.fixture
def c(world, evaluator):
    world.publish(SUMS)
    world.publish(LINKED % "", escalations="finance")
    world.publish(LINKED.replace("name: linked", "name: judged") % CHECK, escalations="finance")
    world.publish(TASK)
    return cast(world)


def claimed(world, c, process, step):
    run = world.call(c.agent, "start_run", process=process, inputs={})
    return run, world.claim(c.agent, run, step)


def told():
    return list(HistoryEntry.objects.values_list("what", flat=True))


def results():
    return [
        (r.type, r.passed, r.unreachable, r.asked) for r in FactResult.objects.order_by("asked", "position")
    ]


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


class TestOverTheNetwork:
    def test_a_page_that_says_so_completes_the_step(self, world, c, monkeypatch):
        _, claim = claimed(world, c, "linked", "post")
        with looking(monkeypatch, page(b"it is all well here")) as server:
            view = world.call(c.agent, "submit", token=claim["token"], output=POST, summary="s")
        assert view["run"]["outcome"] == "posted" and len(server.asked) == 1
        assert results() == [("regex", True, False, 1), ("url_contains", True, False, 1)]

    def test_a_page_that_says_otherwise_bounces_it(self, world, c, monkeypatch):
        _, claim = claimed(world, c, "linked", "post")
        with looking(monkeypatch, page(b"nothing here")):
            refused = world.refused(c.agent, "submit", token=claim["token"], output=POST, summary="s")
        assert refused.code == "not_accepted"
        assert refused.issues == [
            "fact: output.address (url_contains): The text “all well” is not on the page."
        ]
        with looking(monkeypatch, page(b"all well")):  # the world changed, the work did not
            assert (
                world.call(c.agent, "submit", token=claim["token"], output=POST, summary="s")["run"]["state"]
                == "ended"
            )

    def test_a_page_that_is_away_is_an_error_and_no_bounce_and_then_a_persons(self, world, c, monkeypatch):
        run, claim = claimed(world, c, "judged", "post")
        with looking(monkeypatch, page(b"", 503)):
            for _ in range(2):
                refused = world.refused(c.agent, "submit", token=claim["token"], output=POST, summary="s")
                assert (refused.code, refused.retry_after) == ("retry", 5)
                assert refused.issues[0].startswith(
                    "fact: output.address (url_contains): The server answered 503"
                )
            assert world.view(c.agent, run)["steps"][0]["state"] == "claimed"
            world.call(c.agent, "submit", token=claim["token"], output=POST, summary="s")
        item = world.item(c.ada, run)
        assert item["escalation"]["note"].startswith("What a fact looks up did not answer 3 times in a row")
        assert [asked for *_, asked in results()] == [1, 1, 2, 2, 3, 3]
        assert Verdict.objects.count() == 0

    def test_where_it_comes_back_the_same_call_goes_on_to_the_check(self, world, c, evaluator, monkeypatch):
        _, claim = claimed(world, c, "judged", "post")
        with looking(monkeypatch, page(b"", 503)):
            world.refused(c.agent, "submit", token=claim["token"], output=POST, summary="s")
        assert evaluator.asked == []
        with looking(monkeypatch, page(b"all well")):
            view = world.call(c.agent, "submit", token=claim["token"], output=POST, summary="s")
        assert view["data"]["steps"]["post"]["check"]["verdict"] == "pass"
        assert told()[2:] == ["submitted", "facts_hold", "checked", "completed", "finished"]

    def test_a_worker_looks_at_them_too_once(self, world, c, monkeypatch):
        _, claim = claimed(world, c, "linked", "post")
        jobs = []

        class Sent:
            def ask(self, call, asking):
                jobs.append(evaluating.job_of(call, asking))
                raise checking()

        monkeypatch.setattr(evaluating, "_asker", Sent())
        call = {"token": claim["token"], "output": POST, "summary": "s", "requestId": rid()}
        assert world.refused(c.agent, "submit", **call).code == "retry"
        with looking(monkeypatch, page(b"all well")) as server:
            assert evaluating.evaluate(jobs[0]) == {} and evaluating.evaluate(jobs[0]) == {}
        assert len(server.asked) == 1
        assert world.call(c.agent, "submit", **call)["run"]["outcome"] == "posted"

    def test_nothing_is_open_while_it_looks(self, world, c, monkeypatch):
        _, claim = claimed(world, c, "linked", "post")
        real, ours = (
            Fetcher.get,
            connections["default"],
        )  # facts look from threads, with connections of their own
        seen = []

        def spy(self, url):
            seen.append(ours.in_atomic_block)
            return real(self, url)

        monkeypatch.setattr(Fetcher, "get", spy)
        with looking(monkeypatch, page(b"all well")):
            world.call(c.agent, "submit", token=claim["token"], output=POST, summary="s")
        assert seen == [False]

    def test_other_work_takes_the_place_of_what_could_not_be_looked_at(self, world, c, monkeypatch):
        """What is told of it, in rows and in its receipt, is told of it and not of the one before."""
        run, claim = claimed(world, c, "linked", "post")
        with looking(monkeypatch, page(b"", 503)):
            world.refused(c.agent, "submit", token=claim["token"], output=POST, summary="s")
            small = {**POST, "title": "small"}
            world.refused(c.agent, "submit", token=claim["token"], output=small, summary="s")
        assert list(Submission.objects.order_by("number").values_list("state", flat=True)) == [
            "void",
            "not_accepted",
        ]
        (entry,) = HistoryEntry.objects.filter(what="facts_fail")
        said = verifying.examine(entry.receipt, keys.published()).payload
        assert said["subject"] == str(Submission.objects.get(number=2).pk)
        assert [check["passed"] for check in said["checks"]] == [False]
        assert proofs.of_run(Run.objects.get(pk=run["run"]["id"])).hold

    def test_unchanged_work_has_its_facts_with_its_verdict_and_the_page_is_not_fetched_again(
        self, world, c, evaluator, monkeypatch
    ):
        evaluator.script = [[0.7]]
        run, claim = claimed(world, c, "judged", "post")
        with looking(monkeypatch, page(b"all well")) as server:
            world.call(c.agent, "submit", token=claim["token"], output=POST, summary="s")
            for number in (2, 3):
                world.decide(c.ada, run, "returned", note="Again.")
                token = world.claim(c.agent, run, "post")["token"]
                world.call(c.agent, "submit", token=token, output=POST, summary="s")
                about = Submission.objects.get(number=number)
                rows = FactResult.objects.filter(about=about.pk).order_by("position")
                assert [(row.asked, row.type, row.passed) for row in rows] == [
                    (1, "regex", True), (1, "url_contains", True),
                ]  # fmt: skip
            assert len(server.asked) == 1
        said = [
            verifying.examine(entry.receipt, keys.published()).payload
            for entry in HistoryEntry.objects.filter(what="checked").order_by("number")
        ]
        assert [len(each["checks"]) for each in said] == [2, 2, 2]
        assert proofs.of_run(Run.objects.get(pk=run["run"]["id"])).hold

    def test_a_verdict_that_ends_the_run_leaves_none_that_is_looked_at(
        self, world, c, evaluator, monkeypatch
    ):
        """A sibling that began to be looked at meanwhile moved nothing that the verdict's call would have seen."""
        world.publish(FORKED, escalations="finance")
        run, claim = claimed(world, c, "forked", "post")

        class Sent:
            def ask(self, call, asking):
                raise checking()

        def meanwhile():
            evaluator.before, before = None, evaluating._asker
            monkeypatch.setattr(evaluating, "_asker", Sent())
            world.refused(c.agent, "submit", token=claim["token"], output=POST, summary="s")
            monkeypatch.setattr(evaluating, "_asker", before)

        evaluator.before = meanwhile
        with looking(monkeypatch, page(b"all well")):
            output = {"who": "nobody@example.org"}
            token = world.claim(c.agent, run, "say")["token"]
            view = world.call(c.agent, "submit", token=token, output=output, summary="s")
        assert view["run"]["outcome"] == "failed"
        assert Submission.objects.get(attempt__step__name="post").state == "void"

    def test_an_address_inward_is_refused_by_the_guard_and_bounces(self, world, c):
        _, claim = claimed(world, c, "linked", "post")
        inward = {**POST, "address": "https://127.0.0.1/"}
        refused = world.refused(c.agent, "submit", token=claim["token"], output=inward, summary="s")
        assert refused.code == "not_accepted" and "public" in refused.issues[0]

    @pytest.mark.parametrize("address", ["", "x" * 5000, "no address"])
    def test_what_is_no_address_bounces(self, world, c, address):
        _, claim = claimed(world, c, "linked", "post")
        refused = world.refused(
            c.agent, "submit", token=claim["token"], output={**POST, "address": address}, summary="s"
        )
        assert refused.code == "not_accepted" and "output.address (url_contains)" in refused.issues[0]

    def test_a_run_that_ends_meanwhile_wins(self, world, c, monkeypatch):
        run, claim = claimed(world, c, "linked", "post")

        real = Fetcher.get

        def cancelled(self, url):
            world.call(c.ops, "cancel", runId=run["run"]["id"], reason="r")
            return real(self, url)

        monkeypatch.setattr(Fetcher, "get", cancelled)
        with looking(monkeypatch, page(b"all well")):
            refused = world.refused(c.agent, "submit", token=claim["token"], output=POST, summary="s")
        assert refused.code == "conflict" and Submission.objects.get().state == "void"


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
