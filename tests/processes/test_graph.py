"""The graph against a second reading of the rules, written as they are told and not as they are computed."""

from hypothesis import event, given, settings
from hypothesis import strategies as st

from processes.document import JOIN, parse
from tests.processes.process_samples import document, issues, process


def flow(step):
    """A step of this file as YAML: its kind follows from the edges that it has."""
    if "branches" in step:
        kind = f"parallel: [{', '.join(step['branches'])}]"
    elif step.get("finish"):
        kind = "finish: done"
    elif "on_timeout" in step:
        kind = f"wait_for: event, timeout: 1d, on_timeout: {step['on_timeout']}"
    elif "on_reject" in step:
        kind = f"approve: Ok?, person: boss, on_reject: {step['on_reject']}"
    else:
        kind = "agent: Do it."
    ways = step.get("next", [])
    goes = f", next: {ways[0] if len(ways) == 1 else '[' + ', '.join(ways) + ']'}" if ways else ""
    return f"{{id: {step['id']}, {kind}{goes}}}"


class Told:
    """The rules of the graph, each as a question about named steps."""

    def __init__(self, steps):
        self.steps = {step["id"]: step for step in steps}
        names = list(self.steps)
        self.following = dict(zip(names, [*names[1:], None], strict=True))
        self.branches = {
            (fork["id"], entry): self.branch(entry) for fork in steps for entry in fork.get("branches", ())
        }

    def named(self, name):
        """next and on_timeout as written."""
        step = self.steps[name]
        return [*step.get("next", []), *([step["on_timeout"]] if "on_timeout" in step else [])]

    def forward(self, name):
        step = self.steps[name]
        default = [] if step.get("next") or step.get("finish") else [self.following[name]]
        return [target for target in self.named(name) + default if target not in {JOIN, None}]

    def all_ways(self, name):
        step = self.steps[name]
        reject = [step["on_reject"]] if "on_reject" in step else []
        return [*self.forward(name), *reject, *step.get("branches", ())]

    def closure(self, start, ways):
        seen, waiting = set(), [start]
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                waiting += ways(name)
        return seen

    def branch(self, entry):
        return self.closure(entry, lambda name: [target for target in self.named(name) if target != JOIN])

    def broken(self):
        first, last = next(iter(self.steps)), self.steps[list(self.steps)[-1]]
        inside = [name for branch in self.branches.values() for name in branch]
        if self.closure(first, self.all_ways) != set(self.steps):
            yield "unreachable"
        if any(name in self.closure(to, self.forward) for name in self.steps for to in self.forward(name)):
            yield "circle"
        if not last.get("finish") and not last.get("next"):
            yield "last"
        if len(inside) != len(set(inside)):
            yield "two branches"
        for name, step in self.steps.items():
            yield from (
                self.broken_inside(name, step) if name in inside else self.broken_outside(name, step, inside)
            )

    def broken_inside(self, name, step):
        if step.get("finish") or "branches" in step:
            yield "kind in a branch"
        if not step.get("next"):
            yield "no next in a branch"
        if JOIN not in self.closure(name, lambda name: self.named(name) if name != JOIN else []):
            yield "never joins"
        if "on_reject" in step and not any({name, step["on_reject"]} <= b for b in self.branches.values()):
            yield "rejected out"

    def broken_outside(self, name, step, inside):
        if JOIN in self.named(name):
            yield "join outside"
        if any(target in inside for target in [*self.forward(name), step.get("on_reject")]):
            yield "into a branch"


@st.composite
def graphs(draw):
    """A good process with a few edges bent: about half of them stay good."""
    steps = []
    for index in range(draw(st.integers(1, 3))):
        if draw(st.booleans()):
            entries = [f"b{index}x", f"b{index}y"]
            steps.append({"id": f"p{index}", "branches": entries, "next": [f"m{index}"]})
            for entry in entries:
                if draw(st.booleans()):
                    steps += [{"id": entry, "next": [f"{entry}2"]}, {"id": f"{entry}2", "next": [JOIN]}]
                else:
                    steps.append({"id": entry, "next": [JOIN]})
        steps.append({"id": f"m{index}"})
    steps.append({"id": "end", "finish": True})
    names = [step["id"] for step in steps]
    for _ in range(draw(st.integers(0, 3))):
        step = draw(st.sampled_from([step for step in steps if not step.get("finish")]))
        target = draw(st.sampled_from([*names, JOIN]))
        bend = draw(st.sampled_from(["route", "next", "no next", "on_timeout", "on_reject", "entry"]))
        worker = not {"branches", "on_timeout", "on_reject"} & set(step) and not step.get("finish")
        if bend == "route" and worker and target not in step.get("next", []):
            step["next"] = [*step.get("next", []), target]
        elif bend == "next":
            step["next"] = [target]
        elif bend == "no next":
            step.pop("next", None)
        elif bend == "on_timeout" and worker and len(step.get("next", [])) < 2:
            step["on_timeout"] = target
        elif bend == "on_reject" and worker and len(step.get("next", [])) < 2 and target != JOIN:
            step["on_reject"] = target
        elif bend == "entry" and "branches" in step and target not in [*step["branches"], JOIN]:
            step["branches"] = [*step["branches"], target]
    return steps


@settings(max_examples=300, deadline=None)
@given(graphs())
def test_a_file_is_good_exactly_if_no_rule_of_the_graph_is_broken(steps):
    broken = sorted(set(Told(steps).broken()))
    event(", ".join(broken) or "good")

    parsed = parse(process(flow(step) for step in steps))

    assert bool(parsed.issues) == bool(broken), (broken, [str(issue) for issue in parsed.issues])


def test_a_long_chain_is_read_without_recursion():
    steps = [f"{{id: s{number}, wait: 1d}}" for number in range(1_500)]

    assert document(process([*steps, "{id: end, finish: done}"]))
    (issue,) = issues(process([*steps, "{id: t, agent: T, next: [s0, end]}", "{id: end, finish: done}"]))
    assert issue.message == (
        "This goes round in a circle: s0 → s1 → s2 → s3 → … → s1498 → s1499 → t → s0. Only on_reject goes back."
    )


def test_every_circle_is_told_at_the_way_that_goes_up():
    found = issues(
        process(
            [
                "{id: a, agent: A, next: [c, d]}",
                "{id: b, wait: 1d, next: d}",
                "{id: c, agent: C, next: [b, a]}",
                "{id: d, agent: D, next: [b, end]}",
                "{id: end, finish: done}",
            ]
        )
    )

    assert [(issue.rule, issue.step, issue.key) for issue in found] == [
        ("cycle", "c", "next[1]"),
        ("cycle", "d", "next[0]"),
    ]


def test_a_wrong_target_is_told_once_and_stands_for_the_near_step():
    found = issues(
        process(["{id: a, wait: 1d, next: finsh}", "{id: b, wait: 1d}", "{id: finish_it, finish: done}"])
    )

    assert [issue.rule for issue in found] == ["no-step", "unreachable"]
    assert "Did you mean finish_it?" in found[0].message


def test_steps_without_a_usable_id_are_not_called_unreachable():
    found = issues(
        process(
            ["{id: a, wait: 1d, next: end}", "{id: A, wait: 1d}", "{id: a, wait: 1d}", "{id: end, finish: x}"]
        )
    )

    assert [issue.rule for issue in found] == ["id", "id-twice"]
