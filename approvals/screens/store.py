"""A file store that is away, told apart from faults of ours: a page says so and goes on."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from processes.errors import ToolError

log = logging.getLogger(__name__)

RETRY_AFTER = 5
# packages that a bucket is spoken to with, by name: none of them has to be installed
_SPEAKERS = frozenset({"boto3", "botocore", "s3transfer", "urllib3"})


class AwayError(Exception):
    """The store did not answer, or answered that it can't now."""

    def told(self) -> ToolError:
        """For the form that comes back."""
        return ToolError("retry", "The file store does not answer.", retry_after=RETRY_AFTER)


@contextmanager
def asked(what: str) -> Iterator[None]:
    """Around whatever reads or writes stored bytes; `what` is for the log. Raises AwayError."""
    try:
        yield
    except Exception as error:
        if not _is_away(error):
            raise
        log.exception("the file store is away: %s", what)
        raise AwayError from error


def _is_away(error: Exception) -> bool:
    """Also of what a bucket's client raises, which is no OSError."""
    return isinstance(error, OSError) or any(
        kind.__module__.partition(".")[0] in _SPEAKERS for kind in type(error).__mro__
    )
