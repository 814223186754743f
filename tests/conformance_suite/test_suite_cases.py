"""A right server passes, and a wrong answer fails the case that is about it."""

import json

import httpx
import pytest
import yaml

from conformance import command
from tests.conformance_suite.suite_fake import CREDENTIALS, FakeServer

CASES = [
    "start.view", "claim.two-agents", "claim.twice", "claim.race", "number.inputs", "token.in-no-view",
    "replay.start_run", "replay.claim", "ended.claim", "handoff.next-step", "cancel.operators-only", "catalog.no-inputs",
]  # fmt: skip


@pytest.fixture
def run(tmp_path, capsys):
    path = tmp_path / "credentials.json"
    path.write_text(json.dumps(CREDENTIALS))

    def call(*only, faults=(), more=()):
        """Exit code, what was written, what was said of errors."""
        arguments = ["http://server", "--credentials", str(path), "--already-published", *more]
        code = command.main(
            [*arguments, *(f"--only={one}" for one in only)], transport=FakeServer(set(faults)).transport
        )
        out = capsys.readouterr()
        return code, out.out, out.err

    return call


def test_a_right_server_passes(run):
    code, out, _ = run(*CASES)
    assert code == 0, out
    assert out.startswith(f"TAP version 13\n1..{len(CASES)}\n")
    assert f"# {len(CASES)} passed, 0 failed, 0 skipped" in out


@pytest.mark.parametrize(
    ("fault", "case", "said"),
    [
        ("double-claim", "claim.two-agents", "claim must be refused with conflict"),
        ("double-claim", "claim.race", "one must succeed"),
        ("rounds-numbers", "number.inputs", "the input 0.1000000000000000055 must be"),
        ("leaks-tokens", "token.in-no-view", "a token never appears in a view"),
        ("forgets-requests", "replay.start_run", "must give the original result"),
        ("forgets-requests", "replay.claim", "was refused with conflict"),
        ("writes-after-the-end", "ended.claim", "run_ended"),
        ("accepts-anything", "handoff.next-step", "submit must be refused with not_accepted"),
        ("opens-all", "claim.state", "the state of second must be null"),
        ("unknown-key", "start.view", "breaks the contract of start_run"),
        ("no-envelope", "claim.state", "must answer with the envelope"),
    ],
)
def test_a_wrong_answer_fails_the_case_that_is_about_it(run, fault, case, said):
    code, out, _ = run(case, faults=[fault])
    assert code == 1
    block = out[out.index("  ---\n") + 6 : out.index("  ...\n")]
    told = yaml.safe_load(block)
    assert said in told["message"]
    assert told["rule"]
    assert told["called"]
    for key in ("key-one", "key-two", "key-olga", "token-0"):
        assert key not in out


def test_what_a_server_does_not_offer_is_skipped(run):
    code, out, _ = run(
        "renew.new-token", "fork.join", "event.held", "version.pinned", "replay.start_run-another-caller"
    )
    assert code == 0
    assert out.count("# SKIP needs") == 5
    assert run("renew.new-token", more=["--no-skips"])[0] == 1


def test_a_process_that_is_not_published_fails_its_cases(run):
    code, out, _ = run("people.approved")
    assert code == 1
    assert "the valid process conform-verdict was not published" in out


def test_a_table_is_written(run, tmp_path):
    table = tmp_path / "table.md"
    run("claim.twice", more=["--markdown", str(table)])
    assert "| `claim.twice` " in table.read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "a URL is needed"),
        (["http://server", "--only", "nothing.at-all"], "no case fits"),
        (["http://server"], "CONFORMANCE_AGENT_1"),
        (["--explain", "nothing.at-all"], "there is no case"),
    ],
)
def test_what_can_not_run_leaves_with_2(arguments, said, capsys, monkeypatch):
    for name in ("AGENT_1", "AGENT_2", "PERSON_1", "PERSON_2", "OPERATOR"):
        monkeypatch.delenv(f"CONFORMANCE_{name}", raising=False)
    assert command.main(arguments) == 2
    assert said in capsys.readouterr().err


def test_a_way_to_publish_is_needed(tmp_path, capsys):
    path = tmp_path / "credentials.json"
    path.write_text(json.dumps(CREDENTIALS))
    transport = FakeServer().transport
    assert command.main(["http://server", "--credentials", str(path)], transport=transport) == 2
    assert "--already-published" in capsys.readouterr().err


def test_a_key_that_proves_nothing_leaves_with_2(tmp_path, capsys):
    path = tmp_path / "credentials.json"
    path.write_text(json.dumps(CREDENTIALS))
    refusing = httpx.MockTransport(
        lambda _: httpx.Response(401, json={"ok": False, "error": {"code": "forbidden", "message": "No."}})
    )
    assert command.main(["http://server", "--credentials", str(path)], transport=refusing) == 2
    assert "describe does not work" in capsys.readouterr().err


def test_lists_and_explanations(capsys, tmp_path):
    assert command.main(["--list", "--only", "claim"]) == 0
    assert "claim.two-agents" in capsys.readouterr().out
    assert command.main(["--explain", "claim.two-agents"]) == 0
    assert "rests on  core §6.2" in capsys.readouterr().out
    assert command.main(["--write-processes", str(tmp_path / "files")]) == 0
    assert (tmp_path / "files" / "conform-fork" / "PROCESS.md").is_file()
