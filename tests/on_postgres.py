"""The tests that talk to the database, once more on PostgreSQL. `python -m tests.on_postgres [pytest arguments]`.

Where no PostgreSQL answers it says so and ends well, unless REQUIRE_SERVICES=1.
"""

import os
import sys

import psycopg

URL = os.environ.get("TEST_DATABASE_URL", "postgres://postgres@127.0.0.1:5432/postgres")
FOLDERS = ["tests/checks", "tests/processes", "tests/approvals", "tests/concurrency"]
# Pages and pure modules are the same on every database; models, tools, policies and races are not.
LEFT_OUT = ["test_admin*", "test_*_page.py", "test_state_machine.py"]


def main() -> int:
    try:
        psycopg.connect(URL, connect_timeout=3).close()
    except psycopg.OperationalError as error:
        print(f"not run on PostgreSQL: {URL} does not answer ({str(error).splitlines()[0]})")
        return 1 if os.environ.get("REQUIRE_SERVICES") == "1" else 0
    os.environ["DATABASE_URL"] = URL
    print(f"on PostgreSQL ({URL})", flush=True)
    import pytest

    left_out = [f"--ignore-glob=*/{pattern}" for pattern in LEFT_OUT]
    return int(pytest.main([*FOLDERS, *left_out, "-m", "django_db and not long", *sys.argv[1:]]))


if __name__ == "__main__":
    sys.exit(main())
