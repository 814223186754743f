"""What `/v1/schema` promises is what the REST door does, for an agent's key and for a person's session.

schemathesis makes arguments that fit each operation's schema and ones that don't. They alone would know no run, so
that most are also mixed with the ids, tokens and fields of one of the scenes below. Any 5xx fails (`retry` too:
nothing here is busy), as does a status, a media type or a body that the description doesn't tell of.
"""

import copy
from functools import cache
from itertools import cycle

import pytest
import schemathesis
from django.contrib.auth.models import User
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from django.test import Client
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    allow_header_conformance,
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from processes import contracts, health
from processes.callers import CallerKind
from processes.tools import TOOLS
from tests.processes import flows, test_waits
from tests.processes.http import TOKEN
from tests.processes.test_tool_upload import given as file_given
from tests.world import GOOD, SCREENING, rid

pytestmark = pytest.mark.django_db

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
    unsupported_method,
    allow_header_conformance,
]
SCENES = {
    "ready": ("process", "inputs", "runId", "stepId"),
    "claimed": ("runId", "stepId", "token", "output", "summary", "progress", "note"),
    "checked": ("runId", "stepId", "token", "output", "summary", "next", "reason"),
    "filed": ("runId", "stepId", "token", "output", "summary", "evidence"),
    "signing": ("runId", "workItemId", "snapshot", "decision"),
    "unsure": ("runId", "workItemId", "snapshot", "decision", "note"),
    "waiting": ("process", "runId", "name", "data", "inputs", "state"),
    "ended": ("process", "runId", "stepId", "workItemId", "snapshot", "token", "state"),
    "replayed": ("process", "inputs", "requestId"),
    "file": ("fileName", "contentType", "contentBase64"),
}
CALLERS = {"agent": CallerKind.AGENT, "person": CallerKind.PERSON}
# what a caller may call but is refused whatever it sends
REFUSED = {("agent", "decide"), ("agent", "cancel")}

drawn = settings(
    max_examples=10,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(autouse=True)
def _one_connection():
    """A request's end closes no connection of the test's; Django's own test client does the same."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def api():
    return described()


@cache
def described():
    found = schemathesis.openapi.from_wsgi("/v1/schema", get_wsgi_application())
    # keys and sessions are ours to send: made-up ones would all be 401
    found.config.generation.update(with_security_parameters=False)
    return found


@pytest.fixture
def cast(world, evaluator):
    return flows.cast(world)


@pytest.fixture
def scenes(world, cast, evaluator):
    """The values of each scene, as SCENES names them."""
    world.publish(flows.ERRAND)
    world.publish(SCREENING, escalations="finance")
    world.publish(flows.FILED)
    world.publish(test_waits.WAITING)
    agent = cast.agent
    ready, claimed, gone = (flows.errand(world, agent) for _ in range(3))
    checked, filed = world.start(agent), world.start(agent, "filed")
    evaluator.script = [[0.7]]
    unsure = world.submit(agent, world.claim(agent, world.start(agent))["token"])
    evaluator.script = [[0.95]]
    signing = flows.signing(world, agent)
    at = {"at": "2100-01-01T00:00:00Z"}
    waiting = world.start(agent, "waiting", **at)
    token = world.claim(agent, gone, "fetch")["token"]
    ended = world.call(cast.ops, "cancel", runId=gone["run"]["id"], reason="r")
    again = {"process": "errand", "inputs": {"what": "ink"}, "requestId": rid()}
    world.call(agent, "start_run", **again)
    ref = world.call(agent, "upload", **file_given())["id"]
    evidence = [{"kind": "file", "ref": ref}, {"kind": "link", "ref": "https://example.org"}]

    def of(view, step, **more):
        item = view["workItems"][0] if view["workItems"] else {"id": "w_0", "snapshot": "0"}
        return {
            "runId": view["run"]["id"], "stepId": step, "process": view["run"]["process"],
            "workItemId": item["id"], "snapshot": item["snapshot"], **more,
        }  # fmt: skip

    return {
        "ready": of(ready, "fetch", inputs={"what": "pens"}),
        "claimed": of(
            claimed, "fetch", token=world.claim(agent, claimed, "fetch")["token"],
            progress="half", note="n", **flows.DONE,
        ),
        "checked": of(checked, "screen", token=world.claim(agent, checked)["token"], **GOOD),
        "filed": of(
            filed, "report", token=world.claim(agent, filed, "report")["token"],
            output={}, summary="s", evidence=evidence,
        ),
        "signing": of(signing, "sign", decision="approved"),
        "unsure": of(unsure, "screen", decision="returned", note="n"),
        "waiting": of(waiting, "pause", name="payment", data={"amount": 5}, inputs=at, state="waiting"),
        "ended": of(ended, "fetch", token=token, state="cancelled"),
        "replayed": again,
        "file": file_given(),
    }  # fmt: skip


@pytest.fixture
def callers(world, cast):
    """How an agent, and an operator who also decides, make themselves known."""
    user = User.objects.get(username="ops")
    user.groups.add(world.group("finance"))
    client = Client()
    client.force_login(user)
    session = client.cookies["sessionid"].value
    return {
        "agent": {"headers": {"Authorization": f"Bearer {world.keys[cast.agent.id]}"}},
        "person": {
            "headers": {"X-CSRFToken": TOKEN},
            "cookies": {"sessionid": session, "csrftoken": TOKEN},
        },
    }


def outcome(case, sent):
    """Method and status of a case that is sent, held against the schema, and taken back with all that it changed."""
    before = transaction.savepoint_create()
    try:
        response = case.call(**copy.deepcopy(sent))
        case.validate_response(response, checks=CHECKS, headers=sent["headers"])
    finally:
        transaction.savepoint_rollback(before)
    return (case.method, response.status_code)


def test_what_reads_and_what_health_has_is_told_from_where_it_stands(client):
    paths = client.get("/v1/schema").json()["paths"]
    for name, entry in TOOLS.items():
        assert paths[f"/v1/{name}"]["post"]["tags"] == ["writing" if entry.writes else "reading"]
    answer = paths["/v1/health"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert answer["required"] == ["status", *health.PARTS]
    assert list(client.get("/v1/health").json()) == ["status", *health.PARTS]


@pytest.mark.parametrize("tool", TOOLS)
def test_the_edges_of_the_arguments(api, callers, tool):
    """The least, the most, one more, each type in another's place, other methods and media types."""
    cases = api.iter_coverage_cases(
        api[f"/v1/{tool}"]["POST"],
        generation_modes=list(GenerationMode),
        generation_config=api.config.generation,
    )
    seen = {outcome(case, sent) for case, sent in zip(cases, cycle(callers.values()), strict=False)}
    assert {("POST", 400), ("POST", 415), ("OPTIONS", 200)} <= seen


@pytest.mark.parametrize("tool", TOOLS)
def test_calls_amid_work(api, scenes, callers, tool):
    operation = api[f"/v1/{tool}"]["POST"]
    takes = contracts.schema(tool, "arguments")["properties"]
    parts = [{key: scenes[name][key] for key in keys if key in takes} for name, keys in SCENES.items()]
    parts = [part for n, part in enumerate(parts) if part not in parts[:n]]
    for name, kind in CALLERS.items():
        seen = _whole_scenes(operation, parts, callers[name], "requestId" in takes)
        seen |= _drawn(operation, parts, callers[name])
        works = kind in TOOLS[tool].who and (name, tool) not in REFUSED
        assert (("POST", 200) in seen) is works, (name, seen)


def _whole_scenes(operation, scenes, sent, writes):
    seen = set()
    for scene in scenes:
        body = {**({"requestId": rid()} if writes else {}), **scene}
        seen.add(outcome(operation.Case(body=body, media_type="application/json"), sent))
    return seen


def _drawn(operation, scenes, sent):
    seen = set()

    @drawn
    @given(
        case=st.one_of(operation.as_strategy(generation_mode=mode) for mode in GenerationMode),
        scene=st.sampled_from(scenes),
        data=st.data(),
    )
    def one(case, scene, data):
        if scene and isinstance(case.body, dict):
            taken = data.draw(st.sets(st.sampled_from(sorted(scene))))
            case.body = {**case.body, **{key: scene[key] for key in taken}}
        seen.add(outcome(case, sent))

    one()
    return seen
