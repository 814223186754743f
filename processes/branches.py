"""The rules of parallel-1: what is a branch, and which edges may enter, leave or end one. Pure.

A branch is its entry and all that `next` and `on_timeout` lead to up to `join`. "Every step of a branch
reaches join" has no finding of its own: with a next on every step, no circle and no way out, it does.
"""

from collections.abc import Callable, Iterable

from processes.graph import FORWARD, Edge, Graph
from processes.rules import Findings, Rule, shown
from processes.steps import JOIN

_CLOSED = frozenset({"finish", "parallel"})  # kinds that no branch holds


def check_branches(graph: Graph, findings: Findings) -> None:
    """Add a finding for each step and edge that breaks a rule of branches, `join` outside one included."""
    branches = Branches(graph)
    for draft in graph.drafts:
        entry = branches.of(draft.index)
        if graph.forks and draft.step.id == JOIN:
            findings.add(Rule.ID_JOIN, (*draft.path, "id"))
        if not draft.names_next and draft.step.kind not in {"finish", ""}:
            if entry is not None:
                findings.add(Rule.BRANCH_NEXT, draft.path)
            elif draft.index == len(graph) - 1:
                findings.add(Rule.LAST_NEXT, draft.path)
        for edge in list(graph.edges[draft.index]):
            if edge.guessed:
                continue
            if edge.via == "parallel":
                _check_entry(graph, branches, edge, findings)
            elif entry is None:
                _check_outside(graph, branches, edge, findings)
            elif edge.key:  # what goes on by itself has its finding above
                _check_inside(graph, branches, edge, entry, findings)


class Branches:
    """Which branch each step is in. A branch is known by the position of its entry.

    A step that two branches lead to counts to the first: the second one's edge to it then leads out of
    its branch, and is told as such.
    """

    def __init__(self, graph: Graph) -> None:
        self.fork_of: dict[int, int] = {}  # entry -> its parallel step
        for fork in graph.forks:
            for edge in graph.edges[fork.index]:
                if edge.via == "parallel" and edge.target is not None:
                    self.fork_of.setdefault(edge.target, fork.index)
        entries = [entry for entry in self.fork_of if graph.kind(entry) not in _CLOSED]
        self._entry_of = {entry: entry for entry in entries}
        bounds = self._main_line(graph) if entries else set()
        for entry in entries:
            waiting = [entry]
            while waiting:
                for edge, target in graph.forward(waiting.pop()):
                    inner = edge.key and not edge.guessed and graph.kind(target) not in _CLOSED
                    if inner and target not in bounds and target not in self._entry_of:
                        self._entry_of[target] = entry
                        waiting.append(target)

    def of(self, index: int) -> int | None:
        """The entry of the branch that a step is in; None outside."""
        return self._entry_of.get(index)

    def _main_line(self, graph: Graph) -> set[int]:
        """Steps reached from the first without entering a branch, and on their way to a finish.

        They bound the branches: what names one of them leads out, instead of drawing it into the branch.
        """

        def outer(index: int) -> Iterable[int]:
            return (
                edge.target
                for edge in graph.edges[index]
                if edge.target is not None and edge.via != "parallel" and edge.target not in self.fork_of
            )

        sources: dict[int, list[int]] = {}
        for index in range(len(graph)):
            for _, target in graph.forward(index):
                sources.setdefault(target, []).append(index)
        finishes = [index for index in range(len(graph)) if graph.kind(index) == "finish"]
        return _reached([0], outer) & _reached(finishes, lambda index: sources.get(index, ()))


def _reached(starts: Iterable[int], ways: Callable[[int], Iterable[int]]) -> set[int]:
    seen = set(starts)
    waiting = list(seen)
    while waiting:
        for target in ways(waiting.pop()):
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return seen


def _check_entry(graph: Graph, branches: Branches, edge: Edge, findings: Findings) -> None:
    if edge.target is None:
        findings.add(Rule.JOIN_OUTSIDE, edge.path)
        return
    to = shown(graph.name(edge.target))
    if graph.kind(edge.target) in _CLOSED:
        mend = "Begin the branch with another step."
        findings.add(_closed_rule(graph, edge.target), edge.path, to=to, mend=mend)
    elif branches.fork_of.get(edge.target, edge.source) != edge.source:
        first = shown(graph.name(branches.fork_of[edge.target]))
        findings.add(Rule.BRANCH_SHARED, edge.path, to=to, branch=f"{to} under {first}")


def _check_outside(graph: Graph, branches: Branches, edge: Edge, findings: Findings) -> None:
    if edge.target is None:
        findings.add(Rule.JOIN_OUTSIDE, edge.path)
        graph.go_on(edge.source, guessed=True)  # so that what follows is not called unreachable too
        return
    entry = branches.of(edge.target)
    if entry is None:
        return
    words = {"to": shown(graph.name(edge.target)), "branch": shown(graph.name(entry))}
    fork = shown(graph.name(branches.fork_of[entry]))
    if edge.via == "on_reject":
        findings.add(Rule.REJECT_INTO, edge.path, fork=fork, **words)
        return
    if edge.source == branches.fork_of[entry]:
        mend = "The next of a parallel step is what comes after the join: name it."
    elif edge.key:
        mend = f"Name {fork} instead."
    else:
        mend = f"This step goes on there by itself: give it a next, like {fork}."
    findings.add(Rule.BRANCH_INTO, edge.path, mend=mend, **words)


def _check_inside(graph: Graph, branches: Branches, edge: Edge, entry: int, findings: Findings) -> None:
    branch = shown(graph.name(entry))
    if edge.via not in FORWARD:
        if edge.target is None or branches.of(edge.target) != entry:
            to = JOIN if edge.target is None else shown(graph.name(edge.target))
            findings.add(Rule.REJECT_OUT, edge.path, to=to, branch=branch)
        return
    if edge.target is None:
        return
    to = shown(graph.name(edge.target))
    owner = branches.of(edge.target)
    if graph.kind(edge.target) in _CLOSED:
        mend = "Name join, and go on from the parallel step."
        findings.add(_closed_rule(graph, edge.target), edge.path, to=to, mend=mend)
    elif owner is None:
        findings.add(Rule.BRANCH_OUT, edge.path, to=to, branch=branch)
    elif owner != entry:
        findings.add(Rule.BRANCH_SHARED, edge.path, to=to, branch=shown(graph.name(owner)))


def _closed_rule(graph: Graph, index: int) -> Rule:
    return Rule.BRANCH_FINISH if graph.kind(index) == "finish" else Rule.BRANCH_PARALLEL
