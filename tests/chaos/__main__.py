"""`python -m tests.chaos [--kills N] [--seed N]`: kill at random under load, then prove that nothing came of it.

Web servers, workers, beat, the broker and the database are killed with SIGKILL (the database: an immediate stop) and
started again, while agents and people work runs of three processes. See docs/reliability.md.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.chaos import scene
from tests.chaos.cluster import ROOT, binaries
from tests.chaos.killing import Killer

REPORT = ROOT / "var" / "chaos.json"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--short", action="store_true", help="each kind of part once, instead")
    parser.add_argument("--report", type=Path, default=REPORT, metavar="FILE")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pause", type=float, nargs=2, default=(0.5, 1.5), metavar=("LEAST", "MOST"))
    parser.add_argument("--keep", action="store_true", help="keep the folder with the logs")
    options = parser.parse_args(arguments)
    if reason := binaries():
        sys.stderr.write(f"chaos needs a PostgreSQL and a Redis of its own; {reason}\n")
        return 2
    with tempfile.TemporaryDirectory(prefix="countersign-chaos-", delete=not options.keep) as name:
        Path(name).chmod(0o755)  # the database's user must get to its folder
        began = time.monotonic()
        outcome = scene.play(
            Path(name), lambda cluster: Killer(cluster, options.seed, tuple(options.pause)),
            lambda killer: killer.each_once() if options.short
            else killer.run(options.kills, _progress(options.kills)),
        )  # fmt: skip
        outcome["seconds"] = round(time.monotonic() - began)
    options.report.parent.mkdir(exist_ok=True)
    options.report.write_text(json.dumps(outcome, indent=2) + "\n", "utf-8")
    sys.stdout.write(json.dumps(outcome, indent=2) + "\n")
    return 0 if outcome["clean"] else 1


def _progress(kills: int) -> Callable[[int], None]:
    def told(number: int) -> None:
        if number % 50 == 0 or number == kills:
            sys.stderr.write(f"{number} of {kills} kills\n")

    return told


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
