"""Paths from a step into run data: `person` and `wait_until` lead to a declared field. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from processes.fields import Field
from processes.rules import Findings, Path, Rule, listed, shown
from processes.steps import KEYS, Draft

MAX_FITTING = 5


def check_references(drafts: Sequence[Draft], inputs: Mapping[str, Field] | None, findings: Findings) -> None:
    """Add a finding for each path that leads nowhere or to the wrong type.

    `inputs` is None where it could not be read; then, as for a step's unreadable output, nothing is said
    of paths into it.
    """
    checker = _Checker(drafts, inputs, findings)
    for draft in drafts:
        if "." in draft.step.person:
            checker.check(_Reference("person", draft.step.person, (*draft.path, "person")))
        if draft.step.kind == "wait_until" and draft.step.text.strip():
            checker.check(_Reference("datetime", draft.step.text, (*draft.path, "wait_until")))


@dataclass(frozen=True, slots=True)
class _Reference:
    """A path that must lead to a field of type `wanted`, and where in the file it stands."""

    wanted: str
    value: str
    place: Path


class _Checker:
    def __init__(
        self, drafts: Sequence[Draft], inputs: Mapping[str, Field] | None, findings: Findings
    ) -> None:
        self._steps = {draft.step.id: draft for draft in drafts if draft.step.id}
        self._inputs = inputs
        self._findings = findings
        self._fitting: dict[tuple[str, str], list[str]] = {}

    def check(self, reference: _Reference) -> None:
        # a field's name may hold dots itself
        root, _, rest = reference.value.partition(".")
        step, _, name = rest.partition(".output.")
        if root == "inputs" and rest:
            self._check_field(reference, rest, "inputs", self._inputs)
        elif root != "steps" or "." in step or not (step and name):
            self._add(Rule.PATH_SHAPE, reference)
        elif step not in self._steps:
            self._add(Rule.PATH_STEP, reference, hint=self._findings.hint(step, self._steps, "The steps are"))
        elif self._steps[step].step.kind not in {*KEYS["output"], ""}:
            self._add(Rule.PATH_FIELD, reference, hint=f"Only {listed(KEYS['output'])} steps declare output.")
        elif self._steps[step].output_read:
            self._check_field(reference, name, f"steps.{step}.output", self._steps[step].step.output)

    def _add(self, rule: Rule, reference: _Reference, **words: object) -> None:
        self._findings.add(rule, reference.place, value=shown(reference.value), **words)

    def _check_field(
        self, reference: _Reference, name: str, stem: str, fields: Mapping[str, Field] | None
    ) -> None:
        if fields is None:
            return
        if name not in fields:
            self._add(Rule.PATH_FIELD, reference, hint=self._hint(reference.wanted, name, stem, fields))
        elif fields[name].type not in {reference.wanted, ""}:
            key = reference.place[-1]
            self._add(Rule.PATH_TYPE, reference, type=fields[name].type, key=key, wanted=reference.wanted)

    def _hint(self, wanted: str, name: str, stem: str, fields: Mapping[str, Field]) -> str:
        if near := self._findings.near(name, fields):
            return f"Did you mean {shown(f'{stem}.{near}')}?"
        if (stem, wanted) not in self._fitting:  # once, however many paths miss
            fitting = (f"{stem}.{other}" for other, field in fields.items() if field.type == wanted)
            self._fitting[stem, wanted] = list(islice(fitting, MAX_FITTING))
        if found := self._fitting[stem, wanted]:
            return f"Of type {wanted} there is {listed(found)}."
        return f"Declare it under {stem} as a {wanted}."
