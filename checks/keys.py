"""Bearer keys: `cs_<prefix>_<secret>`. The prefix finds the row, the secret proves it and is never kept.

A caller that joins its own tables looks the prefix up itself and asks `proves`:

    agent = Agent.objects.select_related("key").filter(key__prefix=keys.parse_prefix(text)).first()
    if not keys.proves(agent and agent.key, text): …
"""

import hashlib
import hmac
import re
import secrets
import string
from datetime import datetime

from checks.models import Key

PREFIX_CHARS = 10  # 51 bits: chance repeats stay away, and the unique constraint is behind it
_ALPHABET = string.ascii_lowercase + string.digits
_SECRET_BYTES = 32  # 43 characters
_SHAPE = re.compile(r"cs_([a-z0-9]{8,12})_([A-Za-z0-9_-]{43})")
# Compared against where no key was found, so that an unknown prefix takes the same way as a wrong secret.
_NOBODY = "0" * 64


def issue(label: str, *, for_judge: bool = False) -> tuple[Key, str]:
    """A new key and its text, which can't be had again. Raises ValueError on a label not 1 to 100 long or not on one line.

    It opens the protocol's tools, or the judge API.
    """
    label = label.strip()
    if not 0 < len(label) <= 100 or not label.isprintable():  # noqa: PLR2004 - the column's width
        raise ValueError("a key needs a label of 1 to 100 characters, so that people know whose it is")
    prefix = "".join(secrets.choice(_ALPHABET) for _ in range(PREFIX_CHARS))
    secret = secrets.token_urlsafe(_SECRET_BYTES)
    key = Key.objects.create(
        prefix=prefix, digest=_digest(secret), label=label, for_agents=not for_judge, for_judge=for_judge
    )
    return key, f"cs_{prefix}_{secret}"


def parse_prefix(text: str) -> str | None:
    """The prefix of a key's text, None where the text has not the shape of a key."""
    found = _SHAPE.fullmatch(text)
    return found[1] if found else None


def proves(key: Key | None, text: str) -> bool:
    """Whether the text is this key's and the key is live. Takes as long without a key as with a wrong one."""
    found = _SHAPE.fullmatch(text)
    prefix, secret = (found[1], found[2]) if found else ("", "")
    same = hmac.compare_digest(_digest(secret), _NOBODY if key is None else key.digest)
    return same and key is not None and key.prefix == prefix and key.revoked_at is None


def find(text: str) -> Key | None:
    """The live key with this text, or None. One statement; none where the text has not the shape of a key."""
    prefix = parse_prefix(text)
    key = Key.objects.filter(prefix=prefix).first() if prefix else None
    return key if proves(key, text) else None


def revoke(key: Key, at: datetime) -> bool:
    """End a key for good. False when it was revoked before; the first time is kept."""
    revoked = Key.objects.filter(pk=key.pk, revoked_at__isnull=True).update(revoked_at=at)
    if revoked:
        key.revoked_at = at
    else:
        key.refresh_from_db(fields=["revoked_at"])
    return bool(revoked)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
