"""Which key signs, and which ever did.

The private key comes from `RECEIPT_KEY`, or from a file that only its owner can read, and stays in memory. Its public part is kept in the
database when it is first used, and the key before it is then retired after a while, so that servers which still run with it during a
change sign no receipts in vain.
"""

import os
import secrets
import stat
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from joserfc.jwk import OKPKey

from checks import codec
from checks.receipts import keyset
from checks.receipts.encoding import unb64
from checks.receipts.keyset import PublicKey, WrongKeyError
from checks.receipts.models import SigningKey

# how long the key before may still sign, and how long a process keeps to what it knows of its own
OVERLAP = timedelta(hours=1)
LOOKED_AT_AGAIN_SECONDS = 60.0
_WIDER = stat.S_IRWXG | stat.S_IRWXO
_MAX_FILE = 4096


class NoKeyError(ImproperlyConfigured):
    """There is no key to sign with, or none that may. The message tells how to mend it, and shows nothing of a key."""


@dataclass(frozen=True, slots=True)
class Private:
    kid: str
    key: OKPKey


@dataclass(slots=True)
class _Known:
    """What this process signs with, from where it has it, and until when it asks nobody."""

    source: tuple[str, str]
    private: Private
    until: float


_lock = threading.Lock()
_known: _Known | None = None


def current() -> Private:
    """The key to sign with; no statement as long as this process knows that it may. Raises NoKeyError."""
    known, source = _known, _source()
    if known is not None and known.source == source and time.monotonic() < known.until:
        return known.private
    private = load()
    _register(private)
    # in a transaction the row may yet be rolled back, so until then it is looked for again
    transaction.on_commit(lambda: _know(source, private))
    return private


def forget() -> None:
    """Whatever this process knows of its key is asked for anew."""
    global _known  # noqa: PLW0603 - one key per process
    with _lock:
        _known = None


def load() -> Private:
    """The private key as the settings have it, made where it may be. Raises NoKeyError, and never shows any of it."""
    text, path = _source()
    if text:
        return _read(text, "RECEIPT_KEY")
    if settings.CELERY_BROKER_URL:
        raise NoKeyError(
            "RECEIPT_KEY is not set, and each machine would sign with a key of its own. Set it everywhere to the same: "
            "manage.py receipt_key new prints one."
        )
    file = Path(path)
    if not file.exists():
        try:
            write(file, new())
        except OSError as error:
            raise NoKeyError(f"{path} can't be written: {type(error).__name__}.") from None
    return _read(_text(file), path)


def new() -> OKPKey:
    """One whose kid no command takes for an option."""
    while (key := OKPKey.generate_key("Ed25519")).thumbprint().startswith("-"):
        pass
    return key


def text_of(key: OKPKey) -> str:
    """The private JWK, for the environment or the file."""
    return codec.dumps(keyset.private_jwk(key))


def write(path: Path, key: OKPKey, *, instead: bool = False) -> None:
    """Into a file of mode 0600, whole before it has its name; one that is there stays, unless it is to go."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text_of(key) + "\n")
            file.flush()
            os.fsync(file.fileno())
        if instead:
            draft.replace(path)
        else:
            with suppress(FileExistsError):  # two servers that start at once agree on one
                path.hardlink_to(draft)
    finally:
        draft.unlink(missing_ok=True)


def published() -> dict[str, PublicKey]:
    """Every key that ever signed, by its kid, and the one that does. One statement."""
    rows = SigningKey.objects.all()
    found = {row.kid: _public(row) for row in rows}
    with suppress(NoKeyError):
        private = load()
        found.setdefault(private.kid, PublicKey(kid=private.kid, key=private.key))
    return found


def register(key: OKPKey) -> str:
    """Keep a key's public part and retire the one before, unless that is done. Its kid."""
    private = Private(key.thumbprint(), key)
    _register(private)
    return private.kid


def retire(kid: str, at: datetime) -> bool:
    """From then on it signs nothing any more; False where it was to be retired before then already."""
    live = Q(retired_at__isnull=True) | Q(retired_at__gt=at)
    return bool(SigningKey.objects.filter(live, kid=kid).update(retired_at=at))


def revoke(kid: str, at: datetime) -> bool:
    """Nothing that it signed is taken on its word any more. False where it was revoked before; the first time is kept."""
    return bool(SigningKey.objects.filter(kid=kid, revoked_at__isnull=True).update(revoked_at=at))


def _register(private: Private) -> None:
    row = SigningKey.objects.filter(kid=private.kid).first()
    if row is None:
        now, x = timezone.now(), keyset.public_jwk(private.key)["x"]
        SigningKey.objects.bulk_create(
            [SigningKey(kid=private.kid, x=x, created_at=now)], ignore_conflicts=True
        )
        before = SigningKey.objects.filter(retired_at__isnull=True).exclude(kid=private.kid)
        before.update(retired_at=now + OVERLAP)
    elif row.revoked_at is not None:
        raise NoKeyError(
            f"The key {row.kid} was revoked at {keyset.told(row.revoked_at)} and signs no more. Set another: "
            "manage.py receipt_key new prints one for RECEIPT_KEY, receipt_key rotate changes the file."
        )
    elif row.retired_at is not None and row.retired_at <= timezone.now():
        raise NoKeyError(
            f"The key {row.kid} was retired at {keyset.told(row.retired_at)}; the server signs with another since. Give this "
            "one the same, and start it again."
        )


def _know(source: tuple[str, str], private: Private) -> None:
    global _known  # noqa: PLW0603 - one key per process
    with _lock:
        _known = _Known(source, private, time.monotonic() + LOOKED_AT_AGAIN_SECONDS)


def _source() -> tuple[str, str]:
    return settings.RECEIPT_KEY, str(settings.RECEIPT_KEY_FILE)


def _public(row: SigningKey) -> PublicKey:
    return PublicKey(
        kid=row.kid,
        key=keyset.read_public({"kty": "OKP", "crv": "Ed25519", "x": row.x}),
        created_at=row.created_at,
        retired_at=row.retired_at,
        revoked_at=row.revoked_at,
    )


def _text(path: Path) -> str:
    try:
        # asked of the very file that is read
        with path.open("r", encoding="ascii") as file:
            mode = os.fstat(file.fileno()).st_mode
            if mode & _WIDER:
                raise NoKeyError(
                    f"{path} can be read by others (mode {stat.S_IMODE(mode):04o}). Whoever had it can sign receipts: make a "
                    f"new key with manage.py receipt_key rotate and revoke this one, or chmod 600 {path} if nobody had it."
                )
            return file.read(_MAX_FILE)
    except (OSError, UnicodeDecodeError) as error:
        raise NoKeyError(f"{path} can't be read: {type(error).__name__}.") from None


def _read(text: str, where: str) -> Private:
    text = text.strip()
    try:
        if text.startswith("{"):
            key = keyset.read_private(codec.loads(text))
        else:
            key = keyset.private_key(unb64(text))
    except WrongKeyError as error:
        problem = str(error)
    except ValueError:
        problem = "it is neither a JWK nor base64url"
    else:
        return Private(key.thumbprint(), key)
    raise NoKeyError(
        f"{where} holds no key that can sign receipts: {problem}. manage.py receipt_key new prints one that can."
    )
