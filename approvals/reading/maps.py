"""Where a run stands, as a map: lanes by performer, columns by how far along a step is; and as a list. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from approvals.reading.words import title
from processes.document import JOIN, Document, Step
from processes.states import StepState

BOX, HIGH, LANE, STEP = 100, 28, 58, 80  # a step's width and height, a lane's height, columns overlap
TOP, LEFT, GAP = 22, 10, 14
NARROW = 364  # the map fits the phone up to this width
NAME, FREE, LANE_NAME = 16, 13, 26
MOST = 60  # steps that a map is drawn of; a longer process is given as the list alone
BACK = "on_reject"
SERVER = "Server"


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    label: str
    x: int
    y: int
    kind: str  # current | done | next
    end: bool
    unsure: bool

    @property
    def middle(self) -> int:
        return self.x + BOX // 2

    @property
    def centre(self) -> int:
        return self.y + HIGH // 2

    @property
    def squeezed(self) -> bool:
        """A long label is drawn as wide as its box allows, whatever the font."""
        return len(self.label) > FREE

    @property
    def radius(self) -> int:
        return HIGH // 2 if self.end else 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    label: str
    y: int
    odd: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    path: str
    back: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A step in the list form."""

    name: str
    text: str
    current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Map:
    """Without boxes where there are too many; the list is always there."""

    lines: tuple[Line, ...]
    current: str
    width: int = 0
    height: int = 0
    lanes: tuple[Lane, ...] = ()
    edges: tuple[Edge, ...] = ()
    boxes: tuple[Box, ...] = ()

    @property
    def wide(self) -> bool:
        return self.width > NARROW


def performer(step: Step) -> str:
    if step.kind == "agent":
        return "Agent"
    if step.kind not in {"task", "approve"}:
        return SERVER
    if step.person == "initiator":
        return "Initiator"
    return "Named person" if "." in step.person else title(step.person)


def draw(document: Document, states: Mapping[str, str], current: str, *, unsure: bool) -> Map:
    """`states`: each step's state now; `current`: the step that the reader is asked about."""
    lines = tuple(_lines(document, states, current))
    label = _label(document.steps[current]) if current in document.steps else ""
    if len(document.steps) > MOST:
        return Map(lines=lines, current=label)
    performers = {name: performer(step) for name, step in document.steps.items()}
    order = [lane for lane in dict.fromkeys(performers.values()) if lane != SERVER]
    order += [SERVER] if SERVER in performers.values() else []
    places = _places(document, performers)
    boxes = {
        name: Box(
            label=_short(_label(step), NAME),
            x=places[name],
            y=order.index(performers[name]) * LANE + TOP,
            kind="current" if name == current else "done" if states.get(name) == StepState.DONE else "next",
            end=step.kind == "finish",
            unsure=unsure and name == current,
        )
        for name, step in document.steps.items()
    }
    lanes = (Lane(label=_short(name, LANE_NAME), y=i * LANE, odd=i % 2 == 0) for i, name in enumerate(order))
    return Map(
        lines=lines,
        current=label,
        width=max(NARROW, max(places.values()) + BOX + GAP),
        height=len(order) * LANE,
        lanes=tuple(lanes),
        edges=tuple(_edges(document, boxes)),
        boxes=tuple(boxes.values()),
    )


def ways(step: Step, document: Document) -> list[tuple[str, str]]:
    """(target, by what key) for every edge to a step."""
    targets = [(step.next, "next"), *((route.to, "next") for route in step.routes)]
    targets += [(name, "parallel") for name in step.branches]
    targets += [(step.on_timeout, "on_timeout"), (step.on_reject, BACK)]
    return [(name, via) for name, via in dict.fromkeys(targets) if name in document.steps]


def _label(step: Step) -> str:
    return step.text if step.kind == "finish" else title(step.id)


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def _places(document: Document, performers: Mapping[str, str]) -> dict[str, int]:
    """Left edges: a step stands right of all that lead to it, and never on a neighbour in its lane."""
    joins = _joins(document)
    before: dict[str, list[str]] = {name: [] for name in document.steps}
    for step in document.steps.values():
        for name in _forward(step, document, joins):
            before[name].append(step.id)
    places: dict[str, int] = {}
    filled: dict[str, list[int]] = {}
    for name in _in_order(before):
        lane = performers[name]
        x = LEFT
        for other in before[name]:
            x = max(x, places[other] + (STEP if performers[other] != lane else BOX + 2 * GAP))
        while any(abs(x - taken) < BOX + GAP for taken in filled.get(lane, ())):
            x += STEP // 2
        places[name] = x
        filled.setdefault(lane, []).append(x)
    return places


def _in_order(before: Mapping[str, list[str]]) -> list[str]:
    """Every step after all that lead to it, else in the file's order. Forward edges make no circle."""
    found: dict[str, None] = {}
    waiting = list(before)
    while waiting:
        ready = [name for name in waiting if all(other in found for other in before[name])]
        found.update(dict.fromkeys(ready))
        waiting = [name for name in waiting if name not in found]
    return list(found)


def _joins(document: Document) -> dict[str, str]:
    """Where each step that ends a branch goes on: to the next of its parallel step."""
    found = {}
    for fork in document.steps.values():
        inner, seen = list(fork.branches), set(fork.branches)
        while inner:
            step = document.steps[inner.pop()]
            named = [step.next, *(route.to for route in step.routes), step.on_timeout]
            if JOIN in named:
                found[step.id] = fork.next
            new = [name for name in named if name in document.steps and name not in seen]
            seen.update(new)
            inner += new
    return found


def _forward(step: Step, document: Document, joins: Mapping[str, str]) -> list[str]:
    found = [name for name, via in ways(step, document) if via != BACK]
    if joins.get(step.id) in document.steps:
        found.append(joins[step.id])
    return found


# ---- edges: of the ways that one can be drawn, the first that runs through no other step

_Points = list[tuple[int, int]]


def _edges(document: Document, boxes: Mapping[str, Box]) -> list[Edge]:
    joins = _joins(document)
    found = []
    for step in document.steps.values():
        source = boxes[step.id]
        found += [
            Edge(path=_path(_clear(_onward(source, boxes[name]), boxes)), back=False)
            for name in _forward(step, document, joins)
        ]
        if step.on_reject in document.steps:
            drawn = _clear(_back(source, boxes[step.on_reject]), boxes)
            found.append(Edge(path=_path(drawn), back=True))
    return found


def _onward(source: Box, target: Box) -> list[_Points]:
    """Right and then to the target's lane; from below and then right; round a corner."""
    right, below = source.x + BOX, target.y > source.y
    start, end = (source.y + HIGH, target.y - 5) if below else (source.y, target.y + HIGH + 5)
    if source.y == target.y and target.x > right:
        return [[(right, source.centre), (target.x - 5, source.centre)]]
    ways_: list[_Points] = []
    if target.middle > right:
        ways_.append([(right, source.centre), (target.middle, source.centre), (target.middle, end)])
    for out in (28, 18, 38, 8):
        if target.x - 5 > source.x + out:
            x = source.x + out
            ways_.append([(x, start), (x, target.centre), (target.x - 5, target.centre)])
    half = end - 10 if below else end + 10
    ways_.append([(source.middle, start), (source.middle, half), (target.middle, half), (target.middle, end)])
    return ways_


def _back(source: Box, target: Box) -> list[_Points]:
    """From the left of the approval to below (or above) where it sends the run."""
    to = target.middle + 10
    if source.y == target.y:
        over = source.y - 8
        return [[(source.middle, source.y), (source.middle, over), (to, over), (to, target.y - 3)]]
    above = target.y < source.y
    start, end = (source.y, target.y + HIGH + 5) if above else (source.y + HIGH, target.y - 5)
    half = end + 8 if above else end - 8
    ways_: list[_Points] = []
    if source.x > to:
        ways_.append([(source.x, source.centre), (to, source.centre), (to, end)])
    ways_.append([(source.x + GAP, start), (source.x + GAP, half), (to, half), (to, end)])
    return ways_


def _clear(candidates: list[_Points], boxes: Mapping[str, Box]) -> _Points:
    return next((points for points in candidates if not _crosses(points, boxes)), candidates[0])


def _crosses(points: _Points, boxes: Mapping[str, Box]) -> bool:
    return any(_hits(one, other, box) for one, other in pairwise(points) for box in boxes.values())


def _hits(one: tuple[int, int], other: tuple[int, int], box: Box) -> bool:
    (left, right), (top, bottom) = sorted((one[0], other[0])), sorted((one[1], other[1]))
    return left < box.x + BOX and right > box.x and top < box.y + HIGH and bottom > box.y


def _path(points: _Points) -> str:
    (x, y), *rest = points
    parts = [f"M{x} {y}"]
    for to_x, to_y in rest:
        parts.append(f"H{to_x}" if to_x != x else f"V{to_y}")
        x, y = to_x, to_y
    return "".join(parts)


# ---- the same as a list

_NOW = {
    StepState.READY: "ready to be claimed",
    StepState.CLAIMED: "being worked",
    StepState.WAITING: "waits for a person",
    StepState.DONE: "done",
    StepState.FAILED: "failed",
    StepState.CANCELLED: "cancelled",
}


def _lines(document: Document, states: Mapping[str, str], current: str) -> list[Line]:
    return [
        Line(
            name=_label(step), text=_line(step, document, states.get(step.id, "")), current=step.id == current
        )
        for step in document.steps.values()
    ]


def _line(step: Step, document: Document, state: str) -> str:
    if step.kind == "finish":
        return "the run's outcome" + (", reached" if state == StepState.DONE else "")
    parts = [performer(step)]
    if state in _NOW:
        parts.append(_NOW[StepState(state)])
    onward = [_label(document.steps[name]) for name, via in ways(step, document) if via == "next"]
    if onward:
        parts.append(f"then {' or '.join(onward)}")
    if step.on_reject in document.steps:
        parts.append(f"a rejection goes back to {_label(document.steps[step.on_reject])}")
    return "; ".join(parts)
