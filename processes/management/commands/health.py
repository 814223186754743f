"""`manage.py health [PART …]`: what `/v1/health` tells, for a shell or a container's own check."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from processes import health


class Command(BaseCommand):
    help = "Tell which parts of the server work. Ends with an error when one that is named (or else any) is down."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(health.PARTS))

    def handle(self, *args: Any, **options: Any) -> None:
        if unknown := set(options["parts"]) - set(health.PARTS):
            raise CommandError(f"There is no part {min(unknown)!r}; there are {', '.join(health.PARTS)}.")
        _, view = health.Health().report()
        self.stdout.write(json.dumps(view, indent=2))
        asked = options["parts"] or health.PARTS
        if down := [part for part in asked if view[part]["state"] == health.DOWN]:
            raise CommandError(f"down: {', '.join(down)}")
