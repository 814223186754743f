"""The command line."""

import argparse
from pathlib import Path

from conformance.library import TEAM

EPILOG = """\
Without --credentials they are read from CONFORMANCE_AGENT_1, CONFORMANCE_AGENT_2 (keys), CONFORMANCE_PERSON_1,
CONFORMANCE_PERSON_2 and CONFORMANCE_OPERATOR (a bearer token, or user:password[:value], where value is how the
server names the person in run data).

exit code: 0 every case passed or was skipped, 1 a case failed, 2 the suite could not run
"""


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m conformance",
        description="Does a server conform to agentprocess core-2 (and parallel-1, check-1 where it lists them)?",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument(
        "url", nargs="?", metavar="URL", help="the server's address, e.g. http://127.0.0.1:8000"
    )
    made.add_argument("--path", default="/v1/{tool}", help="where a tool is called (default: %(default)s)")
    _who(made.add_argument_group("callers"))
    _publishing(made.add_argument_group("publishing the suite's process files (one of them is needed)"))
    _running(made.add_argument_group("running"))
    return made


def _who(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--credentials", type=Path, metavar="FILE", help="JSON: agents, people, operator, session"
    )
    group.add_argument("--sign-in", metavar="PATH", help="the sign-in form (default: /sign-in/)")
    group.add_argument("--csrf-cookie", metavar="NAME", help="(default: csrftoken)")
    group.add_argument("--csrf-header", metavar="NAME", help="(default: X-CSRFToken)")


def _publishing(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--publish-command",
        metavar="COMMAND",
        help="e.g. 'python manage.py publish {paths} --role {role}={group}'",
    )
    group.add_argument(
        "--role", action="append", default=[], metavar="ROLE=GROUP", dest="roles",
        help=f"the group behind a role of the suite's files; both people must be in it (default: {TEAM}={TEAM})",
    )  # fmt: skip
    group.add_argument(
        "--publish-jobs", type=int, default=2, metavar="N", help="commands at once (default: 2)"
    )
    group.add_argument("--already-published", action="store_true", help="the files were published by hand")
    group.add_argument("--write-processes", type=Path, metavar="DIR", help="write the files there and stop")


def _running(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--evaluator-port", type=int, metavar="PORT",
        help="listen there as the System One server that the server under test asks (check-1)",
    )  # fmt: skip
    group.add_argument(
        "--strict",
        action="store_true",
        help="demand the exact issue lines and rulings of the Countersign server too",
    )
    group.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="PATTERN",
        help="cases such as claim, claim.* or replay.submit",
    )
    group.add_argument("--list", action="store_true", help="name the cases and stop")
    group.add_argument("--explain", metavar="CASE", help="tell a case's rule and needs, and stop")
    group.add_argument(
        "--markdown", type=Path, metavar="FILE", help="write a table of cases, rules and results"
    )
    group.add_argument(
        "--patience", type=float, default=15.0, metavar="SECONDS",
        help="how late a timer of the server may be (default: %(default)s)",
    )  # fmt: skip
    group.add_argument("--no-skips", action="store_true", help="a skipped case makes the exit code 1")
