"""What happened, in the admin: to be read by who may, changed by nobody, listed without payloads."""

import contextlib

import pytest
from django.contrib.admin.utils import quote
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from checks import codec
from processes.admin.records import payload
from processes.errors import ToolError
from processes.models import (
    Attempt,
    HistoryEntry,
    Request,
    Run,
    Step,
    Submission,
    Upload,
    WorkItem,
)
from processes.states import HistoryEvent, RunState
from tests.processes.staff import sign_in
from tests.world import SCREENING

pytestmark = pytest.mark.django_db

MODELS = (Run, Step, Attempt, Submission, WorkItem, HistoryEntry, Upload, Request)
PAYLOADS = ('"data"', '"content"', '"handoff"', '"result"', '"text"', '"progress"', '"note"')


def address(model, name="changelist", *args):
    return reverse(f"admin:processes_{model._meta.model_name}_{name}", args=[quote(arg) for arg in args])


@pytest.fixture
def admin(client):
    return sign_in(client, superuser=True)


@pytest.fixture
def work(world, evaluator):
    """Runs that were handed in: passed, unsure and failed in turn."""
    world.publish(SCREENING, finance="finance")
    agent = world.agent("reader")

    def more(count, supplier="Acme"):
        for number in range(count):
            run = world.start(agent, supplier=supplier)
            evaluator.script = [[(0.95, 0.7, 0.1)[number % 3]]]
            token = world.claim(agent, run)["token"]
            world.call(agent, "upload", fileName="a.txt", contentType="text/plain", contentBase64="aGk=")
            with contextlib.suppress(ToolError):  # the third is not accepted
                world.submit(agent, token)

    return more


def test_lists_ask_no_more_for_more_rows_and_load_no_payload(client, admin, work):
    def asked(model):
        client.get(address(model))
        with CaptureQueriesContext(connection) as queries:
            response = client.get(address(model))
        return [query["sql"] for query in queries], len(response.context["cl"].result_list)

    work(3)
    few = {model: asked(model) for model in MODELS}
    work(27)
    for model in MODELS:
        (before, some), (after, more) = few[model], asked(model)
        assert some < 20 <= more, model
        assert len(before) == len(after), model
        listed = [sql.split(" FROM ")[0] for sql in after if "django_" not in sql]
        assert not [sql for sql in listed for column in PAYLOADS if column in sql], model


@pytest.mark.parametrize("model", MODELS)
def test_nobody_adds_changes_or_deletes(client, admin, work, model):
    work(2)
    row = model.objects.first()
    assert client.get(address(model, "add")).status_code == 403
    assert client.get(address(model, "change", row.pk)).status_code == 200
    assert client.post(address(model, "change", row.pk), {"state": "ended"}).status_code == 403
    assert client.post(address(model, "delete", row.pk), {"post": "yes"}).status_code == 403
    response = client.post(
        address(model), {"action": "delete_selected", "_selected_action": [row.pk], "post": "yes"}
    )
    assert response.status_code in {302, 403, 200}
    assert model.objects.filter(pk=row.pk).exists()


@pytest.mark.parametrize("model", MODELS)
def test_reading_needs_the_view_permission(client, work, model):
    work(2)
    sign_in(client)
    assert client.get(address(model)).status_code == 403
    assert client.get(address(model, "change", model.objects.first().pk)).status_code == 403


@pytest.mark.parametrize("model", MODELS)
def test_the_view_permission_is_enough(client, work, model):
    work(2)
    sign_in(client, f"view_{model._meta.model_name}")
    assert client.get(address(model)).status_code == 200
    assert client.get(address(model, "change", model.objects.first().pk)).status_code == 200


@pytest.mark.parametrize("model", MODELS)
def test_every_filter_and_search_works(client, admin, work, model):
    work(3)
    changelist = client.get(address(model)).context["cl"]
    for spec in changelist.filter_specs:
        for choice in spec.choices(changelist):
            assert client.get(address(model) + choice["query_string"]).status_code == 200
    assert client.get(address(model), {"q": "r_0 agent:reader <b>"}).status_code == 200


def found(client, model, /, **query):
    return len(client.get(address(model), query).context["cl"].result_list)


def test_runs_are_filtered_by_process_state_and_mode(client, admin, work, world):
    work(3)
    agent = world.agent()
    world.call(agent, "start_run", process="screening", inputs={"supplier": "Test"}, mode="test")
    world.publish(SCREENING.replace("name: screening", "name: other"), finance="finance")
    assert found(client, Run, process="screening") == 4 and found(client, Run, process="other") == 0
    assert found(client, Run, mode="test") == 1 and found(client, Run, mode="live") == 3
    waiting = Run.objects.filter(state=RunState.WAITING).count()
    assert found(client, Run, state="waiting") == waiting > 0
    assert found(client, Run, state="nonsense") == 4
    assert found(client, Run, q="Acme") == 3


def test_a_history_is_filtered_by_all_that_it_may_tell(client, admin, work):
    work(1)
    (choices,) = [
        spec.lookup_choices
        for spec in client.get(address(HistoryEntry)).context["cl"].filter_specs
        if getattr(spec, "parameter_name", "") == "what"
    ]
    assert [value for value, _ in choices] == list(HistoryEvent)
    assert found(client, HistoryEntry, what="submitted") == 1
    assert found(client, HistoryEntry, what="timed_out") == 0


def test_submissions_are_filtered_by_verdict_and_model(client, admin, work):
    work(3)
    for verdict in ("pass", "unsure", "fail"):
        assert found(client, Submission, verdict=verdict) == 1
    assert found(client, Submission, model="scripted-1") == 3
    assert found(client, Submission, model="another") == 0
    assert found(client, Submission, state="held") == 1


def test_a_runs_page_leads_to_all_that_belongs_to_it(client, admin, work):
    work(2)
    run = Run.objects.get(state=RunState.WAITING, items__escalated=True)
    html = client.get(address(Run, "change", run.pk)).content.decode()
    item = run.items.get()
    assert reverse("case", args=[item.pk]) in html
    assert address(WorkItem, "change", item.pk) in html
    for step in run.steps.all():
        assert address(Step, "change", step.pk) in html
    for model, lookup in (
        (HistoryEntry, "run__id__exact"),
        (Attempt, "step__run__id__exact"),
        (Submission, "attempt__step__run__id__exact"),
        (Request, "run__id__exact"),
    ):
        link = f"{address(model)}?{lookup}={run.pk}"
        assert link in html
        rows = client.get(link).context["cl"].result_list
        assert 0 < len(rows) < model.objects.count()


def test_payloads_are_shown_indented_and_escaped(client, admin, work):
    work(1, supplier="<script>alert(1)</script>")
    html = client.get(address(Run, "change", Run.objects.get().pk)).content.decode()
    assert "<script>alert" not in html
    assert "&quot;supplier&quot;: &quot;&lt;script&gt;alert(1)&lt;/script&gt;&quot;" in html
    html = client.get(address(Submission, "change", Submission.objects.get().pk)).content.decode()
    assert "&quot;summary&quot;: &quot;Searched both lists by name; no match.&quot;" in html


def test_a_requests_answer_is_not_shown(client, admin, work):
    work(1)
    request = Request.objects.filter(tool="submit").get()
    html = client.get(address(Request, "change", request.pk)).content.decode()
    assert "Searched both lists" not in html and request.request_id in html


def test_json_is_indented_with_its_numbers_as_they_were_sent():
    text = '{"a":[1e400,0.10,{"b":"<é>"}],"c":{},"d":[]}'
    shown = codec.pretty(codec.loads(text))
    assert (
        '  "a": [\n    1e400,\n    0.10,\n    {\n      "b": "<é>"\n    }\n  ],\n  "c": {},\n  "d": []'
        in shown
    )
    assert codec.dumps(codec.loads(shown)) == text


def test_what_is_no_json_is_shown_as_it_is():
    assert payload("<b>no json") == '<pre class="payload">&lt;b&gt;no json</pre>'
    assert payload("") == "–"
