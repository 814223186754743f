"""The admin of processes, agents and of what happened in runs."""

from processes.admin import agents, runs, versions

__all__ = ["agents", "runs", "versions"]
