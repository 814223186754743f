"""`manage.py demo_agent --key KEY [--url URL] [--round N]`: the demo's agent, alone."""

from argparse import ArgumentParser
from typing import Any

import httpx
from django.core.management.base import BaseCommand, CommandError

from config.demo_agent import Client, DemoAgent, RefusedError


class Command(BaseCommand):
    help = "Work the demo's processes as an agent, over the public API of a running server."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--key", required=True, help="an agent's key (manage.py agent create NAME)")
        parser.add_argument("--url", default="http://127.0.0.1:8000")
        parser.add_argument("--attack", action="store_true", help="also try to steer the judge")
        parser.add_argument("--round", type=int, default=1, help="a new number starts the runs anew")

    def handle(self, *args: Any, **options: Any) -> None:
        client = Client(options["url"], options["key"])
        agent = DemoAgent(client, self.stdout.write, attack=options["attack"])
        try:
            agent.start(options["round"])
            agent.work()
        except RefusedError as refused:
            raise CommandError(f"The server refused: {refused} {refused.issues}") from None
        except httpx.HTTPError as error:
            raise CommandError(f"No server answers at {options['url']}: {error}") from None
