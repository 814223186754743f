"""What the server's processes remember together for a while: counts, and how the evaluator last did.

It is the cache: Redis where there is one, else this process. Losing it loses nobody's work. While Redis does not
answer, this process counts alone for some seconds, so that a bound is looser for a time and no call waits or fails.
"""

import logging
import time
from collections.abc import Callable
from typing import Any

from django.core.cache import caches
from django.core.cache.backends.base import BaseCache
from redis.exceptions import RedisError

SHARED, ALONE = "default", "alone"
ALONE_SECONDS = 5.0

_log = logging.getLogger(__name__)
_alone_until = 0.0


def _do[T](act: Callable[[BaseCache], T]) -> T:
    global _alone_until  # noqa: PLW0603 - one cache per process
    if time.monotonic() >= _alone_until:
        try:
            return act(caches[SHARED])
        except (RedisError, OSError) as error:
            # its message may name the address, and the address may hold a password
            _log.warning("the cache does not answer (%s); this process counts alone", type(error).__name__)
            _alone_until = time.monotonic() + ALONE_SECONDS
    return act(caches[ALONE])


def get(key: str) -> Any:
    """None where nothing is remembered."""
    return _do(lambda cache: cache.get(key))


def put(key: str, value: Any, seconds: float) -> None:
    _do(lambda cache: cache.set(key, value, timeout=seconds))


def take(key: str, value: Any, seconds: float) -> bool:
    """Remember it where nothing is remembered yet: of all who try at once, one gets True."""
    return bool(_do(lambda cache: cache.add(key, value, timeout=seconds)))


def count(key: str, seconds: float, *, by: int = 1) -> int:
    """One more; how many that makes. It is forgotten so many seconds after the first."""

    def act(cache: BaseCache) -> int:
        try:
            return int(cache.incr(key, by))
        except ValueError:  # the first, or of some that come at once
            return by if cache.add(key, by, timeout=seconds) else int(cache.incr(key, by))

    return _do(act)


def forget(*keys: str) -> None:
    _do(lambda cache: cache.delete_many(keys))
