"""Numbers: never rounded, wherever they go."""

from conformance import codec
from conformance.codec import Number
from conformance.demands import demand, equal, record_of
from conformance.registry import STRICT, Chapter
from conformance.world import World

chapter = Chapter("number", "Numbers are never rounded")

EXACT = (
    "0", "1", "-1", "0.1", "0.1000000000000000055", "12345678901234567890", "-9007199254740993", "1e400", "1E-400",
    "3.141592653589793238462643383279502884", "100000000000000000000000000000000000001", "1.10", "-0.0", "5e-324",
)  # fmt: skip


@chapter.case(
    "inputs", "In inputs", "core §2.3", "Numbers of inputs are kept exactly, in the start's view and in later reads.",
)  # fmt: skip
def inputs(w: World) -> None:
    for text in EXACT:
        view = w.start("conform-work", subject="S", amount=Number(text))
        equal(view["data"]["inputs"]["amount"], Number(text), f"the input {text}")
        equal(w.view(view)["data"]["inputs"]["amount"], Number(text), f"the input {text} when read again")


@chapter.case(
    "output", "In an output", "core §2.3", "Numbers of a submission are kept exactly.",
)  # fmt: skip
def output(w: World) -> None:
    detail = {"list": [Number(text) for text in EXACT]}
    view = w.start("conform-work", subject="S")
    given = {"answer": "A", "score": Number("0.30000000000000004441"), "detail": detail}
    view = w.work(view, "work", given)
    equal(record_of(view, "work")["output"], given, "the output")
    equal(record_of(w.view(view), "work")["output"], given, "the output when read again")


@chapter.case(
    "deep", "Inside lists and objects", "core §2.3", "Numbers deep inside a value are kept as exactly as others.",
)  # fmt: skip
def deep(w: World) -> None:
    detail = {
        "a": [{"b": [Number("1e400"), [Number("0.1000000000000000055")]]}],
        "c": Number("12345678901234567890"),
    }
    view = w.start("conform-work", subject="S", detail=detail)
    equal(view["data"]["inputs"]["detail"], detail, "the input")


@chapter.case(
    "claim", "In a claim", "core §3.3", "The run data of a claim is as exact as that of a view.",
)  # fmt: skip
def claim(w: World) -> None:
    for text in ("0.1000000000000000055", "12345678901234567890", "1e400"):
        view = w.start("conform-work", subject="S", amount=Number(text))
        equal(w.claim(view, "work")["data"]["inputs"]["amount"], Number(text), f"the number {text}")


@chapter.case(
    "history", "In history", "core §3.1", "What rework takes back is kept exactly too.",
)  # fmt: skip
def history(w: World) -> None:
    view = w.start("conform-approval")
    given = {"text": "T", "length": Number("0.1000000000000000055")}
    w.work(view, "draft", given)
    view = w.decide(view, "approve", "rejected", note="Again.")
    equal([past["output"] for past in record_of(view, "draft")["history"]], [given], "the outputs in history")


@chapter.case(
    "person", "From a person", "core §2.3", "Numbers of a decision are kept exactly.",
)  # fmt: skip
def from_a_person(w: World) -> None:
    view = w.start("conform-task")
    view = w.decide(view, "task", "completed", output={"answer": "A", "count": Number("1e400")})
    equal(record_of(view, "task")["output"]["count"], Number("1e400"), "the number that a person gave")


@chapter.case(
    "replay", "In a replay", "core §4", "The original result comes back with its numbers as they were.",
)  # fmt: skip
def replay(w: World) -> None:
    w.file("conform-work")
    given = {"process": "conform-work", "requestId": f"number-{w.now().timestamp()}"}
    values = {"subject": "S", "amount": Number("0.1000000000000000055")}
    first = w.agent.ok("start_run", **given, inputs=values)
    w.started.append(first["run"]["id"])
    again = w.agent.ok("start_run", **given, inputs=values)
    equal(again["data"]["inputs"], values, "the inputs in the replay")
    changed = {"subject": "S", "amount": Number("0.1000000000000000056")}
    w.agent.refused("start_run", "conflict", **given, inputs=changed)


@chapter.case(
    "as-written", "In the very characters", "our ruling on core §2.3",
    "A number comes back in the characters that it was sent in: 1.10 stays 1.10, 1E-400 stays 1E-400.", STRICT,
)  # fmt: skip
def as_written(w: World) -> None:
    for text in EXACT:
        view = w.start("conform-work", subject="S", amount=Number(text))
        equal(view["data"]["inputs"]["amount"].text, text, "the characters of the number")


@chapter.case(
    "boolean", "A boolean is no number", "core §2.3", "true and false stay what they are, in any field that takes them.",
)  # fmt: skip
def boolean(w: World) -> None:
    detail = {"t": True, "f": False, "n": None, "one": 1, "zero": 0, "text": "1"}
    view = w.start("conform-work", subject="S", ready=False, detail=detail)
    kept = view["data"]["inputs"]
    demand(kept["ready"] is False, "ready must be false")
    equal(codec.dumps(kept["detail"]), codec.dumps(detail), "the detail")
