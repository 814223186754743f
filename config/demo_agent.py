"""A demo agent: an ordinary client of the public REST API, with nothing of the server in it but the data of
`config.demo`. It starts runs, claims, uploads, submits, mends what is bounced, and escalates.
"""

import base64
import time
from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

import httpx

from config.demo import CASES, Case, Work, case_of
from config.demo_attacks import ATTACKS

Say = Callable[[str], None]
PATIENCE = 180.0  # seconds for one call: a check may be asked twice
TRIES = 4  # the same call again, when the server says `retry`


class RefusedError(Exception):
    """The server's `error`, as it came."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(str(error.get("message", "")))
        self.code = str(error.get("code", ""))
        self.issues = [str(issue) for issue in error.get("issues", [])]


class Client:
    """`client.call("claim", runId=…, stepId=…)` gives `data`, or raises RefusedError."""

    def __init__(self, url: str, key: str) -> None:
        self._http = httpx.Client(
            base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=PATIENCE, trust_env=False
        )

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = self._http.post(f"/v1/{tool}", json=arguments).json()
        if not answer["ok"]:
            raise RefusedError(answer["error"])
        data: dict[str, Any] = answer["data"]
        return data

    def write(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """A write, sent again with the same requestId while the server says `retry`."""
        given = {"requestId": str(uuid4()), **arguments}
        for _ in range(TRIES - 1):
            try:
                return self.call(tool, **given)
            except RefusedError as refused:
                if refused.code != "retry":
                    raise
                time.sleep(2)
        return self.call(tool, **given)


class DemoAgent:
    """Works everything that get_work offers, until nothing is left. `attack`: also hands in work that tries to
    steer whoever judges it.
    """

    def __init__(self, client: Client, say: Say, *, attack: bool = False) -> None:
        self._client, self._say, self._attack = client, say, attack

    def start(self, round_: int) -> None:
        """One run per case. The requestIds are the round's, so that a second call starts nothing twice."""
        named = [(f"demo-{round_}-{number}", case) for number, case in enumerate(CASES)]
        if self._attack:
            named += [(f"demo-{round_}-attack-{number}", case) for number, case in enumerate(ATTACKS)]
        for request_id, case in named:
            run = self._client.call(
                "start_run",
                process=case.process,
                inputs=dict(case.inputs),
                requestId=request_id,
            )
            if not run.get("replayed"):
                self._say(f"started   {case.process}: {case.key}")

    def work(self) -> None:
        seen: set[tuple[str, str]] = set()
        while offered := [w for w in self._offers() if (w["runId"], w["stepId"]) not in seen]:
            for offer in offered:
                seen.add((offer["runId"], offer["stepId"]))
                self._one(offer)

    def _offers(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._client.call("get_work", limit=100)["items"]
        return found

    def _one(self, offer: Mapping[str, Any]) -> None:
        try:
            claim = self._client.write("claim", runId=offer["runId"], stepId=offer["stepId"])
        except RefusedError as refused:
            if refused.code == "conflict":  # somebody else was quicker
                return
            raise
        case = case_of(claim["data"]["inputs"], (*CASES, *ATTACKS))
        if case is None:
            self._client.write(
                "escalate", token=claim["token"], note="The demo agent knows nothing of this case."
            )
            return
        if case.escalate:
            self._client.write("escalate", token=claim["token"], note=case.escalate)
            self._say(f"escalated {case.process}: {case.key}")
            return
        # after a return or a rejection the second go is due
        first = 1 if claim["handoff"] or claim["data"]["steps"] else 0
        for go in range(min(first, len(case.goes) - 1), len(case.goes)):
            if self._submit(claim["token"], case, case.goes[go]):
                return
        self._client.write("escalate", token=claim["token"], note="The check refuses all that I can offer.")
        self._say(f"escalated {case.process}: {case.key}")

    def _submit(self, token: str, case: Case, work: Work) -> bool:
        """Whether it was taken (a bounced one may be mended and sent again on the same claim)."""
        given: dict[str, Any] = {"output": dict(work.output), "summary": work.summary}
        if work.next:
            given |= {"next": work.next, "reason": work.reason}
        if work.report:
            given["evidence"] = [{"kind": "file", "ref": self._upload(work.report)}]
        try:
            view = self._client.write("submit", token=token, **given)
        except RefusedError as refused:
            if refused.code != "not_accepted":
                raise
            self._say(f"bounced   {case.process}: {case.key}: {refused.issues[0]}")
            return False
        step = next(iter(view["data"]["steps"].values()))
        held = any(item["escalation"] for item in view["workItems"])
        self._say(
            f"{'unsure   ' if held else 'accepted '} {case.process}: {case.key} ({step.get('check', {}).get('verdict', 'not checked')})"
        )
        return True

    def _upload(self, text: str) -> str:
        stored = self._client.write(
            "upload",
            fileName="search-report.txt",
            contentType="text/plain",
            contentBase64=base64.b64encode(text.encode()).decode(),
        )
        return str(stored["id"])
