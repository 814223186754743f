import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from checks import codec, material
from checks.evaluators import Config, EvaluatorError, configured, transport
from checks.evaluators.system_one import SystemOne
from checks.evaluators.transport import retry_after
from checks.questions import Kind, Question
from tests.checks.vendor import CHOICE, QUESTIONS, RUBRIC, YES_NO
from tests.checks.vendor import material as example
from tests.servers.system_one import Reply, SystemOneServer, answering, yes_to_everything

KEY = "sk-very-secret-0123456789"
NOUL = {"type": "noul", "noul": 0.98}
CHOSEN = {
    "type": "choice",
    "choice": "states",
    "confidence": 0.6,
    "probabilities": {"states": 0.94, "hedges": 0.04, "unclear": 0.02},
}
SCORED = {
    "type": "score",
    "score": 1.7,
    "confidence": 0.2,
    "legend": {"0": "worst"},
    "probabilities": {"0": 0.1, "1": 0.1, "2": 0.8},
}
WELL = answering(q0=NOUL, q1=CHOSEN, q2=SCORED)


@pytest.fixture(autouse=True)
def _fast_and_direct(monkeypatch):
    monkeypatch.setattr(transport, "BACKOFF_SECONDS", 0.001)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


def ask(server, questions=QUESTIONS, *, key=KEY, seconds=20.0, **changes):
    base = server if isinstance(server, str) else server.base_url
    evaluator = SystemOne(Config(kind="system_one", base=base, model="jev-latest", key=key))
    return evaluator.ask(material.state(example(**changes)), questions, deadline=time.monotonic() + seconds)


def refused(server, **options):
    with pytest.raises(EvaluatorError) as error:
        ask(server, **options)
    assert KEY not in str(error.value)
    assert len(error.value.message) < 400
    return error.value


class TestTheWire:
    def test_exactly_what_is_sent(self):
        with SystemOneServer(WELL) as server:
            ask(server)
        (request,) = server.requests
        assert request.path == "/v1/systemone"
        assert request.headers["authorization"] == f"Bearer {KEY}"
        assert request.headers["content-type"] == "application/json"
        assert request.json == {
            "model": "jev-latest",
            "state": {
                "instructions": "Look the vendor up on the OFAC and EU lists.",
                "process": "# Vendor check\n",
                "run_data": {"inputs": {"vendorName": "Acme GmbH", "amount": 1200}, "steps": {}},
                "submission": {
                    "output": {"cleared": True, "summary": "Cleared: no match on either list."},
                    "summary": "Cleared. Both lists were searched with the terms Acme GmbH and Acme Holding; no match.",
                    "evidence": [{"kind": "file", "ref": "f_0"}],
                },
            },
            "questions": {
                "q0": {"type": "noul", "instructions": YES_NO.ask},
                "q1": {"type": "choice", "instructions": CHOICE.ask, "criteria": dict(CHOICE.options)},
                "q2": {"type": "score", "instructions": RUBRIC.ask, "criteria": list(RUBRIC.levels)},
            },
        }

    def test_numbers_are_sent_as_they_came(self):
        with SystemOneServer(WELL) as server:
            ask(
                server,
                run_data=codec.loads('{"inputs":{"a":1e400,"b":0.10,"c":12345678901234567890},"steps":{}}'),
            )
        assert b'"inputs":{"a":1e400,"b":0.10,"c":12345678901234567890}' in server.requests[0].body

    def test_without_a_key_there_is_no_authorization(self):
        with SystemOneServer(WELL) as server:
            ask(server, key="")
        assert "authorization" not in server.requests[0].headers

    def test_what_is_made_of_the_answers(self):
        with SystemOneServer(WELL) as server:
            answers = ask(server)
        yes_no, choice, rubric = answers.answers
        assert (answers.model, answers.method) == ("jev-1.13.0", "systemone")
        assert (answers.input_tokens, answers.output_tokens) == (120, 12)
        assert yes_no.probability == 0.98
        assert (choice.name, choice.confidence, choice.vendor_confidence) == ("states", 0.91, 0.6)
        assert (rubric.level, rubric.confidence, rubric.vendor_confidence) == (2, 0.55, 0.2)
        assert rubric.probabilities == pytest.approx({"0": 0.1, "1": 0.1, "2": 0.8})

    def test_more_than_64_questions_are_split(self):
        many = tuple(Question(ask=f"Is it {n}?", kind=Kind.YES_NO) for n in range(130))
        with SystemOneServer(yes_to_everything) as server:
            answers = ask(server, many)
        assert [len(request.json["questions"]) for request in server.requests] == [64, 64, 2]
        assert server.requests[2].json["questions"]["q0"]["instructions"] == "Is it 128?"
        assert (len(answers.answers), answers.model) == (130, "jev-1.13.0")

    def test_a_check_answered_by_two_models_is_none(self):
        many = tuple(Question(ask=f"Is it {n}?", kind=Kind.YES_NO) for n in range(65))
        first = {f"q{n}": NOUL for n in range(64)}
        with SystemOneServer([answering(model="a", **first), answering(model="b", q0=NOUL)]) as server:
            assert "different models" in refused(server, questions=many).message

    def test_a_server_that_names_no_model_answered_with_the_one_asked_for(self):
        with SystemOneServer(Reply(body={"answers": {"q0": NOUL}})) as server:
            answers = ask(server, (YES_NO,))
        assert (answers.model, answers.input_tokens) == ("jev-latest", None)

    def test_its_version_names_address_and_model_but_not_the_key(self):
        def version(**changes):
            return SystemOne(
                Config(**({"kind": "system_one", "base": "http://a", "model": "m"} | changes))
            ).version

        assert version() == version(key="k")
        assert len({version(), version(base="http://b"), version(model="n")}) == 3


class TestErrors:
    @pytest.mark.parametrize(
        "body",
        [
            b"", b"no JSON", b"[]", b"null", b"{}", b'{"answers":[]}', b'{"answers":null}', b"\xff\xfe",
            b'{"answers":{"q0":{"type":"noul","noul":NaN}}}', b'{"answers":{},"answers":{}}', b"[" * 5000,
            b'{"answers":{"q1":{"type":"noul","noul":0.98}}}',
        ],
    )  # fmt: skip
    def test_a_body_that_is_no_set_of_answers_is_an_error(self, body):
        with SystemOneServer(Reply(body=body)) as server:
            error = refused(server, questions=(YES_NO,))
        assert not error.permanent
        assert len(server.requests) == 1

    @pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 418, 422])
    def test_a_refusal_is_permanent_and_not_tried_again(self, status):
        with SystemOneServer(Reply(status=status, body={"error": "no such model"})) as server:
            error = refused(server)
        assert error.permanent
        assert str(status) in error.message
        assert "no such model" in error.message
        assert len(server.requests) == 1

    @pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
    def test_load_is_waited_out(self, status):
        with SystemOneServer([Reply(status=status), Reply(status=status), WELL]) as server:
            assert len(ask(server).answers) == 3
        assert len(server.requests) == 3

    def test_not_for_ever(self):
        with SystemOneServer(Reply(status=503)) as server:
            error = refused(server)
        assert not error.permanent
        assert len(server.requests) == transport.TRIES

    def test_a_connection_that_breaks_is_tried_again(self):
        with SystemOneServer([Reply(hang_up=True), WELL]) as server:
            assert len(ask(server).answers) == 3

    def test_nobody_listening(self):
        with SystemOneServer(WELL) as server:
            gone = server.base_url
        error = refused(gone)
        assert (error.permanent, error.message) == (False, "127.0.0.1 could not be reached (ConnectError)")

    @pytest.mark.parametrize("status", [301, 302, 307, 308])
    def test_redirects_are_not_followed(self, status):
        with SystemOneServer(WELL) as elsewhere:
            moved = Reply(status=status, headers={"Location": elsewhere.base_url + "/v1/systemone"})
            with SystemOneServer(moved) as server:
                error = refused(server)
        assert error.permanent
        assert "final address" in error.message
        assert elsewhere.requests == []

    @pytest.mark.parametrize("status", [201, 204])
    def test_only_200_is_an_answer(self, status):
        with SystemOneServer(Reply(status=status)) as server:
            assert refused(server).permanent

    def test_a_wait_longer_than_the_deadline_is_not_waited(self):
        with SystemOneServer(Reply(status=429, headers={"Retry-After": "3600"})) as server:
            refused(server)
        assert len(server.requests) == 1

    def test_a_server_that_echoes_the_key_does_not_tell_it_on(self):
        with SystemOneServer(Reply(status=401, body=f"bad key {KEY}\n\x1b[31m" + "x" * 5000)) as server:
            error = refused(server)
        assert "bad key [key]" in error.message
        assert error.message.isprintable()

    @pytest.mark.parametrize("key", ["sk-\nInjected: yes", "sk-käse", "sk-\x00"])
    def test_a_key_that_no_header_carries_is_not_quoted(self, key):
        with SystemOneServer(WELL) as server, pytest.raises(EvaluatorError) as error:
            ask(server, key=key)
        assert "sk-" not in str(error.value)
        assert server.requests == []

    @pytest.mark.parametrize("base", ["ftp://127.0.0.1", "http://[::1", "http://127.0.0.1:99999", "nonsense"])
    def test_an_address_that_is_none(self, base):
        assert refused(base).message

    def test_more_than_a_megabyte_is_not_read(self):
        with SystemOneServer(Reply(body=b" " * (transport.MAX_ANSWER_BYTES + 1))) as server:
            assert "more than 1,000,000 bytes" in refused(server).message

    def test_a_compressed_answer_is_not_unpacked(self):
        with SystemOneServer(Reply(body=b"x", headers={"Content-Encoding": "gzip"})) as server:
            assert "compressed" in refused(server).message


class TestDeadline:
    @pytest.mark.parametrize(
        "reply",
        [
            Reply(wait=60),
            Reply(body=b" " * 1000, drip=0.05),
            Reply(body=b" " * 1000, header_drip=0.05),
            Reply(status=500, body=b" " * 1000, drip=0.05),
        ],
        ids=["stall", "body drips", "headers drip", "error drips"],
    )
    def test_holds_whatever_stalls(self, reply):
        with SystemOneServer(reply) as server:
            error = refused(server, seconds=0.3)
        assert error.message == "127.0.0.1 did not answer in time"
        assert not error.permanent

    def test_a_deadline_that_has_passed_asks_nobody(self):
        with SystemOneServer(WELL) as server:
            refused(server, seconds=-1.0)
        assert server.requests == []


class TestRetryAfter:
    @pytest.mark.parametrize(
        ("headers", "seconds"),
        [
            ({}, None),
            ({"retry-after": "7"}, 7.0),
            ({"retry-after": "0.5"}, 0.5),
            ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
            ({"retry-after-ms": "soon", "retry-after": "7"}, 7.0),
            ({"retry-after": "-7"}, None),
            ({"retry-after": "nan"}, None),
            ({"retry-after": "inf"}, None),
            ({"retry-after": "soon"}, None),
            ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ],
    )
    def test_seconds(self, headers, seconds):
        assert retry_after(headers) == seconds

    def test_a_date(self):
        at = datetime.now(UTC) + timedelta(seconds=90)
        assert retry_after({"retry-after": format_datetime(at, usegmt=True)}) == pytest.approx(90, abs=5)

    def test_is_honoured(self, monkeypatch):
        slept = []
        monkeypatch.setattr(transport.time, "sleep", slept.append)
        with SystemOneServer(
            [Reply(status=429, headers={"Retry-After-Ms": "1500", "Retry-After": "9"}), WELL]
        ) as server:
            ask(server)
        assert 1.5 in slept


@pytest.mark.django_db
class TestConfigured:
    def test_unset_is_nobody(self, settings):
        for value in ("none", "", None):
            settings.EVALUATOR = value
            assert configured() is None

    def test_one_instance_per_set_of_settings(self, settings):
        settings.EVALUATOR = "system_one"
        settings.EVALUATOR_URL, settings.EVALUATOR_MODEL, settings.EVALUATOR_KEY = "http://a/", "m", KEY
        first = configured()
        assert first is configured()
        assert first.name == "system_one"
        settings.EVALUATOR_MODEL = "n"
        assert configured() is not first
        settings.EVALUATOR = "heuristic"
        assert configured().name == "heuristic"

    def test_the_key_is_not_in_its_repr(self):
        assert KEY not in repr(Config(kind="system_one", base=f"http://{KEY}@a", model="m", key=KEY))
