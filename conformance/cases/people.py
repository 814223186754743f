"""People: items, who gets them, and what each decision does."""

from conformance.demands import demand, equal, item_of, no_current, outcome, record_of, states
from conformance.failures import Skip
from conformance.registry import PEOPLE_NAMED, Chapter
from conformance.world import World

chapter = Chapter("people", "Items and decisions of people")


@chapter.case(
    "task-item", "An item for a task", "core §3.4; tools: workItems",
    "A task's item carries its text, its requirements as the file has them, and takes completed and failed.",
)  # fmt: skip
def task_item(w: World) -> None:
    view = w.start("conform-task")
    item = item_of(view, "task")
    equal(
        (item["kind"], item["text"], item["escalation"]),
        ("task", "Count the boxes.", None),
        "kind, text, escalation",
    )
    equal(item["output"], {"answer": "string", "count": {"type": "number", "optional": True}}, "output")
    demand(not item["evidence"] and item["next"] is None, "a task without evidence and routes asks for none")
    equal(set(item["decide"]["decisions"]), {"completed", "failed"}, "decisions")
    equal(view["run"]["state"], "waiting", "the state of a run that waits for a person only")
    states(view, task="waiting")


@chapter.case(
    "approve-item", "An item for an approval", "tools: workItems",
    "An approval's item asks for no output, evidence or route, and takes approved, rejected and failed.",
)  # fmt: skip
def approve_item(w: World) -> None:
    item = item_of(w.start("conform-verdict"), "ask")
    equal((item["kind"], item["text"]), ("approve", "Say yes or no."), "kind and text")
    equal((item["output"], item["evidence"], item["next"]), (None, None, None), "output, evidence and next")
    equal(set(item["decide"]["decisions"]), {"approved", "rejected", "failed"}, "decisions")
    demand("group" in item["assignedTo"], "an item for a role is assigned to a group")


@chapter.case(
    "shared", "A role's item is shared", "core §3.4",
    "Every member of the group behind a role finds the same item.",
)  # fmt: skip
def shared(w: World) -> None:
    view = w.start("conform-task")
    mine, theirs = w.offered(view, w.person), w.offered(view, w.colleague)
    equal(len(mine), 1, "the items that person 1 finds")
    equal(mine, theirs, "what person 2 finds")


@chapter.case(
    "same-item", "get_work gives the item that get_run gives", "tools: get_work",
    "workItem in a person's work is the very object of the run view.",
)  # fmt: skip
def same_item(w: World) -> None:
    view = w.start("conform-approval")
    view = w.work(view, "draft", {"text": "T"})
    equal(w.offered(view, w.person)[0]["workItem"], item_of(w.view(view, w.person), "approve"), "workItem")


@chapter.case(
    "not-for-agents", "Agents don't find items of people", "core §4.1",
    "An agent's work is ready agent steps, a person's is open items.",
)  # fmt: skip
def not_for_agents(w: World) -> None:
    view = w.start("conform-task")
    equal(w.offered(view), [], "what an agent finds of a run that waits for a person")


@chapter.case(
    "first-wins", "The first decision wins", "core §3.4",
    "Once an item is decided, a second group member is told already_decided, whatever the snapshot.",
)  # fmt: skip
def first_wins(w: World) -> None:
    view = w.work(w.start("conform-approval"), "draft", {"text": "T"})
    theirs = w.decision(view, "approve", decision="approved")
    w.decide(view, "approve", "rejected", note="No.")
    w.colleague.refused("decide", "conflict", issue="already_decided", **theirs)
    no_current(w.view(view), "draft")


@chapter.case(
    "completed", "A task is completed", "core §3.4, §3.1",
    "completed records output, evidence, who and when, and the run goes on.",
)  # fmt: skip
def completed(w: World) -> None:
    view = w.start("conform-task")
    view = w.decide(view, "task", "completed", output={"answer": "12"}, summary="Counted twice.")
    record = record_of(view, "task")
    equal((record["output"], record["summary"]), ({"answer": "12"}, "Counted twice."), "output and summary")
    demand(
        record["by"] and record["at"] and record["history"] == [], "by, at and an empty history are recorded"
    )
    outcome(view, "counted")


@chapter.case(
    "summary-optional", "A person needs no summary", "core §3.3", "The summary is required of agents, optional for people.",
)  # fmt: skip
def summary_optional(w: World) -> None:
    outcome(w.decide(w.start("conform-task"), "task", "completed", output={"answer": "12"}), "counted")


@chapter.case(
    "task-failed", "A task fails", "core §3.4, §3.5",
    "failed ends the run as failed: the step is failed, its record is the decision, note, who and when.",
)  # fmt: skip
def task_failed(w: World) -> None:
    view = w.decide(w.start("conform-task"), "task", "failed", note="The boxes are gone.")
    outcome(view, "failed")
    states(view, task="failed", done=None)
    record = record_of(view, "task")
    equal(set(record), {"decision", "note", "by", "at", "history"}, "what is recorded")
    equal((record["decision"], record["note"]), ("failed", "The boxes are gone."), "decision and note")
    ended = view["run"]["ended"]
    equal((ended["note"], ended["by"]), ("The boxes are gone.", record["by"]), "ended: note and by")


@chapter.case(
    "approved", "An approval is given", "core §3.4; tools: data.steps",
    "approved goes on at next; the record is the decision, note, who and when, and nothing else.",
)  # fmt: skip
def approved(w: World) -> None:
    view = w.decide(w.start("conform-verdict"), "ask", "approved")
    outcome(view, "agreed")
    states(view, ask="done", done="done")
    record = record_of(view, "ask")
    demand(set(record) <= {"decision", "note", "by", "at", "history"}, "an approval records nothing else")
    equal((record["decision"], record["history"]), ("approved", []), "decision and history")


@chapter.case(
    "approved-with-note", "An approval may say why", "core §3.1", "A note with approved is kept.",
)  # fmt: skip
def approved_with_note(w: World) -> None:
    view = w.decide(w.start("conform-verdict"), "ask", "approved", note="Well done.")
    equal(record_of(view, "ask")["note"], "Well done.", "note")


@chapter.case(
    "rejected", "A rejection without a way back", "core §2.2, §3.5",
    "Without on_reject a rejection ends the run as rejected, with the note and whoever wrote it.",
)  # fmt: skip
def rejected(w: World) -> None:
    view = w.decide(w.start("conform-verdict"), "ask", "rejected", note="Not like this.")
    outcome(view, "rejected")
    record = record_of(view, "ask")
    equal((record["decision"], record["note"]), ("rejected", "Not like this."), "decision and note")
    ended = view["run"]["ended"]
    equal((ended["note"], ended["by"]), ("Not like this.", record["by"]), "ended: note and by")
    states(view, done=None)


@chapter.case(
    "approval-failed", "An approval fails the run", "core §3.4", "failed is open to any item, with a note.",
)  # fmt: skip
def approval_failed(w: World) -> None:
    view = w.decide(w.start("conform-verdict"), "ask", "failed", note="The project is off.")
    outcome(view, "failed")
    states(view, ask="failed")
    equal(record_of(view, "ask")["decision"], "failed", "decision")


@chapter.case(
    "note-needed", "A no needs a note", "tools: decide", "rejected and failed need a note; without one nothing changes.",
)  # fmt: skip
def note_needed(w: World) -> None:
    view = w.start("conform-verdict")
    for decision in ("rejected", "failed"):
        w.person.refused("decide", "invalid", "not_accepted", **w.decision(view, "ask", decision=decision))
    states(w.view(view), ask="waiting")


@chapter.case(
    "other-kind", "A decision that the item does not take", "tools: decide",
    "Each kind of item takes its own decisions only.",
)  # fmt: skip
def other_kind(w: World) -> None:
    task, ask = w.start("conform-task"), w.start("conform-verdict")
    for view, step, given in (
        (task, "task", {"decision": "approved"}),
        (task, "task", {"decision": "rejected", "note": "N"}),
        (task, "task", {"decision": "returned", "note": "N"}),
        (ask, "ask", {"decision": "completed", "output": {}}),
        (ask, "ask", {"decision": "returned", "note": "N"}),
    ):
        w.person.refused("decide", "invalid", "not_accepted", **w.decision(view, step, **given))
    states(w.view(task), task="waiting")
    states(w.view(ask), ask="waiting")


@chapter.case(
    "path", "A path leads to a person", "core §2.2, §3.4",
    "person: inputs.x gives the item to that person and to nobody else.", PEOPLE_NAMED,
)  # fmt: skip
def path(w: World) -> None:
    view = w.start("conform-person", reviewer=w.colleague.value)
    equal(item_of(view, "review")["assignedTo"], {"person": w.colleague.value}, "assignedTo")
    equal(w.offered(view, w.person), [], "what person 1 finds of an item for person 2")
    equal(len(w.offered(view, w.colleague)), 1, "the items that person 2 finds")
    w.person.refused("decide", "forbidden", **w.decision(view, "review", decision="approved"))
    outcome(w.decide(view, "review", "approved", by=w.colleague), "reviewed")


@chapter.case(
    "path-to-nobody", "A path that leads to nobody", "core §3.4, §3.5",
    "It fails the step by the server, with a note, and so ends the run.",
)  # fmt: skip
def path_to_nobody(w: World) -> None:
    if w.about["person"]["format"] != "email":
        raise Skip("the suite knows no person that is nobody but an e-mail address")
    view = w.start("conform-person", reviewer="nobody-there@invalid.example")
    outcome(view, "failed")
    states(view, review="failed")
    record, ended = record_of(view, "review"), view["run"]["ended"]
    equal(
        (record["decision"], record["by"], ended["by"]),
        ("failed", "server", "server"),
        "decision, by and ended by",
    )
    demand(record["note"] and ended["note"], "the server must say in a note what is wrong")


@chapter.case(
    "path-into-output", "A path into a step's output", "core §2.2",
    "person: steps.x.output.y is resolved when the step becomes ready.", PEOPLE_NAMED,
)  # fmt: skip
def path_into_output(w: World) -> None:
    view = w.work(w.start("conform-handover"), "pick", {"who": w.person.value})
    equal(item_of(view, "take")["assignedTo"], {"person": w.person.value}, "assignedTo")
    outcome(w.decide(view, "take", "completed", output={}), "taken")


@chapter.case(
    "path-without-value", "A path to a value that is not there", "core §3.5",
    "An optional person that was left out is nobody, so the step fails by the server.",
)  # fmt: skip
def path_without_value(w: World) -> None:
    view = w.work(w.start("conform-handover"), "pick", {})
    outcome(view, "failed")
    states(view, pick="done", take="failed")
    equal(record_of(view, "take")["by"], "server", "by of the failed step")


@chapter.case(
    "due", "An item says when it is due", "core §2.2",
    "due counts from the moment the step became ready, on the item and on the step.",
)  # fmt: skip
def due(w: World) -> None:
    from conformance.demands import entry_of, moment

    view = w.start("conform-task")
    after = moment(item_of(view, "task")["due"]) - moment(view["run"]["startedAt"])
    demand(
        abs(after.total_seconds() - 86_400) <= 1, f"due must be a day after the start, and is {after} after"
    )
    entry = entry_of(view, "task")
    equal(
        (entry["due"], entry["overdue"]), (item_of(view, "task")["due"], False), "due and overdue of the step"
    )
