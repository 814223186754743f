import json

import pytest
import yaml

from conformance import reports
from conformance.cases import all_cases
from conformance.failures import Exchange
from conformance.masking import Mask
from conformance.registry import Chapter, selected
from conformance.reports import Result

chapter = Chapter("claim", "Claims")
chapter.add("one", "A title with # and | in it", "core §1", "A rule.", lambda _: None)
chapter.add("two", "Another", "core §2", "Another rule.", lambda _: None)
other = Chapter("replay", "Replays")
other.add("one", "A third", "core §3", "A third rule.", lambda _: None)
CASES = [*chapter.cases, *other.cases]


def failed(mask=None):
    mask = mask or Mask()
    exchange = Exchange(
        who="agent 1", tool="claim", arguments={"token": "secret-token", "note": 'a "quoted"\nline'}, status=409,
        answer={"ok": False, "error": {"code": "conflict", "message": "No."}}, text="",
    )  # fmt: skip
    result = Result(
        case=CASES[0], verdict="failed", message="secret-token must not be\nshown", exchange=exchange
    )
    return reports.tap_line(3, result, mask)


@pytest.mark.parametrize(
    ("patterns", "ids"),
    [
        ([], ["claim.one", "claim.two", "replay.one"]),
        (["claim"], ["claim.one", "claim.two"]),
        (["*.one"], ["claim.one", "replay.one"]),
        (["claim.two,replay"], ["claim.two", "replay.one"]),
        (["claim.two", "claim.one"], ["claim.one", "claim.two"]),
        (["clai"], []),
    ],
)
def test_selection(patterns, ids):
    assert [case.id for case in selected(CASES, patterns)] == ids


def test_tap_of_a_case_that_passed_or_was_skipped():
    passed, skipped = (
        Result(case=CASES[1], verdict="ok"),
        Result(case=CASES[1], verdict="skipped", message="no\ntool"),
    )
    assert reports.tap_head(2) == "TAP version 13\n1..2\n"
    assert reports.tap_line(1, passed, Mask()) == "ok 1 - claim.two Another\n"
    assert reports.tap_line(2, skipped, Mask()) == "ok 2 - claim.two Another # SKIP no tool\n"


def test_tap_of_a_failure_is_a_line_and_a_yaml_block():
    line, *block = failed().splitlines()
    assert line == "not ok 3 - claim.one A title with \\# and | in it"
    assert (block[0], block[-1]) == ("  ---", "  ...")
    told = yaml.safe_load("\n".join(block[1:-1]))
    assert told["rule"] == "core §1: A rule."
    assert told["called"].startswith("agent 1: claim {")
    assert json.loads(told["came"].partition(" ")[2])["error"]["code"] == "conflict"


def test_secrets_are_masked_wherever_they_stand():
    mask = Mask()
    mask.add_token("secret-token")
    told = failed(mask)
    assert "secret-token" not in told
    assert told.count("«token 1»") == 2


def test_a_longer_secret_is_masked_before_a_part_of_it():
    mask = Mask()
    mask.add("abcdef", "short")
    mask.add("abcdefgh", "long")
    mask.add("abc", "too short to be told from words")
    assert mask.hide("abcdefgh abcdef abc") == "«long» «short» abc"


def test_a_mask_names_the_token_that_leaked():
    mask = Mask()
    mask.add_token("token-one-1")
    mask.add_token("token-two-2")
    assert mask.leaked("… token-two-2 …", ["token-one-1", "token-two-2"]) == "«token 2»"
    assert mask.leaked("…", ["token-one-1"]) is None


def test_long_answers_are_cut():
    exchange = Exchange(
        who="a", tool="t", arguments={"x": "y" * 9000}, status=200, answer=None, text="z" * 9000
    )
    told = reports.tap_line(
        1, Result(case=CASES[0], verdict="failed", message="m", exchange=exchange), Mask()
    )
    assert len(told) < 4000
    assert "9000 characters" in told


def test_markdown_has_a_row_per_case():
    results = [Result(case=CASES[0], verdict="ok"), Result(case=CASES[1], verdict="failed", message="a | b")]
    table = reports.markdown(results, "http://x", {"claim": "About claims"}, Mask())
    assert table.count("## About claims") == 1
    assert "1 passed, 1 failed, 0 skipped" in table
    assert "| `claim.one` A title with # and \\| in it | core §1: A rule. | ok |" in table
    assert "failed: a \\| b" in table


def test_every_case_is_told_apart_and_explained():
    cases = list(all_cases())
    assert len(cases) >= 120
    assert len({case.id for case in cases}) == len(cases)
    for case in cases:
        assert case.title.strip()
        assert case.rests_on.strip()
        assert len(case.rule) > 20, case.id
        assert case.rule.rstrip().endswith("."), case.id
        assert case.id in reports.explained(case)
