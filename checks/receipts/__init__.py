"""Receipts: what was judged or decided, signed so that it can be proved later to somebody who does not trust the server.

`payload` (what is said), `commitments` (what is only promised), `jws` (the signature), `keyset` (public keys), `verifying`,
`merkle`, `chain` (an export, line by line) are pure, and `python -m checks.receipts verify` needs no more of this house than them.
`keys`, `signing`, `checkpoints`, `exporting` and `api` belong to the server. docs/receipts.md tells it all.
"""
