"""What a person typed on a work item, and the `decide` call that it makes. Pure.

`read` turns what was typed into the tool's arguments, or errors by field; `place` finds the field that one
of the protocol's issue lines is about; `copied` puts the candidate's values where nothing stands yet.
What is drawn is in `controls.py`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from approvals.choices import CHANGES, Case, Choice, choices
from approvals.values import UnreadableError, shape_of, text_of, value_of
from checks import codec
from processes.acceptance import Content, FileState, issues
from processes.states import Decision

# where an error of the evidence stands; an output field's is under `output.<name>`
FILE, LINK = "evidence.file", "evidence.link"
CHOOSE = "Choose a decision first."

_PLAIN_NAME = re.compile(r"[\w.-]{1,100}", re.ASCII)
_WEB = re.compile(r"https?://[^\s/]\S*", re.IGNORECASE)

Errors = Mapping[str, tuple[str, ...]]  # by control key; "" for what no field can mend


@dataclass(frozen=True, slots=True)
class Stored:
    """A file that was uploaded with an earlier sending of the form. `token` proves it."""

    ref: str
    name: str
    token: str


@dataclass(frozen=True, slots=True)
class Typed:
    """What a person sent, by input name, for reading and for showing it again."""

    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    stored: tuple[Stored, ...] = ()

    @classmethod
    def of(cls, sent: Iterable[tuple[str, Sequence[str]]], stored: tuple[Stored, ...] = ()) -> "Typed":
        return cls({name: tuple(unbroken(text) for text in texts) for name, texts in sent}, stored)

    def one(self, name: str) -> str:
        return (self.texts.get(name) or ("",))[-1]

    def all(self, name: str) -> tuple[str, ...]:
        return self.texts.get(name, ())

    def unchosen(self) -> "Typed":
        """Everything kept but the decision itself."""
        return replace(self, texts={**self.texts, "decision": ()})


def unbroken(text: str) -> str:
    """Line breaks as browsers send them (CR LF) back to those that were typed."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def input_name(index: int, name: str) -> str:
    """Of an output field in the POST: its own name, where every browser sends that the same."""
    return f"output.{name}" if _PLAIN_NAME.fullmatch(name) else f"output-{index}"


def note_name(choice: Choice) -> str:
    return f"note-{choice.value}"


# ---- copying


def copied(case: Case, typed: Typed) -> Typed:
    """The candidate's values in every field that is still empty, with `changes` chosen."""
    held = case.candidate or {}
    texts = dict(typed.texts)
    for name, value in _held_texts(case, held).items():
        if not typed.one(name).strip():
            texts[name] = (value,)
    if not typed.all("kept"):
        texts["kept"] = tuple(str(index) for index, _ in enumerate(held.get("evidence", ())))
    return replace(typed, texts={**texts, "decision": (CHANGES,)})


def _held_texts(case: Case, held: Mapping[str, Any]) -> dict[str, str]:
    output = held.get("output", {})
    found = {
        input_name(index, name): unbroken(text_of(shape_of(spec, output[name]), output[name]))
        for index, (name, spec) in enumerate(case.step.output.items())
        if name in output
    }
    return found | {key: held[key] for key in _rest(case) if key in held}


def _rest(case: Case) -> tuple[str, ...]:
    return ("summary", "next", "reason") if case.step.routes else ("summary",)


# ---- reading


@dataclass(frozen=True, slots=True)
class Reading:
    """The decision's own arguments; with errors they are not to be sent."""

    arguments: Mapping[str, Any]
    errors: Errors


def chosen(case: Case, typed: Typed) -> Choice | None:
    return next((choice for choice in choices(case) if choice.value == typed.one("decision")), None)


def read(case: Case, typed: Typed) -> Reading:
    """Whether the work is complete is for the tool to judge; here it is only read."""
    choice = chosen(case, typed)
    if choice is None:
        return Reading({}, {"": (CHOOSE,)})
    if choice.value == CHANGES:
        return _work(case, typed)
    arguments = {"decision": str(choice.decision)}
    wrong: dict[str, tuple[str, ...]] = {}
    if choice.note:
        note = _plain("note", typed.one(note_name(choice)), wrong)
        if note:
            arguments["note"] = note
        elif choice.note_needed:
            wrong.setdefault("note", ("needed with this decision",))
    return Reading(arguments, wrong)


def _work(case: Case, typed: Typed) -> Reading:
    """Output is always given, so that a candidate is never taken in its place unseen."""
    wrong: dict[str, tuple[str, ...]] = {}
    arguments: dict[str, Any] = {"decision": str(Decision.COMPLETED), "output": _output(case, typed, wrong)}
    if case.step.evidence or (case.candidate or {}).get("evidence"):
        arguments["evidence"] = _evidence(case, typed, wrong)
    for key in _rest(case):
        if text := _plain(key, typed.one(key), wrong):
            arguments[key] = text
    if wrong:
        wrong = _with_all_else(case, arguments, wrong)
    return Reading(arguments, wrong)


def _output(case: Case, typed: Typed, wrong: dict[str, tuple[str, ...]]) -> dict[str, Any]:
    held = (case.candidate or {}).get("output", {})
    output: dict[str, Any] = {}
    for index, (name, spec) in enumerate(case.step.output.items()):
        text = typed.one(input_name(index, name))
        if not text.strip():
            continue
        shape = shape_of(spec, held.get(name))
        if name in held and text == unbroken(text_of(shape, held[name])):
            output[name] = held[name]  # to the character, whatever browsers do to line breaks
            continue
        try:
            output[name] = value_of(shape, spec, text)
        except UnreadableError as error:
            wrong[f"output.{name}"] = (str(error),)
    return output


def _evidence(case: Case, typed: Typed, wrong: dict[str, tuple[str, ...]]) -> list[dict[str, str]]:
    held = (case.candidate or {}).get("evidence", ())
    found = [
        {"kind": item["kind"], "ref": item["ref"]}
        for index, item in enumerate(held)
        if str(index) in typed.all("kept")
    ]
    if "file" in case.step.evidence:
        found += [{"kind": "file", "ref": stored.ref} for stored in typed.stored]
    if "link" not in case.step.evidence:
        return found
    for link in filter(None, (text.strip() for text in typed.all("link"))):
        if _WEB.fullmatch(link) and not _unstorable(link):
            found.append({"kind": "link", "ref": link})
        else:
            wrong[LINK] = ("write the whole address, like https://example.org/report",)
    return found


def _plain(key: str, text: str, wrong: dict[str, tuple[str, ...]]) -> str:
    text = text.strip()
    if said := _unstorable(text):
        wrong[key] = (said,)
    return text


def _unstorable(text: str) -> str:
    try:
        codec.check(text)
    except codec.CodecError as error:
        return str(error)
    return ""


def _with_all_else(
    case: Case, arguments: Mapping[str, Any], wrong: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """What could not be read, beside all that the tool would say of the rest: everything at one look."""
    evidence = arguments.get("evidence", [])
    content = Content(
        output=arguments["output"],
        evidence=tuple(evidence),
        summary=arguments.get("summary"),
        next=arguments.get("next"),
        reason=arguments.get("reason"),
    )
    files = {item["ref"]: FileState(sha256="") for item in evidence}
    said = issues(case.step, content, files, summary_needed=False)
    return {**by_field(case, said), **wrong}


# ---- placing the protocol's issues


def by_field(case: Case, lines: Iterable[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for line in lines:
        key, words = place(case, line)
        found[key] = (*found.get(key, ()), words)
    return found


_ENTRY = re.compile(r"\[([0-9]+)\](.*)", re.DOTALL)


def place(case: Case, line: str) -> tuple[str, str]:
    """`output.cleared: expected boolean` to the field's key and the words beside it; ("", line) for the rest."""
    for name in sorted(case.step.output, key=len, reverse=True):
        start = f"output.{name}"
        if line.startswith((f"{start}:", f"{start}[", f"{start}.")):
            return start, _entry(line.removeprefix(start))
    head, _, words = line.partition(":")
    if head in {"summary", "next", "reason", "note"} and words:
        return head, words.strip()
    if head.startswith("evidence") and words:
        key = LINK if "link" in words or "file" not in case.step.evidence else FILE
        what = head.removeprefix("evidence").strip()
        named = case.file_names.get(what, what)
        return key, f"{named}: {words.strip()}" if named else words.strip()
    return "", line


def _entry(rest: str) -> str:
    """`[2]: expected string` counts from one for people."""
    found = _ENTRY.fullmatch(rest)
    words = rest.removeprefix(":").strip()
    return f"entry {int(found[1]) + 1}{found[2]}" if found else words
