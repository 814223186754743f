"""`manage.py purge_retained`: what the judge API kept, and has kept for its time, goes."""

from typing import Any

from django.core.management.base import BaseCommand

from checks.judge import storing


class Command(BaseCommand):
    help = "Delete what callers of the judge API asked to retain, once RETAIN_DAYS are over."

    def handle(self, *args: Any, **options: Any) -> None:
        total = 0
        while gone := storing.purge():
            total += gone
        self.stdout.write(f"{total} gone.")
