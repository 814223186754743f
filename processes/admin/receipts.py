"""The page on which a run's receipts are verified, and their export for somebody who verifies them elsewhere."""

from dataclasses import dataclass

from django.contrib import messages
from django.contrib.admin import AdminSite
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.views.decorators.http import require_safe

from checks import codec
from checks.receipts import commitments, exporting
from checks.receipts.keys import NoKeyError
from processes import receipting
from processes.models import Run
from processes.proofs import Content, Proof, of_run

# what became of its promises, as the page words it: (glyph of our sprite, words)
SAYS = {
    Content.OPENS: ("pass", "what was signed is what is on record"),
    Content.ERASED: ("error", "the salt is forgotten, so nobody can say what was signed"),
    Content.CHANGED: ("fail", "does not match"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    proof: Proof
    at: str  # UTC, as it was signed
    told: str  # what it says in clear, as JSON to be read
    glyph: str
    says: str


def _row(proof: Proof) -> Row:
    glyph, says = SAYS[proof.content] if proof.holds else ("fail", "")
    at = str(proof.payload.get("time", ""))[:19].replace("T", " ")
    return Row(proof=proof, at=at, told=codec.pretty(proof.payload), glyph=glyph, says=says)


@require_safe
def page(request: HttpRequest, site: AdminSite, run: Run) -> HttpResponse:
    proofs = of_run(run)
    context = {
        **site.each_context(request),
        "title": f"Receipts of {run}",
        "opts": Run._meta,
        "run": run,
        "proofs": proofs,
        "rows": [_row(proof) for proof in proofs.proofs],
    }
    return TemplateResponse(request, "admin/processes/receipts.html", context)


def openings(run: Run) -> HttpResponseBase:
    """JSON by receipt: each part's salt, and the very text that it commits to. For whoever is to look at the work itself."""
    told = [
        {
            "receipt": proof.entry.receipt,
            "parts": {
                part: {"part_salt": salt, "text": commitments.as_bytes(proof.parts[part]).decode("utf-8")}
                for part, salt in proof.opened_by.items()
                if part in proof.parts
            },
        }
        for proof in of_run(run).proofs
    ]
    response = HttpResponse(codec.dumps(told), content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="{run.pk}-openings.json"'
    response["Cache-Control"] = "no-store"
    return response


def export(request: HttpRequest, run: Run) -> HttpResponseBase:
    try:
        lines = exporting.lines(chain=receipting.chain_of(run))
    except NoKeyError as error:
        messages.error(request, f"Nothing was exported, for its end can't be signed. {error}")
        return redirect("admin:processes_run_receipts", run.pk)
    response = StreamingHttpResponse(lines, content_type="application/x-ndjson")
    response["Content-Disposition"] = f'attachment; filename="{run.pk}-receipts.jsonl"'
    response["Cache-Control"] = "no-store"
    return response
