"""What happens to a submission that a check is unsure of."""

from conformance.cases.checking import ANSWER, BAND, answer, unsure
from conformance.client import new_id
from conformance.codec import Number
from conformance.demands import among, demand, equal, item_of, names, outcome, record_of, states
from conformance.registry import EVALUATOR, Chapter, profile
from conformance.world import World

chapter = Chapter("unsure", "What happens to a doubtful submission", profile("check-1"), EVALUATOR)


@chapter.case(
    "held", "The call succeeds, the submission is held", "check-1 §3",
    "The step is escalated; the item carries the verdict and the candidate, run data shows the verdict, the token is dead.",
)  # fmt: skip
def held(w: World) -> None:
    view, claim = unsure(w)
    states(view, answer="waiting", after=None)
    equal(view["run"]["state"], "waiting", "the run's state")
    item = item_of(view, "answer")
    equal(item["kind"], "agent", "the item's kind")
    equal(set(item["decide"]["decisions"]), {"returned", "completed", "failed"}, "decisions")
    escalation = item["escalation"]
    equal(escalation["check"]["verdict"], "unsure", "escalation.check.verdict")
    equal(escalation["check"]["questions"][0]["answer"], Number("0.7"), "the answer in escalation.check")
    equal(escalation["candidate"]["output"], {"answer": ANSWER}, "escalation.candidate.output")
    equal(escalation["candidate"]["summary"], "Done as asked.", "escalation.candidate.summary")
    record = record_of(view, "answer")
    equal(
        (record["check"]["verdict"], "output" in record),
        ("unsure", False),
        "what run data holds while it waits",
    )
    given = {"token": claim["token"], "output": {"answer": "B"}, "summary": "S"}
    w.agent.refused("submit", "stale", "invalid", **given)


@chapter.case(
    "listed", "A person finds it with its verdict", "check-1 §3", "get_work shows the same escalation as the run view.",
)  # fmt: skip
def listed(w: World) -> None:
    view, _ = unsure(w)
    who = w.handler(view, "answer")
    item = w.offered(view, who)[0]["workItem"]
    equal(item, item_of(w.view(view, who), "answer"), "workItem")


@chapter.case(
    "taken", "completed without output takes the candidate", "check-1 §3; tools: workItems",
    "The held submission becomes the step's, and the verdict stays with it; nobody is asked again.",
)  # fmt: skip
def taken(w: World) -> None:
    view, _ = unsure(w)
    who = w.handler(view, "answer")
    w.model.say(yes=0.1)
    view = w.decide(view, "answer", "completed", by=who)
    record = record_of(view, "answer")
    equal(record["output"], {"answer": ANSWER}, "output")
    equal(record["summary"], "Done as asked.", "summary")
    equal(record["check"]["verdict"], "unsure", "check.verdict")
    demand(record["by"] != view["run"]["startedBy"], "by must be the person")
    states(view, answer="done", after="ready")
    equal(len(w.model.asked), 0, "how often the evaluator was asked after the decision")


@chapter.case(
    "taken-whole", "All of the candidate is taken", "check-1 §3", "Evidence, route and reason come from the candidate too.",
)  # fmt: skip
def taken_whole(w: World) -> None:
    claim = w.claim(w.start("conform-check-routes"), "answer")
    evidence = [{"kind": "link", "ref": "https://example.org/the-page"}]
    view = answer(w, claim, yes=0.7, evidence=evidence, next="right", reason="It is not so.")
    candidate = item_of(view, "answer")["escalation"]["candidate"]
    equal(
        (candidate["next"], candidate["evidence"]), ("right", evidence), "next and evidence of the candidate"
    )
    view = w.decide(view, "answer", "completed", by=w.handler(view, "answer"))
    record = record_of(view, "answer")
    equal((record["next"], record["reason"]), ("right", "It is not so."), "next and reason")
    equal(record["evidence"], evidence, "evidence")
    outcome(view, "went-right")


@chapter.case(
    "replaced", "completed with an output of one's own", "check-1 §3",
    "The person's output counts; it meets the objective rules and is not checked.",
)  # fmt: skip
def replaced(w: World) -> None:
    view, _ = unsure(w)
    who = w.handler(view, "answer")
    w.model.say(yes=0.1)
    wrong = w.decision(view, "answer", decision="completed", output={"answer": 5})
    names(who.refused("decide", "not_accepted", **wrong), "answer")
    view = w.decide(view, "answer", "completed", by=who, output={"answer": "The person's own."})
    equal(record_of(view, "answer")["output"], {"answer": "The person's own."}, "output")
    equal(len(w.model.asked), 0, "how often the evaluator was asked after the decision")


@chapter.case(
    "returned", "Returned, with the verdict", "check-1 §3",
    "The next claim reads the note, the verdict and its lines; run data shows the verdict no longer.",
)  # fmt: skip
def returned(w: World) -> None:
    view, _ = unsure(w)
    view = w.decide(view, "answer", "returned", by=w.handler(view, "answer"), note="Say it plainly.")
    states(view, answer="ready")
    demand(
        "check" not in view["data"]["steps"].get("answer", {}), "run data must show no verdict after a return"
    )
    claim = w.claim(view, "answer")
    handoff = claim["handoff"]
    equal(handoff["returned"]["note"], "Say it plainly.", "handoff.returned.note")
    equal(handoff["check"]["verdict"], "unsure", "handoff.check.verdict")
    demand(
        any(BAND in line for line in handoff["issues"]), "handoff.issues must carry the line of the question"
    )
    states(answer(w, claim, yes=0.97, summary="Plainly."), answer="done")


@chapter.case(
    "failed", "A person gives up on it", "check-1 §3", "failed with a note ends the run.",
)  # fmt: skip
def failed(w: World) -> None:
    view, _ = unsure(w)
    outcome(w.decide(view, "answer", "failed", by=w.handler(view, "answer"), note="Hopeless."), "failed")


@chapter.case(
    "agents-never", "An agent does not settle it", "core §6.4", "Only a person decides about a held submission.",
)  # fmt: skip
def agents_never(w: World) -> None:
    view, _ = unsure(w)
    w.agent.refused("decide", "forbidden", **w.decision(view, "answer", decision="completed"))
    w.other.refused("claim", "conflict", issue="not_ready", runId=view["run"]["id"], stepId="answer")


@chapter.case(
    "replay", "The submission again", "core §4", "A replay of an unsure submission gives the original view, and nobody is asked again.",
)  # fmt: skip
def replay(w: World) -> None:
    claim = w.claim(w.start("conform-check"), "answer")
    given = {"token": claim["token"], "output": {"answer": ANSWER}, "summary": "S", "requestId": new_id()}
    w.model.say(yes=0.7)
    first = w.agent.ok("submit", **given)
    w.model.say(yes=0.97)
    again = w.agent.ok("submit", **given)
    equal(
        (again["data"], again["workItems"]),
        (first["data"], first["workItems"]),
        "data and items of the replay",
    )
    among(len(w.model.asked), (0,), "how often the evaluator was asked by the replay")
