"""Engine `demo`: what anybody may try without a key.

The deterministic engine alone, whatever evaluator is configured: no model, no network, nothing kept, no key's calls used.
A judgement compares words on this process's own time, so that only few are made at once.
"""

import threading
from dataclasses import replace
from typing import Any

from django.conf import settings

from checks import consensus as agreeing
from checks.judge import asking
from checks.judge.requests import ConsensusRequest, JudgeRequest

ENGINE = "demo"
_slots = threading.BoundedSemaphore(max(1, settings.SERVER_THREADS // 4))


class BusyError(Exception):
    """As many are being made as may be at once; it helps to come again in a moment."""


def judge(asked: JudgeRequest) -> dict[str, Any]:
    """What `/v1/judge` answers, without a call's number. Raises BusyError, and ValueError on a fact of the network."""
    if outward := [fact.type for fact in asked.checks if fact.network]:
        raise ValueError(f"{', '.join(outward)}: no fact is read from the network here")
    with _Slot():
        it = replace(asking.judge_by(None, asked), engine=ENGINE)
    return {"request_id": None, **it.view(asked.criteria)}


def consensus(asked: ConsensusRequest) -> dict[str, Any]:
    """What `/v1/consensus` answers, likewise. Raises BusyError."""
    with _Slot():
        it = agreeing.consensus(asked.task, asked.answers, asked.evidence)
    return {"request_id": None, **it.view(), "engine": ENGINE}


class _Slot:
    def __enter__(self) -> None:
        if not _slots.acquire(blocking=False):
            raise BusyError

    def __exit__(self, *_: object) -> None:
        _slots.release()
