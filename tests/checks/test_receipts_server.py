"""Receipts of judge calls, who verifies them, checkpoints and exports, on a server as it is."""

import json
import subprocess
import sys
from datetime import timedelta
from io import BytesIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from checks import codec, memory
from checks import keys as bearer_keys
from checks.judge import asking, callers
from checks.models import CallSalt, Checkpoint, CheckpointHead, JudgeCall, Retained, SigningKey
from checks.receipts import api, checkpoints, commitments, export, exporting, keys, keyset, merkle, sources
from checks.receipts.encoding import b64, digest, unb64
from checks.receipts.jws import EXPORT
from checks.receipts.verifying import examine
from checks.records import AppendOnlyError
from processes import waking
from tests.checks.receipting import Signer, draft

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[2]
BODY = {
    "task": "Say from where the ferry leaves.",
    "agent_output": "The ferry leaves from pier 3.",
    "evidence": ["The ferry leaves at 07:40 from pier 3."],
    "criteria": ["Names the pier"],
    "checks": [{"type": "regex", "expected": "pier \\d"}],
}
ANSWERS = [{"agent_id": "a", "output": "Pier 3"}, {"output": "It leaves from pier 3."}]


@pytest.fixture(autouse=True)
def _keys(settings, tmp_path):
    """A key file of the test's own, and only the tables that this layer has."""
    settings.RECEIPT_KEY, settings.RECEIPT_KEY_FILE = "", tmp_path / "receipt-key"
    keys.forget()
    yield
    keys.forget()


@pytest.fixture
def key():
    return bearer_keys.issue("judge of letters", for_judge=True)


@pytest.fixture
def judged(client, key):
    def post(body=BODY, path="/v1/judge", bearer=key[1], **changes):
        response = client.post(
            path,
            json.dumps({**body, **changes}),
            content_type="application/json",
            headers={"Authorization": f"Bearer {bearer}"},
        )
        assert response.status_code == 200, response.content
        return response.json()

    return post


@pytest.fixture
def verify(client):
    def post(receipt, status=200):
        response = client.post("/v1/receipts/verify", {"receipt": receipt}, content_type="application/json")
        assert response.status_code == status, response.content
        return response.json()

    return post


def said(receipt):
    examined = examine(receipt, keys.published())
    assert examined.valid, examined.reason
    return json.loads(codec.dumps(examined.payload))


class TestJudgeCalls:
    def test_tell_what_was_judged_and_nothing_else_of_it(self, judged, key, settings):
        it = judged()
        payload = said(it["receipt"])
        call = JudgeCall.objects.get()
        assert {name: payload[name] for name in payload if name not in ("commitments", "time")} == {
            "version": 1,
            "iss": settings.SITE_URL,
            "kind": "judge",
            "subject": it["request_id"],
            "chain": f"key:{key[0].pk}",
            "seq": 1,
            "prev": None,
            "actor": "key",
            "verdict": it["verdict"],
            "score": it["score"],
            "claims": {"supported": 1, "contradicted": 0, "unsupported": 0},
            "checks": [{name: it["checks"][0][name] for name in ("type", "passed", "evidence_hash")}],
            "thresholds": [{"pass": 0.9, "fail": 0.0}],
            "engine": "deterministic",
            "model": "heuristic-1",
        }
        assert (call.chain, call.seq, call.receipt) == (payload["chain"], 1, it["receipt"])
        assert keyset.told(call.signed_at) == payload["time"]
        for text in ("ferry", "pier", "judge of letters", key[0].prefix):
            assert text not in codec.dumps(payload)

    def test_their_commitments_open_with_the_salt_alone(self, judged, key):
        it = judged()
        promised, salt = said(it["receipt"])["commitments"], unb64(it["receipt_salt"])
        asked = {"criteria": BODY["criteria"], "checks": BODY["checks"]}
        parts = {
            "task": BODY["task"], "output": BODY["agent_output"], "evidence": BODY["evidence"], "asked": asked,
            "by": key[0].prefix,
        }  # fmt: skip
        assert set(promised) == set(parts)
        for name, value in parts.items():
            opener = commitments.part_salt(salt, name)
            assert commitments.opens(promised[name], opener, commitments.as_bytes(value))
            assert not commitments.opens(promised[name], opener, commitments.as_bytes([value]))

    def test_what_was_not_sent_is_an_empty_list(self, judged):
        it = judged({"task": "t", "agent_output": "o"})
        promised, salt = said(it["receipt"])["commitments"], unb64(it["receipt_salt"])
        assert commitments.opens(promised["evidence"], commitments.part_salt(salt, "evidence"), b"[]")
        opener = commitments.part_salt(salt, "asked")
        assert commitments.opens(promised["asked"], opener, b'{"checks":[],"criteria":[]}')

    def test_of_a_consensus(self, judged):
        it = judged({"task": "t", "answers": ANSWERS}, "/v1/consensus")
        payload, salt = said(it["receipt"]), unb64(it["receipt_salt"])
        assert payload["kind"] == "consensus"
        assert not {"verdict", "score", "thresholds", "model"} & set(payload)
        opener = commitments.part_salt(salt, "output")
        assert commitments.opens(payload["commitments"]["output"], opener, codec.canonical(ANSWERS).encode())

    def test_follow_each_other_by_key(self, judged, key):
        other = bearer_keys.issue("another", for_judge=True)[1]
        first, foreign, second = judged(), judged(bearer=other), judged()
        assert said(second["receipt"])["prev"] == digest(first["receipt"])
        assert [said(it["receipt"])["seq"] for it in (first, foreign, second)] == [1, 1, 2]
        assert said(foreign["receipt"])["chain"] != said(first["receipt"])["chain"]

    def test_take_so_many_statements(self, judged, django_capture_on_commit_callbacks):
        with django_capture_on_commit_callbacks(execute=True):
            judged()
        with CaptureQueriesContext(connection) as captured:
            judged()
        asked = [query["sql"] for query in captured.captured_queries if "SAVEPOINT" not in query["sql"]]
        assert not [sql for sql in asked if "signingkey" in sql]
        # beside what it took before: the key's lock, the head, the salt
        assert len([sql for sql in asked if "judgecall" in sql or "callsalt" in sql]) == 3

    def test_what_is_retained_opens_nothing(self, judged):
        it = judged(retain=True)
        assert it["receipt"] in Retained.objects.get().response
        assert it["receipt_salt"] not in Retained.objects.get().response

    def test_without_a_key_to_sign_with_nothing_is_kept_asked_or_counted(
        self, client, key, settings, monkeypatch
    ):
        settings.RECEIPT_KEY = "x"
        monkeypatch.setattr(asking, "judge", lambda _: pytest.fail("somebody was asked"))
        response = client.post(
            "/v1/judge",
            json.dumps(BODY),
            content_type="application/json",
            headers={"Authorization": f"Bearer {key[1]}"},
        )
        assert response.status_code == 500 and "on our side" in response.json()["error"]["message"]
        assert not JudgeCall.objects.exists() and not CallSalt.objects.exists()
        assert callers.counted(key[0]) == 0

    @pytest.mark.parametrize(
        "changes",
        [{"chain": None}, {"seq": None}, {"receipt": None}, {"signed_at": None}, {"seq": 0}],
    )
    def test_the_database_holds_all_of_a_receipt_or_none(self, key, changes):
        whole = {"chain": "key:1", "seq": 1, "receipt": "x", "signed_at": timezone.now()}
        call = {"key": key[0], "kind": "consensus", "digest": "0" * 64, "engine": "e"}
        JudgeCall.objects.create(**call)
        with pytest.raises(IntegrityError), transaction.atomic():
            JudgeCall.objects.create(**call, **{**whole, **changes})
        JudgeCall.objects.create(**call, **whole)

    def test_the_database_holds_one_receipt_a_place(self, judged, key):
        judged()
        first = JudgeCall.objects.get()
        with pytest.raises(IntegrityError), transaction.atomic():
            JudgeCall.objects.create(
                key=key[0], kind="consensus", digest="0" * 64, engine="e", chain=first.chain, seq=1, receipt="y",
                signed_at=first.signed_at,
            )  # fmt: skip


class TestForgetting:
    def test_leaves_the_receipt_and_opens_nothing(self, judged, verify, capsys):
        it = judged()
        call_command("forget_salts", "--call", it["request_id"])
        assert capsys.readouterr().out == "1 forgotten.\n"
        assert not CallSalt.objects.exists()
        judged()
        assert verify(it["receipt"])["valid"] and verify(it["receipt"])["on_record"]
        assert not export.check(exporting.lines(), keys.published()).problems

    @pytest.mark.parametrize("number", ["x", "00000000-0000-4000-8000-000000000000"])
    def test_what_is_not_there(self, judged, number):
        it = judged()
        with pytest.raises(CommandError, match=f"No salt is kept of call {number}"):
            call_command("forget_salts", "--call", it["request_id"], "--call", number)
        assert not CallSalt.objects.exists()

    def test_nothing_named(self):
        with pytest.raises(CommandError, match="Name what to forget: --call ID"):
            call_command("forget_salts")


class TestVerify:
    def test_a_good_one(self, judged, verify):
        it = judged()
        found = verify(it["receipt"])
        assert list(found) == ["valid", "reason", "payload", "on_record"]
        assert (found["valid"], found["on_record"]) == (True, True)
        assert found["payload"] == said(it["receipt"])
        assert found["reason"].startswith("It was signed by the key ")

    def test_numbers_come_back_as_they_were_signed(self, client, judged):
        text = client.post(
            "/v1/receipts/verify", {"receipt": judged()["receipt"]}, content_type="application/json"
        ).text
        assert '"score":1.0' in text and '"seq":1,' in text

    def test_one_that_is_not_on_record(self, judged, verify):
        """Signed with the key, and yet nothing that this server keeps."""
        judged()
        private = keys.current()
        signer = Signer()
        signer.key, signer.kid = private.key, private.kid
        found = verify(signer.sign(draft(), f"key:{JudgeCall.objects.get().key_id}"))
        assert (found["valid"], found["on_record"]) == (True, False)

    def test_a_checkpoint_is_on_record(self, judged, verify):
        judged()
        checkpoints.sweep()
        assert verify(Checkpoint.objects.get().receipt)["on_record"] is True

    @pytest.mark.parametrize("receipt", ["", "x", "a.b.c", " ", "\n", "é" * 60_000])
    def test_rubbish(self, verify, receipt):
        status = 413 if len(json.dumps(receipt)) > api.MAX_BODY_BYTES else 200
        found = verify(receipt, status)
        if status == 200:
            assert (found["valid"], found["payload"], found["on_record"]) == (False, None, None)

    def test_an_altered_one(self, judged, verify):
        receipt = judged()["receipt"]
        other = "A" if receipt[-9] != "A" else "B"
        for changed in (
            receipt[:-9] + other + receipt[-8:],
            receipt + "\n",
            " " + receipt,
            receipt.replace(".", "..", 1),
        ):
            found = verify(changed)
            assert (found["valid"], found["payload"]) == (False, None), changed

    def test_one_of_somebody_else(self, verify):
        found = verify(Signer().sign(draft()))
        assert not found["valid"] and "not among the published keys" in found["reason"]

    def test_one_by_a_revoked_key(self, judged, verify):
        receipt = judged()["receipt"]
        keys.revoke(SigningKey.objects.get().kid, timezone.now())
        found = verify(receipt)
        assert (found["valid"], found["on_record"]) == (False, True)
        assert "was revoked at" in found["reason"] and found["payload"]["seq"] == 1

    def test_an_export_s_end_is_no_receipt(self, verify):
        end = json.loads(list(exporting.lines())[-1])["end"]
        assert examine(end, keys.published(), EXPORT).valid
        found = verify(end)
        assert not found["valid"] and "signed as something else" in found["reason"]

    @pytest.mark.parametrize(
        ("body", "word"),
        [
            ("[]", "expected an object"),
            ("{}", "receipt: missing"),
            ('{"receipt": 1}', "expected a string"),
            ('{"receipt": null}', "expected a string"),
            ('{"receipt": "x", "more": 1}', "more: not known here"),
            ('{"receipt": "%s"}' % ("a" * 60_001), "at most 60000"),
            ("{", "not JSON"),
            ('{"receipt": "\\ud800"}', "U+D800"),
        ],
    )
    def test_refusals(self, client, body, word):
        response = client.post("/v1/receipts/verify", body, content_type="application/json")
        assert response.status_code == 400
        assert word in " ".join(response.json()["error"]["issues"])

    def test_another_method_type_or_size(self, client):
        assert client.get("/v1/receipts/verify").status_code == 405
        assert client.post("/v1/receipts/verify", "x", content_type="text/plain").status_code == 415
        big = client.post(
            "/v1/receipts/verify", "x" * (api.MAX_BODY_BYTES + 1), content_type="application/json"
        )
        assert big.status_code == 413 and big.json()["error"]["code"] == "too_large"

    def test_so_many_a_minute(self, client, settings, verify):
        settings.ANONYMOUS_CALLS_PER_MINUTE = 3
        for _ in range(3):
            verify("x")
        refused = client.post("/v1/receipts/verify", {"receipt": "x"}, content_type="application/json")
        assert refused.status_code == 429 and int(refused["Retry-After"]) >= 1
        other = client.post(
            "/v1/receipts/verify", {"receipt": "x"}, content_type="application/json", REMOTE_ADDR="192.0.2.7"
        )
        assert other.status_code == 200

    def test_takes_few_statements(self, judged, verify):
        receipt = judged()["receipt"]
        with CaptureQueriesContext(connection) as captured:
            verify(receipt)
        assert len(captured) <= 3


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
            "commitments": {}, "root": row.root, "heads": 2,
        }  # fmt: skip
        assert {(seq, hash_) for _, seq, hash_ in self.heads(1)} == {(2, digest(last)), (1, digest(foreign))}
        assert row.root == b64(merkle.root(self.heads(1)))

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
        assert list(Checkpoint.objects.order_by("seq").values_list("count", flat=True)) == [2, 2, 1]
        assert checkpoints.sweep() == 0

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
        "changes", [{"receipt": None, "chain": None, "seq": None, "signed_at": None}, {"count": 0}]
    )
    def test_the_database_holds_signed_ones_alone(self, changes):
        now = timezone.now()
        whole = {
            "root": "A" * 43, "count": 1, "covers_until": now, "chain": "checkpoints", "seq": 1, "receipt": "x", "signed_at": now,
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


class TestExport:
    @pytest.fixture
    def there(self, judged):
        """Two chains of 4 and 2, a checkpoint over the first three, another over the rest but one."""
        other = bearer_keys.issue("another", for_judge=True)[1]
        for bearer in (None, other, None):
            judged(**({"bearer": bearer} if bearer else {}))
        checkpoints.sweep()
        judged()
        judged(bearer=other)
        checkpoints.sweep()
        return judged()["receipt"]

    def check(self, *, tamper=lambda lines: lines, **options):
        return export.check(tamper(list(exporting.lines(**options))), keys.published())

    def test_is_sound(self, there):
        found = self.check()
        assert (found.problems, found.receipts, found.chains, found.checkpoints) == ([], 6, 2, 2)

    def test_an_empty_server_too(self):
        assert not self.check().problems

    @pytest.mark.parametrize("place", range(11))
    def test_a_line_less_is_found(self, there, place):
        assert len(list(exporting.lines())) == 11
        assert self.check(tamper=lambda lines: lines[:place] + lines[place + 1 :]).problems

    def test_a_row_that_is_gone_from_the_database_is_found(self, there):
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM checks_callsalt")
            cursor.execute("DELETE FROM checks_judgecall WHERE seq = 2 AND receipt <> %s", [there])
        problems = [str(problem) for problem in self.check().problems]
        assert any("receipt 2 is missing before this one" in text for text in problems)
        assert any("covers receipt 2 of" in text and "which is missing" in text for text in problems)

    def test_of_one_chain_names_no_other(self, there, key):
        chain, other = f"key:{key[0].pk}", JudgeCall.objects.exclude(key=key[0]).first().chain
        whole = b"".join(exporting.lines(chain=chain))
        found = export.check(whole.splitlines(keepends=True), keys.published())
        assert (found.problems, found.receipts, found.chains, found.checkpoints) == ([], 4, 1, 2)
        assert f'"{chain}"'.encode() in whole and f'"{other}"'.encode() not in whole
        assert b'"path"' in whole and b'"covers"' not in whole

    def test_of_no_chain(self, there):
        found = self.check(chain="run:nobody")
        assert (found.problems, found.receipts, found.chains) == ([], 0, 0)

    def test_since_begins_each_chain_there(self, there):
        third = JudgeCall.objects.filter(seq=3).get()
        found = self.check(since=third.signed_at)
        # the third and fourth of one, the second of the other
        assert (found.problems, found.receipts) == ([], 3)
        assert not self.check(since=timezone.now() + timedelta(days=1)).problems

    def test_since_leaves_no_gap_where_a_clock_went_back(self, there, key):
        third = JudgeCall.objects.get(seq=3)
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE checks_judgecall SET signed_at = %s WHERE seq = 4", ["2001-01-01 00:00:00+00:00"]
            )
        found = self.check(since=third.signed_at, chain=third.chain)
        assert not found.problems and found.receipts == 2

    def test_asks_no_more_for_more(self, there, judged):
        def asked():
            with CaptureQueriesContext(connection) as captured:
                list(exporting.lines())
            return len([query for query in captured.captured_queries if "SAVEPOINT" not in query["sql"]])

        before = asked()
        for number in range(12):
            judged(bearer=bearer_keys.issue(f"key {number}", for_judge=True)[1])
            judged()
        checkpoints.sweep()
        assert asked() == before

    def test_many_heads_take_lines_of_their_own(self, there, monkeypatch):
        monkeypatch.setattr(exporting, "AT_ONCE", 1)
        whole = list(exporting.lines())
        assert len([line for line in whole if line.startswith(b'{"heads"')]) == 3
        assert not export.check(whole, keys.published()).problems


class TestExportCommand:
    def test_writes_a_file_that_the_offline_command_verifies(self, judged, client, tmp_path):
        judged()
        checkpoints.sweep()
        judged()
        to, jwks = tmp_path / "receipts.jsonl", tmp_path / "jwks.json"
        jwks.write_bytes(client.get("/.well-known/jwks.json").content)
        call_command("export_receipts", "--to", str(to))
        command = [sys.executable, "-m", "checks.receipts", "verify", str(to), "--jwks", str(jwks)]
        told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert (told.returncode, told.stderr) == (0, "")
        assert told.stdout.startswith("valid: 2 receipts in 1 chains, 1 checkpoints")
        whole = to.read_bytes().splitlines(keepends=True)
        to.write_bytes(b"".join(whole[:2] + whole[3:]))
        told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert told.returncode == 1
        assert "line 3: of key:" in told.stdout and "receipt 1 is missing before this one" in told.stdout

    def test_writes_to_standard_output(self, judged, monkeypatch):
        judged()
        out = BytesIO()
        monkeypatch.setattr(sys, "stdout", type("Out", (), {"buffer": out})())
        call_command("export_receipts", "--since", "2026-01-01", "--chain", JudgeCall.objects.get().chain)
        found = export.check(out.getvalue().splitlines(keepends=True), keys.published())
        assert (found.problems, found.receipts) == ([], 1)

    @pytest.mark.parametrize("since", ["yesterday", "2026-13-01", "1"])
    def test_refuses_a_date_that_is_none(self, since):
        with pytest.raises(CommandError, match="is no date"):
            call_command("export_receipts", "--since", since)

    def test_overwrites_nothing(self, tmp_path):
        to = tmp_path / "there"
        to.write_text("mine")
        with pytest.raises(CommandError, match="can't be written"):
            call_command("export_receipts", "--to", str(to))
        assert to.read_text() == "mine"

    def test_without_a_key_writes_nothing(self, settings, tmp_path):
        settings.RECEIPT_KEY = "x"
        with pytest.raises(CommandError, match="RECEIPT_KEY holds no key"):
            call_command("export_receipts", "--to", str(tmp_path / "new"))
        assert not (tmp_path / "new").exists()


class TestAdmin:
    @pytest.mark.parametrize("name", ["signingkey", "checkpoint", "judgecall"])
    def test_shows_and_changes_nothing(self, admin_client, judged, name):
        it = judged()
        checkpoints.sweep()
        row = {"signingkey": SigningKey, "checkpoint": Checkpoint, "judgecall": JudgeCall}[name].objects.get()
        base = f"/admin/checks/{name}/"
        listed = admin_client.get(base).text
        page = admin_client.get(f"{base}{row.pk}/change/")
        assert page.status_code == 200 and 'name="_save"' not in page.text
        shown = {"signingkey": SigningKey.objects.get().kid, "judgecall": it["receipt"]}
        shown["checkpoint"] = Checkpoint.objects.get().receipt
        assert shown[name] in page.text
        assert "signingkey" in base or shown[name] not in listed
        assert admin_client.post(f"{base}{row.pk}/change/", {"count": 2}).status_code == 403
        assert admin_client.get(f"{base}add/").status_code == 403
        assert admin_client.post(f"{base}{row.pk}/delete/").status_code == 403
