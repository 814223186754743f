"""An export tampered with: whatever is missing, altered or moved is found, and named with its line."""

import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks import codec
from checks.receipts import export, keyset, merkle
from checks.receipts.__main__ import main
from checks.receipts.encoding import b64, digest
from tests.checks.receipting import NOON, Export, Signer, leaf, line

ROOT = Path(__file__).resolve().parents[2]


def made(signer=None, second=None):
    """Three chains and two checkpoints; 0 header, 1-2 checkpoints, 3-7 run:a, 8-10 run:b, 11 key:1, 12 heads, 13 end."""
    signer = signer or Signer()
    chains = {
        "run:a": signer.chain("run:a", 5),
        "run:b": signer.chain("run:b", 3),
        "key:1": signer.chain("key:1", 1),
    }
    checkpoints = [
        (signer, [leaf("run:a", chains["run:a"], 3)]),
        (second or signer, [leaf("run:a", chains["run:a"], 5), leaf("run:b", chains["run:b"], 2)]),
    ]
    keys = signer.keys() | (second.keys() if second else {})
    if second:
        second.at = max(second.at, signer.at)
    return Export(second or signer, chains, checkpoints, keys=keys)


GOOD = made()
KEYS = GOOD.signer.keys()
LINES = GOOD.lines
WHOLE = b"".join(LINES)


def check(lines, keys=KEYS):
    return export.check(lines, keys)


def told(lines, keys=KEYS):
    return [str(problem) for problem in check(lines, keys).problems]


def split(whole):
    return whole.splitlines(keepends=True)


def test_a_good_one():
    found = check(LINES)
    assert (found.problems, found.receipts, found.chains, found.checkpoints) == ([], 9, 3, 2)
    assert len(LINES) == 14


def test_an_empty_one_is_sound():
    assert not told(Export(Signer(), {}).lines)


def test_nothing_is_no_export():
    assert told([]) == ["line 0: is the last, but not the end of an export: it was cut short"]


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (0, "line 1: is not the first line of an export"),
        (1, "line 2: of checkpoints receipt 1 is missing before this one"),
        (2, "line 12: of checkpoints the last are missing: 2 to 2"),
        (3, "line 4: of run:a receipt 1 is missing before this one"),
        (4, "line 5: of run:a receipt 2 is missing before this one"),
        (5, "line 6: of run:a receipt 3 is missing before this one"),
        (6, "line 7: of run:a receipt 4 is missing before this one"),
        (7, "line 12: of run:a the last are missing: 5 to 5"),
        (8, "line 9: of run:b receipt 1 is missing before this one"),
        (9, "line 10: of run:b receipt 2 is missing before this one"),
        (10, "line 12: of run:b the last are missing: 3 to 3"),
        (11, "line 12: all receipts of key:1 are missing, up to 1"),
        (12, "line 13: no heads before it name run:a: a line of them is missing"),
        (13, "line 13: is the last, but not the end of an export: it was cut short"),
    ],
)
def test_a_missing_line_is_named(place, expected):
    assert expected in told(LINES[:place] + LINES[place + 1 :])


@pytest.mark.parametrize(
    ("one", "other"), [(3, 4), (4, 6), (7, 8), (3, 11), (1, 2), (5, 9), (2, 3), (0, 1), (12, 13)]
)
def test_two_lines_that_changed_places_are_named(one, other):
    lines = list(LINES)
    lines[one], lines[other] = lines[other], lines[one]
    problems = check(lines).problems
    assert {one + 1, other + 1} & {problem.line for problem in problems}, problems


def test_out_of_order_is_told_from_missing():
    lines = list(LINES)
    lines[4], lines[5] = lines[5], lines[4]
    assert told(lines) == ["line 6: receipt 2 of run:a is out of order: it stands after 3"]


@given(st.integers(0, len(WHOLE) - 1), st.integers(1, 255))
def test_any_byte_that_changes_is_seen(place, by):
    changed = WHOLE[:place] + bytes([WHOLE[place] ^ by]) + WHOLE[place + 1 :]
    problems = check(split(changed)).problems
    at = WHOLE[:place].count(b"\n") + 1
    assert problems
    # a line end more or less moves what comes after; else the line itself is named
    if changed.count(b"\n") == WHOLE.count(b"\n") and WHOLE[place] != 10:
        assert at in {problem.line for problem in problems} or at == len(LINES) - 1


@given(st.integers(0, len(WHOLE)), st.binary(min_size=1, max_size=3))
def test_any_byte_more_is_seen(place, more):
    assert told(split(WHOLE[:place] + more + WHOLE[place:]))


@given(st.integers(0, len(WHOLE) - 2), st.integers(1, 200))
def test_any_byte_less_is_seen(place, count):
    assert told(split(WHOLE[:place] + WHOLE[place + count :]))


@given(st.permutations(range(len(LINES))))
def test_any_other_order_is_seen(order):
    assert bool(told([LINES[place] for place in order])) is (list(order) != list(range(len(LINES))))


@given(st.sets(st.integers(0, len(LINES) - 1), min_size=1))
def test_any_lines_missing_are_seen(gone):
    assert told([text for place, text in enumerate(LINES) if place not in gone])


@pytest.mark.parametrize("place", range(len(LINES)))
def test_a_line_twice_is_seen(place):
    assert told(LINES[: place + 1] + LINES[place:])


def test_a_receipt_in_the_place_of_another():
    other = Signer(at=NOON + timedelta(hours=1)).chain("run:a", 5)[1]
    lines = list(LINES)
    lines[4] = line({"chain": "run:a", "seq": 2, "receipt": other})
    problems = told(lines)
    assert any(text.startswith(("line 5:", "line 6:")) and "follow" in text for text in problems), problems


def test_a_receipt_under_another_name():
    lines = list(LINES)
    receipt = codec.loads(lines[11])["receipt"]
    lines[11] = line({"chain": "key:2", "seq": 1, "receipt": receipt})
    assert "line 12: says receipt 1 of key:2, but holds 1 of key:1" in told(lines)


def test_a_history_made_anew_is_seen_by_a_checkpoint_of_before():
    """Whoever has the key signs another history; what a checkpoint covered can't be in it."""
    signer = Signer()
    real, false = signer.chain("run:a", 3), signer.chain("run:a", 3)
    problems = told(Export(signer, {"run:a": false}, [(signer, [leaf("run:a", real, 2)])]).lines)
    assert problems == ["line 4: receipt 2 of run:a is not the one that the checkpoint in line 2 covers"]


def test_a_tail_cut_off_before_the_export_is_seen_by_a_checkpoint():
    signer = Signer()
    texts = signer.chain("run:a", 3)
    lines = Export(signer, {"run:a": texts[:2]}, [(signer, [leaf("run:a", texts, 3)])]).lines
    assert told(lines) == ["line 2: it covers receipt 3 of run:a, which is missing"]
    lines = Export(signer, {}, [(signer, [leaf("run:a", texts, 3)])]).lines
    assert told(lines) == ["line 2: it covers receipt 3 of run:a, which is missing"]


class TestSince:
    def lines(self, *, since="2026-11-30T12:00:00.000000Z", leave_out=0):
        signer = Signer()
        texts = dict(enumerate(signer.chain("run:a", 5), 1))
        covered = [leaf("run:a", list(texts.values()), 2)]
        kept = {seq: text for seq, text in texts.items() if seq > 2 and seq != leave_out}
        return Export(signer, {"run:a": kept}, [(signer, covered)], since=since).lines

    def test_a_chain_may_begin_anywhere(self):
        assert not told(self.lines())

    def test_but_not_where_nobody_said_so(self):
        assert "line 3: of run:a receipts 1 to 2 are missing before this one" in told(self.lines(since=None))

    def test_checkpoints_begin_at_the_first_all_the_same(self):
        lines = self.lines()
        assert any("checkpoints" in text for text in told([lines[0], *lines[2:]]))

    def test_and_has_no_gaps(self):
        assert "line 4: of run:a receipt 4 is missing before this one" in told(self.lines(leave_out=4))


class TestKeys:
    def test_an_export_by_nobody_we_know(self):
        assert any(
            "not among the published keys" in text for text in told(LINES, Signer(b"\x09" * 32).keys())
        )

    def test_the_keys_of_the_first_line_are_not_trusted(self):
        """Whoever makes up an export brings keys that fit it."""
        forged = made(Signer(b"\x09" * 32))
        assert "line 14: the end of the export does not hold" in told(forged.lines)[-1]

    def revoked(self, by_second, revoked_after=3600):
        first, second = Signer(), Signer(b"\x02" * 32)
        whole = made(first, second if by_second else None)
        keys = first.keys(revoked_at=NOON + timedelta(seconds=revoked_after)) | second.keys()
        return whole, keys

    def test_revoked_and_covered_by_another_key_before_then(self):
        whole, keys = self.revoked(by_second=True)
        problems = told(whole.lines, keys)
        # run:a and run:b up to their covered heads are proved, the rest is not
        assert [text.split(" does")[0] for text in problems] == [
            "line 11: receipt 3 of run:b",
            "line 12: receipt 1 of key:1",
        ]
        assert all("was revoked at" in text for text in problems)

    def test_revoked_before_another_key_covered_it(self):
        whole, keys = self.revoked(by_second=True, revoked_after=1)
        assert len(told(whole.lines, keys)) == 10  # every receipt, and the checkpoint of the first key

    def test_revoked_and_covered_by_nobody_else(self):
        whole, keys = self.revoked(by_second=False)
        assert len(told(whole.lines, keys)) == 12  # likewise, both checkpoints, and the end


class TestPlace:
    """One chain's export proves where a checkpoint covers it, without the other chains' names."""

    def lines(self, change=lambda place: place):
        signer = Signer()
        texts = signer.chain("run:a", 3)
        others = [(f"run:{n}", 1, digest(str(n))) for n in range(6)]
        leaves = merkle.ordered([*others, leaf("run:a", texts, 3)])
        whole = Export(signer, {"run:a": texts}, [(signer, leaves)])
        value = codec.loads(whole.lines[1])
        index = leaves.index(leaf("run:a", texts, 3))
        place = {
            "head": list(leaves[index]),
            "index": index,
            "path": [b64(node) for node in merkle.path(leaves, index)],
        }
        del value["covers"]
        lines = [whole.lines[0], line({**value, "place": change(place)}), *whole.lines[2:]]
        # signed as it would have been with this line in it
        it = Export.__new__(Export)
        it.signer, it.receipts, it.lines = signer, 3, lines[:-2]
        heads = [tuple(item) for item in codec.loads(lines[-2])["heads"]]
        it._end([(name, int(seq), hash_) for name, seq, hash_ in heads], 1, 1)
        return it.lines

    def test_a_path_that_leads_to_the_root(self):
        assert not told(self.lines())

    def test_none_where_the_chain_is_not_covered(self):
        assert not told(self.lines(lambda _: None))

    @pytest.mark.parametrize(
        "change",
        [
            lambda place: {**place, "index": place["index"] ^ 1},
            lambda place: {**place, "index": 99},
            lambda place: {**place, "index": 1.5},
            lambda place: {**place, "path": place["path"][:-1]},
            lambda place: {**place, "path": [*place["path"][:-1], "A" * 43]},
            lambda place: {**place, "path": ["?"]},
            lambda place: {**place, "head": ["run:a", 2, place["head"][2]]},
            lambda place: {**place, "head": []},
            lambda place: {"head": place["head"]},
            lambda _: "x",
        ],
    )
    def test_a_path_that_does_not(self, change):
        assert told(self.lines(change)) == [
            "line 2: was altered: what the checkpoint covers is not what it was signed over"
        ]


class TestCommand:
    """`python -m checks.receipts`, in a process of its own."""

    @pytest.fixture
    def verify(self, tmp_path):
        def run(content, keys=None, *more, stdin=False):
            (tmp_path / "jwks.json").write_text(codec.dumps(keyset.write((keys or KEYS).values())))
            file = tmp_path / "file"
            file.write_bytes(content)
            command = [sys.executable, "-m", "checks.receipts", "verify", "-" if stdin else str(file)]
            result = subprocess.run(
                [*command, "--jwks", str(tmp_path / "jwks.json")],
                cwd=ROOT, capture_output=True, input=content if stdin else None, env={"PYTHONWARNINGS": "error"}, check=False,
            )  # fmt: skip
            assert result.stderr == b"", result.stderr
            return result.returncode, result.stdout.decode().splitlines()

        return run

    def test_a_receipt(self, verify):
        text = codec.loads(LINES[3])["receipt"].encode()
        code, said = verify(text + b"\n")
        assert (
            code == 0
            and '"chain":"run:a","seq":1' in said[0]
            and said[1].startswith("valid: It was signed by")
        )
        assert verify(text, stdin=True)[0] == 0

    def test_an_altered_receipt(self, verify):
        text = codec.loads(LINES[3])["receipt"].encode()
        code, said = verify(text[:-9] + b"A" + text[-8:])
        assert code == 1 and said == [
            "not valid: Its signature does not fit: it was altered, or was not signed by the key it names."
        ]

    def test_an_export(self, verify):
        code, said = verify(WHOLE)
        assert code == 0
        assert said == [
            "valid: 9 receipts in 3 chains, 2 checkpoints, as they were exported at 2026-11-30T12:00:11.123456Z"
        ]

    def test_an_altered_export(self, verify):
        code, said = verify(b"".join(LINES[:5] + LINES[6:]))
        assert code == 1 and said[0] == "line 6: of run:a receipt 3 is missing before this one"
        assert said[-1].startswith("not valid: ")

    @pytest.mark.parametrize("indent", [None, 2])
    def test_an_answer_with_a_receipt_in_it(self, verify, indent):
        text = codec.loads(LINES[3])["receipt"]
        answer = json.dumps({"verdict": "pass", "receipt": text, "receipt_salt": "x"}, indent=indent)
        code, said = verify(answer.encode())
        assert code == 0 and said[1].startswith("valid: It was signed by")
        assert verify(answer.replace(text, text[:-9] + "A" + text[-8:]).encode())[0] == 1

    @pytest.mark.parametrize("content", [b'{"keys":[]}', b"{}", b"[]", b'{\n "verdict": "pass"\n}\n'])
    def test_json_without_one_is_no_forgery(self, verify, content):
        code, said = verify(content)
        assert code == 2 and said[0].startswith("It is JSON, but neither an export")

    @pytest.mark.parametrize("gone", [0, 1, 3])
    def test_an_export_of_which_lines_are_gone_is_one_still(self, verify, gone):
        assert verify(b"".join(LINES[:gone] + LINES[gone + 1 :]))[0] == 1
        assert verify(LINES[gone])[0] == 1

    def test_a_part_is_told_as_a_part(self, verify):
        code, said = verify(b"".join(TestSince().lines()))
        assert code == 0 and "begins with the first receipt since 2026-11-30T12:00:00.000000Z" in said[-1]

    def test_binary_rubbish(self, verify):
        assert verify(bytes(range(256)) * 1000)[0] == 1
        assert verify(b"{" + bytes(range(256)) * 1000)[0] == 1

    def test_what_can_not_be_read(self, tmp_path):
        good, bad = tmp_path / "good", tmp_path / "bad"
        good.write_text('{"keys":[]}')
        bad.write_text("[]")
        assert main(["verify", str(tmp_path / "none"), "--jwks", str(good)]) == 2
        assert main(["verify", str(good), "--jwks", str(tmp_path / "none")]) == 2
        assert main(["verify", str(good), "--jwks", str(bad)]) == 2
