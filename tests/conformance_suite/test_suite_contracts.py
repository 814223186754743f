import pytest

from conformance import codec, contracts, invariants
from tests.conformance_suite.suite_fake import FakeServer

RUN = {"process": "conform-two", "inputs": {}}


def view(**changed):
    return codec.loads(codec.dumps(FakeServer().start_run("agent:one", RUN) | changed))


def test_a_good_view_has_no_issues():
    assert contracts.result_issues("get_run", view()) == []
    assert invariants.broken("get_run", view()) == []


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"steps": []}, "steps"),
        ({"colour": "red"}, "colour"),
        ({"body": None}, "body"),
        ({"steps": [{"id": "a", "kind": "robot", "state": None}]}, "kind"),
        ({"data": {"inputs": {}, "steps": {"first": {"output": {}}}}}, "history"),
        ({"data": {"inputs": {}, "steps": {"first": {"history": [], "colour": "red"}}}}, "colour"),
        ({"data": {"inputs": {}, "steps": {"first": {"history": [{"output": {}}]}}}}, "by"),
    ],
)
def test_a_view_that_breaks_its_shape(changed, named):
    found = contracts.result_issues("get_run", view(**changed))
    assert found
    assert any(named in issue for issue in found)


@pytest.mark.parametrize(
    "error",
    [{}, {"code": "invalid"}, {"code": "odd", "message": "m"}, {"code": "not_accepted", "message": "m"},
     {"code": "not_accepted", "message": "m", "issues": []}, {"code": "stale", "message": "m", "hint": "h"}],
)  # fmt: skip
def test_an_error_that_breaks_its_shape(error):
    assert contracts.error_issues(error)


@pytest.mark.parametrize(
    "kept", [{"kind": "file", "ref": "f"}, {"kind": "link", "ref": "l", "sha256": "a" * 64}]
)
def test_a_file_has_a_hash_and_an_address_and_a_link_neither(kept):
    record = {"history": [], "by": "a", "at": "2026-10-06T09:00:00Z", "evidence": [kept]}
    assert contracts.result_issues("get_run", view(data={"inputs": {}, "steps": {"first": record}}))


@pytest.mark.parametrize("at", ["2026-10-06T09:00:00", "2026-10-06", "yesterday", 5])
def test_a_time_has_an_offset(at):
    run = view()["run"] | {"startedAt": at}
    assert contracts.result_issues("get_run", view(run=run))


@pytest.mark.parametrize(
    ("state", "steps", "said"),
    [
        ("waiting", {"first": "ready"}, "the run is waiting"),
        ("active", {"first": "waiting"}, "the run is active"),
        ("active", {}, "no step of it is open"),
        ("ended", {"first": "ready"}, "unfinished"),
    ],
)
def test_a_view_that_cannot_be(state, steps, said):
    made = view()
    made["run"] |= {"state": state}
    for step in made["steps"]:
        step["state"] = steps.get(step["id"])
    assert any(said in issue for issue in invariants.broken("get_run", made))
