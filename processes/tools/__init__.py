"""The protocol's tools: one function each, `(Call) -> data`. A new tool is a module and a line here."""

from processes.callers import CallerKind
from processes.pipeline import Entry
from processes.tools import (
    cancel,
    claim,
    decide,
    describe,
    escalate,
    get_run,
    get_work,
    list_processes,
    list_runs,
    renew,
    send_event,
    start_run,
    submit,
    upload,
)

_NOBODY, _AGENT, _PERSON = CallerKind.NOBODY, CallerKind.AGENT, CallerKind.PERSON
_ANYONE = frozenset({_NOBODY, _AGENT, _PERSON})
_KNOWN = frozenset({_AGENT, _PERSON})
_AGENTS = frozenset({_AGENT})

TOOLS: dict[str, Entry] = {
    "describe": Entry(describe.run, _ANYONE),
    "list_processes": Entry(list_processes.run, _KNOWN),
    "start_run": Entry(start_run.run, _KNOWN, writes=True),
    "get_run": Entry(get_run.run, _KNOWN),
    "get_work": Entry(get_work.run, _KNOWN),
    "claim": Entry(claim.run, _AGENTS, writes=True),
    "renew": Entry(renew.run, _AGENTS, writes=True),
    "upload": Entry(upload.run, _KNOWN, writes=True),
    "submit": Entry(submit.run, _AGENTS, writes=True),
    "escalate": Entry(escalate.run, _AGENTS, writes=True),
    # agents may call it and are refused at their place in the order of errors
    "decide": Entry(decide.run, _KNOWN, writes=True),
    "cancel": Entry(cancel.run, _KNOWN, writes=True),
    "send_event": Entry(send_event.run, _KNOWN, writes=True),
    "list_runs": Entry(list_runs.run, _KNOWN),
}
