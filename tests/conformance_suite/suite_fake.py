"""A very small server of agent-only processes behind `httpx.MockTransport`, which can be told to be wrong.

It keeps the rules that a handful of cases ask about. `faults` switches one off: the case that is about it must
then fail, which is what the tests show.
"""

import itertools
from dataclasses import dataclass, field

import httpx

from conformance import codec
from conformance.codec import Number

AT = "2026-10-06T09:00:00.000Z"
LATER = "2026-10-06T09:10:00.000Z"
CALLERS = {"key-one": "agent:one", "key-two": "agent:two", "key-ada": "person:ada", "key-ben": "person:ben",
           "key-olga": "person:olga"}  # fmt: skip
SUBJECT = {"type": "string", "description": "What the work is about"}
PROCESSES = {
    "conform-work": (
        {"subject": SUBJECT, "amount": {"type": "number", "optional": True}},
        ["work"],
        ["answer"],
    ),
    "conform-two": ({}, ["first", "second"], ["first", "second"]),
    "conform-now": ({}, [], []),
}
CREDENTIALS = {
    "agents": [{"key": "key-one"}, {"key": "key-two"}],
    "people": [{"bearer": "key-ada"}, {"bearer": "key-ben"}],
    "operator": {"bearer": "key-olga"},
}


class RefusedError(Exception):
    def __init__(self, code, *issues):
        super().__init__(code)
        self.error = {"code": code, "message": "No.", **({"issues": list(issues)} if issues else {})}


@dataclass
class FakeServer:
    faults: set = field(default_factory=set)
    runs: dict = field(default_factory=dict)
    requests: dict = field(default_factory=dict)
    tokens: dict = field(default_factory=dict)
    numbers: itertools.count = field(default_factory=lambda: itertools.count(1))

    @property
    def transport(self):
        return httpx.MockTransport(self.answer)

    def answer(self, request):
        tool = request.url.path.rpartition("/")[2]
        given = codec.loads(request.content)
        caller = CALLERS.get(request.headers.get("authorization", "").removeprefix("Bearer "), "")
        try:
            answer = {"ok": True, "data": self.once(tool, caller, given)}
        except RefusedError as refused:
            answer = {"ok": False, "error": refused.error}
        if "no-envelope" in self.faults and tool == "get_run":
            return httpx.Response(500, text="<h1>Server error</h1>")
        return httpx.Response(200, content=codec.dumps(answer).encode())

    def once(self, tool, caller, given):
        request = given.get("requestId")
        if request is None or "forgets-requests" in self.faults:
            return getattr(self, tool)(caller, given)
        if request in self.requests:
            arguments, text = self.requests[request]
            if arguments != given:
                raise RefusedError("conflict")
            return codec.loads(text)
        data = getattr(self, tool)(caller, given)
        self.requests[request] = given, codec.dumps(data)
        return data

    # the tools

    def describe(self, caller, given):
        limits = {"runDataBytes": 1000, "checkPass": Number("0.9"), "checkFail": None,
                  "checkConfidence": Number("0.8"), "checkStateBytes": 1000}  # fmt: skip
        tools = ["describe", "list_processes", "start_run", "get_run", "get_work", "claim", "submit", "escalate",
                 "decide", "cancel"]  # fmt: skip
        return {"protocol": "agentprocess", "version": "core-2", "profiles": [], "leaseSeconds": 600,
                "person": {"format": "email"}, "tools": tools, "limits": limits}  # fmt: skip

    def list_processes(self, caller, given):
        items = [{"name": name, "description": "One step for an agent, then the end.", "version": 1, "inputs": inputs}
                 for name, (inputs, _, _) in PROCESSES.items()]  # fmt: skip
        return {"items": items, "nextCursor": None}

    def start_run(self, caller, given):
        if given["process"] not in PROCESSES:
            raise RefusedError("not_found")
        inputs = given["inputs"]
        if "rounds-numbers" in self.faults:
            inputs = {k: Number(repr(float(v))) if isinstance(v, Number) else v for k, v in inputs.items()}
        run = {"id": f"r_{next(self.numbers)}", "process": given["process"], "by": caller, "inputs": inputs,
               "done": {}, "claims": {}, "cancelled": ""}  # fmt: skip
        self.runs[run["id"]] = run
        return self.view(run)

    def get_run(self, caller, given):
        return self.view(self.found(given))

    def get_work(self, caller, given):
        steps = [
            (run, self.at(run)) for run in self.runs.values() if self.at(run) and caller.startswith("agent")
        ]
        items = [{"runId": run["id"], "stepId": step, "process": run["process"], "version": 1, "mode": "live",
                  "readySince": AT, "due": None, "overdue": False, "handoff": None,
                  "claim": {"tool": "claim", "arguments": {"runId": run["id"], "stepId": step, "requestId": "<new>"}}}
                 for run, step in steps if step not in run["claims"]]  # fmt: skip
        return {"items": items, "nextCursor": None}

    def claim(self, caller, given):
        run, step = self.found(given), given["stepId"]
        self.demand_alive(run)
        if step in run["claims"] and "double-claim" not in self.faults:
            raise RefusedError(
                "conflict", f"claimed_by_{'you' if run['claims'][step] == caller else 'other'}"
            )
        if step != self.at(run):
            raise RefusedError("conflict", "not_ready")
        run["claims"][step] = caller
        token = f"token-{next(self.numbers):06}"
        self.tokens[token] = run, step
        return {"token": token, "expiresAt": LATER, "mode": "live", "handoff": None, "body": "", "data": self.data(run),
                "step": {"id": step, "instructions": "Do it.", "output": None, "evidence": None, "next": None}}  # fmt: skip

    def submit(self, caller, given):
        if given["token"] not in self.tokens:
            raise RefusedError("invalid")
        run, step = self.tokens[given["token"]]
        self.demand_alive(run)
        if step in run["done"]:
            raise RefusedError("stale")
        name = PROCESSES[run["process"]][2][self.steps(run).index(step)]
        if name not in given["output"] and "accepts-anything" not in self.faults:
            raise RefusedError("not_accepted", f"output.{name}: missing")
        run["done"][step] = {"output": given["output"], "evidence": [], "summary": given["summary"], "by": caller,
                             "at": AT, "history": []}  # fmt: skip
        return self.view(run)

    def cancel(self, caller, given):
        if caller != "person:olga":
            raise RefusedError("forbidden")
        run = self.found(given)
        self.demand_alive(run)
        run["cancelled"] = given["reason"]
        return self.view(run)

    # what they share

    def found(self, given):
        if given["runId"] not in self.runs:
            raise RefusedError("not_found")
        return self.runs[given["runId"]]

    def demand_alive(self, run):
        if (run["cancelled"] or not self.at(run)) and "writes-after-the-end" not in self.faults:
            raise RefusedError("conflict", "run_ended")

    def steps(self, run):
        return PROCESSES[run["process"]][1]

    def at(self, run):
        """The step that the run is at; None when it is over."""
        left = [step for step in self.steps(run) if step not in run["done"]]
        return left[0] if left and not run["cancelled"] else None

    def data(self, run):
        return {"inputs": run["inputs"], "steps": run["done"]}

    def state(self, run, step):
        if step in run["done"]:
            return "done"
        if run["cancelled"]:
            return "cancelled" if step == next(s for s in self.steps(run) if s not in run["done"]) else None
        if step == self.at(run) or "opens-all" in self.faults:
            return "claimed" if step in run["claims"] else "ready"
        return None

    def view(self, run):
        over = self.at(run) is None and not run["cancelled"]
        steps = [{"id": step, "kind": "agent", "state": self.state(run, step)} for step in self.steps(run)]
        steps.append({"id": "done", "kind": "finish", "state": "done" if over else None})
        state = "cancelled" if run["cancelled"] else "ended" if over else "active"
        ended = {
            "by": "person:olga" if run["cancelled"] else "server",
            "at": AT,
            "note": run["cancelled"] or None,
        }
        leak = next((token for token, (owner, _) in self.tokens.items() if owner is run), "")
        return {
            "run": {"id": run["id"], "process": run["process"], "version": 1, "mode": "live", "state": state,
                    "outcome": "worked" if over else None, "ended": None if state == "active" else ended,
                    "startedBy": run["by"], "startedAt": AT, "updatedAt": AT},
            "data": self.data(run), "steps": steps, "workItems": [],
            "body": leak if "leaks-tokens" in self.faults else "",
            **({"colour": "red"} if "unknown-key" in self.faults else {}),
        }  # fmt: skip
