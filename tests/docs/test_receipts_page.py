"""The page on receipts says what the code does, and its commands work as they stand there."""

import re
import subprocess
from pathlib import Path

import pytest

from checks import codec
from checks.receipts import commitments, keyset, payload
from checks.receipts.encoding import b64, digest
from tests.checks.receipting import Signer, draft

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "receipts.md").read_text("utf-8")
SIGNATURE, OPENING = re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)


def test_every_member_is_told_and_no_other():
    part = TEXT.split("| member | there | value |", 1)[1].split("\n\n", 1)[0]
    told = [name for line in part.splitlines() for name in re.findall(r"`(\w+)`", line.split(" | ")[0])]
    assert told == list(payload._SHAPES)


@pytest.fixture
def sh(tmp_path):
    def run(script):
        command = ["sh", "-eu", "-c", script]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    return run


def test_by_openssl(tmp_path, sh):
    signer, other = Signer(), Signer(b"\x02" * 32)
    text = signer.sign(draft())
    (tmp_path / "receipt.txt").write_text(text + "\n")
    keys = [other.public(), signer.public()]
    # with and without blanks, as servers write it either way
    for spaced in (False, True):
        jwks = codec.dumps(keyset.write(keys))
        (tmp_path / "jwks.json").write_text(jwks.replace(":", ": ") if spaced else jwks)
        told = sh(SIGNATURE)
        assert told.returncode == 0, told.stderr
        verdict, said, prev = told.stdout.splitlines()
        assert verdict == "Signature Verified Successfully"
        assert codec.loads(said)["subject"] == draft().subject
        assert prev == digest(text)


def test_by_openssl_an_altered_one_is_none(tmp_path, sh):
    head, body, signature = Signer().sign(draft()).split(".")
    (tmp_path / "receipt.txt").write_text(f"{head}.{body[:-4]}AAAA.{signature}\n")
    (tmp_path / "jwks.json").write_text(codec.dumps(keyset.write([Signer().public()])))
    told = sh(SIGNATURE)
    assert told.returncode != 0 and "Verified Successfully" not in told.stdout


def test_a_commitment_by_openssl(tmp_path, sh):
    salt = bytes(range(224, 256))
    (tmp_path / "salt.txt").write_text(b64(salt) + "\n")
    (tmp_path / "task.txt").write_bytes("Naïve, and two\nlines".encode())
    told = sh(OPENING)
    assert told.stdout.strip() == commitments.commit(salt, {"task": "Naïve, and two\nlines"})["task"], (
        told.stderr
    )
