"""`manage.py forget_salts --call ID`: nobody opens what its receipt promised any more; the receipt verifies as before."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from checks.receipts import salts


class Command(BaseCommand):
    help = "Delete what opens the commitments of receipts. Can't be undone; chains and signatures are not touched."

    def add_arguments(self, parser: ArgumentParser) -> None:
        for kind in salts.forgetters:
            parser.add_argument(
                f"--{kind}", metavar="ID", action="append", default=[], help=f"of this {kind}"
            )

    def handle(self, *args: Any, **options: Any) -> None:
        asked = [(kind, number) for kind in salts.forgetters for number in options[kind]]
        if not asked:
            raise CommandError(
                f"Name what to forget: {', '.join(f'--{kind} ID' for kind in salts.forgetters)}."
            )
        unknown = [f"{kind} {number}" for kind, number in asked if not self._forget(kind, number)]
        self.stdout.write(f"{len(asked) - len(unknown)} forgotten.")
        if unknown:
            raise CommandError(
                f"Nothing was forgotten of {', '.join(unknown)}: there is none with that id, it was forgotten before, or (a run) "
                "it still goes on and needs its salt until it has ended."
            )

    def _forget(self, kind: str, number: str) -> bool:
        try:
            return salts.forgetters[kind](number)
        except ValueError:  # no id of that kind
            return False
