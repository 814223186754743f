"""The graph of a process: every target exists, every step is reachable, only `on_reject` goes back. Pure.

Works on drafts, so that a file with other faults is judged too. Where an edge names no step, the step
that was probably meant (or else the following one) stands in for it: one typing mistake must not make
half of the process unreachable.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from processes.rules import Findings, Path, Rule, listed, shown
from processes.steps import JOIN, Draft, Target

FORWARD = frozenset({"next", "on_timeout"})  # the edges that no run may follow in a circle
MAX_CIRCLE = 8  # names that a message tells of a circle


@dataclass(frozen=True, slots=True)
class Edge:
    """A way from step to step, by their positions; `target` is None for `join`.

    `key` is the path below the source, `()` where nothing is named and the run just goes on. `guessed`:
    the file names no such step, so that the edge serves reachability only.
    """

    source: int
    target: int | None
    via: str
    key: Path = ()
    guessed: bool = False

    @property
    def path(self) -> Path:
        return ("steps", self.source, *self.key)


class Graph:
    """Drafts and the edges between them. Adds a finding for every target that is no step."""

    def __init__(self, drafts: Sequence[Draft], findings: Findings) -> None:
        self.drafts = drafts
        self.forks = [draft for draft in drafts if draft.step.kind == "parallel"]
        self.edges: list[list[Edge]] = []
        self._findings = findings
        self._ids: dict[str, int] = {}
        for draft in drafts:
            if draft.step.id:
                self._ids.setdefault(draft.step.id, draft.index)
        for draft in drafts:
            edges = [self._edge(draft, target) for target in draft.targets]
            self.edges.append([edge for edge in edges if edge])
            if not any(edge.via == "next" for edge in self.edges[draft.index]):
                self.go_on(draft.index, guessed=draft.names_next)

    def __len__(self) -> int:
        return len(self.drafts)

    def name(self, index: int) -> str:
        return self.drafts[index].step.id or f"steps[{index}]"

    def kind(self, index: int) -> str:
        return self.drafts[index].step.kind

    def forward(self, index: int) -> Iterable[tuple[Edge, int]]:
        """The edges to steps by `next` and `on_timeout`."""
        return (
            (edge, edge.target)
            for edge in self.edges[index]
            if edge.via in FORWARD and edge.target is not None
        )

    def go_on(self, index: int, *, guessed: bool) -> None:
        """Add the way to the following step, for a step that names no next or one without a meaning."""
        if self.kind(index) != "finish" and index + 1 < len(self):
            self.edges[index].append(Edge(index, index + 1, "next", guessed=guessed))

    def _edge(self, draft: Draft, target: Target) -> Edge | None:
        index = self._ids.get(target.to)
        if target.to == JOIN and (self.forks or index is None):
            return Edge(draft.index, None, target.via, target.key)
        if index is not None:
            return Edge(draft.index, index, target.via, target.key)
        near = self._findings.near(target.to, self._ids)
        hint = f"Did you mean {near}?" if near else f"The steps are {listed(self._ids)}."
        self._findings.add(Rule.NO_STEP, (*draft.path, *target.key), to=shown(target.to), hint=hint)
        return Edge(draft.index, self._ids[near], target.via, target.key, guessed=True) if near else None


def check_ways(graph: Graph, findings: Findings) -> None:
    """Reachability and circles. What concerns branches is told by `processes.branches`."""
    _check_reachable(graph, findings)
    _check_circles(graph, findings)


def _check_reachable(graph: Graph, findings: Findings) -> None:
    seen, waiting = {0}, [0]
    while waiting:
        for edge in graph.edges[waiting.pop()]:
            if edge.target is not None and edge.target not in seen:
                seen.add(edge.target)
                waiting.append(edge.target)
    for draft in graph.drafts:
        # nobody can name a step without an id that is its own, which has its finding already
        reserved = graph.forks and draft.step.id == JOIN
        if draft.index not in seen and draft.step.id and not reserved:
            findings.add(Rule.UNREACHABLE, draft.path, id=draft.step.id)


def _check_circles(graph: Graph, findings: Findings) -> None:
    """Depth first, with a list for a stack: an edge to a step that is still open closes a circle."""
    done: set[int] = set()
    for root in range(len(graph)):
        if root in done:
            continue
        trail: list[Edge] = []  # from the root to the step at the end of `open_`
        open_ = [(root, graph.forward(root))]
        position = {root: 0}
        while open_:
            index, edges = open_[-1]
            for edge, target in edges:
                if edge.guessed or target in done:
                    continue
                if target in position:
                    _report(graph, [*trail[position[target] :], edge], findings)
                    continue
                position[target] = len(open_)
                trail.append(edge)
                open_.append((target, graph.forward(target)))
                break
            else:
                open_.pop()
                done.add(index)
                del position[index]
                if trail:
                    trail.pop()


def _report(graph: Graph, circle: list[Edge], findings: Findings) -> None:
    """Told at the edge that goes up in the file: going on to the following step never does."""
    back = next(edge for edge in reversed(circle) if edge.target is not None and edge.target <= edge.source)
    at = circle.index(back) + 1
    names = [shown(graph.name(edge.source)) for edge in circle[at:] + circle[:at]]
    names.append(names[0])
    if len(names) > MAX_CIRCLE:
        names[MAX_CIRCLE // 2 : -MAX_CIRCLE // 2] = ["…"]
    findings.add(Rule.CYCLE, back.path, circle=" → ".join(names))
