"""The public project's own data: its process files, and its schemas over a whole run of its check fixture."""

import base64
import json
from functools import cache

import jsonschema_rs
import pytest
from django.test import override_settings

from checks import codec
from processes import publishing
from processes.document import parse
from processes.engine import ENTER
from processes.tools import TOOLS
from tests.conftest import SHARED
from tests.processes.flows import cast, expire

FILES = sorted((SHARED / "conformance").glob("*/*/PROCESS.md"))
every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: "/".join(path.parts[-3:-1]))


def test_all_are_there(shared):
    assert len(FILES) == 24


@every_file
def test_it_parses_without_an_issue(path):
    parsed = parse(path.read_text("utf-8"))
    assert parsed.issues == ()
    assert parsed.document.name == path.parent.name


@pytest.mark.django_db
@every_file
def test_nothing_but_a_kind_that_can_not_run_yet_keeps_it_from_being_published(path):
    with override_settings(EVALUATOR="heuristic"):
        examined = publishing.examine(path.read_text("utf-8"), folder=path.parent.name)
    assert examined.document is not None
    for issue in examined.issues:
        assert issue.key not in ENTER and f"can't run {issue.key} steps yet" in issue.message


@pytest.mark.django_db
@every_file
def test_without_an_evaluator_a_check_is_what_is_named(path):
    examined = publishing.examine(path.read_text("utf-8"))
    checked = {step.id for step in examined.document.steps.values() if step.check}
    assert {issue.step for issue in examined.issues if issue.key == "check"} == checked


@pytest.mark.django_db
@every_file
def test_it_is_published(path, world, evaluator):
    examined = publishing.examine(path.read_text("utf-8"))
    if not examined.issues:
        version = world.publish(path.read_text("utf-8"))
        assert (version.number, version.content_hash) == (1, examined.document.content_hash)


# ---- every result of every tool along one run


@cache
def schemas() -> dict[str, dict]:
    folder = SHARED / "conformance" / "schemas" / "core-2"
    return {
        str(path.relative_to(folder).with_suffix("")): json.loads(path.read_text())
        for path in folder.rglob("*.json")
    }


def refuse(uri):
    raise LookupError(uri)


@cache
def validator(name: str):
    registry = jsonschema_rs.Registry(
        [(file["$id"], file) for file in schemas().values() if "$id" in file], retriever=refuse
    )
    return jsonschema_rs.Draft202012Validator(schemas()[name], registry=registry, retriever=refuse)


class Validated:
    """The world's callers, with every call and answer held against the public schemas."""

    def __init__(self, world) -> None:
        self.world, self.called = world, set()

    def _check(self, name: str, value: object) -> None:
        plain = json.loads(codec.dumps(value))
        issues = [f"{error.instance_path}: {error.message}" for error in validator(name).iter_errors(plain)]
        assert not issues, (name, issues)

    def call(self, caller, tool, **arguments):
        if TOOLS[tool].writes:
            arguments.setdefault("requestId", f"q-{len(self.called)}-{self._next()}")
        self._check(f"tools/{tool}.arguments", arguments)
        data = self.world.call(caller, tool, **arguments)
        self._check(f"tools/{tool}.result", data)
        self.called.add(tool)
        return data

    def refused(self, caller, tool, **arguments):
        error = self.world.refused(caller, tool, **arguments)
        self._check("tool-error", error.view())
        return error

    def _next(self) -> int:
        self.count = getattr(self, "count", 0) + 1
        return self.count


class VendorCheck:
    """One run of the check fixture, and those who work it; every result is validated."""

    def __init__(self, world, shared) -> None:
        text = (shared / "conformance" / "fixtures" / "vendor-check" / "PROCESS.md").read_text("utf-8")
        world.publish(text, **{"finance-approver": "finance"}, escalations="finance")
        self.c, self.by = cast(world), Validated(world)
        self.inputs = {"vendorName": "Acme", "amount": codec.loads("48000.50")}
        self.run = self.start()
        content = base64.b64encode(b"report").decode()
        upload = {"fileName": "r.txt", "contentType": "text/plain", "contentBase64": content}
        self.ref = self.by.call(self.c.agent, "upload", **upload)["id"]

    def start(self, **more):
        started = self.by.call(self.c.agent, "start_run", process="vendor-check", inputs=self.inputs, **more)
        return started["run"]["id"]

    def work(self):
        (item,) = self.by.call(self.c.agent, "get_work")["items"]
        claim = self.by.call(self.c.agent, **_call(item["claim"]))
        return self.by.call(self.c.agent, "renew", token=claim["token"], progress="Searching.")["token"]

    def submission(self, words):
        evidence = [{"kind": "file", "ref": self.ref}, {"kind": "link", "ref": "https://example.org"}]
        output = {"cleared": True, "summary": words}
        route = {"next": "approve", "reason": "Cleared."}
        return {"output": output, "summary": words, "evidence": evidence, **route}

    def submit(self, token, words):
        return self.by.call(self.c.agent, "submit", token=token, **self.submission(words))

    def refused(self, token, words, **changes):
        return self.by.refused(self.c.agent, "submit", token=token, **{**self.submission(words), **changes})

    def decide(self, decision, **given):
        (item,) = self.by.call(self.c.ada, "get_work")["items"]
        call = _call(item["workItem"]["decide"])
        return self.by.call(self.c.ada, **{**call, "decision": decision, **given})


def _doubted_refused_and_accepted(it: VendorCheck, evaluator) -> None:
    """An unsure answer is held and sent back, a failing one comes back as issues, a passing one meets no person."""
    evaluator.script = [[0.95, ("unclear", 0.9), (2, 0.9)]]
    view = it.submit(it.work(), "Perhaps.")
    results = [q["result"] for q in view["data"]["steps"]["check_vendor"]["check"]["questions"]]
    assert results == ["pass", "unsure", "pass"]
    it.decide("returned", note="Say what you searched.")
    evaluator.script = [[0.12, ("hedges", 0.9), (1, 0.85)]]
    token = it.work()
    assert it.refused(token, "Probably fine.").issues == [
        "check: The cleared verdict matches what the attached report says. → no (0.12)",
        "check: What does the summary do? → hedges (0.9)",
        "check: How complete is the screening? → level 1: One list is covered. (0.85)",
    ]
    it.refused(token, "No file.", evidence=[])
    evaluator.script = [[0.95, ("states", 0.95), (2, 0.95)]]
    view = it.submit(token, "Both lists by name; no match.")
    assert [item["kind"] for item in view["workItems"]] == ["approve"]


@pytest.mark.django_db
def test_the_check_fixture_from_start_to_end(world, evaluator, shared):
    it = VendorCheck(world, shared)
    by, c = it.by, it.c
    by.call(c.agent, "describe")
    (offered,) = by.call(c.agent, "list_processes")["items"]
    assert offered["requires"] == {"systems": ["sanctions-screening"]}
    _doubted_refused_and_accepted(it, evaluator)
    it.decide("rejected", note="Search the owners, too.")
    # given up, and completed by a person; a lost lease in between
    expire({"run": {"id": it.run}})
    by.call(c.agent, "escalate", token=it.work(), note="The list is down.")
    it.decide("completed", **it.submission("Searched by hand."))
    view = it.decide("approved", note="Fine.")
    assert (view["run"]["outcome"], view["run"]["ended"]["by"]) == ("onboarded", "server")
    by.call(c.ben, "get_run", runId=it.run)
    by.refused(c.ada, "decide", runId=it.run, workItemId="w_1", snapshot="s", decision="approved")
    other = it.start(mode="test")
    by.call(c.agent, "send_event", runId=other, name="settled", data={"a": 1})
    by.call(c.ops, "cancel", runId=other, reason="Twice.")
    by.call(c.ben, "list_runs", process="vendor-check", inputs={"vendorName": "Acme"})
    assert by.called == set(TOOLS)


def _call(given: dict) -> dict:
    arguments = {key: value for key, value in given["arguments"].items() if key != "requestId"}
    return {"tool": given["tool"], **arguments}
