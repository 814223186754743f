"""The end of a lease, and what a token is worth."""

import time
from collections.abc import Generator

from conformance.demands import demand, equal, moment, states
from conformance.registry import SHORT_LEASE, Chapter, tool
from conformance.world import World

chapter = Chapter("lease", "The end of a lease", SHORT_LEASE)
RENEW = tool("renew")


@chapter.story(
    "claimable", "A step is claimable as soon as its lease is over", "core §3.3",
    "When a lease ends, the step is ready again at once: in views, in get_work, and for the next claim.",
)  # fmt: skip
def claimable(w: World) -> Generator[None]:
    view = w.start("conform-work", subject="S")
    claim = w.claim(view, "work")
    equal(w.offered(view, w.other), [], "what get_work lists while the lease lasts")
    yield
    states(w.view(view), work="ready")
    demand(len(w.offered(view, w.other)) == 1, "get_work must list the step again after its lease")
    taken = w.claim(view, "work", by=w.other)
    demand(taken["token"] != claim["token"], "the next holder must get a token of its own")
    w.submit(taken, {"answer": "A"}, by=w.other)


@chapter.story(
    "stale-token", "A token outlives its lease as stale", "core §6.2, §4.3",
    "After the end of its lease a token is stale for submit, renew and escalate, claimed anew or not.",
)  # fmt: skip
def stale_token(w: World) -> Generator[None]:
    view = w.start("conform-work", subject="S")
    claim = w.claim(view, "work")
    yield
    token = claim["token"]
    w.agent.refused("submit", "stale", token=token, output={"answer": "late"}, summary="S")
    w.agent.refused("escalate", "stale", token=token, note="N")
    if "renew" in w.about["tools"]:
        w.agent.refused("renew", "stale", token=token)
    other = w.claim(view, "work", by=w.other)
    w.agent.refused("submit", "stale", token=token, output={"answer": "late"}, summary="S")
    view = w.submit(other, {"answer": "in time"}, by=w.other)
    equal(view["data"]["steps"]["work"]["output"], {"answer": "in time"}, "the output that counts")


@chapter.story(
    "own-again", "The same agent may claim again", "core §3.3",
    "A lease that ended is nobody's, so its former holder may claim anew, with another token.",
)  # fmt: skip
def own_again(w: World) -> Generator[None]:
    view = w.start("conform-work", subject="S")
    claim = w.claim(view, "work")
    yield
    again = w.claim(view, "work")
    demand(again["token"] != claim["token"], "a new claim must have a new token")
    w.agent.refused("submit", "stale", token=claim["token"], output={"answer": "A"}, summary="S")
    w.submit(again, {"answer": "A"})


@chapter.story(
    "progress", "Progress is handed to whoever comes next", "core §3.3",
    "The latest progress note of a lease that ended is the next claimant's handoff, in get_work and in the claim.",
    RENEW,
)  # fmt: skip
def progress(w: World) -> Generator[None]:
    view = w.start("conform-work", subject="S")
    claim = w.claim(view, "work")
    claim = w.agent.ok("renew", token=claim["token"], progress="Half way.")
    claim = w.agent.ok("renew", token=claim["token"], progress="Nearly there.")
    yield
    equal(w.offered(view, w.other)[0]["handoff"], {"progress": "Nearly there."}, "the handoff in get_work")
    taken = w.claim(view, "work", by=w.other)
    equal(taken["handoff"], {"progress": "Nearly there."}, "the handoff of the next claim")


@chapter.story(
    "issues", "Issues of a refused submission are handed on", "core §3.3",
    "When a lease ends after a submission that was not accepted, the next claimant reads its issues.",
)  # fmt: skip
def issues(w: World) -> Generator[None]:
    view = w.start("conform-work", subject="S")
    claim = w.claim(view, "work")
    refusal = w.agent.refused("submit", "not_accepted", token=claim["token"], output={}, summary="S")
    yield
    handoff = w.claim(view, "work", by=w.other)["handoff"]
    equal((handoff or {}).get("issues"), list(refusal.issues), "handoff.issues of the next claim")


@chapter.story(
    "replayed-claim", "A lost claim can be asked for again after its lease", "core §3.3; tools: claim",
    "The same requestId gives the original result, token included, even when the lease has ended since.",
)  # fmt: skip
def replayed_claim(w: World) -> Generator[None]:
    view = w.start("conform-work", subject="S")
    asked = {"runId": view["run"]["id"], "stepId": "work", "requestId": f"late-{view['run']['id']}"}
    claim = w.agent.ok("claim", **asked)
    yield
    again = w.agent.ok("claim", **asked)
    equal(
        (again["token"], again["expiresAt"]),
        (claim["token"], claim["expiresAt"]),
        "token and expiry of the replay",
    )
    w.claim(view, "work", by=w.other)


@chapter.case(
    "renewed", "A renewed lease outlasts the first", "core §3.3",
    "renew counts the lease from the moment of the call.", RENEW,
)  # fmt: skip
def renewed(w: World) -> None:
    view = w.start("conform-work", subject="S")
    claim = w.claim(view, "work")
    time.sleep(w.lease * 0.6)
    longer = w.agent.ok("renew", token=claim["token"])
    demand(moment(longer["expiresAt"]) > moment(claim["expiresAt"]), "renew must move the expiry on")
    time.sleep(w.lease * 0.6)
    states(w.view(view), work="claimed")
    w.submit(longer, {"answer": "A"})


tokens = Chapter("token", "What a token is worth")


@tokens.case(
    "made-up", "A token that does not verify", "core §4.3; tools: claim",
    "A token that the server never gave is invalid on every tool that takes one.",
)  # fmt: skip
def made_up(w: World) -> None:
    w.agent.refused("submit", "invalid", token="made-up", output={}, summary="S")  # noqa: S106 - not a secret
    w.agent.refused("escalate", "invalid", token="made-up", note="N")  # noqa: S106 - likewise
    if "renew" in w.about["tools"]:
        w.agent.refused("renew", "invalid", token="made-up")  # noqa: S106 - likewise


@tokens.case(
    "altered", "A token with one character changed", "core §6.2",
    "Tokens can't be forged: a changed one does not verify, wherever the change is.",
)  # fmt: skip
def altered(w: World) -> None:
    claim = w.claim(w.start("conform-work", subject="S"), "work")
    token = claim["token"]
    for place in (0, len(token) // 3, len(token) // 2, 2 * len(token) // 3):
        changed = token[:place] + ("A" if token[place] != "A" else "B") + token[place + 1 :]
        w.agent.refused("submit", "invalid", token=changed, output={"answer": "A"}, summary="S")
    w.submit(claim, {"answer": "A"})


@tokens.case(
    "another-agents", "Another agent's token", "core §6.2",
    "A claim belongs to the caller that made it; its token is of no use to another.",
)  # fmt: skip
def another_agents(w: World) -> None:
    codes = ("invalid",) if w.strict else ("invalid", "forbidden", "stale")
    view = w.start("conform-work", subject="S")
    claim = w.claim(view, "work")
    w.other.refused("submit", *codes, token=claim["token"], output={"answer": "A"}, summary="S")
    w.other.refused("escalate", *codes, token=claim["token"], note="N")
    states(w.view(view), work="claimed")
    w.submit(claim, {"answer": "A"})


@tokens.case(
    "used", "A token that was submitted with", "core §6.2",
    "A token is good for one accepted submission; afterwards it is stale.",
)  # fmt: skip
def used(w: World) -> None:
    view = w.start("conform-two")
    claim = w.claim(view, "first")
    w.submit(claim, {"first": "1"})
    w.agent.refused("submit", "stale", token=claim["token"], output={"first": "2"}, summary="S")
    w.agent.refused("escalate", "stale", token=claim["token"], note="N")
    equal(w.view(view)["data"]["steps"]["first"]["output"], {"first": "1"}, "the output that counts")


@tokens.case(
    "of-another-step", "A token works on its own step only", "core §6.1, §6.2",
    "A claim is of one step of one run; its token completes that one, whatever else is ready.",
)  # fmt: skip
def of_another_step(w: World) -> None:
    one, two = w.start("conform-work", subject="1"), w.start("conform-work", subject="2")
    first, second = w.claim(one, "work"), w.claim(two, "work")
    view = w.submit(second, {"answer": "2"})
    equal(view["run"]["id"], two["run"]["id"], "the run that the second token completes")
    states(w.view(one), work="claimed")
    w.submit(first, {"answer": "1"})


@tokens.case(
    "in-no-view", "Tokens appear in no view", "core §6.2; tools: get_run",
    "No read and no other write ever shows a token, to whomever.",
)  # fmt: skip
def in_no_view(w: World) -> None:
    view = w.start("conform-two")
    claim = w.claim(view, "first")
    for who in (w.agent, w.other, w.person, w.operator):
        text = str(w.view(view, who)) + str(list(w.listed(who, process="conform-two")))
        demand(claim["token"] not in text, f"{who.name} must not see the token")
    if "list_runs" in w.about["tools"]:
        text = str(w.agent.ok("list_runs", process="conform-two"))
        demand(claim["token"] not in text, "list_runs must not show the token")
    w.submit(claim, {"first": "1"})
