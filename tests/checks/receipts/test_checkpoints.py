"""Checkpoints over the heads of all chains, swept as the clock ticks."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from checks import keys as bearer_keys
from checks import memory
from checks.models import Checkpoint, CheckpointHead, JudgeCall
from checks.receipts import checkpoints, merkle, sources
from checks.receipts.encoding import b64, digest
from checks.records import AppendOnlyError
from processes import waking
from tests.checks.receipts.sent import said

pytestmark = pytest.mark.django_db


class TestCheckpoints:
    def heads(self, number):
        rows = CheckpointHead.objects.filter(checkpoint__seq=number)
        return merkle.ordered([tuple(row) for row in rows.values_list("chain", "seq", "hash")])

    def test_cover_every_head(self, judged):
        other = bearer_keys.issue("another", for_judge=True)[1]
        judged()
        last, foreign = judged()["receipt"], judged(bearer=other)["receipt"]
        assert checkpoints.sweep() == 1
        row = Checkpoint.objects.get()
        payload = said(row.receipt)
        assert payload == {
            **{name: payload[name] for name in ("version", "iss", "time")},
            "kind": "checkpoint", "subject": str(row.pk), "chain": "checkpoints", "seq": 1, "prev": None, "actor": "server",
            "commitments": {}, "root": b64(merkle.root(self.heads(1))), "heads": 2,
        }  # fmt: skip
        assert {(seq, hash_) for _, seq, hash_ in self.heads(1)} == {(2, digest(last)), (1, digest(foreign))}

    def test_none_where_nothing_moved(self, judged):
        assert checkpoints.sweep() == 0
        judged()
        assert (checkpoints.sweep(), checkpoints.sweep()) == (1, 0)

    def test_follow_each_other_and_cover_what_moved(self, judged):
        other = bearer_keys.issue("another", for_judge=True)[1]
        judged()
        judged(bearer=other)
        checkpoints.sweep()
        moved = judged()["receipt"]
        checkpoints.sweep()
        second, first = Checkpoint.objects.all()
        assert said(second.receipt)["prev"] == digest(first.receipt)
        assert [hash_ for _, _, hash_ in self.heads(2)] == [digest(moved)]

    def test_more_heads_than_go_into_one(self, judged, monkeypatch):
        monkeypatch.setattr(checkpoints, "MOST_HEADS", 2)
        for number in range(5):
            judged(bearer=bearer_keys.issue(f"key {number}", for_judge=True)[1])
        assert checkpoints.sweep() == 3
        assert [row.heads.count() for row in Checkpoint.objects.order_by("seq")] == [2, 2, 1]
        assert checkpoints.sweep() == 0

    def test_what_moves_during_a_sweep_waits_for_the_next(self, judged, monkeypatch):
        judged()
        real = checkpoints._make

        def moving(*args):
            made = real(*args)
            judged()
            return made

        monkeypatch.setattr(checkpoints, "_make", moving)
        assert checkpoints.sweep() == 1

    def test_a_sweep_that_dies_between_two_forgets_nothing(self, judged, monkeypatch):
        monkeypatch.setattr(checkpoints, "MOST_HEADS", 2)
        for number in range(4):
            judged(bearer=bearer_keys.issue(f"key {number}", for_judge=True)[1])
        assert checkpoints._sweep_some(timezone.now() - checkpoints.LATE)
        later = timezone.now() + timedelta(days=1)
        monkeypatch.setattr(timezone, "now", lambda: later)
        assert checkpoints.sweep() == 1
        assert CheckpointHead.objects.count() == 4

    def test_what_was_committed_late_is_covered_by_the_next(self, judged, monkeypatch):
        """Signed before a sweep, seen after it."""
        judged()
        with monkeypatch.context() as patched:
            patched.setattr(sources, "sources", {})
            assert checkpoints.sweep() == 0
        other = bearer_keys.issue("another", for_judge=True)[1]
        now = timezone.now()
        with monkeypatch.context() as patched:
            patched.setattr(timezone, "now", lambda: now - checkpoints.LATE / 2)
            late = judged(bearer=other)["receipt"]
            hidden = JudgeCall.objects.get(receipt=late)
            real = checkpoints._uncovered
            patched.setattr(timezone, "now", lambda: now)
            patched.setattr(
                checkpoints, "_uncovered", lambda model, since: real(model, since).exclude(chain=hidden.chain)
            )
            assert checkpoints.sweep() == 1
        assert checkpoints.sweep() == 1
        assert self.heads(2) == [(hidden.chain, 1, digest(late))]

    def test_another_sweeper_was_faster(self, judged, monkeypatch):
        judged()
        checkpoints.sweep()
        judged()
        stale = Checkpoint.objects.none()
        monkeypatch.setattr(Checkpoint.objects, "order_by", lambda *_: stale)
        assert checkpoints.sweep() == 0
        assert Checkpoint.objects.count() == 1

    def test_come_by_the_clock(self, judged, settings, monkeypatch):
        judged()
        waking.wake()
        judged()
        waking.wake()
        assert Checkpoint.objects.count() == 1
        memory.forget("receipts-swept")
        waking.wake()
        assert Checkpoint.objects.count() == 2

    def test_without_a_key_the_clock_goes_on(self, judged, settings, caplog):
        judged()
        settings.RECEIPT_KEY = "x"
        assert checkpoints.sweep_now_and_then() == 0
        assert "no checkpoint could be made" in caplog.text
        settings.RECEIPT_KEY = ""
        assert checkpoints.sweep_now_and_then() == 0  # not at once again
        memory.forget("receipts-swept")
        assert checkpoints.sweep_now_and_then() == 1

    def test_a_database_that_is_away_is_the_clock_s_to_know(self, monkeypatch):
        def away():
            raise OperationalError

        monkeypatch.setattr(checkpoints, "sweep", away)
        for _ in range(2):
            with pytest.raises(OperationalError):
                checkpoints.sweep_now_and_then()

    def test_take_few_statements(self, judged):
        for number in range(6):
            judged(bearer=bearer_keys.issue(f"key {number}", for_judge=True)[1])
        with CaptureQueriesContext(connection) as captured:
            checkpoints.sweep()
        plain = [query["sql"] for query in captured.captured_queries if "SAVEPOINT" not in query["sql"]]
        # twice the last one and a look at each table (the second time in vain), two inserts, and the signing key's row
        assert len(plain) <= 2 * (1 + len(sources.sources)) + 2 + 1

    def test_are_append_only(self, judged):
        judged()
        checkpoints.sweep()
        for row in (Checkpoint.objects.get(), CheckpointHead.objects.get()):
            with pytest.raises(AppendOnlyError):
                row.delete()
            with pytest.raises(AppendOnlyError):
                row.save()

    @pytest.mark.parametrize(
        "changes", [{"receipt": None, "chain": None, "seq": None, "signed_at": None}, {"seq": 0}]
    )
    def test_the_database_holds_signed_ones_alone(self, changes):
        now = timezone.now()
        whole = {
            "covers_until": now, "chain": "checkpoints", "seq": 1, "receipt": "x", "signed_at": now,
        }  # fmt: skip
        with pytest.raises(IntegrityError), transaction.atomic():
            Checkpoint.objects.create(**{**whole, **changes})

    def test_the_database_covers_a_head_once(self, judged):
        judged()
        checkpoints.sweep()
        head = CheckpointHead.objects.get()
        with pytest.raises(IntegrityError), transaction.atomic():
            CheckpointHead.objects.create(
                checkpoint_id=head.checkpoint_id, chain=head.chain, seq=head.seq, hash="x"
            )
