"""How well the deterministic engine tells claims apart, as the table in docs/judge.md.

python -m tests.checks.measured_claims          prints it
python -m tests.checks.measured_claims --write  puts it into the page
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from checks.claims import Status, weigh
from tests.checks.labelled_claims import FRESH, SEEN, Labelled

PAGE = Path(__file__).resolve().parents[2] / "docs" / "judge.md"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


def pairs(examples: Sequence[Labelled]) -> list[tuple[Status, Status]]:
    """(label, what the engine said) of each."""
    return [(example.status, weigh([example.claim], example.evidence)[0].status) for example in examples]


def table() -> str:
    lines = [
        "| set | status | labelled | said | right | precision | recall |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for name, examples in (("fresh", FRESH), ("seen", SEEN)):
        found = pairs(examples)
        for status in Status:
            labelled = sum(label is status for label, _ in found)
            said = sum(it is status for _, it in found)
            right = sum(label is it is status for label, it in found)
            lines.append(
                f"| {name} | {status} | {labelled} | {said} | {right} | {_share(right, said)} | {_share(right, labelled)} |"
            )
        right = sum(label is it for label, it in found)
        lines.append(
            f"| {name} | all | {len(found)} | {len(found)} | {right} | {_share(right, len(found))} | |"
        )
    return "\n".join(lines)


def page(text: str) -> str:
    """The page with the table as it is now."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n{END}{rest.split(END)[1]}"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2f}" if whole else "–"


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
    print(table())
