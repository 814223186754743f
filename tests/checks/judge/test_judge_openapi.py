"""What `/v1/schema` tells of the judge API is what its doors do: bodies made from it and against it, held to it."""

import copy

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from checks import keys
from checks.models import JudgeCall
from tests.processes.test_openapi import _one_connection, described

pytestmark = pytest.mark.django_db
__all__ = ["_one_connection"]

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
ROOMS = "The room has 12 chairs."
SAMPLES = {
    ("/v1/judge", "POST"): [
        {"task": "Count.", "agent_output": ROOMS, "evidence": [ROOMS, "There are 3 tables."]},
        {"task": "Count.", "agent_output": "12", "checks": [{"type": "equals", "expected": 12}], "retain": True},
        {"task": "Count.", "agent_output": ROOMS, "criteria": ["It names a number."]},
    ],
    ("/v1/consensus", "POST"): [
        {"task": "Count.", "answers": [{"output": ROOMS}, {"output": ROOMS, "agent_id": "a"}], "evidence": [ROOMS]},
        {"task": "Count.", "answers": [{"output": "12"}, {"output": "13", "agent_id": None}]},
    ],
    ("/v1/receipts/verify", "POST"): [{"receipt": "a.b.c"}],
    ("/v1/usage", "GET"): [None],
}  # fmt: skip


@pytest.fixture(autouse=True)
def _unbounded(settings):
    settings.ANONYMOUS_CALLS_PER_MINUTE = 0


@pytest.fixture
def sent(monkeypatch):
    from checks.judge import usage

    monkeypatch.setattr(usage, "ASKED_PER_MINUTE", 10_000)
    _, text = keys.issue("judge", for_judge=True)
    return {"headers": {"Authorization": f"Bearer {text}"}}


def outcome(case, sent):
    response = case.call(**copy.deepcopy(sent))
    case.validate_response(response, checks=CHECKS, headers=sent["headers"])
    return response.status_code


@pytest.mark.parametrize(("path", "method"), SAMPLES)
def test_samples_are_answered_as_told(path, method, sent):
    operation = described()[path][method]
    for body in SAMPLES[path, method]:
        given = {"body": body, "media_type": "application/json"} if body is not None else {}
        assert outcome(operation.Case(**given), sent) == 200


@pytest.mark.parametrize(("path", "method"), SAMPLES)
def test_whatever_fits_and_whatever_does_not(path, method, sent):
    operation = described()[path][method]
    seen = set()

    @settings(
        max_examples=40, derandomize=True, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case=st.one_of(operation.as_strategy(generation_mode=mode) for mode in GenerationMode))
    def one(case):
        seen.add(outcome(case, sent))

    one()
    assert {200, 400} <= seen


def test_a_call_without_a_key_is_told_so(sent):
    operation = described()["/v1/judge"]["POST"]
    case = operation.Case(body=SAMPLES["/v1/judge", "POST"][0], media_type="application/json")
    assert outcome(case, {"headers": {}}) == 401
    assert JudgeCall.objects.count() == 0
