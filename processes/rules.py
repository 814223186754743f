"""Every rule of a process file, what its breach tells the author, and the list that breaches gather in. Pure.

A reader says `findings.add(Rule.DURATION, path, key="due", value=…)` and goes on reading, so that one
look at a file gives all that is wrong with it. A rule that no broken file of the tests hits fails them.
"""

import difflib
import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum, unique
from itertools import islice

# Keys and positions from the front matter's root: ("steps", 2, "next", 0, "to").
Path = tuple[str | int, ...]

MAX_HINTS = 50  # look-ups of a near name in one file; each compares with every candidate
MAX_SHOWN = 60  # characters of the author's text that a message repeats
MAX_LISTED = 12


@unique
class Rule(Enum):
    """One member a rule; its value is the message, filled in with the words given to `Findings.add`."""

    # the file
    TOO_LARGE = "The file has more than {limit} bytes. Keep long texts where they live and link them."
    UNSTORABLE = "The character {char} can't be stored. Delete it."
    NO_OPENING = (
        "A process file opens with a line that is exactly ---, followed by its keys. Make that line 1."
    )
    NO_CLOSING = "The front matter is never closed. Put a line that is exactly --- under its last key."
    CLOSING_BLANKS = "This line does not close the front matter, since blanks follow the ---. Delete them."

    # YAML
    CONTROL = "The character {char} has no place in front matter. Delete it."
    SYNTAX = "This can't be read as YAML: {problem}. {hint}"
    MARKER = (
        "Front matter is one YAML document, and only a line that is exactly --- closes it. Change this line."
    )
    ANCHOR = "Anchors (&{name}) are not taken. Delete it and write the value out where it is needed."
    ALIAS = "Aliases (*{name}) are not taken. Write the value out; put text that begins with * in quotes."
    TAG = "Tags ({tag}) are not taken. Delete it; put text that begins with ! in quotes."
    DEEP = "This is nested deeper than {limit} levels. Flatten it."
    LONG = "The front matter has too many keys and values. Make two processes of it."
    DUPLICATE = "{key} stands here a second time, first on line {first}. Keep one."
    KEY_NOT_TEXT = "A key must be text, and this is {what}. Put it in quotes or give it a name."
    NOT_FINITE = "{text} is no number that JSON can carry. Write a finite number, or quotes if it is text."
    INEXACT = (
        "The number {text} can't be kept exactly (RFC 8785): whole numbers go to 9007199254740991, "
        "others to about 16 digits. Shorten it, or put it in quotes if it is text."
    )

    # shapes
    NOT_KEYS = "The front matter must be keys with values (name, description, steps), not {what}."
    MISSING = "{key} is missing. Add it, like {example}."
    UNKNOWN_KEY = "{key} is no key of {owner}. {hint}"
    NOT_TEXT = "{key} must be text, not {what}. {mend}"
    BLANK = "{key} is blank. Write it out."
    NOT_BOOLEAN = "{key} must be true or false, not {what}."
    NAME = (
        "The name {value} must be 1 to 64 characters: small letters a-z and digits, "
        "in words joined by single hyphens, like {example}."
    )
    REQUIRES = "requires must be a map with the key systems, not {what}, like requires: {{systems: [crm]}}."
    SYSTEMS = "systems must be a list of one or more names, not {what}, like systems: [crm, billing]."
    SYSTEM_NAME = "The system {value} must be 1 to 64 characters: small letters a-z and digits, in words joined by hyphens."
    SYSTEM_TWICE = "The system {value} is listed twice. Keep one."
    STEPS = "steps must be a list of one or more steps, each beginning with - id:, not {what}."

    # fields
    FIELDS = "{key} must be a map of field names to types, not {what}, like {key}: {{amount: number}}."
    FIELD_NAME = "A field's name is blank. Give it one."
    FIELD_SHAPE = "A field is a type name or a map with a type, not {what}. The types are {types}."
    FIELD_TYPE = "{value} is no type. {hint}"
    ONE_OF = "one_of must be a list of one or more values, not {what}."
    ONE_OF_VALUE = "one_of holds {what}, and the field is a {type}. {mend}"
    ONE_OF_TYPE = "A {type} can't have one_of. Take it away{elsewhere}."
    ITEMS = "items stands only on a field of type list, and this is {type}. Take it away or change the type."

    # one step
    STEP_SHAPE = (
        "A step is a map with an id and what is done, not {what}, like - {{id: draft, agent: Write it.}}."
    )
    ID = (
        "The id {value} must begin with a small letter a-z and hold only small letters, "
        "digits, _ and -, at most 64 characters."
    )
    ID_TWICE = "The step on line {first} has the id {id} too. Give one of them another."
    ID_JOIN = "join is reserved where a step is parallel: it ends a branch. Give this step another id."
    NO_KIND = "The step does not say who does it. Add exactly one of {kinds}."
    TWO_KINDS = "The step has {count} kinds ({kinds}). Keep one, and make a step of its own of each other."
    KEY_ON_KIND = "{key} stands only on {kinds} steps, and this is {kind}. Take it away."
    FINISH_NEXT = "A finish ends the run and goes nowhere. Take next away."
    PERSON_NEEDED = (
        "A step with {kind} needs a person. Add person: with a role, initiator or a path like inputs.owner."
    )
    PARALLEL = "parallel must be a list of two or more steps that begin a branch each, not {what}."
    ENTRY = "A branch is named by the id of its first step, not {what}."
    ENTRY_TWICE = "{to} begins two branches. Name each branch once."
    DURATION = "{key} must be a whole number of 1 to 6 digits and m, h or d, like 30m, 4h or 2d, not {value}."
    EVENT = (
        "The event {value} must begin with a small letter a-z and hold only small letters, "
        "digits, _ and -, at most 64 characters."
    )
    EVIDENCE = "evidence must be a list of file and link, not {what}, like evidence: [file]."
    EVIDENCE_KIND = "{value} is no kind of evidence. Take file or link."
    EVIDENCE_TWICE = "{value} is listed twice. Keep one."
    TARGET = "{key} must be the id of a step, not {what}."
    ROUTES_KIND = "Only agent and task steps choose from a list. Name one step, or let a task choose."
    ROUTES_FEW = (
        "A list of routes needs two or more. Name one step without the brackets, or add another route."
    )
    ROUTES_TWICE = "{to} is listed twice. Keep one route to each step."
    ROUTE = "A route is the id of a step or a map with the key to, not {what}."
    TIMEOUT_NEEDED = (
        "on_timeout says where to go when time is up, but there is no timeout. Add timeout: with a duration."
    )
    CHECK_NEEDED = "advisory stands only beside check. Add a check or take advisory away."
    CHECK = "{place}: {message}."
    FACT = "{message}."
    FACT_OPTIONAL = (
        "{value} is optional, and work without it would pass unchecked. Take optional away, or the fact."
    )

    # what a step refers to
    PATH_SHAPE = "{value} is no path that can be followed. Write inputs.<field> or steps.<id>.output.<field>."
    PATH_STEP = "{value} names no step of this process. {hint}"
    PATH_FIELD = "{value} names no declared field. {hint}"
    PATH_TYPE = "{value} is a field of type {type}, and {key} needs a {wanted}. Change the field or the path."

    # the graph
    NO_STEP = "{to} is no step. {hint}"
    LAST_NEXT = "The last step has no following step to go on at. Name its next, or add a finish under it."
    UNREACHABLE = (
        "No way leads here from the first step. Name {id} in a next, on_timeout, on_reject or parallel."
    )
    CYCLE = "This goes round in a circle: {circle}. Only on_reject goes back."

    # branches
    JOIN_OUTSIDE = (
        "join ends a branch and is no step. Only next and on_timeout of a step in a branch may name it."
    )
    BRANCH_NEXT = (
        "A step in a branch does not go on by itself. Add next: join, or the id of a step in the branch."
    )
    BRANCH_SHARED = (
        "{to} is in the branch of {branch} already, and a step is in one branch only. Name join or a copy."
    )
    BRANCH_FINISH = "{to} is a finish, and a branch can't end the run. {mend}"
    BRANCH_PARALLEL = "{to} is a parallel step, which a branch neither holds nor goes to. {mend}"
    BRANCH_OUT = "{to} is outside the branch of {branch}. Name join, or a step in the same branch."
    BRANCH_INTO = "{to} is in the branch of {branch}, where only that branch's steps lead. {mend}"
    REJECT_OUT = "{to} is outside the branch of {branch}. A rejection in a branch stays in that branch."
    REJECT_INTO = "{to} is in the branch of {branch}. From outside, reject to {fork} or to a step before it."

    @property
    def code(self) -> str:
        """A stable short name for documentation and tests: `id-twice`."""
        return self.name.lower().replace("_", "-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A broken rule and where. `line` is None where it is that of the path's own key."""

    rule: Rule
    path: Path
    message: str
    line: int | None = None


class Findings:
    """The breaches found so far, in the order of finding.

    `lost`: paths whose value the loader had to drop and has reported; nothing more is said of them.
    """

    def __init__(self, found: Iterable[Finding] = (), lost: Collection[Path] = ()) -> None:
        self.all = list(found)
        self._lost = lost
        self._hints = 0

    def add(self, rule: Rule, path: Path, line: int | None = None, /, **words: object) -> None:
        if path not in self._lost:
            self.all.append(Finding(rule=rule, path=path, message=rule.value.format(**words), line=line))

    def near(self, word: object, candidates: Collection[str]) -> str | None:
        """The candidate that was probably meant, or None."""
        self._hints += 1
        if not isinstance(word, str) or len(word) > MAX_SHOWN or self._hints > MAX_HINTS:
            return None
        lowered = {candidate.lower(): candidate for candidate in candidates}
        found = difflib.get_close_matches(word.strip().lower(), lowered, n=1, cutoff=0.6)
        return lowered[found[0]] if found else None

    def hint(self, word: object, candidates: Collection[str], otherwise: str) -> str:
        """A sentence that mends a wrong name: the near one, or those that there are."""
        near = self.near(word, candidates)
        return f"Did you mean {shown(near)}?" if near else f"{otherwise} {listed(candidates)}."


_PLAIN = re.compile(r"[\w.@/$&*-]+")


def shown(value: object) -> str:
    """A value as a message repeats it: a plain word as it is, anything else in quotes and cut."""
    if not isinstance(value, str):
        return literal(value)
    if len(value) > MAX_SHOWN:
        value = value[:MAX_SHOWN] + "…"
    return value if _PLAIN.fullmatch(value) else json.dumps(value, ensure_ascii=False)


def literal(value: object) -> str:
    """A value as YAML writes it, or what it is where it is long."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | Decimal):
        return str(value)
    return value if isinstance(value, str) else described(value)


def described(value: object) -> str:
    """What a value is, in words that an author knows."""
    match value:
        case None:
            return "nothing"
        case bool():
            return f"the truth value {literal(value)}"
        case int() | Decimal():
            return f"the number {value}"
        case str():
            return f"the text {shown(value)}" if value.strip() else "blank text"
        case dict():
            return "a map" if value else "an empty map"
        case _:
            return "a list" if value else "an empty list"


def listed(words: Iterable[str], last: str = "and") -> str:
    """`a, b and c`; a list that is longer than a reader takes in is cut."""
    head = [shown(word) for word in islice(words, MAX_LISTED + 1)]
    if len(head) > MAX_LISTED:
        return ", ".join(head[:MAX_LISTED]) + " …"
    if len(head) > 1:
        return f"{', '.join(head[:-1])} {last} {head[-1]}"
    return head[0] if head else "none"
