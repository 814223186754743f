"""A server whose key is the test's own, a caller with a key, and whoever verifies."""

import json

import pytest

from checks import keys as bearer_keys
from checks.receipts import keys
from tests.checks.receipts.sent import BODY


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
