"""Processes, their versions, and what happens in a run.

`runs.py` is the only writer of Run, Step, Attempt, Submission and WorkItem; `publishing.py` of Process
and Version. Constraints that must hold whatever the code does are in the database.
"""

from processes.models.ids import item_id, run_id, upload_id
from processes.models.published import Agent, Process, Role, Version
from processes.models.records import (
    Heartbeat,
    HeldEvent,
    HistoryEntry,
    Lease,
    Notice,
    Request,
    RunInput,
    Upload,
)
from processes.models.running import Attempt, Run, Step, Submission, WorkItem

__all__ = [
    "Agent",
    "Attempt",
    "Heartbeat",
    "HeldEvent",
    "HistoryEntry",
    "Lease",
    "Notice",
    "Process",
    "Request",
    "Role",
    "Run",
    "RunInput",
    "Step",
    "Submission",
    "Upload",
    "Version",
    "WorkItem",
    "item_id",
    "run_id",
    "upload_id",
]
