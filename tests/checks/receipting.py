"""Keys, payloads and chains of tests, made without a database."""

from datetime import UTC, datetime, timedelta

from checks import codec
from checks.receipts import commitments, jws, keyset, merkle, payload
from checks.receipts.encoding import b64, digest
from checks.receipts.keyset import PublicKey
from checks.receipts.payload import CHECKPOINT, CHECKPOINTS, Draft, Place

ISS = "https://countersign.example.org"
NOON = datetime(2026, 11, 30, 12, 0, 0, 123456, tzinfo=UTC)


class Signer:
    """A key that signs, on a clock of its own."""

    def __init__(self, seed=b"\x01" * 32, at=NOON):
        self.key = keyset.private_key(seed)
        self.kid = self.key.thumbprint()
        self.at = at

    def public(self, **dates):
        key = keyset.read_public(keyset.public_jwk(self.key))
        return PublicKey(kid=self.kid, key=key, created_at=NOON - timedelta(days=1), **dates)

    def keys(self, **dates):
        return {self.kid: self.public(**dates)}

    def raw(self, data, typ=jws.RECEIPT):
        return jws.sign(data, self.key, self.kid, typ)

    def sign(self, draft, chain="run:r_1", seq=1, prev=None):
        self.at += timedelta(seconds=1)
        return self.raw(payload.write(draft, Place(chain, seq, prev), iss=ISS, at=self.at))

    def chain(self, name, count):
        """So many receipts in a row."""
        found, prev = [], None
        for seq in range(1, count + 1):
            found.append(self.sign(draft(subject=f"{name}/{seq}"), name, seq, prev))
            prev = digest(found[-1])
        return found


def draft(**changes):
    salt = b"s" * 32
    whole = {
        "kind": "judge",
        "subject": "4f0c",
        "actor": "key",
        "commitments": commitments.commit(
            salt, {"task": "Say when.", "output": "At noon.", "evidence": ["Noon."]}
        ),
        "verdict": "pass",
        "score": 0.8571428571428571,
        "claims": {"supported": 6, "contradicted": 0, "unsupported": 1},
        "checks": [{"type": "regex", "passed": True, "evidence_hash": "ab" * 32}],
        "thresholds": [{"pass": 0.9, "fail": 0.5}, {"confidence": 0.8}],
        "engine": "groq",
        "model": "openai/gpt-oss-120b",
    }
    return Draft(**{**whole, **changes})


class Export:
    """An export as the server writes it, of chains in memory: `lines` are to be tampered with."""

    def __init__(self, signer, chains, checkpoints=(), *, since=None, keys=None):
        self.signer = signer
        self.lines = [
            line(
                {
                    "export": 1, "iss": ISS, "exported_at": keyset.told(signer.at), "chain": None, "since": since,
                    "jwks": keyset.write((keys or signer.keys()).values()),
                }
            )
        ]  # fmt: skip
        heads, prev = [], None
        for seq, (by, covered) in enumerate(checkpoints, 1):
            leaves = merkle.ordered(covered)
            it = draft_of_checkpoint(leaves, seq)
            text = by.sign(it, CHECKPOINTS, seq, prev)
            prev = digest(text)
            covers = [list(leaf) for leaf in leaves]
            self.lines.append(line({"chain": CHECKPOINTS, "seq": seq, "receipt": text, "covers": covers}))
        if checkpoints:
            heads.append((CHECKPOINTS, len(checkpoints), prev))
        for name, texts in chains.items():
            for seq, text in texts.items() if isinstance(texts, dict) else enumerate(texts, 1):
                self.lines.append(line({"chain": name, "seq": seq, "receipt": text}))
            heads.append((name, seq, digest(text)))
        self.receipts = sum(map(len, chains.values()))
        self._end(heads, len(checkpoints), len(chains))

    def _end(self, heads, checkpoints, chains):
        self.lines += [line({"heads": [list(leaf) for leaf in heads]})] if heads else []
        said = {
            "header": digest(self.lines[0].decode()), "digest": digest(b"".join(self.lines).decode()),
            "lines": len(self.lines), "checkpoints": checkpoints, "receipts": self.receipts, "chains": chains,
            "root": b64(merkle.root(heads)) if heads else None,
        }  # fmt: skip
        data = payload.write_export(said, iss=ISS, at=self.signer.at)
        self.lines.append(line({"end": self.signer.raw(data, jws.EXPORT)}))


def draft_of_checkpoint(leaves, seq):
    return Draft(
        kind=CHECKPOINT, subject=f"c{seq}", actor="server", root=b64(merkle.root(leaves)), heads=len(leaves)
    )


def leaf(name, texts, seq):
    return (name, seq, digest(texts[seq - 1]))


def line(value):
    return codec.dumps(value).encode() + b"\n"
