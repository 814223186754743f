"""A work item's form as the template draws it: every input with its label, hint and errors. Pure.

Nothing is chosen and nothing filled in that the person did not type or copy.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from approvals.choices import CHANGES, SHORT, Case, Choice, choices, short
from approvals.forms import FILE, LINK, Errors, Typed, input_name, note_name
from approvals.values import LINE, Shape, options, shape_of, text_of
from processes.fields import Field

FEW = 5  # options that are drawn as radios; more become a select
LINKS = 2  # inputs for links


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

    @property
    def chosen(self) -> bool:
        return any(panel.chosen for panel in self.panels)

    @property
    def controls(self) -> tuple[Control, ...]:
        links = self.evidence.links if self.evidence is not None else ()
        notes = (panel.note for panel in self.panels if panel.note is not None)
        return (*notes, *self.fields, *links, *self.rest)


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
    )


def _panel(choice: Choice, typed: Typed, wrong: Errors) -> Panel:
    chosen = typed.one("decision") == choice.value
    note = None
    if choice.note:
        name = f"note-{choice.value}"
        text = typed.one(name)
        note = Control(
            key="note", name=name, id=f"d-{name}", label=choice.note, hint=choice.reader, widget="text",
            text=text, rows=_rows(text, 3), errors=wrong.get("note", ()) if chosen else (),
        )  # fmt: skip
    return Panel(choice=choice, chosen=chosen, note=note)


_LOOKS: Mapping[Shape, tuple[str, str, str, str]] = {  # words, css, inputmode, placeholder
    Shape.STRING: ("text", "", "", ""),
    Shape.NUMBER: ("number", "w-num", "decimal", ""),
    Shape.DATE: ("date, like 2026-11-30", "w-date", "", "YYYY-MM-DD"),
    Shape.DATETIME: ("date and time with offset, like 2026-11-30T14:30:00+01:00", "", "", ""),
    Shape.PERSON: ("person, by e-mail", "", "email", ""),
    Shape.LINES: ("list, one per line; [] for none", "", "", ""),
    Shape.JSON: ("{type}, as JSON", "w-json", "", ""),
    Shape.OPTIONS: ("one of {count}", "", "", ""),
}


def _field(case: Case, index: int, name: str, spec: Field, typed: Typed, wrong: Errors) -> Control:
    held = ((case.candidate or {}).get("output") or {}).get(name)
    shape = shape_of(spec, held)
    words, css, inputmode, placeholder = _LOOKS[shape]
    sent, key, ident = input_name(index, name), f"output.{name}", f"d-o{index}"
    text = typed.one(sent)
    choosable = _options(spec, ident, typed, sent) if shape is Shape.OPTIONS else ()
    held_text = "" if held is None else text_of(shape, held)
    long = shape in {Shape.LINES, Shape.JSON} or (
        shape is Shape.STRING and (case.candidate is None or len(held_text) > 60 or "\n" in held_text + text)
    )
    widget = ("select" if len(choosable) > FEW + spec.optional else "radios") if choosable else "line"
    hint = words.format(type=spec.type, count=len(choosable) - spec.optional)
    hint += ", optional" * spec.optional + f"; {spec.description}" * bool(spec.description)
    return Control(
        key=key, name=sent, id=ident, label=name, hint=hint, widget="text" if long else widget, text=text,
        options=choosable, css=css, inputmode=inputmode, placeholder=placeholder,
        held="" if held is None else short(held), errors=wrong.get(key, ()),
        rows=_rows(text or held_text, 1 if shape is Shape.STRING else 3) if long else 1,
    )  # fmt: skip


def _options(spec: Field, ident: str, typed: Typed, sent: str) -> tuple[Option, ...]:
    chosen = typed.one(sent)
    texts = list(options(spec))
    found = [
        Option(id=f"{ident}-{number}", text=text, label=text, chosen=text == chosen)
        for number, text in enumerate(texts)
    ]
    if spec.optional:  # a radio can't be taken back otherwise
        found.append(Option(id=f"{ident}-none", text="", label="leave out", chosen=typed.all(sent) == ("",)))
    return tuple(found)


def _rows(text: str, least: int) -> int:
    lines = sum(1 + len(line) // 80 for line in text.split("\n"))
    return max(least, min(lines, 12))


def _rest(case: Case, typed: Typed, wrong: Errors) -> tuple[Control, ...]:
    held = case.candidate or {}
    summary = typed.one("summary")
    found = [
        Control(
            key="summary", name="summary", id="d-summary", label="summary", widget="text", text=summary,
            rows=_rows(summary, 3), errors=wrong.get("summary", ()), held=short(held.get("summary", "")),
            hint="what was done and found, up to 2000 characters, optional",
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
                rows=_rows(reason, 2), hint="why this route", held=short(held.get("reason", "")),
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
        hint=" and ".join(kinds) + " needed" if kinds else "none needed",
        kept=kept,
        stored=stored,
        files="file" in kinds,
        links=tuple(
            Control(key=LINK, name="link", id=f"d-link-{n}", label=f"link {n + 1}", text=text, inputmode="url")
            for n, text in enumerate(inputs)
        ),
        file_errors=wrong.get(FILE, ()),
        link_errors=wrong.get(LINK, ()),
    )