"""A work item's form as the template draws it: every input with its label, hint and errors. Pure.

Nothing is chosen and nothing filled in that the person did not type or copy.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from approvals.choices import CHANGES, SHORT, Case, Choice, choices
from approvals.forms import FILE, LINK, Errors, Typed, input_name, note_name
from approvals.values import LINE, Shape, options, shape_of, text_of
from processes.fields import Field

FEW = 5  # options that are drawn as radios; more become a select
LINKS = 2  # inputs for links
MOST_ROWS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    id: str
    text: str
    label: str
    chosen: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """One input with its label, its hint and what is wrong with it."""

    key: str  # what an error calls it
    name: str
    id: str
    label: str
    hint: str = ""
    held: str = ""  # the candidate's value, in a few characters
    widget: str = "line"  # line | text | radios | select
    text: str = ""
    options: tuple[Option, ...] = ()
    optional: bool = False
    rows: int = 1
    css: str = ""
    inputmode: str = ""
    placeholder: str = ""
    errors: tuple[str, ...] = ()

    @property
    def target(self) -> str:
        """The id that an error links to: something that takes the focus."""
        return self.options[0].id if self.widget == "radios" else self.id

    @property
    def typed(self) -> str:
        """What stands in it, for reading back."""
        return next((option.label for option in self.options if option.chosen), "") or self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    hint: str
    kept: tuple[Option, ...]  # the candidate's, to be cited again
    stored: tuple[Option, ...]  # uploaded with an earlier sending
    files: bool
    links: tuple[Control, ...]
    file_errors: tuple[str, ...]
    link_errors: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """A choice with its note."""

    choice: Choice
    chosen: bool
    note: Control | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    panels: tuple[Panel, ...]
    fields: tuple[Control, ...]  # the output's
    evidence: Evidence | None
    rest: tuple[Control, ...]  # summary, route, reason
    errors: Errors
    copies: bool  # whether there is a candidate to copy values from

    @property
    def chosen(self) -> bool:
        return any(panel.chosen for panel in self.panels)

    @property
    def controls(self) -> tuple[Control, ...]:
        links = self.evidence.links if self.evidence is not None else ()
        notes = (panel.note for panel in self.panels if panel.note is not None)
        return (*notes, *self.fields, *links, *self.rest)

    def wrong(self) -> tuple[tuple[str, str, str], ...]:
        """Each error in the form's order: what it is about, what is wrong, the id that mends it."""
        places = {control.key: (control.label, control.target) for control in reversed(self.controls)}
        places |= {
            panel.note.key: (panel.note.label, panel.note.id)
            for panel in self.panels
            if panel.chosen and panel.note
        }
        links = self.evidence.links if self.evidence is not None else ()
        places |= {FILE: ("evidence", "d-files"), LINK: ("evidence", links[0].id if links else "d-evidence")}
        order = ["", "note", *(c.key for c in self.fields), FILE, LINK, *(c.key for c in self.rest)]
        return tuple(
            (*places.get(key, ("", "")), words)
            for key in sorted(self.errors, key=lambda key: order.index(key) if key in order else -1)
            for words in self.errors[key]
        )


def describe(case: Case, typed: Typed, errors: Errors | None = None) -> Form:
    """The form, with what was typed and what is wrong with it. Empty `typed`: a form as first opened."""
    wrong = errors or {}
    works = any(choice.value == CHANGES for choice in choices(case))
    return Form(
        panels=tuple(_panel(choice, typed, wrong) for choice in choices(case)),
        fields=tuple(
            _field(case, index, name, spec, typed, wrong)
            for index, (name, spec) in enumerate(case.step.output.items())
        )
        if works
        else (),
        evidence=_evidence(case, typed, wrong) if works else None,
        rest=_rest(case, typed, wrong) if works else (),
        errors=wrong,
        copies=works and case.candidate is not None,
    )


def _panel(choice: Choice, typed: Typed, wrong: Errors) -> Panel:
    chosen = typed.one("decision") == choice.value
    note = None
    if choice.note:
        name = note_name(choice)
        text = typed.one(name)
        note = Control(
            key="note", name=name, id=f"d-{name}", label=choice.note, hint=choice.reader, widget="text",
            text=text, rows=_rows(text, 3), errors=wrong.get("note", ()) if chosen else (),
        )  # fmt: skip
    return Panel(choice=choice, chosen=chosen, note=note)


@dataclass(frozen=True, slots=True)
class Look:
    words: str
    css: str = ""
    inputmode: str = ""
    placeholder: str = ""


_LOOKS: Mapping[Shape, Look] = {
    Shape.STRING: Look("text"),
    Shape.NUMBER: Look("number", "w-num", "decimal"),
    Shape.DATE: Look("date, like 2026-11-30", "w-date", "", "YYYY-MM-DD"),
    Shape.DATETIME: Look("date and time with its offset", "", "", "2026-11-30T14:30:00+01:00"),
    Shape.PERSON: Look("person, by e-mail", "", "email"),
    Shape.LINES: Look("list, one per line; [] for an empty one"),
    Shape.JSON: Look("{type}, as JSON", "w-json"),
    Shape.OPTIONS: Look("one of {count}"),
}


def _field(case: Case, index: int, name: str, spec: Field, typed: Typed, wrong: Errors) -> Control:
    """One field of the output."""
    held = ((case.candidate or {}).get("output") or {}).get(name)
    shape = shape_of(spec, held)
    look, sent, key, ident = _LOOKS[shape], input_name(index, name), f"output.{name}", f"d-o{index}"
    text, held_text = typed.one(sent), "" if held is None else text_of(shape, held)
    widget, ways = _widget(case, shape, held_text), _options(spec, ident, typed.all(sent), shape)
    hint = _hint(spec, look, len(ways))
    if len(ways) > FEW or sum(len(way.text) for way in ways) > LINE:
        widget = "select"
    elif spec.optional and ways:  # a radio can't be taken back otherwise
        ways += (Option(id=f"{ident}-none", text="", label="leave out", chosen=typed.all(sent) == ("",)),)
    return Control(
        key=key, name=sent, id=ident, label=name, hint=hint, optional=spec.optional,
        held=_held(held_text), widget=widget, text=text, options=ways, css=look.css,
        inputmode=look.inputmode, placeholder=look.placeholder, errors=wrong.get(key, ()),
        rows=_rows(text or held_text, 1 if shape is Shape.STRING else 3),
    )  # fmt: skip


def _widget(case: Case, shape: Shape, held: str) -> str:
    if shape is Shape.OPTIONS:
        return "radios"
    if shape in {Shape.LINES, Shape.JSON}:
        return "text"
    # without a candidate nobody knows how long a text gets
    long = case.candidate is None or len(held) > LINE or "\n" in held
    return "text" if shape is Shape.STRING and long else "line"


def _options(spec: Field, ident: str, sent: tuple[str, ...], shape: Shape) -> tuple[Option, ...]:
    if shape is not Shape.OPTIONS:
        return ()
    return tuple(
        Option(id=f"{ident}-{number}", text=text, label=text, chosen=sent[-1:] == (text,))
        for number, text in enumerate(options(spec))
    )


def _hint(spec: Field, look: Look, count: int) -> str:
    words = "true or false" if spec.type == "boolean" else look.words.format(type=spec.type, count=count)
    return "; ".join(filter(None, (words + ", optional" * spec.optional, spec.description)))


def _held(text: str) -> str:
    """The candidate's value beside the label, where it is short."""
    return text if len(text) <= SHORT and "\n" not in text else "in the submission"


def _rows(text: str, least: int) -> int:
    lines = sum(1 + len(line) // 80 for line in text.split("\n"))
    return max(least, min(lines, MOST_ROWS))


def _rest(case: Case, typed: Typed, wrong: Errors) -> tuple[Control, ...]:
    held = case.candidate or {}
    summary = typed.one("summary")
    found = [
        Control(
            key="summary", name="summary", id="d-summary", label="summary", widget="text", text=summary,
            rows=_rows(summary, 3), errors=wrong.get("summary", ()), held=_held(held.get("summary", "")),
            hint="up to 2000 characters, optional",
        )
    ]  # fmt: skip
    if case.step.routes:
        chosen, reason = typed.one("next"), typed.one("reason")
        ways = tuple(
            Option(
                id=f"d-next-{number}", text=route.to, chosen=route.to == chosen,
                label=f"{route.to}: {route.when}" if route.when else route.to,
            )
            for number, route in enumerate(case.step.routes)
        )  # fmt: skip
        found += [
            Control(
                key="next", name="next", id="d-next", label="next", widget="select", options=ways,
                hint="the route that the run takes", held=held.get("next", ""), errors=wrong.get("next", ()),
            ),
            Control(
                key="reason", name="reason", id="d-reason", label="reason", widget="text", text=reason,
                rows=_rows(reason, 2), hint="why this route", held=_held(held.get("reason", "")),
                errors=wrong.get("reason", ()),
            ),
        ]  # fmt: skip
    return tuple(found)


def _evidence(case: Case, typed: Typed, wrong: Errors) -> Evidence | None:
    held = (case.candidate or {}).get("evidence", ())
    kinds = case.step.evidence
    if not kinds and not held:
        return None
    kept = tuple(
        Option(
            id=f"d-kept-{index}", text=str(index), chosen=str(index) in typed.all("kept"),
            label=case.file_names.get(item["ref"], item["ref"]),
        )
        for index, item in enumerate(held)
    )  # fmt: skip
    stored = tuple(
        Option(id=f"d-stored-{index}", text=one.token, label=one.name, chosen=True)
        for index, one in enumerate(typed.stored)
    )
    links = [text for text in typed.all("link") if text.strip()]
    inputs = (*links, *("",) * max(1, LINKS - len(links))) if "link" in kinds else ()
    return Evidence(
        hint=" and ".join(kinds) or "none needed",
        kept=kept,
        stored=stored,
        files="file" in kinds,
        links=tuple(
            Control(
                key=LINK, name="link", id=f"d-link-{n}", label=f"link {n + 1}", text=text, inputmode="url"
            )
            for n, text in enumerate(inputs)
        ),
        file_errors=wrong.get(FILE, ()),
        link_errors=wrong.get(LINK, ()),
    )
