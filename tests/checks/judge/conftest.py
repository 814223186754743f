"""A key of the judge, what is sent with it, and a model in force."""

import json

import pytest

from checks import keys
from checks.judge import asking
from tests.checks.judge.scripted import GOOD, TASK, Model


@pytest.fixture
def key():
    return keys.issue("judge", for_judge=True)[1]


@pytest.fixture
def send(client, key):
    def post(body, path="/v1/judge", bearer=key, **headers):
        text = body if isinstance(body, str | bytes) else json.dumps(body)
        return client.post(
            path,
            text,
            content_type="application/json",
            headers={"Authorization": f"Bearer {bearer}", **headers},
        )

    return post


@pytest.fixture
def judged(send):
    def post(**body):
        response = send({"task": TASK, "agent_output": GOOD, **body})
        assert response.status_code == 200, response.content
        return response.json()

    return post


@pytest.fixture
def model(monkeypatch):
    def put(**script):
        made = Model(**script)
        monkeypatch.setattr(asking, "configured", lambda: made)
        return made

    return put
