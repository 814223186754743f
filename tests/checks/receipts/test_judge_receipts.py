"""Receipts of judge calls, their salts, and who verifies them."""

import json

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from checks import codec
from checks import keys as bearer_keys
from checks.judge import asking, callers
from checks.models import CallSalt, Checkpoint, JudgeCall, Retained, SigningKey
from checks.receipts import api, checkpoints, commitments, export, exporting, keys, keyset
from checks.receipts.encoding import digest, unb64
from checks.receipts.jws import EXPORT
from checks.receipts.verifying import examine
from tests.checks.receipting import Signer, draft
from tests.checks.receipts.sent import ANSWERS, BODY, said

pytestmark = pytest.mark.django_db


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
        assert not {"thresholds", "model"} & set(payload)
        assert (payload["verdict"], payload["score"]) == (it["false_consensus_risk"], it["agreement_score"])
        opener = commitments.part_salt(salt, "answer")
        promised = payload["commitments"]
        assert commitments.opens(promised["answer"], opener, commitments.as_bytes(it["consensus_answer"]))
        opener = commitments.part_salt(salt, "unsupported_agreement")
        said_so = codec.dumps(it["unsupported_agreement"]).encode()
        assert commitments.opens(promised["unsupported_agreement"], opener, said_so)
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
        assert (response.status_code, response["Retry-After"]) == (503, "60")
        error = response.json()["error"]
        assert error["code"] == "busy" and "no key to sign with" in error["message"]
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
        assert not CallSalt.objects.exists() and JudgeCall.objects.get().digest == ""
        judged()
        assert verify(it["receipt"])["valid"] and verify(it["receipt"])["on_record"]
        assert not export.check(exporting.lines(), keys.published()).problems

    def test_takes_along_what_was_retained(self, judged):
        it = judged(retain=True)
        assert Retained.objects.exists()
        call_command("forget_salts", "--call", it["request_id"])
        assert not Retained.objects.exists()

    @pytest.mark.parametrize("number", ["x", "00000000-0000-4000-8000-000000000000"])
    def test_what_is_not_there(self, judged, number):
        it = judged()
        with pytest.raises(CommandError, match=f"Nothing was forgotten of call {number}"):
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

    def test_one_with_the_end_of_its_line(self, judged, verify):
        assert verify(f" {judged()['receipt']}\n")["valid"]

    def test_an_altered_one(self, judged, verify):
        receipt = judged()["receipt"]
        other = "A" if receipt[-9] != "A" else "B"
        for changed in (
            receipt[:-9] + other + receipt[-8:],
            receipt[:9] + "\n" + receipt[9:],
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
