"""The profile check-1: a model answers fixed questions about each submission."""

from conformance.cases.checking import ANSWER, BAND, answer, asked, kept_check, refused
from conformance.client import new_id
from conformance.codec import Number
from conformance.demands import demand, equal, item_of, names, record_of, states
from conformance.evaluator import MODEL
from conformance.failures import Skip
from conformance.library import asks
from conformance.registry import EVALUATOR, STRICT, Chapter, profile
from conformance.world import World

chapter = Chapter("check", "A model answers questions about each submission", profile("check-1"), EVALUATOR)


@chapter.case(
    "pass", "A pass completes the step and is recorded", "check-1 §3",
    "The step completes as usual; run data keeps the verdict, the model and each question with answer and result.",
)  # fmt: skip
def passes(w: World) -> None:
    view = w.start("conform-check")
    claim = w.claim(view, "answer")
    view = answer(w, claim, yes=0.97)
    states(view, answer="done", after="ready")
    check = kept_check(view)
    equal(
        (check["verdict"], check["advisory"], check["model"]),
        ("pass", False, MODEL),
        "verdict, advisory, model",
    )
    equal(len(check["questions"]), 1, "the number of questions")
    question = check["questions"][0]
    equal(
        (question["ask"], question["kind"], question["result"]),
        (BAND, "yes_no", "pass"),
        "ask, kind and result",
    )
    equal(question["answer"], Number("0.97"), "answer")
    equal(len(asked(w)), 1, "how often the evaluator was asked")


@chapter.case(
    "fail", "A fail is not accepted", "check-1 §3",
    "Each failed question is an issue with its text; run data does not change and the claim stands.",
)  # fmt: skip
def fails(w: World) -> None:
    view = w.start("conform-check")
    claim = w.claim(view, "answer")
    refusal = refused(w, claim, yes=0.12)
    names(refusal, BAND, "0.12")
    read = w.view(view)
    equal(read["data"], view["data"], "run data after the refusal")
    states(read, answer="claimed")
    states(answer(w, claim, yes=0.97, summary="Better."), answer="done")


@chapter.case(
    "fail-line", "The issue line of a fail", "check-1 §3",
    "It reads `check: <ask> → <answer>`, with no (p) below pass.",
)  # fmt: skip
def fail_line(w: World) -> None:
    claim = w.claim(w.start("conform-check"), "answer")
    equal(list(refused(w, claim, yes=0.12).issues), [f"check: {BAND} → no (0.12)"], "the issues")


@chapter.case(
    "fail-handoff", "A fail is handed on", "check-1 §3",
    "handoff.check keeps the verdict and handoff.issues the lines, for whoever goes on with the attempt.",
)  # fmt: skip
def fail_handoff(w: World) -> None:
    claim = w.claim(w.start("conform-check"), "answer")
    refusal = refused(w, claim, yes=0.12)
    view = w.agent.ok("escalate", token=claim["token"], note="I don't know better.")
    handoff = item_of(view, "answer")["handoff"]
    equal(handoff["check"]["verdict"], "fail", "handoff.check.verdict")
    equal(handoff["issues"], list(refusal.issues), "handoff.issues")
    w.decide(view, "answer", "returned", by=w.handler(view, "answer"), note="Ask the client.")
    handoff = w.claim(view, "answer")["handoff"]
    equal(handoff["check"]["verdict"], "fail", "handoff.check.verdict after the return")
    equal(handoff["returned"]["note"], "Ask the client.", "handoff.returned.note")


@chapter.case(
    "thresholds", "At the thresholds", "check-1 §2",
    "A probability of exactly pass passes; exactly fail is unsure; only below fail it fails.",
)  # fmt: skip
def thresholds(w: World) -> None:
    equal(
        kept_check(answer(w, w.claim(w.start("conform-check"), "answer"), yes=0.9))["verdict"],
        "pass",
        "at 0.9",
    )
    for yes in (0.89, 0.5):
        view = answer(w, w.claim(w.start("conform-check"), "answer"), yes=yes)
        equal(kept_check(view)["verdict"], "unsure", f"the verdict at {yes}")
    refused(w, w.claim(w.start("conform-check"), "answer"), yes=0.49)


@chapter.case(
    "defaults", "The short form uses the server's thresholds", "check-1 §2, §5",
    "Without thresholds of its own a yes/no question takes checkPass and checkFail; without checkFail there is no unsure.",
)  # fmt: skip
def defaults(w: World) -> None:
    limits = w.about["limits"]
    passing, failing = float(limits["checkPass"]), limits["checkFail"]
    view = answer(w, w.claim(w.start("conform-check-short"), "answer"), yes=passing)
    equal(kept_check(view)["verdict"], "pass", f"the verdict at checkPass, {passing}")
    below = round(passing - 0.01, 4)
    claim = w.claim(w.start("conform-check-short"), "answer")
    if failing is None or float(failing) > below:
        names(refused(w, claim, yes=below), "The answer is polite.")
    else:
        equal(kept_check(answer(w, claim, yes=below))["verdict"], "unsure", f"the verdict at {below}")


@chapter.case(
    "kinds", "A question of each kind", "check-1 §2, §3",
    "Choices record the name and rubrics the level, each with a confidence; all three are asked about.",
)  # fmt: skip
def kinds(w: World) -> None:
    claim = w.claim(w.start("conform-check-kinds"), "answer")
    view = answer(w, claim, yes=0.95, choice=("plainly", 0.9), level=(2, 0.9))
    check = kept_check(view)
    equal([(q["kind"], q["result"]) for q in check["questions"]],
          [("yes_no", "pass"), ("choice", "pass"), ("rubric", "pass")], "kinds and results")  # fmt: skip
    equal([q["answer"] for q in check["questions"][1:]], ["plainly", 2], "the answers of choice and rubric")
    for question in check["questions"][1:]:
        demand("confidence" in question, f"a {question['kind']} carries its confidence")
    put = [question["instructions"] for request in asked(w) for question in request.questions.values()]
    equal(sum(ask in asks() for ask in put), 3, "the number of the process's questions that were asked")


@chapter.case(
    "choice", "A choice fails or is unsure by its name", "check-1 §2",
    "Names in pass pass, names in unsure are unsure, any other fails.",
)  # fmt: skip
def choice(w: World) -> None:
    claim = w.claim(w.start("conform-check-kinds"), "answer")
    refusal = refused(w, claim, choice=("hedging", 0.9))
    names(refusal, "How does the summary speak?", "hedging")
    equal(len(refusal.issues), 1, "the number of failed questions")
    view = answer(w, claim, choice=("unclear", 0.95), summary="Once more.")
    equal([q["result"] for q in kept_check(view)["questions"]], ["pass", "unsure", "pass"], "the results")


@chapter.case(
    "rubric", "A rubric fails below its level", "check-1 §2, §3",
    "A level below pass fails, and the issue names the level, its text and the confidence.",
)  # fmt: skip
def rubric(w: World) -> None:
    claim = w.claim(w.start("conform-check-kinds"), "answer")
    names(refused(w, claim, level=(1, 0.9)), "How complete is the answer?", "level 1: A part is answered.")
    names(refused(w, claim, level=(0, 0.9), summary="Once more."), "level 0: Nothing is answered.")


@chapter.case(
    "confidence", "A doubtful answer is unsure", "check-1 §2",
    "A choice or a level below the question's confidence is unsure, whatever it says.",
)  # fmt: skip
def confidence(w: World) -> None:
    for given in (
        {"choice": ("plainly", 0.5)},
        {"choice": ("hedging", 0.5)},
        {"level": (2, 0.5)},
        {"level": (0, 0.6)},
    ):
        view = answer(w, w.claim(w.start("conform-check-kinds"), "answer"), **given)
        equal(kept_check(view)["verdict"], "unsure", f"the verdict of {given}")


@chapter.case(
    "worst", "The worst question decides", "check-1 §3", "Unsure outranks fail, and fail outranks pass.",
)  # fmt: skip
def worst(w: World) -> None:
    claim = w.claim(w.start("conform-check-kinds"), "answer")
    refusal = refused(w, claim, yes=0.1, choice=("hedging", 0.95))
    equal(len(refusal.issues), 2, "the number of issues for two failed questions and one that passed")
    view = answer(w, claim, yes=0.1, level=(2, 0.5), summary="Once more.")
    equal([q["result"] for q in kept_check(view)["questions"]], ["fail", "pass", "unsure"], "the results")
    states(view, answer="waiting")


@chapter.case(
    "objective-first", "The objective rules come first", "check-1 §3",
    "A submission that breaks them is refused for that, and the evaluator is not asked.",
)  # fmt: skip
def objective_first(w: World) -> None:
    claim = w.claim(w.start("conform-check"), "answer")
    w.model.say(yes=0.1)
    refusal = w.agent.refused(
        "submit", "not_accepted", token=claim["token"], output={"answer": 5}, summary="S"
    )
    names(refusal, "answer")
    equal(len(w.model.asked), 0, "how often the evaluator was asked")


@chapter.case(
    "sees", "What the evaluator sees", "check-1 §2",
    "It is shown instructions, body, run data, output, summary, evidence references and the questions, and no addresses.",
)  # fmt: skip
def sees(w: World) -> None:
    view = w.start("conform-check", subject="the subject of the run")
    answer(w, w.claim(view, "answer"), yes=0.97, summary="The summary of the work.")
    request = asked(w)[0]
    for words in (
        "Answer about the subject.", "A model looks at the answer.", "the subject of the run", ANSWER,
        "The summary of the work.", BAND,
    ):  # fmt: skip
        demand(words in request.text, f"the evaluator must be shown {words!r}")
    claim = w.claim(w.start("conform-check-routes"), "answer")
    evidence = [{"kind": "link", "ref": "https://example.org/the-page"}]
    answer(w, claim, yes=0.97, evidence=evidence, next="left", reason="R")
    demand(
        "https://example.org/the-page" in asked(w)[0].text,
        "the evaluator must be shown the evidence references",
    )


@chapter.case(
    "advisory", "An advisory check blocks nothing", "check-1 §3",
    "With advisory: true every verdict is recorded as advisory and the step completes.",
)  # fmt: skip
def advisory(w: World) -> None:
    for yes, verdict in ((0.97, "pass"), (0.7, "unsure"), (0.1, "fail")):
        view = answer(w, w.claim(w.start("conform-check-advisory"), "answer"), yes=yes)
        states(view, answer="done", after="ready")
        check = kept_check(view)
        equal((check["verdict"], check["advisory"]), (verdict, True), f"verdict and advisory at {yes}")


@chapter.case(
    "advisory-error", "An advisory check whose evaluator is silent", "check-1 §3", "The verdict error is recorded, and the step completes.",
)  # fmt: skip
def advisory_error(w: World) -> None:
    claim = w.claim(w.start("conform-check-advisory"), "answer")
    w.model.break_down()
    view = w.submit(claim, {"answer": ANSWER})
    states(view, answer="done")
    equal(kept_check(view)["verdict"], "error", "the verdict")


@chapter.case(
    "error", "An evaluator that does not answer", "check-1 §3",
    "The agent is told retry, nothing changes, and the same requestId succeeds once the evaluator is back.",
)  # fmt: skip
def error(w: World) -> None:
    view = w.start("conform-check")
    claim = w.claim(view, "answer")
    given = {"token": claim["token"], "output": {"answer": ANSWER}, "summary": "S", "requestId": new_id()}
    w.model.break_down()
    w.agent.refused("submit", "retry", **given)
    demand(len(w.model.asked) > 1, "the server must ask once more before it gives up")
    equal(w.view(view)["data"], view["data"], "run data after the error")
    w.model.say(yes=0.97)
    states(w.agent.ok("submit", **given), answer="done")


@chapter.case(
    "task", "A person's task is checked too", "check-1 §3", "A completed task gets the same refusal, and its item stays open.",
)  # fmt: skip
def task(w: World) -> None:
    view = w.start("conform-check-task")
    w.model.say(yes=0.1)
    decision = w.decision(view, "answer", decision="completed", output={"answer": ANSWER})
    names(w.person.refused("decide", "not_accepted", **decision), BAND)
    states(w.view(view), answer="waiting")
    w.model.say(yes=0.97)
    view = w.decide(view, "answer", "completed", output={"answer": "Another answer."})
    equal(kept_check(view)["verdict"], "pass", "the verdict")


@chapter.case(
    "task-unsure", "A person's doubtful task", "check-1 §3",
    "An unsure verdict on a task escalates it, with the person's submission as the candidate.",
)  # fmt: skip
def task_unsure(w: World) -> None:
    view = w.start("conform-check-task")
    w.model.say(yes=0.7)
    view = w.decide(view, "answer", "completed", output={"answer": ANSWER})
    states(view, answer="waiting")
    item = item_of(view, "answer")
    equal(item["escalation"]["candidate"]["output"], {"answer": ANSWER}, "escalation.candidate.output")
    equal(set(item["decide"]["decisions"]), {"returned", "completed", "failed"}, "decisions")
    view = w.decide(view, "answer", "returned", by=w.handler(view, "answer"), note="Be clearer.")
    item = item_of(view, "answer")
    equal(item["escalation"], None, "the escalation of the assignee's item after the return")
    equal(item["handoff"]["returned"]["note"], "Be clearer.", "handoff.returned.note of the assignee's item")


@chapter.case(
    "rework", "Rework starts fresh, the verdict stays in history", "check-1 §3",
    "After a rejection the handoff is empty and the earlier verdict is in the step's history.",
)  # fmt: skip
def rework(w: World) -> None:
    view = w.start("conform-check-review")
    view = answer(w, w.claim(view, "answer"), yes=0.97)
    view = w.decide(view, "review", "rejected", note="Again.")
    equal(record_of(view, "answer")["history"][0]["check"]["verdict"], "pass", "the verdict in the history")
    claim = w.claim(view, "answer")
    equal(claim["handoff"], None, "the handoff after the rejection")
    view = answer(w, claim, yes=0.7, summary="Once more.")
    equal(
        record_of(view, "answer")["check"]["verdict"],
        "unsure",
        "the verdict while the second round is escalated",
    )
    equal(len(record_of(view, "answer")["history"]), 1, "the length of the history")


@chapter.case(
    "unchanged", "Unchanged material is not asked about again", "our ruling on check-1 §3",
    "Within an attempt the same submission gets the stored verdict: nobody rolls the dice twice.", STRICT,
)  # fmt: skip
def unchanged(w: World) -> None:
    claim = w.claim(w.start("conform-check"), "answer")
    refused(w, claim, yes=0.1)
    refused(w, claim, yes=0.97)
    equal(len(w.model.asked), 0, "how often the evaluator was asked about the same again")


@chapter.case(
    "gives-up", "After three errors a person is asked", "our ruling on check-1 §3",
    "A server may escalate after repeated errors; ours does so at the third in a row on one submission.", STRICT,
)  # fmt: skip
def gives_up(w: World) -> None:
    claim = w.claim(w.start("conform-check"), "answer")
    given = {"token": claim["token"], "output": {"answer": ANSWER}, "summary": "S", "requestId": new_id()}
    w.model.break_down()
    for _ in range(2):
        w.agent.refused("submit", "retry", **given)
    view = w.agent.ok("submit", **given)
    states(view, answer="waiting")
    item = item_of(view, "answer")
    equal(item["escalation"]["candidate"]["output"], {"answer": ANSWER}, "escalation.candidate.output")


@chapter.case(
    "truncated", "Run data that is too much for the evaluator", "check-1 §5",
    "Beyond limits.checkStateBytes run data is cut before it is shown, and the verdict says so.",
)  # fmt: skip
def truncated(w: World) -> None:
    limits = w.about["limits"]
    size = int(limits["checkStateBytes"]) + 2000
    if size + 2000 > int(limits["runDataBytes"]):
        raise Skip("no run can hold more data than the evaluator is shown")
    view = w.start("conform-check", subject="x" * size)
    view = answer(w, w.claim(view, "answer"), yes=0.97)
    equal(kept_check(view).get("truncated"), True, "truncated")
    demand("x" * size not in asked(w)[0].text, "the evaluator must not be shown all of it")
