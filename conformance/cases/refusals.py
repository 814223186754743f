"""What a server refuses to publish."""

from functools import partial

from conformance.cases.broken import PREFIX, ROWS, SOUND, Row, text
from conformance.client import new_id
from conformance.demands import demand
from conformance.failures import Failure, Skip
from conformance.library import files
from conformance.publishing import Desk, Outcome
from conformance.registry import PUBLISHING, STRICT, Chapter
from conformance.world import World

__all__ = ["ROWS", "begin_refusals", "chapter"]

chapter = Chapter("refuse", "What is never published", PUBLISHING)

SOUND_NAME = "conform-sound"
RULE = "A file that breaks a rule of the format is refused; it is not published, in whole or in part."


def tried(w: World, key: str, folder: str, content: bytes) -> Outcome:
    if w.desk is None:
        raise Failure("there is no way to publish")
    w.desk.put(key, folder, content)
    return w.desk.outcome(key)


def begin_refusals(w: World, desk: Desk, wanted: set[str]) -> None:
    """Begin with the broken files that the wanted cases are about, while other cases run."""
    rows = [row for row in ROWS if f"{chapter.name}.{row.name}" in wanted]
    rows = [row for row in rows if not any(w.lacks(need) for need in row.needs)]
    for row in rows:
        desk.put(row.name, row.folder, row.content)
    if len(rows) > 1:
        desk.put(SOUND_NAME, SOUND_NAME, SOUND.replace("NAME", SOUND_NAME).encode())
        desk.begin(SOUND_NAME)


def _refused(row: Row, w: World) -> None:
    done = tried(w, row.name, row.folder, row.content)
    if w.strict and w.desk is not None and not all(word in done.said for word in row.words):
        done = w.desk.again(row.name)
    demand(not done.published, f"the file must be refused, and the command succeeded: {done.said[-400:]}")
    for name in sorted({PREFIX + row.name, row.folder}):
        w.agent.refused("start_run", "not_found", "invalid", process=name, inputs={})
    if w.strict:
        missing = [word for word in row.words if word not in done.said]
        demand(not missing, f"an issue must name {', '.join(missing)}; the command said: {done.said[-600:]}")


for _row in ROWS:
    chapter.add(_row.name, _row.title, _row.rests_on, RULE, partial(_refused, _row), *_row.needs)


@chapter.case(
    "sound", "The file that the broken ones are made from is published", "core §2",
    "With nothing wrong in it, the same file is published: so the others are refused for what is wrong in them.",
)  # fmt: skip
def sound(w: World) -> None:
    done = tried(w, new_id(), SOUND_NAME, SOUND.replace("NAME", SOUND_NAME).encode())
    demand(done.published, f"the sound file must be published: {done.said[-600:]}")
    w.started.append(w.agent.ok("start_run", process=SOUND_NAME, inputs={})["run"]["id"])


@chapter.case(
    "all-issues", "Every issue of a file is told at once", "our ruling on core §2",
    "A refused file comes back with all that is wrong in it, each issue with its step and key.", STRICT,
)  # fmt: skip
def all_issues(w: World) -> None:
    name = PREFIX + "all-issues"
    steps = (
        "{id: first, agent: A., due: 15s}", "{id: second, task: T.}", "{id: third, agent: A., output: {a: text}}",
        "{id: fourth, agent: A., next: nowhere}", "{id: end, finish: ended}",
    )  # fmt: skip
    done = tried(w, name, name, text(name, steps, inputs="{x: colour}").encode())
    demand(not done.published, "the file must be refused")
    wanted = ("first", "due", "second", "person", "third", "output", "fourth", "nowhere", "inputs")
    missing = [word for word in wanted if word not in done.said]
    demand(not missing, f"the issues must name {', '.join(missing)}; the command said: {done.said[-800:]}")


@chapter.case(
    "not-offered", "What the server does not offer", "core §4.2, §8",
    "A process that uses a profile or a tool that describe does not list is refused at publication.",
)  # fmt: skip
def not_offered(w: World) -> None:
    unoffered = [file for file in files() if any(w.lacks(need) for need in file.needs)]
    if not unoffered:
        raise Skip("the server offers every profile and tool of the suite's files")
    for file in unoffered[:3]:
        done = tried(w, file.name, file.name, file.text.encode())
        demand(not done.published, f"{file.name} needs what describe does not list, and was published")
