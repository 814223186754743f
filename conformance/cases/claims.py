"""Claims, leases, tokens and renewals: one actor at a time."""

from functools import partial

from conformance.client import new_id
from conformance.demands import demand, equal, moment, states
from conformance.failures import Failure
from conformance.registry import Chapter, tool
from conformance.world import World

chapter = Chapter("claim", "One actor at a time")

AT_ONCE = 8


@chapter.case(
    "result", "What a claim gives", "tools: claim",
    "A claim gives the step with its instructions and requirements as the file has them, the body and the run data.",
)  # fmt: skip
def result(w: World) -> None:
    view = w.start("conform-work", subject="S")
    claim = w.claim(view, "work")
    step = claim["step"]
    equal(step["id"], "work", "step.id")
    equal(step["instructions"].strip(), "Look at the subject.\nAnswer it in a sentence.", "step.instructions")
    equal(step["output"]["answer"], {"type": "string", "description": "One sentence"}, "step.output.answer")
    demand(not step["evidence"] and step["next"] is None, "a step without evidence or routes asks for none")
    equal(claim["data"], view["data"], "the run data in the claim")
    equal((claim["mode"], claim["handoff"]), ("live", None), "mode and handoff")
    states(w.view(view), work="claimed")


@chapter.case(
    "lease", "The lease lasts what describe says", "core §3.3",
    "A claim lasts leaseSeconds from the moment it is made, and says when that is over.",
)  # fmt: skip
def lease(w: World) -> None:
    before = w.now()
    claim = w.claim(w.start("conform-work", subject="S"), "work")
    after = w.now()
    shortest = (moment(claim["expiresAt"]) - after).total_seconds()
    longest = (moment(claim["expiresAt"]) - before).total_seconds()
    demand(
        shortest - 1 <= w.lease <= longest + 1,
        f"expiresAt must be {w.lease:g} seconds after the claim, and is {shortest:.1f} to {longest:.1f} seconds after",
    )


@chapter.case(
    "two-agents", "A second agent is refused while a claim is live", "core §6.2",
    "A claimed step belongs to one caller; another is told claimed_by_other.",
)  # fmt: skip
def two_agents(w: World) -> None:
    view = w.start("conform-work", subject="S")
    w.claim(view, "work")
    w.other.refused("claim", "conflict", issue="claimed_by_other", runId=view["run"]["id"], stepId="work")


@chapter.case(
    "twice", "The holder is told that it holds the step", "tools: claim",
    "A second claim by the same caller is a conflict with claimed_by_you.",
)  # fmt: skip
def twice(w: World) -> None:
    view = w.start("conform-work", subject="S")
    claim = w.claim(view, "work")
    w.agent.refused("claim", "conflict", issue="claimed_by_you", runId=view["run"]["id"], stepId="work")
    w.submit(claim, {"answer": "A"})


@chapter.case(
    "race", "Many claims at the same time, one token", "core §6.2, §6 closing rule",
    "The server resolves concurrent writes to a run: of many claims at once exactly one succeeds.",
)  # fmt: skip
def race(w: World) -> None:
    view = w.start("conform-work", subject="S")
    asked = {"runId": view["run"]["id"], "stepId": "work"}
    callers = [w.agent if index % 2 else w.other for index in range(AT_ONCE)]
    answers = w.together([partial(who.send, "claim", **asked, requestId=new_id()) for who in callers])
    won = [exchange for exchange in answers if exchange.answer["ok"]]
    demand(len(won) == 1, f"of {AT_ONCE} claims at once one must succeed, and {len(won)} did")
    for exchange in answers:
        if exchange is not won[0]:
            issue = "claimed_by_you" if exchange.who == won[0].who else "claimed_by_other"
            told = exchange.answer["error"]
            if (told["code"], told.get("issues")) != ("conflict", [issue]):
                raise Failure(f"a claim that lost must be a conflict with {issue}", exchange)


@chapter.case(
    "not-ready", "A step that is not reached can't be claimed", "core §6.1; tools: claim",
    "Only a ready step can be claimed; a later one is a conflict with not_ready.",
)  # fmt: skip
def not_ready(w: World) -> None:
    view = w.start("conform-two")
    w.agent.refused("claim", "conflict", issue="not_ready", runId=view["run"]["id"], stepId="second")


@chapter.case(
    "done-step", "A step that is done can't be claimed", "tools: claim",
    "A completed step is not ready any more.",
)  # fmt: skip
def done_step(w: World) -> None:
    view = w.work(w.start("conform-two"), "first", {"first": "1"})
    w.agent.refused("claim", "conflict", issue="not_ready", runId=view["run"]["id"], stepId="first")


@chapter.case(
    "escalated-step", "An escalated step can't be claimed", "core §3.3",
    "A step that waits on a person is not ready.",
)  # fmt: skip
def escalated_step(w: World) -> None:
    view = w.start("conform-work", subject="S")
    w.escalate(view, "work")
    w.other.refused("claim", "conflict", issue="not_ready", runId=view["run"]["id"], stepId="work")


@chapter.case(
    "not-for-agents", "Steps of people and of the server", "tools: claim",
    "A claim of a step that is no agent's is forbidden, whatever its state.",
)  # fmt: skip
def not_for_agents(w: World) -> None:
    for process, step in (
        ("conform-task", "task"), ("conform-verdict", "ask"), ("conform-sleep", "sleep"), ("conform-two", "done"),
    ):  # fmt: skip
        view = w.start(process)
        w.agent.refused("claim", "forbidden", runId=view["run"]["id"], stepId=step)


@chapter.case(
    "by-a-person", "People don't claim", "core §4.1", "claim is a tool of agents.",
)  # fmt: skip
def by_a_person(w: World) -> None:
    view = w.start("conform-work", subject="S")
    w.person.refused("claim", "forbidden", runId=view["run"]["id"], stepId="work")
    states(w.view(view), work="ready")


@chapter.case(
    "unknown", "A run or a step that is not there", "core §4.3", "What is not there is not_found.",
)  # fmt: skip
def unknown(w: World) -> None:
    view = w.start("conform-work", subject="S")
    w.agent.refused("claim", "not_found", runId=view["run"]["id"], stepId="no-such-step")
    w.agent.refused("claim", "not_found", runId="no-such-run", stepId="work")


@chapter.case(
    "arguments", "Arguments that break the schema", "core §6.3", "A missing or unknown argument is invalid.",
)  # fmt: skip
def arguments(w: World) -> None:
    view = w.start("conform-work", subject="S")
    w.agent.refused("claim", "invalid", runId=view["run"]["id"])
    w.agent.refused("claim", "invalid", stepId="work")
    w.agent.refused("claim", "invalid", runId=view["run"]["id"], stepId="work", force=True)
    w.agent.refused("claim", "invalid", runId=view["run"]["id"], stepId="work", requestId="")


@chapter.case(
    "state", "The run's and the step's state", "core §3.5",
    "A run with a claimed step is active; the step is shown as claimed until it is submitted.",
)  # fmt: skip
def state(w: World) -> None:
    view = w.start("conform-two")
    claim = w.claim(view, "first")
    read = w.view(view)
    equal(read["run"]["state"], "active", "the run's state")
    states(read, first="claimed", second=None, done=None)
    states(w.submit(claim, {"first": "1"}), first="done", second="ready", done=None)


renewing = Chapter("renew", "A longer lease", tool("renew"))


@renewing.case(
    "new-token", "It gives another token and a later expiry", "core §3.3",
    "renew sets the expiry to now plus the lease and gives a new token, with which the work goes on.",
)  # fmt: skip
def new_token(w: World) -> None:
    view = w.start("conform-work", subject="S")
    claim = w.claim(view, "work")
    renewed = w.agent.ok("renew", token=claim["token"])
    demand(renewed["token"] != claim["token"], "the new token must be another one")
    demand(moment(renewed["expiresAt"]) >= moment(claim["expiresAt"]), "the new expiry must not be earlier")
    states(w.view(view), work="claimed")
    w.submit(renewed, {"answer": "A"})


@renewing.case(
    "old-token", "The old token is dead at once", "core §3.3, §6.2",
    "Once renew has returned, the token before it is refused everywhere, and changes nothing.",
)  # fmt: skip
def old_token(w: World) -> None:
    codes = ("stale",) if w.strict else ("stale", "invalid")
    claim = w.claim(w.start("conform-work", subject="S"), "work")
    renewed = w.agent.ok("renew", token=claim["token"])
    old = claim["token"]
    w.agent.refused("submit", *codes, token=old, output={"answer": "A"}, summary="S")
    w.agent.refused("renew", *codes, token=old)
    w.agent.refused("escalate", *codes, token=old, note="N")
    w.submit(renewed, {"answer": "A"})


@renewing.case(
    "still-held", "It does not free the step", "core §6.2", "A renewed claim is still the same caller's.",
)  # fmt: skip
def still_held(w: World) -> None:
    view = w.start("conform-work", subject="S")
    w.agent.ok("renew", token=w.claim(view, "work")["token"], progress="Half way.")
    w.other.refused("claim", "conflict", issue="claimed_by_other", runId=view["run"]["id"], stepId="work")


@renewing.case(
    "data-unchanged", "Progress is no run data", "core §3.3",
    "A progress note is kept with the step, not in the data of the run.",
)  # fmt: skip
def data_unchanged(w: World) -> None:
    view = w.start("conform-work", subject="S")
    w.agent.ok("renew", token=w.claim(view, "work")["token"], progress="Half way.")
    equal(w.view(view)["data"], view["data"], "run data after renew")


@renewing.case(
    "by-a-person", "People don't renew", "core §4.2", "renew is a tool of agents.",
)  # fmt: skip
def renew_by_a_person(w: World) -> None:
    claim = w.claim(w.start("conform-work", subject="S"), "work")
    w.person.refused("renew", "forbidden", "invalid", token=claim["token"])
    w.submit(claim, {"answer": "A"})
