"""Receipts of runs and publications: which entries carry one, what it promises, and how every change of a record shows."""

import json

import pytest
from django.contrib.admin.utils import quote
from django.contrib.auth.models import Permission, User
from django.core.management import CommandError, call_command
from django.db import connection, models
from django.test.utils import CaptureQueriesContext

from checks import codec
from checks.models import Answer, FactResult, JudgeCall, Verdict
from checks.receipts import commitments, keys, verifying
from checks.receipts.encoding import digest
from processes import proofs, receipting, runs
from processes.models import HistoryEntry, Run, Submission, Version
from tests.processes.flows import CHECKED_TASK, cast, work
from tests.processes.http import Http
from tests.world import SCREENING, rid

pytestmark = pytest.mark.django_db

SUMS = """\
---
name: sums
description: Add it up.
steps:
  - id: add
    agent: Add it up.
    output: { total: number }
    facts: [{ type: numeric, value: output.total, expected: 12.5 }]
%s  - { id: done, finish: added }
---
"""
CHECK = "    check: [{ ask: Is it kind?, pass: 0.9, fail: 0.5 }]\n"


@pytest.fixture
def c(world, evaluator, settings):
    settings.FACTS_1 = True
    world.publish(SCREENING, finance="finance", escalations="finance")
    world.publish(CHECKED_TASK, writers="finance")
    world.publish(SUMS % "")
    world.publish((SUMS % CHECK).replace("name: sums", "name: judged"), escalations="finance")
    return cast(world)


def payloads(run=None):
    """What the receipts of a run say, each verified."""
    rows = HistoryEntry.objects.filter(receipt__isnull=False).order_by("run", "seq")
    rows = rows.filter(run=run) if run is not None else rows
    found = [verifying.examine(row.receipt, keys.published()) for row in rows]
    assert all(each.valid for each in found), found
    return [each.payload for each in found]


def unsure(world, c, evaluator):
    evaluator.script = [[0.7]]
    run = world.start(c.agent)
    world.submit(c.agent, world.claim(c.agent, run)["token"])
    return run


def proved(run):
    return proofs.of_run(Run.objects.get(pk=run["run"]["id"] if isinstance(run, dict) else run))


class TestWhatCarriesOne:
    def test_a_verdict(self, world, c):
        run = world.start(c.agent)
        world.submit(c.agent, world.claim(c.agent, run)["token"])
        (said,) = payloads()
        submission = Submission.objects.get()
        assert (said["kind"], said["verdict"], said["actor"]) == ("verdict", "pass", "server")
        assert (said["subject"], said["about"]) == (str(submission.pk), str(submission.verdict_id))
        assert (said["engine"], said["model"]) == ("scripted", "scripted-1")
        assert said["chain"] == f"run:{run['run']['id']}" and said["seq"] == 1 and said["prev"] is None
        assert codec.dumps(said["thresholds"]) == '[{"pass":0.9,"fail":0.5}]'
        assert set(said["commitments"]) == {
            "task", "process", "asked", "answers", "output", "evidence", "by",
        }  # fmt: skip
        entry = HistoryEntry.objects.get(receipt__isnull=False)
        assert entry.what == "checked" and entry.seen == ""

    def test_and_nothing_of_what_was_judged_or_by_whom(self, world, c, evaluator):
        run = unsure(world, c, evaluator)
        world.decide(c.ada, run, "returned", note="The verdict is missing.")
        text = json.dumps([{**said, "score": None} for said in payloads()], default=str)
        for secret in ("supplier", "Acme", "ada", "person:", "agent:", "missing", "finding"):
            assert secret not in text, secret

    def test_every_decision_with_the_run_as_it_was_seen(self, world, c, evaluator):
        run = unsure(world, c, evaluator)
        snapshot = world.item(c.ada, run)["snapshot"]
        item = world.item(c.ada, run)["id"]
        world.decide(c.ada, run, "completed")
        verdict, decision = payloads()
        assert (decision["kind"], decision["verdict"], decision["actor"]) == (
            "decision",
            "completed",
            "person",
        )
        assert decision["subject"] == item and decision["prev"] == digest(
            HistoryEntry.objects.get(seq=1, chain=decision["chain"]).receipt
        )
        assert verdict["seq"] == 1 and decision["seq"] == 2
        assert HistoryEntry.objects.get(seq=2, chain=decision["chain"]).seen == snapshot
        world.decide(c.ada, run, "rejected", note="No.")
        assert [said["verdict"] for said in payloads()] == ["unsure", "completed", "rejected"]
        assert set(payloads()[-1]["commitments"]) == {"task", "process", "note", "by", "data"}
        assert proved(run).hold

    @pytest.mark.parametrize("decision", ["returned", "failed"])
    def test_of_whatever_kind(self, world, c, evaluator, decision):
        run = unsure(world, c, evaluator)
        world.decide(c.ada, run, decision, note="Because.")
        assert [said["verdict"] for said in payloads()] == ["unsure", decision]
        assert proved(run).hold

    def test_a_persons_own_work_that_is_checked_carries_both(self, world, c):
        run = world.call(c.ada, "start_run", process="checked-task", inputs={})
        world.decide(c.ada, run, "completed", output={"text": "Dear all"})
        assert [(said["kind"], said["verdict"]) for said in payloads()] == [
            ("verdict", "pass"), ("decision", "completed"),
        ]  # fmt: skip
        assert proved(run).hold

    def test_facts_alone_are_a_verdict_of_the_servers_own(self, world, c):
        run = world.call(c.agent, "start_run", process="sums", inputs={})
        token = world.claim(c.agent, run, "add")["token"]
        world.refused(c.agent, "submit", token=token, output={"total": 3}, summary="s")
        world.call(c.agent, "submit", token=token, output={"total": 12.5}, summary="s")
        assert [(said["verdict"], said["engine"]) for said in payloads()] == [
            ("fail", "facts"),
            ("pass", "facts"),
        ]
        for said in payloads():
            (fact,) = said["checks"]
            assert set(fact) == {"type", "passed", "evidence_hash"}
        assert proved(run).hold

    def test_facts_before_a_check_are_told_with_its_verdict(self, world, c):
        run = world.call(c.agent, "start_run", process="judged", inputs={})
        work(world, c.agent, run, "add", output={"total": 12.5}, summary="s")
        (said,) = payloads()
        assert said["engine"] == "scripted" and [check["type"] for check in said["checks"]] == ["numeric"]
        assert proved(run).hold

    def test_a_publication(self, world, c):
        version = Version.objects.get(process__name="sums")
        examined = verifying.examine(version.receipt, keys.published())
        assert examined.valid and examined.payload["kind"] == "publication"
        assert examined.payload["chain"] == f"process:{version.process_id}"
        again = world.publish((SUMS % "").replace("Add it up.", "Add it all up."))
        assert again.seq == 2 and verifying.examine(again.receipt, keys.published()).payload[
            "prev"
        ] == digest(version.receipt)
        parts = receipting.parts_of_publication(again, {})
        assert examined.payload["commitments"] != commitments.commit(bytes(again.salt), parts)
        said = verifying.examine(again.receipt, keys.published()).payload
        assert said["commitments"] == commitments.commit(bytes(again.salt), parts)

    def test_other_entries_carry_none(self, world, c):
        run = world.call(c.agent, "start_run", process="checked-task", inputs={})
        world.call(c.ops, "cancel", runId=run["run"]["id"], reason="r")
        assert payloads() == [] and Run.objects.get(pk=run["run"]["id"]).salt is None
        assert proved(run).hold and proved(run).proofs == []


def raw(model):
    """Past the models' own refusals, as somebody with the database would."""
    return models.QuerySet(model)


def _swap():
    first, second = HistoryEntry.objects.filter(receipt__isnull=False).order_by("seq")
    raw(HistoryEntry).filter(pk=first.pk).update(receipt=second.receipt)
    raw(HistoryEntry).filter(pk=second.pk).update(receipt=first.receipt)


CHANGES = {
    "the note": lambda: raw(HistoryEntry).filter(what="returned").update(note="Well done."),
    "who decided": lambda: raw(HistoryEntry).filter(what="returned").update(by="person:eve"),
    "what was decided": lambda: raw(HistoryEntry).filter(what="returned").update(what="approved"),
    "the run as it was seen": lambda: raw(HistoryEntry).filter(what="returned").update(seen="0" * 64),
    "the verdict": lambda: raw(Verdict).update(verdict="pass", least_sure=None),
    "a threshold": lambda: raw(Answer).update(pass_at=0.1),
    "a question": lambda: raw(Answer).update(ask="Is it blue?"),
    "the work": lambda: raw(Submission).update(content='{"output":{},"evidence":[]}'),
    "who did it": lambda: raw(Submission).update(by="agent:other"),
    "the order of receipts": _swap,
    "a receipt gone": lambda: raw(HistoryEntry).filter(seq=1).update(
        chain=None, seq=None, receipt=None, signed_at=None
    ),
    "the last receipt gone": lambda: raw(HistoryEntry).filter(seq=2).update(
        chain=None, seq=None, receipt=None, signed_at=None
    ),
    "a receipt of another run": lambda: raw(HistoryEntry).filter(seq=2).update(
        receipt=HistoryEntry.objects.get(seq=1).receipt
    ),
}  # fmt: skip


class TestProofs:
    @pytest.fixture
    def run(self, world, c, evaluator):
        run = unsure(world, c, evaluator)
        world.decide(c.ada, run, "returned", note="Look again.")
        return run["run"]["id"]

    def test_what_was_not_touched_holds(self, run):
        found = proved(run)
        assert (
            found.hold
            and not found.erased
            and [proof.content for proof in found.proofs] == ["opens", "opens"]
        )

    @pytest.mark.parametrize("change", CHANGES)
    def test_every_change_is_named(self, run, change):
        assert CHANGES[change]() != 0
        found = proved(run)
        assert not found.hold
        assert [*found.wrong, *(text for proof in found.proofs for text in proof.wrong)]

    def test_facts_on_record_are_held_against_it(self, world, c):
        run = world.call(c.agent, "start_run", process="sums", inputs={})
        work(world, c.agent, run, "add", output={"total": 12.5}, summary="s")
        raw(FactResult).update(evidence_hash="0" * 64)
        (proof,) = proved(run).proofs
        assert proof.wrong == ["The facts on record are not those that it tells."]

    def test_a_forgotten_salt_leaves_the_chain_verifiable(self, world, c, evaluator, run):
        assert runs.forget_salt(run) is False  # it goes on
        with pytest.raises(CommandError, match="it still goes on"):
            call_command("forget_salts", "--run", run)
        world.call(c.ops, "cancel", runId=run, reason="r")
        assert runs.forget_salt(run) is True and runs.forget_salt(run) is False
        found = proved(run)
        assert found.hold and found.erased
        raw(Submission).update(content='{"output":{},"evidence":[]}')  # nobody can say
        assert proved(run).hold
        CHANGES["the order of receipts"]()
        assert not proved(run).hold

    def test_one_entry_can_be_opened_without_the_others(self, run):
        row = Run.objects.get(pk=run)
        entry = HistoryEntry.objects.get(seq=2, chain=receipting.chain_of(row))
        given = commitments.part_salt(receipting.salt_of(row.salt, entry.number), "note")
        first, second = payloads(row)
        assert commitments.opens(second["commitments"]["note"], given, b"Look again.")
        assert not commitments.opens(second["commitments"]["note"], given, b"Look again!")
        assert not commitments.opens(first["commitments"]["by"], given, b"person:ada")

    def test_statements_do_not_grow(self, world, c, evaluator, run):
        def count():
            row = Run.objects.get(pk=run)
            with CaptureQueriesContext(connection) as captured:
                assert proofs.of_run(row).hold
            return len(captured)

        count()
        few = count()
        for _ in range(3):
            world.submit(c.agent, world.claim(c.agent, {"run": {"id": run}})["token"], summary=rid())
            world.decide(c.ada, {"run": {"id": run}}, "returned", note="Again.")
        assert count() == few <= 8


class TestDoors:
    def test_rest_gives_them_to_whoever_may_read_the_run(self, world, c, evaluator):
        run = unsure(world, c, evaluator)
        http = Http(key=world.keys[c.agent.id])
        address = f"/v1/runs/{run['run']['id']}/receipts"
        data = http.client.get(address, headers=http.headers).json()["data"]
        (told,) = data["receipts"]
        assert (told["seq"], told["what"], told["stepId"]) == (1, "checked", "screen")
        answer = http.client.post(
            "/v1/receipts/verify", json.dumps({"receipt": told["receipt"]}), content_type="application/json"
        )
        assert answer.json()["valid"] is True
        stranger = Http(key=world.keys[world.agent(only=["sums"]).id])
        assert stranger.client.get(address, headers=stranger.headers).status_code == 403
        assert Http().client.get(address).status_code == 401
        assert (
            http.client.get("/v1/runs/%00/receipts", headers=http.headers).json()["error"]["code"]
            == "not_found"
        )

    def test_the_page_says_whether_all_of_it_holds(self, world, c, evaluator, client):
        run = unsure(world, c, evaluator)["run"]["id"]
        client.force_login(User.objects.create_superuser("root"))
        address = f"/admin/processes/run/{run}/receipts/"
        page = client.get(address).content.decode()
        assert "1 receipt verified just now" in page
        raw(Submission).update(by="agent:other")
        page = client.get(address).content.decode()
        assert (
            "Not all of it holds." in page and "What is on record is not what was signed: who did it." in page
        )
        assert f"{address}" in client.get(f"/admin/processes/run/{quote(run)}/change/").content.decode()

    def test_and_only_to_whoever_may_see_runs(self, world, c, evaluator, client):
        run = unsure(world, c, evaluator)["run"]["id"]
        user = User.objects.create_user("eve", is_staff=True)
        client.force_login(user)
        address = f"/admin/processes/run/{run}/receipts/"
        assert client.get(address).status_code == client.get(f"{address}export/").status_code == 403
        user.user_permissions.add(Permission.objects.get(codename="view_run"))
        assert client.get(address).status_code == 200
        for name in ("r_nothing", "%00"):
            assert client.get(f"/admin/processes/run/{name}/receipts/").status_code == 404
        export = client.get(f"{address}export/")
        lines = b"".join(export.streaming_content).splitlines()
        assert export["Content-Disposition"].startswith("attachment") and len(lines) >= 3
        assert json.loads(lines[1])["chain"] == f"run:{run}"


def test_judge_calls_and_runs_have_chains_of_their_own(world, c):
    assert JudgeCall.objects.count() == 0
    run = world.start(c.agent)
    other = world.start(c.agent)
    for each in (run, other):
        world.submit(c.agent, world.claim(c.agent, each)["token"])
    assert [said["seq"] for said in payloads()] == [1, 1]


class TestVersionPage:
    def test_a_publication_is_verified_on_its_page(self, world, c, client):
        client.force_login(User.objects.create_superuser("root"))
        version = Version.objects.get(process__name="screening")
        address = f"/admin/processes/process/{version.process_id}/versions/{version.pk}/"
        page = client.get(address).content.decode()
        assert (
            "The file, its roles and who published it are what was signed" in page and version.receipt in page
        )
        raw(Version).filter(pk=version.pk).update(escalations=None)
        page = client.get(address).content.decode()
        assert "What is on record is not what was signed: who stands behind its roles." in page

    def test_its_salt_may_be_forgotten(self, world, c, client):
        client.force_login(User.objects.create_superuser("root"))
        version = Version.objects.get(process__name="screening")
        call_command("forget_salts", publication=[str(version.pk)])
        address = f"/admin/processes/process/{version.process_id}/versions/{version.pk}/"
        assert "nobody can say what was signed" in client.get(address).content.decode()
        with pytest.raises(CommandError, match="Nothing was forgotten of publication"):
            call_command("forget_salts", publication=[str(version.pk)])
        with pytest.raises(CommandError, match="Nothing was forgotten of publication"):
            call_command("forget_salts", publication=["x"])
