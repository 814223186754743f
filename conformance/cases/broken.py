"""Files that no server may publish: one thing wrong in each.

A row names what is wrong, where that is ruled, and the words that an issue must name it with (`--strict`).
"""

from dataclasses import dataclass

from conformance.registry import STRICT, Need, profile, tool

PREFIX = "conform-refused-"
END = "{id: end, finish: ended}"
WORK = "{id: work, agent: Work.}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    name: str
    title: str
    rests_on: str
    content: bytes
    folder: str
    words: tuple[str, ...] = ()
    needs: tuple[Need, ...] = ()


def text(name: str, steps: tuple[str, ...], *, inputs: str = "", head: str = "") -> str:
    """A file that is sound but for what its arguments bring: `head` are lines beside the usual ones."""
    lines = ["---", f"name: {name}", "description: A file that must be refused."]
    lines += [head] if head else []
    lines += [f"inputs: {inputs}"] if inputs else []
    return "\n".join([*lines, "steps:", *(f"  - {step}" for step in steps), "---", "", "# Refused", ""])


def steps(
    name: str, title: str, *written: str, words: tuple[str, ...] = (), inputs: str = "", rests_on: str = "core §2.2",
    needs: tuple[Need, ...] = (),
) -> Row:  # fmt: skip
    """A row whose fault is in its steps (an end is added)."""
    process = PREFIX + name
    content = text(process, (*written, END), inputs=inputs).encode()
    return Row(
        name=name, title=title, rests_on=rests_on, content=content, folder=process, words=words, needs=needs
    )


def whole(
    name: str, title: str, content: str, *, words: tuple[str, ...] = (), folder: str = "", rests_on: str = "core §2.1",
    needs: tuple[Need, ...] = (),
) -> Row:  # fmt: skip
    """A row whose fault is in the file as a whole; NAME in the content stands for the process's name."""
    process = PREFIX + name
    return Row(
        name=name, title=title, rests_on=rests_on, content=content.replace("NAME", process).encode(),
        folder=folder or process, words=words, needs=needs,
    )  # fmt: skip


def field(name: str, title: str, declared: str, *, words: tuple[str, ...] = ()) -> Row:
    """A row whose fault is the declaration of an input."""
    return steps(name, title, WORK, inputs=f"{{x: {declared}}}", words=words or ("x",), rests_on="core §2.3")


SOUND = text("NAME", (WORK, END))

FILES = (
    whole("no-front-matter", "No front matter", "# Only a body\n"),
    whole("not-closed", "Front matter that is not closed", SOUND.rpartition("---")[0]),
    whole("not-yaml", "Front matter that is no YAML", SOUND.replace("steps:", "steps: [")),
    whole("no-name", "No name", SOUND.replace("name: NAME\n", ""), words=("name",)),
    whole("bad-name", "A name in another pattern", SOUND.replace("NAME", "Not_A-Name"), folder="Not_A-Name", words=("name",)),
    whole("long-name", "A name of 65 characters", SOUND.replace("NAME", "a" * 65), folder="a" * 65, words=("name",)),
    whole("other-folder", "A folder of another name", SOUND, folder=PREFIX + "another-folder", words=("name",)),
    whole("no-description", "No description", SOUND.replace("description:", "#"), words=("description",)),
    whole("no-steps", "No steps", SOUND[: SOUND.index("steps:")] + "---\n", words=("steps",)),
    whole("empty-steps", "An empty list of steps", SOUND[: SOUND.index("steps:")] + "steps: []\n---\n", words=("steps",)),
    whole("unknown-key", "A key that the format does not know", SOUND.replace("steps:", "owner: me\nsteps:"), words=("owner",)),
    whole("key-twice", "A key that stands twice", SOUND.replace("steps:", "description: Again.\nsteps:"), words=("description",)),
    whole("anchor", "An anchor", SOUND.replace("agent: Work.", "agent: &a Work."), words=("work",), needs=(STRICT,),
          rests_on="our ruling on core §2.1"),
    whole("tag", "A tag", SOUND.replace("agent: Work.", "agent: !!str Work."), words=("work",), needs=(STRICT,),
          rests_on="our ruling on core §2.1"),
)  # fmt: skip

FIELDS = (
    field("type-unknown", "A type that there is not", "text"),
    field("type-missing", "A field without a type", "{optional: true}"),
    field("field-key", "A key that a field does not know", "{type: string, minimum: 3}", words=("minimum",)),
    field("one-of-empty", "An empty one_of", "{type: string, one_of: []}", words=("one_of",)),
    field("one-of-type", "A one_of of another type", "{type: number, one_of: [1, two]}", words=("one_of",)),
    field("one-of-null", "null in a one_of", "{type: string, one_of: [a, null]}", words=("one_of",)),
    field(
        "one-of-date",
        "A one_of that is no real date",
        "{type: date, one_of: [2026-02-30]}",
        words=("one_of",),
    ),
    field("items-on-string", "items on a string", "{type: string, items: string}", words=("items",)),
    field("items-unknown", "items of an unknown type", "{type: list, items: text}", words=("items",)),
    field(
        "optional-text",
        "optional: yes, which is a text",
        "{type: string, optional: yes}",
        words=("optional",),
    ),
)

STEPS = (
    steps("no-id", "A step without an id", "{agent: Work.}", words=("id",)),
    steps("bad-id", "An id in another pattern", "{id: Work, agent: Work.}", words=("id",)),
    steps("id-twice", "An id that is used twice", WORK, "{id: work, agent: Work.}", words=("work",)),
    steps("no-kind", "A step of no kind", "{id: work, due: 1d}", words=("work",)),
    steps("two-kinds", "A step of two kinds", "{id: work, agent: A., wait: 1d}", words=("work",)),
    steps("step-key", "A key that a step does not know", "{id: work, agent: A., owner: me}", words=("owner",)),
    steps("agent-number", "Instructions that are a number", "{id: work, agent: 5}", words=("agent",)),
    steps("task-nobody", "A task without a person", "{id: work, task: T.}", words=("person",)),
    steps("approve-nobody", "An approval without a person", "{id: work, approve: A.}", words=("person",)),
    steps("agent-person", "A person on an agent's step", "{id: work, agent: A., person: conform-team}", words=("person",)),
    steps("approve-output", "An output of an approval", "{id: work, approve: A., person: conform-team, output: {a: string}}", words=("output",)),
    steps("approve-evidence", "Evidence of an approval", "{id: work, approve: A., person: conform-team, evidence: [link]}", words=("evidence",)),
    steps("wait-output", "An output of a wait", "{id: work, wait: 1d, output: {a: string}}", words=("output",)),
    steps("wait-due", "A due time of a wait", "{id: work, wait: 1d, due: 1d}", words=("due",)),
    steps("task-reject", "on_reject on a task", "{id: work, task: T., person: conform-team, on_reject: work}", words=("on_reject",)),
    steps("agent-timeout", "A timeout of an agent's step", "{id: work, agent: A., timeout: 1d}", words=("timeout",)),
    steps("evidence-kind", "Evidence of an unknown kind", "{id: work, agent: A., evidence: [photo]}", words=("evidence",)),
    steps("evidence-text", "Evidence that is no list", "{id: work, agent: A., evidence: link}", words=("evidence",)),
    steps("output-type", "An output of an unknown type", "{id: work, agent: A., output: {a: text}}", words=("output",)),
    steps("seconds", "A duration in seconds", "{id: work, wait: 15s}", words=("wait",), rests_on="core §2.4"),
    steps("two-units", "A duration of two units", "{id: work, agent: A., due: 1h30m}", words=("due",), rests_on="core §2.4"),
    steps("fraction", "A duration that is no whole number", "{id: work, wait: 1.5h}", words=("wait",), rests_on="core §2.4"),
    steps("negative", "A negative duration", "{id: work, wait: -1d}", words=("wait",), rests_on="core §2.4"),
    steps("no-unit", "A duration without a unit", "{id: work, wait: 15}", words=("wait",), rests_on="core §2.4"),
    steps("event-name", "An event name in another pattern", "{id: work, wait_for: Big Event}", words=("wait_for",),
          rests_on="core §3.6", needs=(tool("send_event"),)),
)  # fmt: skip

PATHS = (
    steps("person-undeclared", "A path to an input that is not declared", "{id: work, task: T., person: inputs.who}", words=("person",)),
    steps("person-text", "A person path to a text", "{id: work, task: T., person: inputs.who}", inputs="{who: string}", words=("person",)),
    steps("person-shape", "A path of another shape", "{id: work, task: T., person: run.who}", words=("person",)),
    steps("person-step", "A path into a step that there is not", "{id: work, task: T., person: steps.no.output.who}", words=("person",)),
    steps("until-undeclared", "wait_until an input that is not declared", "{id: work, wait_until: inputs.at}", words=("wait_until",)),
    steps("until-text", "wait_until a text", "{id: work, wait_until: inputs.at}", inputs="{at: string}", words=("wait_until",)),
    steps("until-date", "wait_until a date", "{id: work, wait_until: inputs.at}", inputs="{at: date}", words=("wait_until",)),
    steps("until-value", "wait_until a moment itself", "{id: work, wait_until: 2026-10-06T09:00:00Z}", words=("wait_until",)),
)  # fmt: skip

GRAPH = (
    steps("next-unknown", "next names no step", "{id: work, agent: A., next: nowhere}", words=("nowhere",)),
    steps("reject-unknown", "on_reject names no step", "{id: work, approve: A., person: conform-team, on_reject: nowhere}", words=("nowhere",)),
    steps("timeout-unknown", "on_timeout names no step", "{id: work, wait_for: e, timeout: 1d, on_timeout: nowhere}", words=("nowhere",),
          needs=(tool("send_event"),)),
    steps("route-unknown", "A route names no step", "{id: work, agent: A., next: [end, nowhere]}", words=("nowhere",)),
    steps("route-key", "A key that a route does not know", "{id: work, agent: A., next: [end, {to: more, if: x}]}", "{id: more, agent: A.}", words=("if",)),
    steps("one-route", "A list of one route", "{id: work, agent: A., next: [end]}", words=("next",)),
    steps("approve-routes", "Routes of an approval", "{id: work, approve: A., person: conform-team, next: [more, end]}", "{id: more, agent: A.}",
          words=("next",)),
    steps("unreachable", "A step that no way leads to", "{id: work, agent: A., next: end}", "{id: lost, agent: A.}", words=("lost",)),
    steps("loop", "A way that goes back by next", "{id: work, agent: A.}", "{id: more, agent: A., next: [work, end]}", words=("more",)),
    steps("self-loop", "A step that follows itself", "{id: work, agent: A., next: [work, end]}", words=("work",)),
    steps("timeout-loop", "A way that goes back by on_timeout", WORK, "{id: hope, wait_for: e, timeout: 1d, on_timeout: work}", words=("hope",),
          needs=(tool("send_event"),)),
    steps("finish-next", "A finish that goes on", "{id: work, agent: A., next: [stop, end]}", "{id: stop, finish: s, next: end}", words=("stop",)),
    whole("last-step", "A last step that names no next", text("NAME", (WORK,)), words=("work",), rests_on="core §2.2"),
)  # fmt: skip

_PARALLEL = (profile("parallel-1"),)
_ONE, _TWO = "{id: one, agent: A., next: join}", "{id: two, agent: A., next: join}"
_FORK = "{id: fork, parallel: [one, two], next: end}"


def fork(name: str, title: str, *written: str, words: tuple[str, ...] = ()) -> Row:
    return steps(name, title, *written, words=words, rests_on="parallel-1 §1, §2", needs=_PARALLEL)


PARALLEL = (
    fork("one-branch", "A fork of one branch", "{id: fork, parallel: [one], next: end}", _ONE, words=("parallel",)),
    fork("branch-unknown", "A branch that begins nowhere", "{id: fork, parallel: [one, nowhere], next: end}", _ONE, words=("nowhere",)),
    fork("branch-twice", "A branch that is named twice", "{id: fork, parallel: [one, one], next: end}", _ONE, words=("parallel",)),
    fork("fork-due", "A due time of a fork", "{id: fork, parallel: [one, two], next: end, due: 1d}", _ONE, _TWO, words=("due",)),
    fork("branch-default", "A branch step that names no next", _FORK, "{id: one, agent: A.}", _TWO, words=("one",)),
    fork("branch-finish", "A branch that finishes the run", _FORK, "{id: one, agent: A., next: end}", _TWO, words=("one",)),
    fork("branch-shared", "A step in two branches", _FORK, "{id: one, agent: A., next: more}", "{id: two, agent: A., next: more}",
         "{id: more, agent: A., next: join}", words=("more",)),
    fork("branch-into", "A way into a branch from outside", "{id: work, agent: A., next: [fork, one]}", _FORK, _ONE, _TWO, words=("one",)),
    fork("branch-out", "A way out of a branch", "{id: fork, parallel: [one, two], next: after}", "{id: one, agent: A., next: [after, join]}", _TWO,
         "{id: after, agent: A.}", words=("after",)),
    fork("branch-back", "A branch that goes to its fork", _FORK, "{id: one, agent: A., next: [fork, join]}", _TWO, words=("fork",)),
    fork("reject-out", "on_reject out of a branch", "{id: work, agent: A.}", _FORK,
         "{id: one, approve: A., person: conform-team, on_reject: work, next: join}", _TWO, words=("on_reject",)),
    fork("reject-sibling", "on_reject into a sibling", _FORK, "{id: one, approve: A., person: conform-team, on_reject: two, next: join}", _TWO,
         words=("on_reject",)),
    fork("reject-into", "on_reject into a branch from after the join", "{id: fork, parallel: [one, two], next: ask}", _ONE, _TWO,
         "{id: ask, approve: A., person: conform-team, on_reject: one}", words=("on_reject",)),
    fork("nested", "A fork in a branch", _FORK, "{id: one, parallel: [three, four], next: join}", _TWO,
         "{id: three, agent: A., next: join}", "{id: four, agent: A., next: join}", words=("one",)),
    fork("join-id", "A step with the id join", _FORK, _ONE, _TWO, "{id: join, agent: A.}", words=("join",)),
    fork("join-outside", "join outside of a branch", "{id: work, agent: A., next: [join, fork]}", _FORK, _ONE, _TWO, words=("join",)),
)  # fmt: skip

_CHECK = (profile("check-1"),)


def check(name: str, title: str, written: str, *, words: tuple[str, ...] = ("check",)) -> Row:
    """A row whose fault is a step's check."""
    return steps(
        name,
        title,
        f"{{id: work, agent: A., check: {written}}}",
        words=words,
        rests_on="check-1 §2",
        needs=_CHECK,
    )


CHECKS = (
    check("check-empty", "A check without a question", "[]"),
    check("check-no-ask", "A question without ask", "[{pass: 0.9}]"),
    check("check-key", "A key that a question does not know", "[{ask: Q?, threshold: 0.9}]", words=("threshold",)),
    check("check-pass", "A threshold above 1", "[{ask: Q?, pass: 1.5}]"),
    check("check-order", "fail above pass", "[{ask: Q?, pass: 0.5, fail: 0.6}]"),
    check("check-two-kinds", "A question of two kinds", "[{ask: Q?, one_of: {a: A, b: B}, levels: [A, B], pass: 1}]"),
    check("check-one-answer", "A choice of one", "[{ask: Q?, one_of: {a: A}, pass: [a]}]"),
    check("check-no-pass", "A choice that nothing passes", "[{ask: Q?, one_of: {a: A, b: B}}]"),
    check("check-pass-name", "A choice that passes on an unknown name", "[{ask: Q?, one_of: {a: A, b: B}, pass: [c]}]"),
    check("check-overlap", "A name that both passes and is unsure", "[{ask: Q?, one_of: {a: A, b: B}, pass: [a], unsure: [a]}]"),
    check("check-one-level", "A rubric of one level", "[{ask: Q?, levels: [A], pass: 0}]"),
    check("check-level", "A rubric that passes at a level it has not", "[{ask: Q?, levels: [A, B], pass: 2}]"),
    check("check-confidence", "A confidence of a yes/no question", "[{ask: Q?, confidence: 0.8}]"),
    steps("check-approve", "A check on an approval", "{id: work, approve: A., person: conform-team, check: Q?}", words=("check",),
          rests_on="check-1 §2", needs=_CHECK),
    steps("advisory-alone", "advisory without a check", "{id: work, agent: A., advisory: true}", words=("advisory",),
          rests_on="check-1 §2", needs=_CHECK),
)  # fmt: skip

ROWS: tuple[Row, ...] = (*FILES, *FIELDS, *STEPS, *PATHS, *GRAPH, *PARALLEL, *CHECKS)
