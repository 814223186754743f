"""What a server says of itself."""

from conformance.demands import among, demand, equal
from conformance.registry import STRICT, Chapter
from conformance.world import World

chapter = Chapter("describe", "What a server says of itself")

REQUIRED = (
    "describe", "list_processes", "start_run", "get_run", "get_work", "claim", "submit", "escalate", "decide", "cancel",
)  # fmt: skip
OPTIONAL = ("renew", "upload", "send_event", "list_runs")


@chapter.case(
    "protocol", "It names the protocol and its version", "tools: describe",
    "describe tells which protocol and version the server speaks.",
)  # fmt: skip
def protocol(w: World) -> None:
    about = w.agent.ok("describe")
    equal(about["protocol"], "agentprocess", "protocol")
    equal(about["version"], "core-2", "version")


@chapter.case(
    "same-for-all", "Agents, people and operators are told the same", "core §4.1",
    "Anyone may ask a server to describe itself; what it offers does not depend on who asks.",
)  # fmt: skip
def same_for_all(w: World) -> None:
    for who in (w.other, w.person, w.operator):
        equal(who.ok("describe"), w.about, f"what {who.name} is told")


@chapter.case(
    "needs-no-key", "It needs no key", "core §4.1",
    "describe is for anyone; our ruling takes that to include callers without a key.", STRICT,
)  # fmt: skip
def needs_no_key(w: World) -> None:
    equal(w.nobody.ok("describe"), w.about, "what a caller without a key is told")


@chapter.case(
    "required-tools", "Every required tool is offered", "core §4.1",
    "A server offers at least the ten tools that the core requires.",
)  # fmt: skip
def required_tools(w: World) -> None:
    missing = [tool for tool in REQUIRED if tool not in w.about["tools"]]
    demand(not missing, f"tools must list {', '.join(missing)}")


@chapter.case(
    "tools-exist", "Every listed tool of the protocol can be called", "core §6, closing rule",
    "A server reports what it really offers: a tool that it lists answers, if only that the call is wrong.",
)  # fmt: skip
def tools_exist(w: World) -> None:
    for tool in w.about["tools"]:
        if tool in {*REQUIRED, *OPTIONAL} - {"describe", "list_processes", "get_work", "list_runs"}:
            w.agent.refused(tool, "invalid", "forbidden", no_such_argument=True)


@chapter.case(
    "profiles", "Listed profiles come with the tools they rest on", "core §4.2, §8",
    "A server lists the profiles that it implements, and a wait for events or a file needs its tool.",
)  # fmt: skip
def profiles(w: World) -> None:
    known = {"parallel-1", "check-1"}
    for profile in w.about["profiles"]:
        demand(
            profile in known or profile.rpartition("-")[2].isdigit(),
            f"the profile {profile} must carry a version, as in name-1",
        )
    if "upload" in w.about["tools"]:
        demand("maxUploadBytes" in w.about, "a server that takes uploads tells their largest size")


@chapter.case(
    "limits", "Thresholds are in order", "check-1 §5",
    "describe carries the default thresholds of checks, each a probability, and how much data an evaluator sees.",
)  # fmt: skip
def limits(w: World) -> None:
    found = w.about["limits"]
    demand(found["checkPass"].value > 0, "checkPass must be above 0, or every answer would pass")
    among(
        found["checkFail"] is None or found["checkFail"].value <= found["checkPass"].value,
        (True,),
        "checkFail ≤ checkPass",
    )


@chapter.case(
    "unknown-argument", "An argument that it does not know is refused", "core §6.3",
    "A call whose arguments don't fit the tool's schema is invalid, before anything else is looked at.",
)  # fmt: skip
def unknown_argument(w: World) -> None:
    w.agent.refused("describe", "invalid", colour="red")
