"""Facts over the network: looked at with nothing locked, away without a bounce, and once."""

import pytest
from django.db import connections

from checks.facts.fetch import Fetcher
from checks.models import FactResult, Verdict
from checks.receipts import keys, verifying
from processes import evaluating, proofs
from processes.errors import checking
from processes.models import HistoryEntry, Run, Submission
from tests.processes.facts_scene import FORKED, POST, c, claimed, on, results, told
from tests.processes.looking import looking
from tests.servers.tls import page
from tests.world import rid

pytestmark = pytest.mark.django_db(transaction=True)
__all__ = ["c", "on"]


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
        assert item["escalation"]["note"].startswith(
            "The check could not be finished 3 times in a row (last: what a fact looks up did not answer)"
        )
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
            connections.close_all()  # this thread's own
            return real(self, url)

        monkeypatch.setattr(Fetcher, "get", cancelled)
        with looking(monkeypatch, page(b"all well")):
            refused = world.refused(c.agent, "submit", token=claim["token"], output=POST, summary="s")
        assert refused.code == "conflict" and Submission.objects.get().state == "void"
