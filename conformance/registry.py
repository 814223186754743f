"""Cases: what they are called, the rule they rest on, what they need of a server, and how to pick some."""

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.world import World

Function = Callable[["World"], None]
# a case that waits for the end of a lease: it yields where the waiting is
Story = Callable[["World"], Generator[None]]


@dataclass(frozen=True, slots=True)
class Need:
    """Something without which a case is skipped. `what` completes "needs …"."""

    kind: str
    what: str


def tool(name: str) -> Need:
    return Need("tool", name)


def profile(name: str) -> Need:
    return Need("profile", name)


PUBLISHING = Need("publishing", "a --publish-command")
EVALUATOR = Need("evaluator", "an --evaluator-port that the server asks")
SHORT_LEASE = Need("lease", "a server whose lease lasts 5 seconds at most")
PEOPLE_NAMED = Need("names", "credentials that say how the server names the people (value)")
STRICT = Need("strict", "--strict")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """`rests_on`: where the rule stands. `rule`: the rule in our own words."""

    id: str
    title: str
    rests_on: str
    rule: str
    needs: tuple[Need, ...]
    run: Function | None = None
    story: Story | None = None

    @property
    def chapter(self) -> str:
        return self.id.partition(".")[0]


class Chapter:
    """A list of cases that one module fills: `@chapter.case("two-agents", title, rests_on, rule, *needs)`."""

    def __init__(self, name: str, title: str, *needs: Need) -> None:
        self.name = name
        self.title = title
        self.needs = needs
        self.cases: list[Case] = []

    def case(
        self, name: str, title: str, rests_on: str, rule: str, *needs: Need
    ) -> Callable[[Function], Function]:
        def add(function: Function) -> Function:
            self.add(name, title, rests_on, rule, function, *needs)
            return function

        return add

    def story(
        self, name: str, title: str, rests_on: str, rule: str, *needs: Need
    ) -> Callable[[Story], Story]:
        """Like `case`, for a function that yields once, where a lease has to end."""

        def add(function: Story) -> Story:
            self.cases.append(
                Case(
                    id=f"{self.name}.{name}", title=title, rests_on=rests_on, rule=rule,
                    needs=(*self.needs, *needs), story=function,
                )
            )  # fmt: skip
            return function

        return add

    def add(self, name: str, title: str, rests_on: str, rule: str, run: Function, *needs: Need) -> None:
        self.cases.append(
            Case(
                id=f"{self.name}.{name}",
                title=title,
                rests_on=rests_on,
                rule=rule,
                needs=(*self.needs, *needs),
                run=run,
            )
        )


def selected(cases: Iterable[Case], patterns: Iterable[str]) -> Iterator[Case]:
    """The cases whose id fits one of the patterns (`claim.*`, `claim`, `*.replay`); all where there is none.

    A pattern without a dot or a wildcard is a chapter.
    """
    wanted = [pattern.strip() for text in patterns for pattern in text.split(",") if pattern.strip()]
    for case in cases:
        if not wanted or any(case.chapter == one or fnmatchcase(case.id, one) for one in wanted):
            yield case
