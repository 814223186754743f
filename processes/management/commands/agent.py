"""`manage.py agent create NAME`: the key alone on the last line."""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from processes import agents
from processes.models import Agent


class Command(BaseCommand):
    help = "Make or revoke an agent, or give it a new key. The key is printed once, alone on the last line."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=["create", "rekey", "revoke"])
        parser.add_argument("name")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["name"]
        if options["action"] == "create":
            try:
                _, key = agents.create(name)
            except ValidationError as error:
                raise CommandError("; ".join(error.messages)) from None
            except ValueError:
                longest = Agent._meta.get_field("name").max_length
                raise CommandError(
                    f"An agent's name has 1 to {longest} characters: letters, digits, - and _."
                ) from None
            self.stdout.write(f"Agent {name} is made. Its key, shown this once:\n{key}")
            return
        agent = Agent.objects.select_related("key").filter(name=name).first()
        if agent is None:
            raise CommandError(f"There is no agent {name}.")
        if options["action"] == "rekey":
            self.stdout.write(
                f"The old key of {name} is dead. The new one, shown this once:\n{agents.new_key(agent)}"
            )
        else:
            agents.revoke(agent)
            self.stdout.write(f"Agent {name} is revoked.")
