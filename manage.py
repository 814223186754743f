#!/usr/bin/env python
"""Django's command line for Countersign."""

import os
import sys

NO_TABLE = ("no such table", "no such column", "does not exist")  # SQLite, PostgreSQL


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.management import execute_from_command_line
    from django.db import DatabaseError

    try:
        execute_from_command_line(sys.argv)
    except DatabaseError as error:
        # the one mistake that everybody makes once; whatever else a database says is no matter of words
        if "--traceback" in sys.argv or not any(words in str(error) for words in NO_TABLE):
            raise
        sys.exit("CommandError: The database is not of this version. Run: manage.py migrate")


if __name__ == "__main__":
    main()
