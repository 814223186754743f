"""`manage.py export_receipts > receipts.jsonl`, which `python -m checks.receipts verify` reads."""

import sys
from argparse import ArgumentParser
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError
from django.utils.dateparse import parse_date, parse_datetime

from checks.receipts import exporting, sources


class Command(BaseCommand):
    help = (
        "Write receipts as JSON lines: chains, checkpoints, and a last line that is signed over all of them."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--chain", help="of this chain alone, such as run:r_…, without the names of others"
        )
        parser.add_argument(
            "--since", help="each chain from its first receipt since then: 2026-11-30, or with a time; UTC"
        )
        parser.add_argument(
            "--to", help="a file instead of standard output; one that is there is not overwritten"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        since = _moment(options["since"]) if options["since"] else None
        if (chain := options["chain"]) and not sources.known(chain):
            raise CommandError(f"There is no chain {chain!r}. A run's is run: and its id, as on its page.")
        try:
            lines = exporting.lines(chain=options["chain"] or None, since=since)
            if not options["to"]:
                for line in lines:
                    sys.stdout.buffer.write(line)
                return
            _write(Path(options["to"]), lines)
        except FileExistsError:
            raise CommandError(f"{options['to']} is there already; name another file.") from None
        except OSError as error:
            raise CommandError(
                f"{options['to'] or 'standard output'} can't be written: {error.strerror}."
            ) from None
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from None
        self.stderr.write(f"{options['to']} is written.")


def _write(path: Path, lines: Iterable[bytes]) -> None:
    """All of it or nothing: what was cut off stands in the way of the next try, and is easily taken for the whole."""
    with path.open("xb") as file:
        try:
            file.writelines(lines)
            file.flush()
        except BaseException:
            path.unlink()
            raise


def _moment(text: str) -> datetime:
    try:
        found = parse_datetime(text)
        if found is None and (day := parse_date(text)) is not None:
            found = datetime(day.year, day.month, day.day)  # noqa: DTZ001 - UTC is said below
    except ValueError:
        found = None
    if found is None:
        raise CommandError(f"--since {text!r} is no date; write 2026-11-30 or 2026-11-30T12:00:00Z.")
    return found if found.tzinfo else found.replace(tzinfo=UTC)
