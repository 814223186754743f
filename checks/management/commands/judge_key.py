"""`manage.py judge_key create NAME`: the key alone on the last line."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from checks import keys
from checks.models import Key

MOST_CALLS = 2**31 - 1  # what its column holds


class Command(BaseCommand):
    help = "Make, list or revoke keys of the judge API. A key is printed once, alone on the last line."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=["create", "list", "revoke"])
        parser.add_argument("name", nargs="?", default="")
        parser.add_argument("--calls-per-day", type=int, help="instead of the server's own bound")

    def handle(self, *args: Any, **options: Any) -> None:
        getattr(self, f"_{options['action']}")(options["name"], options["calls_per_day"])

    def _create(self, name: str, calls: int | None) -> None:
        if calls is not None and not 0 <= calls <= MOST_CALLS:
            raise CommandError(f"--calls-per-day is a whole number from 0 to {MOST_CALLS}.")
        if self._live().filter(label=name).exists():
            raise CommandError(f"There is a key {name}; revoke it first, or choose another name.")
        try:
            key, text = keys.issue(name, for_judge=True)
        except ValueError as error:
            raise CommandError(str(error)) from None
        if calls is not None:
            key.judge_calls_per_day = calls
            key.save(update_fields=["judge_calls_per_day"])
        self.stdout.write(f"The key {key.label} opens the judge API. Shown this once:\n{text}")

    def _list(self, name: str, calls: int | None) -> None:
        for key in self._live().order_by("label"):
            bound = "" if key.judge_calls_per_day is None else f", {key.judge_calls_per_day} calls a day"
            self.stdout.write(f"{key.label} (cs_{key.prefix}_…), made {key.created_at:%Y-%m-%d}{bound}")

    def _revoke(self, name: str, calls: int | None) -> None:
        found = list(self._live().filter(label=name))
        if not found:
            raise CommandError(f"There is no live key {name}.")
        for key in found:
            keys.revoke(key, timezone.now())
        self.stdout.write(f"The key {name} is revoked.")

    def _live(self) -> Any:
        return Key.objects.filter(for_judge=True, revoked_at__isnull=True)
