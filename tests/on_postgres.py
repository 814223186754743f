"""The tests that talk to the database, once more on PostgreSQL. `python -m tests.on_postgres [--all] [pytest arguments]`.

Models, tools, policies and races; `--all`: whatever else touches the database, pages aside. Where no PostgreSQL answers it
says so and ends well, unless REQUIRE_SERVICES=1.
"""

import os
import sys
from pathlib import Path

import psycopg

URL = os.environ.get("TEST_DATABASE_URL", "postgres://postgres@127.0.0.1:5432/postgres")
ROOT = Path(__file__).resolve().parent
FOLDERS = ["checks", "processes", "approvals", "concurrency"]
# Pages and pure modules are the same on every database; models, tools, policies and races are not.
LEFT_OUT = ["test_admin*", "test_*_page.py", "test_state_machine.py"]
FIRST = [
    "concurrency", "checks/judge", "checks/test_records.py", "checks/test_roster.py", "checks/test_limits.py",
    "checks/test_keys.py", "approvals/test_policy.py", "approvals/test_queue.py", "processes/test_tool_*.py",
    "processes/test_models.py", "processes/test_migrations.py", "processes/test_checking*.py",
    "processes/test_evaluating.py", "processes/test_runs.py", "processes/test_pipeline.py",
    "processes/test_statements.py", "processes/test_waits.py", "processes/test_files.py", "processes/test_bounds.py",
    "processes/test_publishing.py", "processes/test_health.py", "processes/test_facts.py", "processes/test_receipts.py",
    "checks/test_receipts_*.py", "checks/receipts",
]  # fmt: skip


def main() -> int:
    try:
        psycopg.connect(URL, connect_timeout=3).close()
    except psycopg.OperationalError as error:
        print(f"not run on PostgreSQL: {URL} does not answer ({str(error).splitlines()[0]})")
        return 1 if os.environ.get("REQUIRE_SERVICES") == "1" else 0
    os.environ["DATABASE_URL"] = URL
    print(f"on PostgreSQL ({URL})", flush=True)
    import pytest

    arguments = [argument for argument in sys.argv[1:] if argument != "--all"]
    patterns = FOLDERS if "--all" in sys.argv else FIRST
    paths = [str(path) for pattern in patterns for path in sorted(ROOT.glob(pattern))]
    left_out = [f"--ignore-glob=*/{pattern}" for pattern in LEFT_OUT]
    return int(pytest.main([*paths, *left_out, "-m", "django_db and not long", *arguments]))


if __name__ == "__main__":
    sys.exit(main())
