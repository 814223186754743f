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
    steps = {draft.step.id: draft for draft in drafts if draft.step.id}
    for draft in drafts:
        if "." in draft.step.person:
            wanted = _Wanted("person", draft.step.person, (*draft.path, "person"))
            _check(wanted, steps, inputs, findings)
        if draft.step.kind == "wait_until" and draft.step.text.strip():
            wanted = _Wanted("datetime", draft.step.text, (*draft.path, "wait_until"))
            _check(wanted, steps, inputs, findings)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A path that must lead to a field of a type, and where in the file it stands."""

    type: str
    value: str
    path: Path


def _check(
    wanted: _Wanted, steps: Mapping[str, Draft], inputs: Mapping[str, Field] | None, findings: Findings
) -> None:
    # a field's name may hold dots itself
    if wanted.value.startswith("inputs.") and (name := wanted.value.removeprefix("inputs.")):
        _check_field(wanted, name, "inputs", inputs, findings)
        return
    root, _, rest = wanted.value.partition(".")
    step, _, name = rest.partition(".output.")
    if root != "steps" or "." in step or not (step and name):
        findings.add(Rule.PATH_SHAPE, wanted.path, value=shown(wanted.value))
    elif step not in steps:
        hint = findings.hint(step, steps, "The steps are")
        findings.add(Rule.PATH_STEP, wanted.path, value=shown(wanted.value), hint=hint)
    elif steps[step].step.kind not in {*KEYS["output"], ""}:
        hint = f"Only {listed(KEYS['output'])} steps declare output."
        findings.add(Rule.PATH_FIELD, wanted.path, value=shown(wanted.value), hint=hint)
    elif steps[step].output_read:
        _check_field(wanted, name, f"steps.{step}.output", steps[step].step.output, findings)


def _check_field(
    wanted: _Wanted, name: str, stem: str, fields: Mapping[str, Field] | None, findings: Findings
) -> None:
    value = shown(wanted.value)
    if fields is None:
        return
    if name not in fields:
        hint = _hint(wanted, name, stem, fields, findings)
        findings.add(Rule.PATH_FIELD, wanted.path, value=value, hint=hint)
    elif fields[name].type not in {wanted.type, ""}:
        key = wanted.path[-1]
        findings.add(
            Rule.PATH_TYPE, wanted.path, value=value, type=fields[name].type, key=key, wanted=wanted.type
        )


def _hint(wanted: _Wanted, name: str, stem: str, fields: Mapping[str, Field], findings: Findings) -> str:
    if near := findings.near(name, fields):
        return f"Did you mean {shown(f'{stem}.{near}')}?"
    fitting = (f"{stem}.{other}" for other, field in fields.items() if field.type == wanted.type)
    if found := list(islice(fitting, MAX_FITTING)):
        return f"Of type {wanted.type} there is {listed(found)}."
    return f"Declare it under {stem} as a {wanted.type}."
