"""Payloads, commitments, signatures and trees, byte by byte; and other implementations that read them."""

import base64
import hashlib
import hmac
import json
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

from checks import codec
from checks.receipts import commitments, jws, keyset, merkle, payload
from checks.receipts.encoding import b64, unb64
from checks.receipts.keyset import WrongKeyError
from checks.receipts.payload import Draft, PayloadError, Place
from checks.receipts.verifying import CLOCKS_DIFFER, examine
from tests.checks.receipting import ISS, NOON, Signer, draft, draft_of_checkpoint

ROOT = Path(__file__).resolve().parents[2]
SIGNER = Signer()
TEXT = Signer().sign(draft())


def unpadded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class TestPayload:
    def test_says_what_the_documentation_says(self):
        assert json.loads(unpadded(TEXT.split(".")[1])) == {
            "version": 1,
            "iss": ISS,
            "kind": "judge",
            "subject": "4f0c",
            "chain": "run:r_1",
            "seq": 1,
            "prev": None,
            "time": "2026-11-30T12:00:01.123456Z",
            "actor": "key",
            "commitments": draft().commitments,
            "verdict": "pass",
            "score": 0.8571428571428571,
            "claims": {"supported": 6, "contradicted": 0, "unsupported": 1},
            "checks": [{"type": "regex", "passed": True, "evidence_hash": "ab" * 32}],
            "thresholds": [{"pass": 0.9, "fail": 0.5}, {"confidence": 0.8}],
            "engine": "groq",
            "model": "openai/gpt-oss-120b",
        }
        assert json.loads(unpadded(TEXT.split(".")[0])) == {
            "alg": "EdDSA", "typ": "countersign-receipt+jws", "kid": SIGNER.kid,
        }  # fmt: skip

    def test_leaves_out_what_a_kind_has_not(self):
        data = payload.write(
            Draft(kind="decision", subject="i_1", about="r_1"),
            Place("run:r_1", 2, "A" * 43),
            iss=ISS,
            at=NOON,
        )
        assert list(json.loads(data)) == [
            "version", "iss", "kind", "subject", "about", "chain", "seq", "prev", "time", "commitments",
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("changes", "word"),
        [
            ({"kind": "Judge"}, "kind"),
            ({"kind": ""}, "kind"),
            ({"kind": "checkpoint"}, "root and heads"),
            ({"kind": "checkpoint", "root": "A" * 43, "heads": 1}, "the chain checkpoints"),
            ({"subject": "a b"}, "subject"),
            ({"subject": "é"}, "subject"),
            ({"subject": "x" * 101}, "subject"),
            ({"about": ""}, "about"),
            ({"actor": "somebody"}, "actor"),
            ({"commitments": {"task": "A" * 42}}, "commitments"),
            ({"commitments": {"Task": "A" * 43}}, "commitments"),
            ({"commitments": {"task": "A" * 42 + "B"}}, "commitments"),
            ({"score": 1.01}, "score"),
            ({"score": float("nan")}, "no JSON number"),
            ({"claims": {"supported": 1}}, "claims"),
            ({"claims": {"supported": 1, "contradicted": 0, "unsupported": -1}}, "claims"),
            ({"checks": [{"type": "regex", "passed": 1, "evidence_hash": None}]}, "checks"),
            ({"checks": [{"type": "regex", "passed": True}]}, "checks"),
            ({"checks": [{"type": "regex", "passed": True, "evidence_hash": None, "detail": "x"}]}, "checks"),
            ({"checks": [{"type": "a", "passed": True, "evidence_hash": None}] * 201}, "checks"),
            ({"thresholds": [{"pass": 2}]}, "thresholds"),
            ({"thresholds": [{"ask": 0.5}]}, "thresholds"),
            ({"model": "m" * 201}, "model"),
            ({"root": "A" * 43}, "root and heads"),
            ({"heads": 1}, "root and heads"),
        ],
    )
    def test_refuses_to_sign_what_it_would_not_read(self, changes, word):
        with pytest.raises(PayloadError, match=word):
            payload.write(draft(**changes), Place("run:r_1", 1, None), iss=ISS, at=NOON)

    @pytest.mark.parametrize(
        "place",
        [
            ("a b", 1, None),
            ("a", 0, None),
            ("a", 2, None),
            ("a", 1, "A" * 43),
            ("a", 2, "x"),
            ("checkpoints", 1, None),
        ],
    )
    def test_refuses_a_place_that_is_none(self, place):
        with pytest.raises(PayloadError):
            payload.write(draft(), Place(*place), iss=ISS, at=NOON)

    @pytest.mark.parametrize(
        "change",
        [
            {"version": 2}, {"version": "1"}, {"version": True}, {"extra": 1}, {"time": "2026-11-30T12:00:01Z"},
            {"time": "2026-02-30T12:00:01.000000Z"}, {"seq": 1.5}, {"iss": None}, {"prev": "A" * 43}, {"commitments": []},
        ],
    )  # fmt: skip
    def test_reads_strictly(self, change):
        good = json.loads(unpadded(TEXT.split(".")[1]))
        assert payload.read(codec.dumps(good).encode())
        with pytest.raises(PayloadError):
            payload.read(codec.dumps({**good, **change}).encode())

    @pytest.mark.parametrize(
        "name", ["version", "iss", "kind", "subject", "chain", "seq", "prev", "time", "commitments"]
    )
    def test_misses_nothing(self, name):
        good = json.loads(unpadded(TEXT.split(".")[1]))
        del good[name]
        with pytest.raises(PayloadError, match=name):
            payload.read(codec.dumps(good).encode())

    @pytest.mark.parametrize("data", [b"", b"[]", b"{", b'{"version":1,"version":1}', b"\xff", b"null"])
    def test_is_an_object(self, data):
        with pytest.raises(PayloadError):
            payload.read(data)


class TestCommitments:
    @given(
        st.binary(min_size=32, max_size=32), st.text(max_size=50), st.text(max_size=50), st.sampled_from("ab")
    )
    def test_open_with_their_part_alone(self, salt, one, other, part):
        made = commitments.commit(salt, {"a": one, "b": one})
        assert made["a"] != made["b"]
        key = commitments.part_salt(salt, part)
        assert commitments.opens(made[part], key, one.encode())
        assert commitments.opens(made[part], key, other.encode()) is (one == other)
        assert not commitments.opens(made["b" if part == "a" else "a"], key, one.encode())

    def test_are_what_the_documentation_says(self):
        salt, text = b"\x07" * 32, "Naïve"
        key = hmac.new(salt, b"task", hashlib.sha256).digest()
        expected = base64.urlsafe_b64encode(hashlib.sha256(key + text.encode()).digest()).decode().rstrip("=")
        assert commitments.commit(salt, {"task": text}) == {"task": expected}

    def test_a_list_is_its_canonical_json(self):
        made = commitments.commit(b"\x07" * 32, {"evidence": [{"b": codec.loads("1.50"), "a": "ü"}]})
        key = commitments.part_salt(b"\x07" * 32, "evidence")
        assert commitments.opens(made["evidence"], key, '[{"a":"ü","b":1.50}]'.encode())

    def test_two_subjects_with_the_same_text_differ(self):
        one, two = (commitments.commit(commitments.new_salt(), {"task": "same"}) for _ in range(2))
        assert one != two

    @pytest.mark.parametrize("salt", [b"", b"\x07" * 31, b"\x07" * 33])
    def test_a_short_salt_is_none(self, salt):
        with pytest.raises(ValueError, match="32 bytes"):
            commitments.commit(salt, {"task": "x"})

    def test_no_commitment_opens_for_nonsense(self):
        assert not commitments.opens("ü", b"k" * 32, b"x")


class TestOtherImplementations:
    """Whoever reads the documentation alone comes to the same."""

    def key(self):
        return Ed25519PublicKey.from_public_bytes(unpadded(keyset.public_jwk(SIGNER.key)["x"]))

    def test_by_hand(self):
        head, _, signature = TEXT.rpartition(".")
        self.key().verify(unpadded(signature), head.encode())
        with pytest.raises(InvalidSignature):
            self.key().verify(unpadded(signature), head.encode() + b"x")

    def test_by_openssl(self, tmp_path):
        def verify(data):
            (tmp_path / "input").write_bytes(data)
            command = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", "key.pem", "-rawin", "-in", "input", "-sigfile", "signature"]  # fmt: skip
            return subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode

        head, _, signature = TEXT.rpartition(".")
        (tmp_path / "signature").write_bytes(unpadded(signature))
        # twelve bytes say that an Ed25519 key follows (RFC 8410)
        der = bytes.fromhex("302a300506032b6570032100") + unpadded(keyset.public_jwk(SIGNER.key)["x"])
        assert der == self.key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        pem = base64.b64encode(der).decode()
        (tmp_path / "key.pem").write_text(f"-----BEGIN PUBLIC KEY-----\n{pem}\n-----END PUBLIC KEY-----\n")
        assert verify(head.encode()) == 0
        assert verify(head.encode()[:-1] + b"!") != 0

    def test_the_kid_is_the_thumbprint_of_rfc_8037(self):
        seed = unpadded("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A")
        key = keyset.private_key(seed)
        assert keyset.public_jwk(key)["x"] == "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
        assert key.thumbprint() == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"

    def test_the_signature_is_that_of_rfc_8037(self):
        """Its example has no typ and no kid; the signature is of the two segments, whatever they hold."""
        key = keyset.private_key(unpadded("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"))
        made = key.private_key.sign(b"eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc")
        assert b64(made).startswith(
            "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
        )


class TestVerify:
    def test_a_good_one(self):
        examined = examine(TEXT, SIGNER.keys())
        assert examined.valid and examined.payload["subject"] == "4f0c" and SIGNER.kid in examined.reason

    @given(place=st.integers(0, len(TEXT) - 1), by=st.integers(1, 127))
    def test_no_character_can_change(self, place, by):
        changed = TEXT[:place] + chr(ord(TEXT[place]) ^ by) + TEXT[place + 1 :]
        examined = examine(changed, SIGNER.keys())
        assert not examined.valid and examined.payload is None

    def test_no_bit_of_it_can_change(self):
        """Every one of them, not some."""
        for place in range(len(TEXT)):
            for bit in range(8):
                changed = TEXT[:place] + chr(ord(TEXT[place]) ^ (1 << bit)) + TEXT[place + 1 :]
                assert not examine(changed, SIGNER.keys()).valid, (place, bit)

    @given(place=st.integers(0, len(TEXT)), more=st.characters())
    def test_nothing_can_be_put_in(self, place, more):
        assert not examine(TEXT[:place] + more + TEXT[place:], SIGNER.keys()).valid

    @given(place=st.integers(0, len(TEXT) - 1))
    def test_nothing_can_be_left_out(self, place):
        assert not examine(TEXT[:place] + TEXT[place + 1 :], SIGNER.keys()).valid

    @given(st.text(max_size=300))
    def test_whatever_else_it_is(self, text):
        assert not examine(text, SIGNER.keys()).valid

    @given(data=st.data())
    def test_a_payload_changed_and_spelled_anew_is_seen(self, data):
        head, body, signature = TEXT.split(".")
        raw = bytearray(unpadded(body))
        place = data.draw(st.integers(0, len(raw) - 1))
        raw[place] ^= data.draw(st.integers(1, 255))
        assert not examine(f"{head}.{b64(bytes(raw))}.{signature}", SIGNER.keys()).valid

    def headed(self, header, key=SIGNER):
        head = f"{b64(codec.dumps(header).encode())}.{TEXT.split('.')[1]}"
        return f"{head}.{b64(key.key.private_key.sign(head.encode()))}"

    @pytest.mark.parametrize(
        ("change", "word"),
        [
            ({"alg": "none"}, "algorithm"),
            ({"alg": "HS256"}, "algorithm"),
            ({"alg": "Ed25519"}, "algorithm"),
            ({"alg": None}, "algorithm"),
            ({"typ": "JWT"}, "type"),
            ({"typ": jws.EXPORT}, "type"),
            ({"typ": None}, "type"),
            ({"kid": None}, "kid"),
            ({"kid": ""}, "kid"),
            ({"kid": "another"}, "not among the published"),
            ({"crit": ["exp"], "exp": 1}, "crit"),
            ({"b64": False, "crit": ["b64"]}, "b64"),
            ({"jwk": {"kty": "OKP"}}, "jwk"),
        ],
    )
    def test_a_header_that_is_another_is_refused_though_it_is_signed(self, change, word):
        header = {"alg": "EdDSA", "typ": jws.RECEIPT, "kid": SIGNER.kid}
        assert examine(self.headed(header), SIGNER.keys()).valid
        changed = {name: value for name, value in {**header, **change}.items() if value is not None}
        examined = examine(self.headed(changed), SIGNER.keys())
        assert not examined.valid and word in examined.reason

    def test_a_payload_that_is_none_is_refused_though_it_is_signed(self):
        examined = examine(SIGNER.raw(b'{"version":1}'), SIGNER.keys())
        assert not examined.valid and "no receipt: it has no chain" in examined.reason

    def test_another_key_with_the_name_of_ours(self):
        other = Signer(b"\x02" * 32)
        other.kid = SIGNER.kid
        assert "does not fit" in examine(other.sign(draft()), SIGNER.keys()).reason

    def test_a_key_that_nobody_published(self):
        assert "not among the published keys" in examine(TEXT, {}).reason

    def test_too_long(self):
        assert "longer than" in examine("a" * 60_001, SIGNER.keys()).reason

    def test_after_the_key_was_retired(self):
        signed = NOON + timedelta(seconds=1)
        assert examine(TEXT, SIGNER.keys(retired_at=signed)).valid
        assert examine(TEXT, SIGNER.keys(retired_at=signed - CLOCKS_DIFFER)).valid
        late = examine(TEXT, SIGNER.keys(retired_at=signed - CLOCKS_DIFFER - timedelta(seconds=1)))
        assert not late.valid and "retired at 2026-11-30T11:55:00.123456Z" in late.reason and late.payload

    def test_once_the_key_is_revoked_whenever_it_was_signed(self):
        for days in (-1, 0, 365):
            examined = examine(TEXT, SIGNER.keys(revoked_at=NOON + timedelta(days=days)))
            assert not examined.valid and "was revoked at" in examined.reason and examined.payload


class TestKeySet:
    def test_is_read_as_it_is_written(self):
        keys = [
            SIGNER.public(retired_at=NOON),
            Signer(b"\x02" * 32).public(revoked_at=NOON + timedelta(hours=1)),
        ]
        jwks = codec.loads(codec.dumps(keyset.write(keys)))
        assert jwks["keys"][0] == {
            **keyset.public_jwk(SIGNER.key), "kid": SIGNER.kid, "use": "sig", "alg": "EdDSA",
            "created_at": "2026-11-29T12:00:00.123456Z", "retired_at": "2026-11-30T12:00:00.123456Z",
        }  # fmt: skip
        read = keyset.read(jwks)
        assert [replace(key, key=None) for key in read.values()] == [replace(key, key=None) for key in keys]

    def test_holds_no_private_part(self):
        private = replace(SIGNER.public(), key=SIGNER.key)
        assert "d" not in keyset.write([private])["keys"][0]

    @pytest.mark.parametrize(
        ("jwks", "word"),
        [
            ([], "no JWK set"),
            ({"keys": 1}, "no JWK set"),
            ({"keys": [1]}, r"keys\[0\]"),
            ({"keys": [{"kty": "OKP", "crv": "Ed25519"}]}, r"keys\[0\]: its public part x"),
            ({"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "AA"}]}, "x"),
            ({"keys": [{**keyset.public_jwk(SIGNER.key), "kid": "mine"}]}, "thumbprint"),
            ({"keys": [{**keyset.public_jwk(SIGNER.key), "revoked_at": "yesterday"}]}, "time"),
        ],
    )
    def test_refuses_with_the_place(self, jwks, word):
        with pytest.raises(WrongKeyError, match=word):
            keyset.read(jwks)

    def test_leaves_keys_of_other_kinds_out(self):
        assert keyset.read({"keys": [{"kty": "EC", "crv": "P-256", "x": "a", "y": "b"}]}) == {}

    @pytest.mark.parametrize(
        ("jwk", "word"),
        [
            (None, "Ed25519"),
            ({"kty": "EC"}, "Ed25519"),
            (keyset.public_jwk(SIGNER.key), "no private part"),
            ({**keyset.private_jwk(SIGNER.key), "d": "AA"}, "32 bytes"),
            ({**keyset.private_jwk(SIGNER.key), "d": "?"}, "base64url"),
            ({**keyset.private_jwk(SIGNER.key), "x": "A" * 43}, "does not belong"),
        ],
    )
    def test_a_private_key_is_read_strictly(self, jwk, word):
        with pytest.raises(WrongKeyError, match=word) as refused:
            keyset.read_private(jwk)
        assert keyset.private_jwk(SIGNER.key)["d"] not in str(refused.value)

    def test_a_private_key_is_read_as_it_is_written(self):
        assert keyset.read_private(keyset.private_jwk(SIGNER.key)).thumbprint() == SIGNER.kid


@given(st.binary(max_size=80))
def test_base64url_has_one_spelling(data):
    assert unb64(b64(data)) == data
    for other in (b64(data) + "=", b64(data) + "\n", " " + b64(data)):
        with pytest.raises(ValueError):
            unb64(other)


LEAVES = st.lists(st.tuples(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=5), st.integers(1, 9), st.just("A" * 43)), min_size=1, max_size=40, unique=True)  # fmt: skip


class TestTree:
    @given(LEAVES, st.data())
    def test_every_leaf_climbs_to_the_root_and_no_other_does(self, leaves, data):
        index = data.draw(st.integers(0, len(leaves) - 1))
        path = merkle.path(leaves, index)
        climbed = merkle.climb(leaves[index], index, len(leaves), path)
        assert climbed == merkle.root(leaves)
        name, seq, hash_ = leaves[index]
        assert merkle.climb((name, seq + 1, hash_), index, len(leaves), path) != merkle.root(leaves)
        assert merkle.climb(leaves[index], index, len(leaves), [*path, b"x" * 32]) is None
        assert merkle.climb(leaves[index], len(leaves), len(leaves), path) is None
        if path:
            assert merkle.climb(leaves[index], index, len(leaves), path[:-1]) is None

    def test_is_that_of_rfc_6962(self):
        """By its own recursive definition: the left half is the largest power of two below."""

        def mth(leaves):
            if len(leaves) == 1:
                return hashlib.sha256(b"\x00" + merkle.data(leaves[0])).digest()
            k = 1 << (len(leaves) - 1).bit_length() - 1
            return hashlib.sha256(b"\x01" + mth(leaves[:k]) + mth(leaves[k:])).digest()

        leaves = [("run:r", n, "A" * 43) for n in range(1, 70)]
        for count in range(1, 70):
            assert merkle.root(leaves[:count]) == mth(leaves[:count])

    def test_none_has_no_root(self):
        with pytest.raises(ValueError):
            merkle.root([])

    def test_a_checkpoint_is_a_receipt(self):
        leaves = [("run:r_1", 2, "A" * 43)]
        text = SIGNER.sign(draft_of_checkpoint(leaves, 1), "checkpoints")
        assert examine(text, SIGNER.keys()).payload["root"] == b64(merkle.root(leaves))


def test_all_of_it_is_there_without_django():
    names = "payload commitments jws keyset verifying merkle chain anchors export encoding __main__"
    script = (
        f"import sys\nfor name in {names.split()!r}:\n    __import__('checks.receipts.' + name)\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('django', 'rest_framework', 'celery')])"
    )
    told = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert told.stdout == "[]\n"
