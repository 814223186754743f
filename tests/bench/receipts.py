"""What receipts cost: one signed, one verified, a run's looked at, and a checkpoint over all heads there are."""

from collections.abc import Callable
from typing import Any

from checks.receipts import checkpoints, commitments, keys, signing, verifying
from checks.receipts.payload import Draft
from processes import proofs
from processes.models import HistoryEntry, Run


def measure(by: Callable[[str, Callable[[], Any]], None]) -> None:
    """`by(name, act)` prints a figure. The runs of the flow before are there, each with its receipts."""
    salt = commitments.new_salt()

    def sign() -> str:
        promised = commitments.commit(
            salt, {"task": "t" * 1000, "output": {"text": "o" * 4000}, "by": "agent:a"}
        )
        draft = Draft(kind="verdict", subject="s", actor="server", verdict="pass", commitments=promised)
        return signing.sign(draft, signing.Head("run:bench")).receipt

    receipt, published = sign(), keys.published()
    by("sign a receipt", sign)
    by("verify a receipt", lambda: verifying.examine(receipt, published))
    run = Run.objects.filter(receipts__gt=0).latest("updated_at")
    by("verify a run's receipts", lambda: proofs.of_run(run))
    heads = HistoryEntry.objects.filter(receipt__isnull=False).values("chain").distinct().count()
    by(f"look for {heads} heads to cover", lambda: checkpoints.moved(run.started_at, 5000))
