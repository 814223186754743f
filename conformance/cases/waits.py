"""Waits: what the server does by itself."""

from datetime import timedelta

from conformance.demands import demand, equal, moment, outcome, record_of, state_of, states
from conformance.registry import Chapter
from conformance.world import World

chapter = Chapter("wait", "What the server does by itself")

SOON_SECONDS = 2.0


@chapter.case(
    "over", "A wait that is over goes on by itself", "core §2.2, §3.1",
    "After its duration a wait is done, recorded with by: server, and the next step is ready.",
)  # fmt: skip
def over(w: World) -> None:
    view = w.start("conform-wait")
    view = w.until(view, lambda seen: state_of(seen, "pause") == "done", "the wait of no length is over")
    states(view, work="ready")
    record = record_of(view, "pause")
    equal(record["by"], "server", "by")
    equal(set(record), {"by", "at", "history"}, "what is recorded of a wait")
    outcome(w.work(view, "work"), "waited")


@chapter.case(
    "long", "A wait that lasts", "core §3.5",
    "A run in which only a timer is pending is waiting; the step waits, and nothing is recorded yet.",
)  # fmt: skip
def long(w: World) -> None:
    view = w.start("conform-sleep")
    equal(view["run"]["state"], "waiting", "the run's state")
    states(view, sleep="waiting", done=None)
    equal(view["data"]["steps"], {}, "what run data holds")
    equal((w.offered(view), w.offered(view, w.person)), ([], []), "the work of it for agents and people")


@chapter.case(
    "until-past", "wait_until a moment that is past", "core §2.2",
    "It continues at once: the write that reached it already shows the next step ready.",
)  # fmt: skip
def until_past(w: World) -> None:
    for at in ("2020-01-01T00:00:00Z", "2020-01-01T00:00:00+14:00", "1999-12-31T23:59:59.5-08:00"):
        view = w.start("conform-until", at=at)
        states(view, until="done", work="ready")
        equal(record_of(view, "until")["by"], "server", "by")


@chapter.case(
    "until-soon", "wait_until a moment that comes", "core §2.2", "It waits until then, and not a moment less.",
)  # fmt: skip
def until_soon(w: World) -> None:
    at = w.stamp_in(SOON_SECONDS)
    view = w.start("conform-until", at=at)
    states(view, until="waiting", work=None)
    equal(view["run"]["state"], "waiting", "the run's state")
    view = w.until(view, lambda seen: state_of(seen, "until") == "done", "the moment has come")
    demand(
        moment(record_of(view, "until")["at"]) >= moment(at) - timedelta(milliseconds=2),
        f"it must not go on before {at}, and did at {record_of(view, 'until')['at']}",
    )


@chapter.case(
    "until-far", "wait_until a moment with another offset", "core §2.3",
    "The offset counts: a moment that is past by the clock on the wall may be to come.",
)  # fmt: skip
def until_far(w: World) -> None:
    now = w.now()
    local = (now + timedelta(hours=1) - timedelta(hours=12)).strftime("%Y-%m-%dT%H:%M:%S") + "-12:00"
    states(w.start("conform-until", at=local), until="waiting")
    local = (now - timedelta(hours=1) + timedelta(hours=12)).strftime("%Y-%m-%dT%H:%M:%S") + "+12:00"
    states(w.start("conform-until", at=local), until="done")


@chapter.case(
    "until-missing", "wait_until a value that is not there", "core §2.2, §3.5",
    "A missing value fails the step by the server, with a note, and so ends the run.",
)  # fmt: skip
def until_missing(w: World) -> None:
    view = w.start("conform-until")
    outcome(view, "failed")
    states(view, until="failed", work=None)
    record, ended = record_of(view, "until"), view["run"]["ended"]
    equal((record["by"], ended["by"]), ("server", "server"), "by and ended.by")
    demand(record["note"] and ended["note"], "the server must say in a note what is wrong")


@chapter.case(
    "until-output", "wait_until a value of an output", "core §2.2", "The path may lead into what an earlier step handed in.",
)  # fmt: skip
def until_output(w: World) -> None:
    outcome(w.work(w.start("conform-until-output"), "set", {"at": "2020-01-01T00:00:00Z"}), "reached")
    view = w.work(w.start("conform-until-output"), "set", {"at": "2999-01-01T00:00:00Z"})
    states(view, until="waiting")
    view = w.work(w.start("conform-until-output"), "set", {})
    outcome(view, "failed")
    states(view, set="done", until="failed")


@chapter.case(
    "due-now", "Overdue work is marked and stays open", "core §2.2",
    "When due passes, the step is overdue in the view and in get_work, and can be done all the same.",
)  # fmt: skip
def due_now(w: World) -> None:
    from conformance.demands import entry_of

    view = w.start("conform-due")
    view = w.until(view, lambda seen: entry_of(seen, "work").get("overdue") is True, "the step is overdue")
    states(view, work="ready")
    offered = w.offered(view)
    equal([entry["overdue"] for entry in offered], [True], "overdue in get_work")
    outcome(w.work(view, "work"), "hurried")
