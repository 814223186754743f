"""What must be true of every view that any tool gives, beyond its schema.

A schema can't say that an ended run has no open work, or that an item's call names the item itself.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from conformance.codec import Number

OPEN_STATES = frozenset({"ready", "claimed", "waiting"})
BUSY_STATES = frozenset({"ready", "claimed"})
OVER_STATES = frozenset({"ended", "cancelled"})


def broken(tool: str, data: Any) -> list[str]:
    """What can't be true of this result; [] where all is well."""
    look = _LOOKS.get(tool)
    return list(look(data)) if look else []


def _run_view(view: dict[str, Any]) -> Iterator[str]:
    run, items = view["run"], view["workItems"]
    states = {step["id"]: step["state"] for step in view["steps"]}
    yield from _ending(run)
    unfinished = sorted(name for name, state in states.items() if state in OPEN_STATES)
    if run["state"] in OVER_STATES:
        if unfinished:
            yield f"the run is {run['state']} and its steps {', '.join(unfinished)} are unfinished"
        if items:
            yield f"the run is {run['state']} and has open work items"
    else:
        busy = any(state in BUSY_STATES for state in states.values())
        if busy != (run["state"] == "active"):
            yield f"the run is {run['state']} with steps {_spelled(states)}"
        if not unfinished:
            yield "the run goes on and no step of it is open"
    yield from _data(view, states)
    for item in items:
        if states.get(item["stepId"]) != "waiting":
            yield f"a work item is open for {item['stepId']}, which is {states.get(item['stepId'])}"
        yield from _item(item, run["id"], run["mode"])
    if len({item["snapshot"] for item in items}) > 1:
        yield "items of one read carry different snapshots of the same run data"


def _ending(run: dict[str, Any]) -> Iterator[str]:
    over = run["state"] in OVER_STATES
    if over != (run["ended"] is not None):
        yield f"the run is {run['state']} and ended is {'null' if run['ended'] is None else 'set'}"
    if (run["state"] == "ended") != (run["outcome"] is not None):
        yield f"the run is {run['state']} and its outcome is {run['outcome']}"


def _data(view: dict[str, Any], states: dict[str, Any]) -> Iterator[str]:
    kinds = {step["id"]: step["kind"] for step in view["steps"]}
    for name, record in view["data"]["steps"].items():
        if name not in states:
            yield f"run data holds {name}, which is no step"
        elif kinds[name] in {"finish", "parallel"}:
            yield f"run data holds {name}, and a {kinds[name]} records nothing"
        elif states[name] == "done" and not {"by", "at"} <= set(record):
            yield f"{name} is done and its record lacks by and at"


def _item(item: dict[str, Any], run: str, mode: str) -> Iterator[str]:
    call = item["decide"]["arguments"]
    if (call["runId"], call["workItemId"], call["snapshot"]) != (run, item["id"], item["snapshot"]):
        yield f"the decide call of the item for {item['stepId']} does not name that item"
    if (mode == "test") != (item.get("mode") == "test"):
        yield f"the run's mode is {mode}, and the item for {item['stepId']} says {item.get('mode')}"
    if (item["kind"] == "agent") and item["escalation"] is None:
        yield f"an item for the agent step {item['stepId']} carries no escalation"


def _work(page: dict[str, Any]) -> Iterator[str]:
    for entry in page["items"]:
        if "workItem" in entry:
            yield from _item(entry["workItem"], entry["runId"], entry["mode"])
            continue
        call = entry["claim"]["arguments"]
        if (call["runId"], call["stepId"]) != (entry["runId"], entry["stepId"]):
            yield f"the claim call of {entry['stepId']} names another step or run"
    since = [datetime.fromisoformat(entry["readySince"]) for entry in page["items"] if "readySince" in entry]
    if since != sorted(since):
        yield "the steps are not in the order of readySince"


def _describe(about: dict[str, Any]) -> Iterator[str]:
    limits = about["limits"]
    fail, passing = limits["checkFail"], limits["checkPass"]
    if isinstance(fail, Number) and fail.value > passing.value:
        yield "checkFail is above checkPass"


def _spelled(states: dict[str, Any]) -> str:
    return ", ".join(f"{name} {state or 'null'}" for name, state in states.items())


_LOOKS: dict[str, Callable[[Any], Iterator[str]]] = {
    "describe": _describe,
    "get_work": _work,
    **dict.fromkeys(("start_run", "get_run", "submit", "escalate", "decide", "cancel"), _run_view),
}
