"""Embedded mode's clock: a thread of the server that wakes what is due, under a lease in the database.

Any number of server processes may start one; the lease lets one at a time work. With a broker, Celery beat
does this instead (`processes.tasks`).
"""

import logging
import os
import socket
import threading
from datetime import timedelta

from django.db import IntegrityError, close_old_connections
from django.utils import timezone

from processes import heartbeats, waking
from processes.models import Lease

log = logging.getLogger(__name__)

NAME = "timers"
EVERY_SECONDS = 5.0
LEASE = timedelta(seconds=30)
_HOLDER = f"{socket.gethostname()[:60]}:{os.getpid()}"


def start() -> threading.Thread:
    """The server's entry points call this; commands and tests don't."""
    thread = threading.Thread(target=_loop, args=(threading.Event(),), name=NAME, daemon=True)
    thread.start()
    return thread


def hold(name: str, holder: str) -> bool:
    """Take or keep a lease; False while another holds it."""
    now = timezone.now()
    until = now + LEASE
    mine = Lease.objects.filter(name=name)
    if mine.filter(holder=holder).update(until=until) or mine.filter(until__lt=now).update(
        holder=holder, until=until
    ):
        return True
    if mine.exists():
        return False
    try:
        Lease.objects.create(name=name, holder=holder, until=until)
    except IntegrityError:
        return False
    return True


def tick(holder: str = _HOLDER) -> int:
    """One turn: how many runs and steps were woken or told."""
    if not hold(NAME, holder):
        return 0
    heartbeats.beat(heartbeats.CLOCK)
    return waking.wake()


def _loop(stop: threading.Event) -> None:
    while not stop.wait(EVERY_SECONDS):
        close_old_connections()
        try:
            tick()
        except Exception:  # a passing fault of the database must not end the clock
            log.exception("the timers missed a turn")
        finally:
            close_old_connections()
