"""Wrong about what is accepted: fields, issues, evidence, routes, limits."""

from unittest import mock

from checks import codec
from processes import acceptance, api, fields, tokens
from processes.errors import ToolError
from processes.models import Run
from tests.conformance_suite.mutants.registry import after, at_the_door, mutant, without


@mutant("undeclared-taken", "An output may hold fields that are not declared.", "accept.undeclared")
def undeclared_taken():
    return without(acceptance, "value_issues", "not declared")


@mutant("boolean-is-number", "true is taken for a number.", "accept.number")
def boolean_is_number():
    return mock.patch.dict(
        fields._FITS, number=lambda value: isinstance(value, bool) or codec.is_number(value)
    )


@mutant("no-calendar", "A date needs its shape only, and may be the 30th of February.", "accept.date")
def no_calendar():
    return mock.patch.dict(
        fields._FITS, date=lambda value: isinstance(value, str) and bool(fields._DATE.fullmatch(value))
    )


@mutant("items-unchecked", "What a list holds is not looked at.", "accept.list-items", "accept.list-one-of")
def items_unchecked():
    return without(acceptance, "value_issues", "]:")


@mutant("first-issue-only", "Only the first thing that is wrong is told.", "accept.all-at-once")
def first_issue_only():
    return after(acceptance, "value_issues", lambda found, *_: found[:1])


@mutant("half-kept", "A refused submission leaves its output in the run data.", "accept.nothing-changes")
def half_kept():
    def submit(call, caller, given):
        try:
            return call(caller, given)
        except ToolError as error:
            if error.code == "not_accepted":
                claim = tokens.verify(given["token"], caller.agent)
                run = Run.objects.get(pk=claim.run)
                data = codec.loads(run.data)
                data["steps"][claim.step] = {"output": given["output"], "history": []}
                Run.objects.filter(pk=run.pk).update(data=codec.dumps(data))
            raise

    return at_the_door("submit", submit)


@mutant("evidence-optional", "No kind of evidence is required.", "evidence.both")
def evidence_optional():
    return without(acceptance, "_evidence", "required")


@mutant("any-step-a-route", "next may name any step of the process.", "route.not-among")
def any_step_a_route():
    return without(acceptance, "_route", "next: required")


@mutant("reason-optional", "A choice needs no reason.", "route.reason")
def reason_optional():
    return without(acceptance, "_route", "reason: required")


@mutant("limit-misstated", "More run data is taken than describe tells.", "start.too-large")
def limit_misstated():
    def describe(call, *given):
        told = call(*given)
        return {**told, "limits": {**told["limits"], "runDataBytes": 100_000}}

    return at_the_door("describe", describe)


@mutant("hash-made-up", "upload tells a hash that is not the file's.", "evidence.upload")
def hash_made_up():
    return at_the_door("upload", lambda call, *given: {**call(*given), "sha256": "0" * 64})


@mutant("shown-in-browser", "A file is shown in the browser and not handed out.", "evidence.attachment")
def shown_in_browser():
    real = api.FileResponse
    return mock.patch.object(
        api, "FileResponse", lambda stored, **named: real(stored, **{**named, "as_attachment": False})
    )
