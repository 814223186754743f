"""Agents, people, starters and senders of events, who keep at it until a server says yes or no."""

import base64
import random
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from tests.chaos.records import Ack, Record

GOOD, BAD, DOUBTFUL = "good", "bad", "doubtful"
PATIENCE_SECONDS = 180.0  # for one write, whatever is killed meanwhile

Data = dict[str, Any]


class StuckError(RuntimeError):
    """A write that got neither yes nor no for longer than anything is down."""


@dataclass(frozen=True, slots=True)
class Refused:
    code: str
    issues: tuple[str, ...]
    message: str


class Caller:
    """One identity before all web servers. `settle` sends a write until it is answered for good."""

    def __init__(self, name: str, doors: Sequence[httpx.Client], record: Record) -> None:
        self.name, self.doors, self.record = name, doors, record
        self.random = random.Random(name)
        self.others: list[Caller] = [self]
        self.most_pause = 2.0  # seconds; a server that is back is found soon
        self._last = ""

    def settle(self, tool: str, **arguments: Any) -> Data | Refused:
        arguments.setdefault("requestId", str(uuid.uuid4()))
        answer = self._until_answered(tool, arguments)
        if not isinstance(answer, Refused):
            run = answer.get("run", {}).get("id") or arguments.get("runId", "")
            self.record.ack(Ack(caller=self.name, tool=tool, arguments=arguments, run=run))
            if answer.get("run", {}).get("state") == "ended":
                self.record.end(run)
        return answer

    def read(self, tool: str, **arguments: Any) -> Data:
        answer = self._until_answered(tool, arguments)
        if isinstance(answer, Refused):
            raise StuckError(f"{tool} {arguments} was refused: {answer}")
        return answer

    def _until_answered(self, tool: str, arguments: Data) -> Data | Refused:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            answer, pause = self._once(tool, arguments)
            if answer is not None:
                return answer
            time.sleep(pause)
        raise StuckError(f"{tool} got no answer in {PATIENCE_SECONDS:.0f} s; the last was: {self._last}")

    def _once(self, tool: str, arguments: Data) -> tuple[Data | Refused | None, float]:
        """An answer for good, or None and how long to wait before asking again."""
        try:
            response = self.random.choice(self.doors).post(f"/v1/{tool}", json=arguments)
        except httpx.TransportError as error:
            self._last = repr(error)
            self.record.count("calls without an answer")
            return None, 0.2
        self._last = f"{response.status_code} {response.text[:500]}"
        try:
            envelope = response.json()
            if envelope["ok"]:
                return envelope["data"], 0
            error = envelope["error"]
        except (ValueError, KeyError, TypeError):
            self.record.fault(f"{tool}: {self._last}")
            return None, 0.5
        if error["code"] != "retry":
            return Refused(error["code"], tuple(error.get("issues", ())), error["message"]), 0
        self.record.count("calls told to retry")
        return None, min(float(response.headers.get("Retry-After", "1")), self.most_pause)


def nonce() -> str:
    return f"n-{uuid.uuid4().hex}"


@dataclass
class Load:
    """What keeps the callers busy until `stop`; afterwards they finish what is open until `done`.

    Overdue work is left alone until `late`.
    """

    record: Record
    most_open: int = 12

    def __post_init__(self) -> None:
        self.stop, self.late, self.done = threading.Event(), threading.Event(), threading.Event()
        self.errors: list[BaseException] = []
        self._threads: list[threading.Thread] = []

    def run(self, turn: Callable[["Load", Caller], None], caller: Caller) -> None:
        def loop() -> None:
            try:
                while not self.done.is_set():
                    turn(self, caller)
            except BaseException as error:  # noqa: BLE001 - told by `join`
                self.errors.append(error)

        thread = threading.Thread(target=loop, name=caller.name, daemon=True)
        thread.start()
        self._threads.append(thread)

    def join(self) -> None:
        self.done.set()
        for thread in self._threads:
            thread.join(PATIENCE_SECONDS)
        if self.errors:
            raise self.errors[0]


# ---- what each does, over and over


def starts(load: Load, caller: Caller) -> None:
    if load.stop.is_set() or len(load.record.busy) >= load.most_open:
        time.sleep(0.1)
        return
    process = caller.random.choices(["chaos-work", "chaos-fork", "chaos-late"], [6, 3, 1])[0]
    mark = nonce()
    soon = datetime.now(UTC) + timedelta(seconds=caller.random.choice([0.5, 2, 4]))
    inputs = {"mark": mark} | ({"at": soon.isoformat()} if process == "chaos-fork" else {})
    answer = caller.settle("start_run", process=process, inputs=inputs)
    if isinstance(answer, Refused):
        raise StuckError(f"start_run was refused: {answer}")
    load.record.start(answer["run"]["id"], process)
    load.record.mark(mark, answer["run"]["id"])


def works(load: Load, caller: Caller) -> None:
    items = caller.read("get_work", limit=20)["items"]
    items = [item for item in items if load.late.is_set() or item["process"] != "chaos-late"]
    if not items:
        time.sleep(0.1)
        return
    item = caller.random.choice(items)
    claim = caller.settle("claim", runId=item["runId"], stepId=item["stepId"])
    if isinstance(claim, Refused):
        return
    token = claim["token"]
    luck = caller.random.random()
    if luck < 0.05 and not load.stop.is_set():
        return  # walks away: the lease ends, and another takes it
    if luck < 0.15:
        renewed = caller.settle("renew", token=token, progress="half of it")
        if isinstance(renewed, Refused):
            return
        token = renewed["token"]
    _submit(load, caller, item, token)


def _submit(load: Load, caller: Caller, item: Data, token: str) -> None:
    checked = item["process"] == "chaos-work"
    quality = caller.random.choices([GOOD, BAD, DOUBTFUL], [6, 2, 2])[0] if checked else GOOD
    evidence = []
    if item["stepId"] == "left":
        content = nonce().encode()
        upload = caller.settle(
            "upload", fileName="left.txt", contentType="text/plain",
            contentBase64=base64.b64encode(content).decode(),
        )  # fmt: skip
        if isinstance(upload, Refused):
            raise StuckError(f"upload was refused: {upload}")
        load.record.files[upload["id"]] = content
        evidence = [{"kind": "file", "ref": upload["id"]}]
    for attempt in (quality, GOOD):
        mark = nonce()
        answer = caller.settle(
            "submit", token=token, output={"mark": mark, "quality": attempt}, summary="Done.",
            evidence=evidence,
        )  # fmt: skip
        if not isinstance(answer, Refused):
            _told(load, answer, item["runId"], item["stepId"], mark)
            return
        load.record.refuse(mark, answer.code)
        if answer.code != "not_accepted":
            return


def _told(load: Load, view: Data, run: str, step: str, mark: str) -> None:
    """The step holds it, or a person is asked about it."""
    if view["data"]["steps"].get(step, {}).get("output", {}).get("mark") == mark:
        load.record.mark(mark, run)


def decides(load: Load, caller: Caller) -> None:
    items = caller.read("get_work", limit=20)["items"]
    if not items:
        time.sleep(0.1)
        return
    entry = caller.random.choice(items)
    item, mark = entry["workItem"], nonce()
    call = item["decide"]["arguments"] | {"requestId": str(uuid.uuid4())}
    if item["escalation"] is not None:
        candidate = item["escalation"].get("candidate")
        if candidate is None:
            call |= {"decision": "completed", "output": {"mark": mark, "quality": GOOD}}
        elif caller.random.random() < 0.3:
            call |= {"decision": "returned", "note": "Once more."}
        else:
            call |= {"decision": "completed"}
            mark = candidate["output"]["mark"]
    elif item["kind"] == "approve":
        rejected = caller.random.random() < 0.2
        call |= {"decision": "rejected" if rejected else "approved", "note": mark}
    else:
        call |= {"decision": "completed", "output": {"mark": mark}}
    answer = caller.settle("decide", **call)
    if isinstance(answer, Refused):
        # somebody else was quicker, or the run moved: a candidate's mark may still be taken by another
        if item["escalation"] is None:
            load.record.refuse(mark, answer.code)
    elif call["decision"] in ("completed", "approved", "rejected"):
        load.record.mark(mark, entry["runId"])


def sends(load: Load, caller: Caller) -> None:
    with load.record.lock:
        waiting = [
            run
            for run, process in load.record.runs.items()
            if process == "chaos-fork" and run not in load.record.sent
        ]
    if not waiting:
        time.sleep(0.1)
        return
    mark = nonce()
    answer = caller.settle("send_event", runId=waiting[0], name="news", data={"mark": mark})
    load.record.sent.add(waiting[0])
    if isinstance(answer, Refused):
        raise StuckError(f"send_event was refused: {answer}")
    load.record.mark(mark, waiting[0])
