"""While a submission is checked: the evaluator has been asked and has not answered."""

from conformance.cases.checking import ANSWER, while_checking
from conformance.demands import demand, equal, outcome, states
from conformance.registry import EVALUATOR, SHORT_LEASE, STRICT, Chapter, profile
from conformance.world import World

chapter = Chapter("checking", "While a submission is checked", profile("check-1"), EVALUATOR)


@chapter.case(
    "cancel-wins", "A run is cancelled while its submission is checked", "core §3.5",
    "Nothing is written to a run that is over: the late verdict completes nothing, and the submission is run_ended.",
)  # fmt: skip
def cancel_wins(w: World) -> None:
    view = w.start("conform-check")
    claim = w.claim(view, "answer")
    given = {"token": claim["token"], "output": {"answer": ANSWER}, "summary": "S"}
    with while_checking(w, lambda: w.agent.send("submit", **given)) as pending:
        w.operator.ok("cancel", runId=view["run"]["id"], reason="Off.")
    told = pending.result().answer
    equal(
        (told["ok"], told.get("error", {}).get("issues")),
        (False, ["run_ended"]),
        "ok and issues of the submission",
    )
    view = w.view(view)
    outcome(view, None, state="cancelled")
    demand(
        "output" not in view["data"]["steps"].get("answer", {}),
        "run data must hold no completion of the step",
    )


@chapter.case(
    "while-checking", "Meanwhile the step is held", "our ruling on check-1 §3",
    "While a submission is checked the step is claimed: a claim is a conflict, any other write to it is told retry.",
    STRICT,
)  # fmt: skip
def while_it_is_checked(w: World) -> None:
    view = w.start("conform-check")
    token = w.claim(view, "answer")["token"]
    given = {"token": token, "output": {"answer": ANSWER}, "summary": "S"}
    with while_checking(w, lambda: w.agent.send("submit", **given)) as pending:
        states(w.view(view), answer="claimed")
        w.other.refused(
            "claim", "conflict", issue="claimed_by_other", runId=view["run"]["id"], stepId="answer"
        )
        w.agent.refused("renew", "retry", token=token)
        w.agent.refused("escalate", "retry", token=token, note="N")
        w.agent.refused("submit", "retry", **{**given, "summary": "T"})
    demand(pending.result().answer["ok"], "the submission must be accepted once the evaluator has answered")
    states(w.view(view), answer="done")


@chapter.case(
    "outlasts-lease", "A check that takes longer than the lease", "our ruling on check-1 §3",
    "The lease can't end while the evaluator is asked; its answer still counts.", STRICT, SHORT_LEASE,
)  # fmt: skip
def outlasts_lease(w: World) -> None:
    view = w.start("conform-check")
    claim = w.claim(view, "answer")
    given = {"token": claim["token"], "output": {"answer": ANSWER}, "summary": "S"}
    with while_checking(w, lambda: w.agent.send("submit", **given)) as pending:
        w.outlive_leases()
        states(w.view(view), answer="claimed")
        equal(w.offered(view, w.other), [], "what another agent is offered meanwhile")
    demand(pending.result().answer["ok"], "the submission must be accepted")
