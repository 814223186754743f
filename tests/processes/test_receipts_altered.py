"""Somebody with the database changes what a run or a version holds: the receipts' pages name it, and never break."""

import hashlib
import json

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import models
from django.utils import timezone

from checks import codec
from checks.models import Answer, SigningKey, Verdict
from checks.receipts import checkpoints, commitments, keys
from checks.receipts.encoding import b64
from processes import proofs, receipting
from processes.models import HistoryEntry, Run, Submission, Version, WorkItem
from processes.published_proof import of_version, with_heads
from processes.versions import compiled
from tests.processes.flows import ERRAND, cast, errand, signing
from tests.world import SCREENING

pytestmark = pytest.mark.django_db


@pytest.fixture
def c(world, evaluator):
    world.publish(SCREENING, finance="finance", escalations="finance")
    world.publish(ERRAND, finance="finance")
    return cast(world)


def raw(model):
    """Past the models' own refusals, as somebody with the database would."""
    return models.QuerySet(model)


def told(run):
    """What of a run does not hold."""
    found = proofs.of_run(Run.objects.get(pk=run))
    return " ".join([*found.wrong, *(text for proof in found.proofs for text in proof.wrong)])


def proof_of(version):
    version = with_heads(Version.objects.all()).get(pk=version.pk)
    before = (
        Version.objects.filter(process=version.process_id, number__lt=version.number)
        .order_by("-number")
        .first()
    )
    return of_version(version, {role.name: role.group_id for role in version.roles.all()}, before)


def swapped(run, old, new, *, snapshot):
    """Its data with other words in them, and perhaps the snapshot to fit."""
    row = Run.objects.get(pk=run)
    data = row.data.replace(old, new)
    assert data != row.data
    row.data = data
    changes = {"data": data}
    if snapshot:
        changes["snapshot"] = hashlib.sha256(data.encode()).hexdigest()
    raw(Run).filter(pk=run).update(**changes)


class TestApprovedWork:
    """Of a step without a check, on which an approval rests."""

    @pytest.fixture
    def run(self, world, c):
        run = signing(world, c.agent)
        world.decide(c.ada, run, "approved")
        return run["run"]["id"]

    def test_it_carries_a_receipt_of_its_own(self, run):
        found = proofs.of_run(Run.objects.get(pk=run))
        work, decision = (proof.payload for proof in found.proofs)
        assert found.hold and (work["kind"], work["actor"], decision["kind"]) == ("work", "agent", "decision")
        assert work["subject"] == str(Submission.objects.get().pk) and "verdict" not in work
        assert set(work["commitments"]) == {"task", "process", "output", "evidence", "by"}

    def test_other_work(self, run):
        raw(Submission).update(content=Submission.objects.get().content.replace(":5", ":5000"))
        assert "What is on record is not what was signed: the work." in told(run)
        assert "The run's data has other work of fetch than was accepted." in told(run)

    @pytest.mark.parametrize("snapshot", [True, False])
    def test_other_data(self, run, snapshot):
        swapped(run, '"amount":5', '"amount":5000', snapshot=snapshot)
        assert "The run's data has other work of fetch than was accepted." in told(run)
        assert ("not what its snapshot is of" in told(run)) is not snapshot

    def test_both_at_once(self, run):
        """Only what was signed is left to tell."""
        swapped(run, '"amount":5', '"amount":5000', snapshot=True)
        raw(Submission).update(content=Submission.objects.get().content.replace(":5", ":5000"))
        assert told(run) == "What is on record is not what was signed: the work."

    @pytest.mark.parametrize("data", ["{}", "", "[]", '{"steps":{}}', '{"steps":3}'])
    def test_no_data(self, run, data):
        raw(Run).filter(pk=run).update(data=data)
        assert "The run's data" in told(run)

    @pytest.mark.parametrize("change", [{"decision": "rejected"}, {"decided_by": "person:eve"}])
    def test_another_decision_on_the_item(self, run, change):
        raw(WorkItem).update(**change)
        assert (
            told(run)
            == "The work item is gone, or tells another decision, or somebody else's, than the history."
        )

    def test_the_item_gone(self, run):
        raw(HistoryEntry).filter(seq=2).update(note="")
        raw(WorkItem).all()._raw_delete("default")
        assert "The work item is gone" in told(run)

    def test_a_run_that_is_reworked_agrees_with_itself(self, world, c):
        run = signing(world, c.agent)
        world.decide(c.ada, run, "rejected", note="No.")
        assert told(run["run"]["id"]) == ""


class TestJudgedWork:
    @pytest.fixture
    def run(self, world, c, evaluator):
        run = world.start(c.agent)
        world.submit(c.agent, world.claim(c.agent, run)["token"])
        return run["run"]["id"]

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (lambda: raw(Verdict).update(model="another"), "What judged is on record otherwise than it tells."),
            (lambda: raw(Verdict).update(evaluator="another"), "What judged is on record otherwise"),
            (lambda: raw(Answer).update(result="unsure"), "not what was signed: the answers."),
            (lambda: raw(Answer).update(probability=0.91), "not what was signed: the answers."),
            (lambda: raw(Answer).update(options=[{"name": "x"}]), "not what was signed: the questions."),
        ],
    )  # fmt: skip
    def test_what_judged_it_and_how(self, run, change, words):
        assert change() == 1
        assert words in told(run)

    def test_another_version_of_the_process(self, world, run):
        other = world.publish(
            SCREENING.replace("description: ", "description: Now "), finance="finance", escalations="finance"
        )
        raw(Run).filter(pk=run).update(version=other)
        assert told(run) == "What is on record is not what was signed: the process."

    @pytest.mark.parametrize("content", ["{}", "", "erased", "[]", '{"evidence":3}'])
    def test_content_that_can_t_be_read_is_named_and_breaks_nothing(self, run, client, content):
        raw(Submission).update(content=content)
        assert "not what was signed" in told(run)
        client.force_login(User.objects.create_superuser("root"))
        page = client.get(f"/admin/processes/run/{run}/receipts/")
        assert page.status_code == 200 and "Not all of it holds." in page.text

    def test_a_file_of_the_process_that_can_t_be_read(self, run, client):
        raw(Version).update(text="---\nnothing")
        compiled.cache_clear()
        assert "The process's file can't be read" in told(run)
        client.force_login(User.objects.create_superuser("root"))
        for end in ("", "openings/", "export/"):
            assert client.get(f"/admin/processes/run/{run}/receipts/{end}").status_code == 200

    def test_once_the_salt_is_forgotten_the_content_may_go(self, world, c, run, client):
        world.call(c.ops, "cancel", runId=run, reason="r")
        call_command("forget_salts", "--run", run)
        raw(Submission).update(content="")
        raw(Run).filter(pk=run).update(data="{}")
        assert told(run) == ""
        client.force_login(User.objects.create_superuser("root"))
        page = client.get(f"/admin/processes/run/{run}/receipts/").text
        assert "the salts are forgotten, so nobody can say what was signed" in page
        assert "openings" not in page

    def test_each_part_is_opened_by_what_the_page_gives(self, run, client):
        client.force_login(User.objects.create_superuser("root"))
        (given,) = client.get(f"/admin/processes/run/{run}/receipts/openings/").json()
        promised = proofs.of_run(Run.objects.get(pk=run)).proofs[0].payload["commitments"]
        assert given["parts"].keys() == promised.keys()
        for part, one in given["parts"].items():
            data = one["text"].encode()
            salt = commitments.part_salt(
                receipting.salt_of(
                    Run.objects.get(pk=run).salt, HistoryEntry.objects.get(seq=1, run=run).number
                ),
                part,
            )
            assert one["part_salt"] == b64(salt)
            assert commitments.opens(promised[part], salt, data)
        assert json.loads(given["parts"]["process"]["text"])["name"] == "screening"


class TestARevokedKey:
    def rotated(self, monkeypatch, settings):
        old = SigningKey.objects.get().kid
        settings.RECEIPT_KEY = b64(b"k" * 32)
        keys.forget()
        return old

    @pytest.mark.parametrize("covered", [True, False])
    def test_its_receipts_hold_where_another_key_s_checkpoint_covers_them(
        self, world, c, settings, monkeypatch, client, covered
    ):
        run = signing(world, c.agent)
        world.decide(c.ada, run, "approved")
        run, version = run["run"]["id"], Version.objects.get(process__name="errand")
        old = self.rotated(monkeypatch, settings)
        if covered:
            checkpoints.sweep()
        keys.revoke(old, timezone.now())
        keys.forget()
        assert ("was revoked at" in told(run)) is not covered
        found = proofs.of_run(Run.objects.get(pk=run))
        assert [proof.proved_by for proof in found.proofs] == ([1, 1] if covered else [0, 0])
        proof = proof_of(version)
        assert (proof.wrong == [], proof.proved_by) == (covered, int(covered))
        client.force_login(User.objects.create_superuser("root"))
        page = client.get(f"/admin/processes/run/{run}/receipts/").text
        assert ("checkpoint 1, which another key had signed before, proves it" in page) is covered
        assert ("Not all of it holds." in page) is not covered


class TestAPublication:
    @pytest.fixture
    def second(self, world, c):
        return world.publish(ERRAND.replace("Fetch an amount", "Fetch some amount"), finance="finance")

    def wrong(self, version):
        return " ".join(proof_of(version).wrong)

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"seq": 7}, "Its row tells another place"),
            ({"chain": "process:999"}, "Its row tells another place"),
            ({"number": 9}, "not what was signed: its process and number."),
            ({"published_by": "person:eve"}, "not what was signed: who published it."),
            ({"change": "Nothing."}, "not what was signed: the line of what it changes."),
        ],
    )
    def test_every_change_is_named(self, second, change, words):
        assert self.wrong(second) == ""
        raw(Version).filter(pk=second.pk).update(**change)
        assert words in self.wrong(second)

    def test_the_one_before_gone_or_another(self, second):
        first = Version.objects.get(process=second.process_id, number=1)
        raw(Version).filter(pk=first.pk).update(chain=None, seq=None, receipt=None, signed_at=None)
        assert "It does not follow the receipt of the version before it" in self.wrong(second)

    def test_a_checkpoint_covers_another(self, second):
        checkpoints.sweep()
        assert self.wrong(second) == ""
        first = Version.objects.get(process=second.process_id, number=1)
        raw(Version).filter(pk=second.pk).update(receipt=first.receipt)
        assert "A checkpoint covers another receipt in its place." in self.wrong(second)

    def test_its_promises_can_be_opened_one_by_one(self, second):
        proof = proof_of(second)
        salt = commitments.part_salt(bytes(second.salt), "output")
        assert proof.opened_by["output"] == b64(salt) and len(proof.opened_by) == 5


def test_data_is_written_as_the_snapshot_is_of(world, c):
    """What docs/receipts.md says of `data`: the SHA-256 of the run's data as they are stored."""
    run = errand(world, c.agent)
    row = Run.objects.get(pk=run["run"]["id"])
    assert (
        hashlib.sha256(row.data.encode()).hexdigest()
        == row.snapshot
        == run["run"].get("snapshot", row.snapshot)
    )
    assert codec.dumps(codec.loads(row.data)) == row.data
