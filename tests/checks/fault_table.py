"""The table of faults in docs/evaluators.md: `python -m tests.checks.fault_table` asks every wire and writes it."""

import os
import re
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "evaluators.md"
START, END = "<!-- faults: python -m tests.checks.fault_table -->", "<!-- end of faults -->"
AT_ONCE = 6


@dataclass(frozen=True)
class Outcome:
    verdict: str
    said: str
    seconds: float

    def __str__(self) -> str:
        return f"{self.verdict}: {self.said}" if self.said else self.verdict


def outcome(column, fault):
    """One whole check with this fault on this wire; None where the wire can't have it."""
    from checks import judging
    from checks.evaluators import Config, built
    from checks.questions import Limits
    from tests.checks.faults import COLUMNS
    from tests.checks.vendor import QUESTIONS, material
    from tests.servers.system_one import SystemOneServer

    script = fault.script(column)
    if script is None:
        return None
    kind = COLUMNS[column]
    with SystemOneServer(script) as server:
        config = Config(kind=kind, base=server.base_url, model="m", logprobs=column == "chat")
        began = time.monotonic()
        it = judging.judge(material(), QUESTIONS, Limits(), evaluator=built(config))
        taken = time.monotonic() - began
    said = it.error or ("by JSON" if column == "chat" and it.method == "chat-schema" else "")
    return Outcome(str(it.verdict), _plain(said), taken)


def _plain(said):
    """Without what differs from run to run, or from Python to Python."""
    said = re.sub(r"(no usable JSON):.*", r"\1", said)
    return (
        re.sub(r" \(\w+(Error|Timeout)\)", "", said)
        .replace("127.0.0.1", "the server")
        .replace("|", "\\|")[:110]
    )


def outcomes():
    """(fault, column) -> Outcome, or None."""
    from django.test.utils import override_settings

    from checks.evaluators import transport
    from tests.checks.faults import COLUMNS, FAULTS

    found = {}
    backoff, transport.BACKOFF_SECONDS = transport.BACKOFF_SECONDS, 0.001
    try:
        for seconds in sorted({fault.seconds for fault in FAULTS.values()}):
            cells = [
                (name, column)
                for name, fault in FAULTS.items()
                for column in COLUMNS
                if fault.seconds == seconds
            ]
            with override_settings(EVALUATOR_SECONDS=seconds), ThreadPoolExecutor(AT_ONCE) as pool:
                made = pool.map(lambda cell: outcome(cell[1], FAULTS[cell[0]]), cells)
                found.update(zip(cells, made, strict=True))
    finally:
        transport.BACKOFF_SECONDS = backoff
    return found


def table(found):
    from tests.checks.faults import COLUMNS, FAULTS

    lines = ["| what the server does | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    for name in FAULTS:
        cells = [str(found[name, column] or "–") for column in COLUMNS]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def written():
    return DOCUMENT.read_text("utf-8").partition(START)[2].partition(END)[0].strip()


def main():
    import django

    django.setup()
    before, _, rest = DOCUMENT.read_text("utf-8").partition(START)
    after = rest.partition(END)[2]
    DOCUMENT.write_text(f"{before}{START}\n{table(outcomes())}\n{END}{after}", "utf-8")


if __name__ == "__main__":
    main()
