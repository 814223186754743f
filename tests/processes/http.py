"""A caller over real HTTP: Django's test client with CSRF enforced, and the envelope unpacked."""

import json
from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from checks import codec

TOKEN = "c" * 32  # of the cookie and of the header alike


class Http:
    """`http.post(tool, {...})` gives (status, envelope); the last response stays in `http.response`."""

    def __init__(self, *, key: str = "", user: User | None = None, csrf: bool = True) -> None:
        self.client = Client(enforce_csrf_checks=True, raise_request_exception=False)
        self.headers = {"Authorization": f"Bearer {key}"} if key else {}
        if user is not None:
            self.client.force_login(user)
            if csrf:
                self.client.cookies["csrftoken"] = TOKEN
                self.headers["X-CSRFToken"] = TOKEN

    def post(self, tool: str, body: Any, **headers: str) -> tuple[int, dict[str, Any]]:
        """`body`: bytes or text as it is, anything else as JSON."""
        raw = body if isinstance(body, bytes | str) else codec.dumps(body)
        self.response = self.client.post(
            f"/v1/{tool}", raw, content_type=headers.pop("content_type", "application/json"),
            headers={**self.headers, **headers},
        )  # fmt: skip
        return self.response.status_code, json.loads(self.response.content)

    def data(self, tool: str, body: Any) -> Any:
        status, envelope = self.post(tool, body)
        assert status == 200, envelope
        return envelope["data"]

    def refused(self, tool: str, body: Any, **headers: str) -> tuple[int, str]:
        status, envelope = self.post(tool, body, **headers)
        assert envelope["ok"] is False
        return status, envelope["error"]["code"]
