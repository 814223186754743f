"""What the judge counts, keeps and forgets; its command; and `POST /v1/consensus`."""

import hashlib
import json

import pytest
from django.core.management import call_command
from django.test import override_settings
from django.utils import timezone

from checks import codec, keys
from checks.judge import storing
from checks.models import JudgeCall, Key, Retained
from tests.checks.judge.scripted import EVIDENCE, GOOD, TASK

pytestmark = pytest.mark.django_db


class TestQuotas:
    BODY = {"task": "t", "agent_output": "o"}

    def test_so_many_calls_a_day(self, send):
        with override_settings(JUDGE_CALLS_PER_DAY=2):
            assert [send(self.BODY).status_code for _ in range(4)] == [200, 200, 429, 429]
            response = send(self.BODY)
        assert 0 < int(response["Retry-After"]) <= 86_400
        assert response.json()["error"]["code"] == "quota"

    def test_a_key_may_have_its_own_bound(self, send):
        Key.objects.update(judge_calls_per_day=1)
        assert [send(self.BODY).status_code for _ in range(2)] == [200, 429]

    def test_another_keys_calls_are_its_own(self, send):
        with override_settings(JUDGE_CALLS_PER_DAY=1):
            assert send(self.BODY).status_code == 200
            other = keys.issue("other", for_judge=True)[1]
            assert send(self.BODY, bearer=other).status_code == 200

    def test_both_doors_count_together(self, send):
        with override_settings(JUDGE_CALLS_PER_DAY=1):
            assert send(self.BODY).status_code == 200
            answers = [{"output": "a"}, {"output": "b"}]
            assert send({"task": "t", "answers": answers}, path="/v1/consensus").status_code == 429

    def test_a_refused_call_costs_nothing(self, send):
        with override_settings(JUDGE_CALLS_PER_DAY=1):
            assert send({}).status_code == 400
            assert send(self.BODY).status_code == 200


class TestWhatIsKept:
    def test_is_counts_digests_and_words_of_ours(self, judged):
        body = {"evidence": EVIDENCE, "checks": [{"type": "regex", "expected": "pier"}]}
        it = judged(**body)
        call = JudgeCall.objects.get()
        assert (str(call.id), call.verdict, call.score) == (it["request_id"], "pass", 1.0)
        assert (call.supported, call.contradicted, call.unsupported) == (2, 0, 0)
        assert call.facts == [
            {"type": "regex", "passed": True, "evidence_hash": hashlib.sha256(GOOD.encode()).hexdigest()}
        ]
        whole = codec.loads(json.dumps({"task": TASK, "agent_output": GOOD, **body}))
        assert call.digest == hashlib.sha256(codec.canonical(whole).encode()).hexdigest()
        assert not Retained.objects.exists()
        columns = json.dumps(list(JudgeCall.objects.values()), default=str)
        assert not any(word in columns for word in ("ferry", "pier", "Say from"))

    def test_is_what_was_sent_where_the_caller_asks(self, judged):
        it = judged(evidence=EVIDENCE, retain=True)
        kept = Retained.objects.select_related("call").get()
        assert json.loads(kept.request)["evidence"] == EVIDENCE
        # what opens the receipt's commitments is kept apart, so that it can be forgotten
        assert it.pop("receipt_salt")
        assert json.loads(kept.response) == it
        assert (kept.until - kept.call.at).days == 30

    def test_goes_when_its_time_is_over(self, judged, capsys):
        judged(retain=True)
        call_command("purge_retained")
        assert Retained.objects.count() == 1
        Retained.objects.update(until=timezone.now())
        call_command("purge_retained")
        assert capsys.readouterr().out == "0 gone.\n1 gone.\n"
        assert (Retained.objects.count(), JudgeCall.objects.count()) == (0, 1)

    def test_a_clock_purges_now_and_then(self, judged):
        judged(retain=True)
        Retained.objects.update(until=timezone.now())
        assert storing.purge_now_and_then() == 1
        judged(retain=True)
        Retained.objects.update(until=timezone.now())
        assert storing.purge_now_and_then() == 0


class TestTheCommand:
    def test_makes_lists_and_revokes(self, capsys, send):
        call_command("judge_key", "create", "tests of mine", "--calls-per-day", "3")
        text = capsys.readouterr().out.splitlines()[-1]
        assert send({"task": "t", "agent_output": "o"}, bearer=text).status_code == 200
        call_command("judge_key", "list")
        assert ", 3 calls a day" in capsys.readouterr().out
        call_command("judge_key", "revoke", "tests of mine")
        assert send({"task": "t", "agent_output": "o"}, bearer=text).status_code == 401


class TestConsensus:
    def test_is_plain_json(self, send):
        answers = [
            {"agent_id": "a", "output": "Pier 3"},
            {"agent_id": "b", "output": "It leaves from pier 3."},
            {"output": "Pier 9"},
        ]
        response = send(
            {"task": "From which pier?", "answers": answers, "evidence": EVIDENCE}, path="/v1/consensus"
        )
        it = response.json()
        assert (it["agreement_score"], it["false_consensus_risk"], it["unsupported_agreement"]) == (
            0.6667,
            "low",
            False,
        )
        assert it["consensus_answer"] in {"Pier 3", "It leaves from pier 3."}
        assert [(cluster["role"], cluster["answers"]) for cluster in it["clusters"]] == [
            ("clustering", [0, 1]),
            ("clustering", [2]),
        ]
        assert (it["engine"], JudgeCall.objects.get().kind) == ("deterministic", "consensus")

    def test_its_limits_are_named(self, send):
        response = send({"task": "t", "answers": [{"output": "a"}]}, path="/v1/consensus")
        assert response.json()["error"]["issues"] == ["answers: 1 item; from 2 to 16 are taken"]
        answers = [{"agent_id": "a" * 81, "output": "o" * 16_001}, {"agent": "x"}, 3]
        response = send({"task": "t", "answers": answers}, path="/v1/consensus")
        assert response.json()["error"]["issues"] == [
            "answers[0].agent_id: 81 characters; at most 80 are taken",
            "answers[0].output: 16001 characters; at most 16000 are taken",
            "answers[1].agent: not known here; known are agent_id, output",
            "answers[1].output: missing",
            "answers[2]: expected an object",
        ]
