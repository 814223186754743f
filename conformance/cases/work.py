"""get_work and list_runs: what is there to do, page by page."""

from conformance.client import new_id
from conformance.demands import demand, equal, moment, outcome, state_of, states
from conformance.registry import Chapter
from conformance.world import World, run_id

chapter = Chapter("work", "What there is to do")

SEVERAL = 5


@chapter.case(
    "agent-entry", "An entry for an agent", "tools: get_work",
    "A ready agent step is listed with run, process, due time and readySince, and the very claim call to make.",
)  # fmt: skip
def agent_entry(w: World) -> None:
    view = w.start("conform-work", subject="S")
    entry = w.offered(view)[0]
    equal((entry["stepId"], entry["process"], entry["version"]),
          ("work", "conform-work", view["run"]["version"]), "stepId, process and version")  # fmt: skip
    equal((entry["mode"], entry["overdue"]), ("live", False), "mode and overdue")
    equal(entry["due"], view["steps"][0]["due"], "due")
    late = (moment(entry["readySince"]) - moment(view["run"]["startedAt"])).total_seconds()
    demand(
        abs(late) <= 1,
        f"readySince of a first step must be when the run started, and is {late:g} seconds after",
    )


@chapter.case(
    "claim-call", "The claim call works as it is given", "tools: get_work",
    "With a requestId filled in, the listed call is the claim.",
)  # fmt: skip
def claim_call(w: World) -> None:
    view = w.start("conform-work", subject="S")
    call = w.offered(view)[0]["claim"]
    w.agent.ok(call["tool"], **{**call["arguments"], "requestId": new_id()})
    states(w.view(view), work="claimed")


@chapter.case(
    "decide-call", "The decide call works as it is given", "tools: get_work",
    "With a decision and a requestId filled in, the listed call is the decision.",
)  # fmt: skip
def decide_call(w: World) -> None:
    view = w.start("conform-verdict")
    call = w.offered(view, w.person)[0]["workItem"]["decide"]
    given = {**call["arguments"], "decision": "approved", "requestId": new_id()}
    outcome(w.person.ok(call["tool"], **given), "agreed")
    equal(w.offered(view, w.person), [], "what is left of it")


@chapter.case(
    "only-ready", "Only what can be claimed is listed", "tools: get_work",
    "Claimed, done and unreached steps are not listed, nor steps of people.",
)  # fmt: skip
def only_ready(w: World) -> None:
    view = w.start("conform-two")
    equal([entry["stepId"] for entry in w.offered(view)], ["first"], "the steps on offer at the start")
    claim = w.claim(view, "first")
    equal(w.offered(view, w.other), [], "the steps on offer while the first is claimed")
    w.submit(claim, {"first": "1"})
    equal([entry["stepId"] for entry in w.offered(view)], ["second"], "the steps on offer after the first")


@chapter.case(
    "by-process", "The work of one process", "tools: get_work", "process narrows the list to the runs of that process.",
)  # fmt: skip
def by_process(w: World) -> None:
    one, two = w.start("conform-work", subject="S"), w.start("conform-two")
    found = list(w.listed(w.agent, process="conform-two"))
    equal({entry["process"] for entry in found}, {"conform-two"}, "the processes that are listed")
    runs = {entry["runId"] for entry in found}
    demand(run_id(two) in runs and run_id(one) not in runs, "only the run of that process may be listed")


@chapter.case(
    "pages", "Page by page, nothing twice, nothing missing", "tools: get_work",
    "nextCursor leads through all that is there, in the order of readySince.",
)  # fmt: skip
def pages(w: World) -> None:
    mine = [run_id(w.start("conform-two")) for _ in range(SEVERAL)]
    found = [entry["runId"] for entry in w.listed(w.agent, process="conform-two", limit=2)]
    equal(len(found), len(set(found)), "the number of different runs, each with one ready step")
    equal([run for run in found if run in mine], mine, "the order of the runs")


@chapter.case(
    "stable", "A cursor stands what happens meanwhile", "tools: get_work",
    "What is added or taken between two pages neither hides an entry nor shows one twice.",
)  # fmt: skip
def stable(w: World) -> None:
    mine = [run_id(w.start("conform-two")) for _ in range(SEVERAL)]
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = w.agent.ok("get_work", process="conform-two", limit=2, **cursor)
        found += [entry["runId"] for entry in page["items"]]
        if page["nextCursor"] is None:
            break
        cursor = {"cursor": page["nextCursor"]}
        if mine[0] in found and state_of(w.view(mine[0]), "first") == "ready":
            w.claim(mine[0], "first")
            w.start("conform-two")
    equal([run for run in found if run in mine], mine, "the runs that were there from the beginning")


@chapter.case(
    "people-pages", "A person's work, page by page", "tools: get_work", "Items come oldest first, each once.",
)  # fmt: skip
def people_pages(w: World) -> None:
    mine = [run_id(w.start("conform-verdict")) for _ in range(SEVERAL)]
    found = [entry["runId"] for entry in w.listed(w.person, process="conform-verdict", limit=2)]
    equal([run for run in found if run in mine], mine, "the order of the items")
    equal(len(found), len(set(found)), "the number of different runs, each with one item")


@chapter.case(
    "limit", "Page sizes from 1 to 100", "tools: get_work", "A limit outside 1 to 100, or a cursor that no page gave, is invalid.",
)  # fmt: skip
def limit(w: World) -> None:
    w.start("conform-two")
    w.start("conform-two")
    equal(len(w.agent.ok("get_work", limit=1)["items"]), 1, "the length of a page of one")
    w.agent.ok("get_work", limit=100)
    for value in (0, 101, -1, "5", 1.5):
        w.agent.refused("get_work", "invalid", limit=value)
    w.agent.refused("get_work", "invalid", cursor="no-page-gave-this")
