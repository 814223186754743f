"""`/try/`: anybody judges by engine `demo`. No key, no model, no network, nothing kept."""

import json
import re
from html import unescape
from unittest import mock

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from checks import codec, keys, rates
from checks.judge import asking, demo, drawing, examples, forms
from checks.judge.requests import read_consensus, read_judge
from checks.models import JudgeCall, Retained
from tests.checks.judge.scripted import Model

pytestmark = pytest.mark.django_db
TASK, GOOD = "Say from where the ferry leaves.", "The ferry leaves from pier 3."
EVIDENCE = "The ferry leaves at 07:40 from pier 3."
JUDGE = {"kind": "judge", "task": TASK, "agent_output": GOOD, "evidence": EVIDENCE}


@pytest.fixture(autouse=True)
def _unbounded(settings):
    rates._tallies.clear()
    settings.JUDGE_TRIES_PER_MINUTE = 0
    yield
    rates._tallies.clear()


@pytest.fixture
def send(client):
    def post(status=200, **sent):
        response = client.post("/try/", {**JUDGE, **sent})
        assert response.status_code == status, response.content
        return response

    return post


def answer(response):
    return response.context["result"]["answer"]


def words(response):
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", response.content.decode())).split())


# ---- the engine


def test_no_model_is_asked_and_no_network_whatever_is_configured(send, monkeypatch):
    model = Model()
    monkeypatch.setattr(asking, "configured", lambda: model)
    with mock.patch("socket.socket.connect", side_effect=AssertionError("network")):
        told = answer(send(checks='[{"type": "equals", "expected": "x"}]', criteria="Names the pier"))
    assert (told["engine"], told["verification"], model.asked) == ("demo", "heuristic", [])


def test_nothing_is_kept_and_no_key_pays(send):
    key, _ = keys.issue("judge", for_judge=True)
    for kind in ("judge", "consensus"):
        send(kind=kind, answers="--- a\nOne.\n--- b\nTwo.")
    assert not JudgeCall.objects.exists() and not Retained.objects.exists()
    from checks.judge import callers

    assert callers.counted(key) == 0


def test_the_answer_has_the_shape_of_the_apis(client, send):
    bearer = {"Authorization": f"Bearer {keys.issue('judge', for_judge=True)[1]}"}
    bodies = {
        "judge": {"task": TASK, "agent_output": GOOD, "evidence": [EVIDENCE]},
        "consensus": {"task": TASK, "answers": [{"output": GOOD}, {"output": "From pier 4."}]},
    }
    for kind, body in bodies.items():
        real = client.post(f"/v1/{kind}", body, content_type="application/json", headers=bearer).json()
        mine = answer(send(kind=kind, answers=f"{GOOD}\n---\nFrom pier 4."))
        # what proves that a call was made is no part of a try
        assert mine.keys() == real.keys() - {"receipt", "receipt_salt"}
        differ = {key for key in mine if json.loads(codec.dumps(mine[key])) != real[key]}
        assert differ == {"request_id", "engine"}, kind


def test_a_fact_of_the_network_never_reaches_the_engine():
    body = {"task": TASK, "agent_output": GOOD, "checks": [{"type": "url_contains", "url": "https://a.example/", "text": "x"}]}  # fmt: skip
    asked, _ = read_judge(body)
    with pytest.raises(ValueError, match="url_contains"):
        demo.judge(asked)


def test_few_at_once(send, monkeypatch):
    monkeypatch.setattr(demo._slots, "acquire", lambda **_: False)
    response = send(503, evidence="Typed with care.")
    assert response["Retry-After"] == "3"
    assert "Typed with care." in words(response) and "Others are trying it" in words(response)


def test_a_slot_is_given_back_when_judging_breaks(monkeypatch):
    asked, _ = read_judge({"task": TASK, "agent_output": GOOD})
    monkeypatch.setattr(asking, "judge_by", mock.Mock(side_effect=RuntimeError))
    for _ in range(20):
        with pytest.raises(RuntimeError):
            demo.judge(asked)
    monkeypatch.undo()
    assert demo.judge(asked)["engine"] == "demo"


# ---- examples


@pytest.mark.parametrize("example", examples.EXAMPLES, ids=lambda one: one.slug)
def test_an_example_fills_the_form(client, example):
    response = client.get("/try/", {"kind": example.kind, "example": example.slug})
    shown = {one["of"].name: one["text"] for one in response.context["fields"]}
    assert shown == forms.typed(example.kind, example.texts)
    assert response.context["example"] == example and response.context["result"] is None
    for text in example.texts.values():
        assert text in unescape(response.content.decode())


@pytest.mark.parametrize(
    ("slug", "expected"),
    [
        ("supported", {"verdict": "pass", "score": 1.0, "verification": "verified"}),
        ("contradicted", {"verdict": "fail", "score": 0.0}),
        ("unsupported", {"verdict": "retry"}),
        ("failed-fact", {"verdict": "fail", "score": 1.0, "verification": "heuristic"}),
        ("addressed", {"verdict": "retry"}),
        ("criterion", {"verdict": "retry", "score": 1.0}),
        ("agreed", {"false_consensus_risk": "low", "agreement_score": 0.75}),
        ("false-consensus", {"false_consensus_risk": "high", "unsupported_agreement": True}),
        ("copies", {"false_consensus_risk": "high", "unsupported_agreement": False}),
        ("divided", {"consensus_answer": None}),
    ],
)
def test_an_example_shows_what_it_says(client, slug, expected):
    example = next(one for one in examples.EXAMPLES if one.slug == slug)
    response = client.post("/try/", {"kind": example.kind, **example.texts})
    told = answer(response)
    assert {key: told[key] for key in expected} == expected
    assert example.shows in words(response)  # still marked as this example


def test_every_example_is_shown_above():
    assert len({one.slug for one in examples.EXAMPLES}) == len(examples.EXAMPLES) == 10


def test_a_tab_keeps_what_is_typed_under_the_examples_name(client, send):
    assert 'data-kept="judge.own"' in client.get("/try/").content.decode()
    page = client.get("/try/?kind=consensus&example=copies").content.decode()
    assert 'data-kept="consensus.copies"' in page
    # an answer to what was sent is kept by nobody: what stands in it may be of any of them
    assert "data-kept" not in send().content.decode()


def test_no_example_breaks_its_lines_but_between_pieces():
    for example in examples.EXAMPLES:
        assert not re.search(r"[^\n]\n[^\n]", example.texts.get("evidence", "")), example.slug


@pytest.mark.parametrize("query", ["?kind=nothing", "?example=nothing", "?kind=consensus&example=supported"])
def test_an_unknown_example_is_an_empty_form(client, query):
    response = client.get(f"/try/{query}")
    assert {one["text"] for one in response.context["fields"]} == {""}


# ---- what is drawn


def test_each_claim_with_its_status_confidence_and_evidence(send):
    output = "The ferry leaves from pier 3. The captain whistles. The ferry leaves at 08:10."
    page = words(send(agent_output=output, evidence=f"The pier is old.\n\n{EVIDENCE}"))
    assert f"Supported The ferry leaves from pier 3. Evidence 2 {EVIDENCE} 1.00" in page
    assert "Unsupported The captain whistles. No piece of evidence speaks of it." in page
    assert f"Contradicted The ferry leaves at 08:10. Evidence 2 {EVIDENCE} 1.00" in page
    assert "1 supported · 1 contradicted · 1 unsupported" in page


def test_long_evidence_is_cut_at_a_word_and_kept_whole_beside(send):
    long = EVIDENCE + " Nothing else happens there." * 30
    quote = send(evidence=long).context["result"]["claims"][0]["quote"]
    assert len(quote.excerpt) <= drawing.EXCERPT_CHARS + 2 and quote.excerpt.endswith(" …")
    assert quote.excerpt.removesuffix(" …").split() == long.split()[: len(quote.excerpt.split()) - 1]
    assert quote.whole == long


def test_what_is_typed_is_text_and_nothing_else(send):
    attack = "<script>alert(1)</script>{% now 'Y' %}{{ settings }}"
    for sent in (
        {"agent_output": attack, "evidence": attack, "task": attack, "criteria": attack},
        {"kind": "consensus", "answers": f"--- {attack}\n{attack}\n--- b\n{attack}", "task": attack},
    ):
        page = send(**sent).content.decode()
        assert "<script>alert" not in page and "&lt;script&gt;alert" in page
        assert "{% now 'Y' %}" in unescape(page)


def test_the_call_is_what_the_form_was(client, send):
    bearer = {"Authorization": f"Bearer {keys.issue('judge', for_judge=True)[1]}"}
    checks = '[{"type": "numeric", "expected": 1.10, "tolerance": 1e-3}]'
    call = send(agent_output="1.1", checks=checks, criteria="It's a 'number'").context["result"]["call"]
    head, body = call["command"].split("<<'JSON'\n")
    assert head.startswith("curl ") and "/v1/judge" in head
    sent = body.removesuffix("\nJSON")
    assert "1.10" in sent and "1e-3" in sent, "numbers as they came"
    real = client.post("/v1/judge", sent, content_type="application/json", headers=bearer)
    assert real.status_code == 200
    assert real.json()["checks"] == json.loads(call["answer"])["checks"]


def test_what_turns_the_direction_of_writing_is_escaped_in_the_command(send):
    turning = "It leaves\u202e at \u20668:10\u2069.\u200f"
    call = send(agent_output=turning).context["result"]["call"]
    assert not set("\u202e\u2066\u2069\u200f") & set(call["command"] + call["answer"])
    assert "leaves\\u202e at" in call["command"]
    body = call["command"].split("<<'JSON'\n")[1].removesuffix("\nJSON")
    assert json.loads(body)["agent_output"] == turning


def test_texts_of_either_direction_are_shown_in_their_own(send):
    hebrew = "המעבורת יוצאת מרציף 3."
    page = send(agent_output=hebrew, evidence=hebrew).content.decode()
    assert f'<p dir="auto">{hebrew}</p>' in page
    assert len(re.findall(r'<textarea[^>]* dir="auto"', page)) == 4
    assert len(re.findall(r'<textarea[^>]* dir="ltr"', page)) == 1, "JSON is read from the left"


def test_what_a_verdict_rests_on_is_said_in_words(send):
    assert "rests on words compared · engine demo" in words(send())
    passed = send(checks='[{"type": "regex", "expected": "pier"}]')
    assert "rests on facts that were checked" in words(passed)
    assert "verification verified" not in words(passed)


@pytest.mark.parametrize(
    ("output", "told"),
    [
        (GOOD, "The claim is supported, none is contradicted."),
        ("The captain whistles.", "The claim is not supported by the evidence."),
        (f"{GOOD} The captain whistles.", "1 of 2 claims is not supported by the evidence."),
        ("The captain whistles. The crew sings.", "2 of 2 claims are not supported by the evidence."),
        ("The ferry leaves at 08:10.", "“The ferry leaves at 08:10.” is contradicted by evidence 1."),
    ],
)
def test_reasons_are_sentences(send, output, told):
    response = send(agent_output=output)
    assert answer(response)["reasons"] == [told]
    assert "”.”" not in words(response) and ".”." not in words(response)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8"), max_size=8),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
        max_leaves=20,
    )
)
def test_pretty_says_the_same(value):
    text = codec.pretty(value)
    assert json.loads(text) == value
    assert "JSON" not in text.splitlines(), "no line ends the command's text"


# ---- refusals


@pytest.mark.parametrize(
    ("sent", "field", "problem"),
    [
        ({"task": " "}, "task", "Task: is empty"),
        ({"agent_output": "x" * 16_001}, "agent_output", "Output: 16001 characters; at most 16000 are taken"),
        ({"evidence": "a\n\n" + "b" * 4001}, "evidence", "Evidence 2: 4001 characters; at most 4000 are taken"),
        ({"evidence": "\n\n".join("a" * 21)}, "evidence", "Evidence: 21 items; at most 20 are taken"),
        ({"criteria": "c" * 501}, "criteria", "Criteria 1: 501 characters; at most 500 are taken"),
        ({"checks": "{"}, "checks", "Facts: not JSON"),
        ({"checks": "{}"}, "checks", "Facts: expected a list"),
        ({"checks": '[{"type": "nose"}]'}, "checks", "Facts 1, type: not one of equals, json_schema, numeric, regex"),
        ({"checks": '[{"type": "onchain"}]'}, "checks", "onchain is read from the network, and this page never goes there"),
        ({"checks": '[{"type": "regex", "expected": "("}]'}, "checks", "Facts 1, expected"),
        ({"agent_output": "x" * 15_000, "evidence": "\n\n".join(["y" * 3900] * 3)}, "", "All fields together: 26"),
        ({"task": "a\x00b"}, "", "Character U+0000 can't be stored"),
        ({"checks": "[" + ",".join(['{"type": "equals", "expected": "' + "x" * 9000 + '"}'] * 12) + "]"}, "", "bytes; at most 100000"),
        ({"kind": "consensus", "answers": "--- a\nOnly one."}, "answers", "Answers: 1 item; from 2 to 16 are taken"),
        ({"kind": "consensus", "answers": "--- a\n--- b\nTwo."}, "answers", "Answers 1, output: is empty"),
        ({"kind": "consensus", "answers": ""}, "answers", "Answers: 0 items"),
    ],
)  # fmt: skip
def test_each_breach_is_named_beside_its_field_and_nothing_typed_is_lost(send, sent, field, problem):
    response = send(422, **sent)
    told = [line for target, line in response.context["notice"].lines if target == (field and f"f-{field}")]
    assert any(problem in line for line in told), response.context["notice"]
    assert response.context["result"] is None
    kept = {one["of"].name: one for one in response.context["fields"]}
    assert all(one["text"] == {**JUDGE, **sent}.get(name, "") for name, one in kept.items())
    if field:
        assert kept[field]["problems"] == told
        assert f'id="e-{field}"' in response.content.decode()


def test_a_form_larger_than_any_call_is_not_read(client):
    with mock.patch(
        "django.http.request.HttpRequest._load_post_and_files", side_effect=AssertionError("read")
    ):
        response = client.post("/try/", {"task": "x" * (forms.FORM_BYTES + 1)})
    assert response.status_code == 413
    assert "Shorten what you typed" in words(response)


def test_the_largest_call_fits_as_a_form():
    # %F0%9F… : 12 bytes for each character of the bound, and something for names
    assert forms.FORM_BYTES > 24_000 * 12 + 100_000


def test_too_many_from_one_address(client, send, settings):
    settings.JUDGE_TRIES_PER_MINUTE = 2
    with mock.patch("checks.rates.time.time", return_value=610.0):
        send(), send(422, task="")
        response = send(429, evidence="Typed with care.")
        assert response["Retry-After"] == "50"
        assert "Wait 50 seconds" in words(response) and "Typed with care." in words(response)
        assert client.get("/try/").status_code == 200
        elsewhere = client.post("/try/", JUDGE, REMOTE_ADDR="192.0.2.9")
        assert elsewhere.status_code == 200


def test_a_form_of_another_site_is_refused():
    assert Client(enforce_csrf_checks=True).post("/try/", JUDGE).status_code == 403


def test_other_methods(client):
    assert client.put("/try/").status_code == 405
    assert client.post("/dashboard/").status_code == 405


def test_htmx_gets_the_part_that_changes(client):
    page = client.post("/try/", JUDGE, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in page and "Supported" in page and 'name="agent_output"' in page
    assert "no-cache" in client.get("/try/")["Cache-Control"]


# ---- how it is read


NAMES = st.text(st.sampled_from("abc -"), max_size=6).map(str.strip)
OUTPUTS = st.text(st.sampled_from("ab.\n "), min_size=1, max_size=20).map(str.strip).filter(bool)


@given(st.lists(st.tuples(NAMES, OUTPUTS), min_size=2, max_size=16))
def test_answers_come_back_as_they_were_written(pairs):
    text = "".join(f"--- {name}\n{output}\n" for name, output in pairs)
    read = forms.read(
        "consensus", forms.typed("consensus", {"task": "t", "answers": text.replace("\n", "\r\n")})
    )
    assert read.problems == {}
    assert [(one.agent_id or "", one.output) for one in read.asked.answers] == pairs
    assert read_consensus(read.body)[0] == read.asked


@given(st.lists(OUTPUTS.map(lambda text: re.sub(r"\n\s*", "\n", text)), max_size=20))
def test_evidence_comes_back_as_it_was_written(items):
    texts = {"task": "t", "agent_output": "o", "evidence": "\n \n\n".join(items)}
    read = forms.read("judge", forms.typed("judge", texts))
    assert list(read.asked.evidence) == items


@given(st.dictionaries(st.sampled_from(["task", "agent_output", "answers", "evidence", "criteria", "checks"]), st.text(max_size=80)), st.sampled_from(forms.KINDS))  # fmt: skip
def test_reading_never_raises(sent, kind):
    read = forms.read(kind, forms.typed(kind, sent))
    assert (read.asked is None) == bool(read.problems)
