"""`manage.py receipt_key list|new|rotate|retire KID|revoke KID`."""

from argparse import ArgumentParser
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from checks.receipts import keys
from checks.receipts.keyset import told
from checks.receipts.models import SigningKey

ACTIONS = ("list", "new", "rotate", "retire", "revoke")


class Command(BaseCommand):
    help = (
        "Keys that sign receipts. list: all that ever did; new: print a private key for RECEIPT_KEY; rotate: put a new one in "
        "RECEIPT_KEY_FILE; retire: it signs no more; revoke: nothing that it signed is taken on its word any more."
    )

    requires_system_checks: list[str] = []  # it mends what they complain of

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=ACTIONS)
        parser.add_argument(
            "kid", nargs="?", default="", help="which, to retire or revoke; after -- if it begins with -"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        action, kid = options["action"], options["kid"]
        if bool(kid) is not (action in {"retire", "revoke"}):
            raise CommandError(
                "retire and revoke take the kid of a key, see `receipt_key list`; the others take none."
            )
        try:
            getattr(self, f"_{action}")(kid)
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from None

    def _list(self, _: str) -> None:
        mine = self._mine()
        rows = {row.kid: row for row in SigningKey.objects.all()}
        for kid in [*rows, *([mine] if mine and mine not in rows else [])]:
            row = rows.get(kid)
            dates = {name: getattr(row, f"{name}_at", None) for name in ("created", "retired", "revoked")}
            words = [_dated(name, at) for name, at in dates.items() if at is not None] or ["not used yet"]
            self.stdout.write(f"{kid}  {', '.join(words)}{'  (signs here)' if kid == mine else ''}")

    def _new(self, _: str) -> None:
        self.stdout.write(keys.text_of(keys.new()))

    def _rotate(self, _: str) -> None:
        if settings.RECEIPT_KEY or settings.CELERY_BROKER_URL:
            raise CommandError("The key is the environment's: `receipt_key new` prints one for RECEIPT_KEY.")
        key, path = keys.new(), Path(settings.RECEIPT_KEY_FILE)
        if path.exists():
            # so that the one before is published, whoever used it first; one that can't sign any more is there to be replaced
            with suppress(ImproperlyConfigured):
                keys.register(keys.load().key)
        try:
            keys.write(path, key, instead=True)
        except OSError as error:
            raise CommandError(f"{path} can't be written: {error.strerror}. The key before stays.") from None
        keys.forget()
        self.stdout.write(f"{path} holds {keys.register(key)} now; servers sign with it within a minute.")

    def _retire(self, kid: str) -> None:
        self._known(kid)
        done = keys.retire(kid, timezone.now())
        self.stdout.write(f"{kid} is retired." if done else f"{kid} was retired before.")
        self._warn(kid)

    def _revoke(self, kid: str) -> None:
        self._known(kid)
        done = keys.revoke(kid, timezone.now())
        self.stdout.write(f"{kid} is revoked." if done else f"{kid} was revoked before.")
        self._warn(kid)

    def _warn(self, kid: str) -> None:
        if kid != self._mine():
            return
        how = "set another as RECEIPT_KEY and start again" if settings.RECEIPT_KEY else "receipt_key rotate"
        self.stderr.write(
            f"It signs here, and within a minute servers sign nothing any more: put another in its place now ({how})."
        )

    def _known(self, kid: str) -> None:
        if SigningKey.objects.filter(kid=kid).exists():
            return
        if kid != self._mine():
            raise CommandError(f"There is no key {kid}; `receipt_key list` names all.")
        keys.register(keys.load().key)

    def _mine(self) -> str:
        """The kid of the key that signs here; none where that key is what has to be mended."""
        try:
            return keys.load().kid
        except ImproperlyConfigured as error:
            self.stderr.write(str(error))
            return ""


def _dated(name: str, at: datetime) -> str:
    """A key that another took the place of is retired a while later."""
    return f"{name} {told(at)}" if at <= timezone.now() else f"to be {name} {told(at)}"
