"""What is typed on the admin's process pages: a text, a mapping of roles, thresholds."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib.auth.models import Group
from django.db.models import Count
from django.http import HttpRequest

from checks import roster
from checks.questions import Kind, Limits, Question
from processes.document import MAX_BYTES, Document
from processes.publishing import RoleMap
from processes.thresholds import Place, Wanted, numbers, written

MAX_CHANGE = 300


@dataclass(slots=True, kw_only=True)
class Entered:
    """A text that somebody typed or uploaded, with what they say it changes."""

    text: str = ""
    change: str = ""
    seen: str = ""  # the draft that was on the page, by its stamp; "" = none
    crlf: bool = False
    errors: dict[str, str] = field(default_factory=dict)

    @property
    def loaded(self) -> str:
        """What tells, when the page comes back, whether the text was touched."""
        return _fingerprint(self.text)


def entered(request: HttpRequest) -> Entered:
    """Read the page's form. A browser sends CRLF whatever the text had, so its own line ends are restored."""
    posted = request.POST
    crlf = posted.get("crlf") == "1"
    typed = posted.get("text", "").replace("\r\n", "\n")
    text = typed.replace("\n", "\r\n") if crlf else typed
    found = Entered(
        text=text, change=posted.get("change", "").strip(), seen=posted.get("seen", ""), crlf=crlf
    )
    if len(found.change) > MAX_CHANGE:
        found.errors["change"] = f"Say it in at most {MAX_CHANGE} characters."
    if (upload := request.FILES.get("file")) is not None:
        if typed.strip() and _fingerprint(typed) != posted.get("loaded"):
            found.errors["file"] = (
                "You changed the text and chose a file. The text is kept; empty it to take the file."
            )
        else:
            _take(upload, found)
    return found


def _take(upload: Any, found: Entered) -> None:
    if upload.size is None or upload.size > MAX_BYTES:
        found.errors["file"] = (
            f"The file has more than {MAX_BYTES // 1024} KiB. Keep long texts where they live and link them."
        )
        return
    try:
        found.text = upload.read().decode("utf-8")
    except UnicodeDecodeError:
        found.errors["file"] = "The file is no text in UTF-8. Choose a PROCESS.md, or save it as UTF-8."
        return
    found.crlf = is_crlf(found.text)


def is_crlf(text: str) -> bool:
    return "\r\n" in text and text.count("\r\n") == text.count("\n")


def _fingerprint(text: str) -> str:
    return hashlib.sha256(text.replace("\r\n", "\n").encode("utf-8", "surrogatepass")).hexdigest()


class RolesForm(forms.Form):
    """A group for each role, and one for the escalations. One statement for all of them.

    Where a model elsewhere answers the process's checks, it also asks whether that may see the runs.
    """

    escalations = forms.TypedChoiceField(required=False, coerce=int, empty_value=None)

    def __init__(self, document: Document, offered: RoleMap, data: Any = None) -> None:
        super().__init__(data)
        groups = [
            (group.pk, f"{group.name} ({group.members})")
            for group in Group.objects.annotate(members=Count("user")).order_by("name")
        ]
        self.roles = document.roles
        for role in document.roles:
            self.fields[f"role-{role}"] = forms.TypedChoiceField(
                label=role,
                choices=[("", "Choose a group"), *groups],
                coerce=int,
                initial=offered.roles.get(role, ""),
                error_messages={
                    "required": f"Choose a group for {role}.",
                    "invalid_choice": f"That group no longer exists. Choose another one for {role}.",
                },
            )
        hosts = roster.hosts() if any(step.check for step in document.steps.values()) else ()
        if hosts:
            self.fields["consent"] = forms.BooleanField(
                label=f"{' and '.join(hosts)} may see what runs of this process hold: their inputs, what earlier steps "
                "handed in, and what is checked.",
                error_messages={
                    "required": "Its checks can't be answered otherwise; tick it, or take them out."
                },
            )
        self.order_fields([*(f"role-{role}" for role in document.roles), "escalations", "consent"])
        escalations: Any = self.fields["escalations"]
        escalations.choices = [("", "The operators"), *groups]
        escalations.initial = offered.escalations or ""

    def mapping(self) -> RoleMap:
        """What was chosen; the form must be valid."""
        found = self.cleaned_data
        return RoleMap(
            roles={role: found[f"role-{role}"] for role in self.roles}, escalations=found["escalations"]
        )


LABELS = {"pass": "pass from", "fail": "fail under", "confidence": "confidence"}
TAKES: Mapping[Kind, tuple[str, ...]] = {
    Kind.YES_NO: ("pass", "fail"),
    Kind.CHOICE: ("confidence",),
    Kind.RUBRIC: ("pass", "confidence"),
}
KINDS: Mapping[Kind, str] = {Kind.YES_NO: "yes/no", Kind.CHOICE: "choice", Kind.RUBRIC: "rubric"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One number of one question; `default` is what the server takes where it is empty."""

    label: str
    field: Any = None
    default: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    step: str
    number: int
    question: Question
    kind: str
    cells: tuple[Cell, ...]


class Fraction(forms.DecimalField):
    """A number as it is written into a text: -0 is 0."""

    def clean(self, value: Any) -> Decimal | None:
        found: Decimal | None = super().clean(value)
        return None if found is None else found + 0


class NumbersForm(forms.Form):
    """The numbers of every question of a process. Empty = the server's default."""

    change = forms.CharField(
        required=False,
        max_length=MAX_CHANGE,
        strip=True,
        label="What this changes, in a line",
        help_text="Empty: the numbers that changed.",
    )

    def __init__(self, document: Document, limits: Limits, data: Any = None) -> None:
        super().__init__(data)
        self._limits = limits
        self._questions: dict[Place, Question] = {
            (step.id, at): question
            for step in document.steps.values()
            for at, question in enumerate(step.check)
        }
        own = numbers(document)
        for place, question in self._questions.items():
            for key in TAKES[question.kind]:
                number = own[place].get(key)
                made = self._field(place, question, key)
                made.initial = "" if number is None else written(number)
                self.fields[_name(place, key)] = made

    def _field(self, place: Place, question: Question, key: str) -> forms.Field:
        label = f"{LABELS[key]}, question {place[1] + 1} of {place[0]}"
        if question.kind is Kind.RUBRIC and key == "pass":
            levels = [(str(n), f"{n}: {text}") for n, text in enumerate(question.levels)]
            return forms.TypedChoiceField(label=label, choices=levels, coerce=int)
        return Fraction(
            label=label,
            required=False,
            min_value=Decimal(0),
            max_value=Decimal(1),
            max_digits=12,
            decimal_places=10,
            widget=forms.TextInput(
                attrs={
                    "inputmode": "decimal",
                    "autocomplete": "off",
                    "size": 6,
                    # what replay.js puts a slider beside, and where it stands while the field is empty
                    "data-slider": self._fallback(key),
                }
            ),
            error_messages={
                "invalid": "Write a number from 0 to 1, e.g. 0.9.",
                "min_value": "Write a number from 0 to 1.",
                "max_value": "Write a number from 0 to 1.",
            },
        )

    def _fallback(self, key: str) -> float:
        server = {"pass": self._limits.check_pass, "fail": self._limits.check_fail}
        return server.get(key, self._limits.check_confidence) or 0.0

    def rows(self) -> Iterator[Row]:
        for place, question in self._questions.items():
            takes = TAKES[question.kind]
            yield Row(
                step=place[0],
                number=place[1] + 1,
                question=question,
                kind=KINDS[question.kind],
                cells=tuple(
                    Cell(
                        label=LABELS[key],
                        field=self[_name(place, key)] if key in takes else None,
                        default=self._default(question, key) if key in takes else "",
                    )
                    for key in LABELS
                ),
            )

    def _default(self, question: Question, key: str) -> str:
        if key == "pass":
            return "" if question.kind is Kind.RUBRIC else f"{self._limits.check_pass:g}"
        if key == "fail":
            fail = self._limits.check_fail
            return "whatever does not pass" if fail is None else f"{fail:g}"
        return f"{self._limits.check_confidence:g}"

    def clean(self) -> dict[str, Any]:
        found: dict[str, Any] = super().clean() or {}
        for place, question in self._questions.items():
            if question.kind is not Kind.YES_NO:
                continue
            fail, passing = found.get(_name(place, "fail")), found.get(_name(place, "pass"))
            if fail is not None and passing is not None and fail > passing:
                self.add_error(_name(place, "fail"), f"Is above pass ({passing:f}). Lower it, or raise pass.")
        return found

    def wanted(self) -> Wanted:
        """What was typed; the form must be valid."""
        return {
            place: {key: self.cleaned_data[_name(place, key)] for key in TAKES[question.kind]}
            for place, question in self._questions.items()
        }


def _name(place: Place, key: str) -> str:
    return f"{key}-{place[1]}-{place[0]}"
